"""What `opkit env` and `opkit run` activate: a project, named OPP roots, or what is installed; in real shells, as a person types it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from install_support import LIBRARY, install, opp_root
from wheel_support import environment, installed_wheel, site_packages

from opkit.cli import main

_OPP = "ASCEND_CUSTOM_OPP_PATH"
_SHELLS = [shell for shell in ("bash", "dash", "zsh", "fish") if shutil.which(shell)]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, make_toolkit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    home = make_toolkit(tmp_path / "a toolkit", simulator="9.2.0-sim")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path / "nothing is installed here"))
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return home


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An environment with the packages alpha and beta."""
    folder = environment(tmp_path / "my venv")
    for name in ("beta", "alpha"):
        installed_wheel(site_packages(folder), name)
    return folder


def _activated(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[str]:
    capsys.readouterr()
    assert main(["env", "--json", *map(str, arguments)]) == 0
    return list(json.loads(capsys.readouterr().out)[_OPP].split(":"))


def test_outside_of_a_project_all_that_is_installed_is_activated(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = site_packages(python)
    assert _activated(capsys, "--python", python) == [str(site / "alpha"), str(site / "beta")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(site)
    assert _activated(capsys) == [str(site / "alpha"), str(site / "beta")]


def test_inside_a_project_only_that_is_activated(
    built_project: Path, python: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(built_project)
    monkeypatch.syspath_prepend(site_packages(python))
    assert _activated(capsys) == [str(built_project / "output")]
    assert _activated(capsys, "--python", python, "--package", "beta") == [str(site_packages(python) / "beta")]


def test_a_prefix_can_be_named(tmp_path: Path, python: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(opp_root(tmp_path / "add", {LIBRARY: "library"}, package="add"), tmp_path / "prefix")
    assert _activated(capsys, "--prefix", tmp_path / "prefix", "--package", "add") == [str(tmp_path / "prefix" / "add")]
    both = [str(tmp_path / "prefix" / "add"), str(site_packages(python) / "alpha"), str(site_packages(python) / "beta")]
    assert _activated(capsys, "--prefix", tmp_path / "prefix", "--python", python) == both


@pytest.mark.parametrize(
    ("prefix", "because"), [("", "--prefix is empty"), ("/", "--prefix is the root folder"), ("a:b", "isn't one folder")]
)
def test_what_can_be_no_prefix_is_none_to_read_either(
    prefix: str, because: str, python: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not taken for one that isn't named: then what is installed elsewhere would be activated."""
    monkeypatch.syspath_prepend(site_packages(python))
    assert main(["env", "--prefix", prefix]) == 2
    assert because in capsys.readouterr().err


def test_a_package_can_be_picked(python: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _activated(capsys, "--python", python, "--package", "beta") == [str(site_packages(python) / "beta")]


def test_nothing_to_activate_is_no_project_and_says_the_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["env"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[OPK0101]: . is no opkit project" in err
    assert f"no package is installed in {tmp_path}/nothing is installed here or the wheels of this Python" in err
    assert "opkit new NAME, or install a package: opkit install" in err


def test_an_environment_without_packages_is_an_error_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--python", str(environment(tmp_path / "empty")), "--", "true"]) == 125
    assert "error[OPK0130]: there is nothing to activate" in capsys.readouterr().err


def test_all_that_is_installed_being_broken_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a prefix that is named and without, where the current folder could have been a project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path / "prefix"))
    install(opp_root(tmp_path / "add", {LIBRARY: "library"}, package="add"), tmp_path / "prefix")
    (tmp_path / "prefix" / "add" / LIBRARY).unlink()
    for named in ([], ["--prefix", "prefix"], ["--package", "add"]):
        assert main(["env", *named]) == 4
        err = capsys.readouterr().err
        assert "no package is installed" not in err
        assert err.endswith(f"\n  help: install it again: opkit install {tmp_path / 'add'} --prefix {tmp_path / 'prefix'}\n")


_CLOSED = """\
import os, sys
from opkit.cli import main
arguments = ["env", "--prefix", sys.argv[1]]
main(arguments)
main(["list", "--prefix", sys.argv[1]])
os.chmod(sys.argv[1] + "/.opkit", 0o700)
os.setgroups([]), os.setgid(65534), os.setuid(65534)
sys.exit(main(arguments))
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_packages_of_a_prefix_that_this_user_may_not_read_are_not_taken_for_none(make_toolkit: Callable[..., Path]) -> None:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        prefix = folder / "prefix"
        install(opp_root(folder / "add", {LIBRARY: "library"}, package="add"), prefix)
        environ = {"PATH": os.environ["PATH"], "ASCEND_HOME_PATH": str(make_toolkit(folder / "toolkit")), "HOME": "/nonexistent"}
        argv = [sys.executable, "-c", _CLOSED, str(prefix)]
        done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 4, done.stderr
    assert f"error[OPK0405]: nothing that is installed in {prefix} or the wheels of this Python can be activated" in done.stderr
    assert done.stderr.endswith(f"\n  because: add is broken\n  help: let yourself read it: sudo chmod a+rX {prefix}/.opkit\n")


def test_a_package_that_is_picked_from_a_wheel_because_that_of_the_prefix_is_broken_is_told(
    python: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(opp_root(tmp_path / "alpha", {LIBRARY: "library"}, package="alpha"), tmp_path / "prefix")
    (tmp_path / "prefix" / "alpha" / LIBRARY).unlink()
    assert main(["env", "--prefix", str(tmp_path / "prefix"), "--python", str(python), "--package", "alpha"]) == 0
    out, err = capsys.readouterr()
    assert str(site_packages(python) / "alpha") in out
    assert f"warning: the package alpha is broken and stays out: {tmp_path}/prefix/alpha: {LIBRARY} is missing" in err


@pytest.mark.parametrize("command", [["env"], ["list"], ["run"]])
def test_a_python_that_is_named_by_a_path_is_not_a_command_of_its_name(
    command: list[str], python: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(python / "bin")
    monkeypatch.setenv("PATH", os.defpath)
    (python / "bin" / "an-odd-name").symlink_to(python / "bin" / "python")
    if command == ["run"]:
        argv = [sys.executable, "-m", "opkit", "run", "--python", "./an-odd-name", "--", "/bin/sh", "-c", f"echo ${_OPP}"]
        told = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    else:
        assert main([*command, "--python", "./an-odd-name"]) == 0
        told = capsys.readouterr().out
    assert str(site_packages(python) / "alpha") in told


@pytest.mark.parametrize("command", [["env"], ["list"], ["run"], ["verify"], ["uninstall", "add"]])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_file_is_no_prefix(
    command: list[str], is_named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    child = ["--", "true"] if command == ["run"] else []
    if not is_named:
        monkeypatch.setenv("OPKIT_PREFIX", str(tmp_path / "file"))
        command = [*command, "add"] if command == ["verify"] else command
    assert main([*command, *(["--prefix", "file"] if is_named else []), *child]) == (125 if child else 2)
    assert f"error[OPK0100]: the prefix {tmp_path}/file is no folder\n  because: it is a file\n" in capsys.readouterr().err


@pytest.mark.parametrize("other", [["--opp", "x"], ["--project", "x"]])
@pytest.mark.parametrize("installed", [["--prefix", "p"], ["--python", "p"], ["--package", "p"]])
def test_installed_packages_and_others_exclude_each_other(
    other: list[str], installed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *other, *installed, "--", "true"]) == 125
    assert "choose among installed packages" in capsys.readouterr().err


@pytest.mark.case("E6", "E7")
@pytest.mark.parametrize("current", [None, ":/a::/b:"])
@pytest.mark.parametrize("shell", _SHELLS)
def test_a_strict_shell_gets_no_empty_element_and_each_once(
    shell: str, current: str | None, python: Path, tmp_path: Path, home: Path
) -> None:
    """With nothing set, with what other programs leave there, and twice."""
    opkit = f"'{sys.executable}' -m opkit env --python '{python}'"
    if shell == "fish":
        script = f"{opkit} --shell fish | source; " * 2
    else:
        options = "set -euo pipefail" if shell != "dash" else "set -eu"
        script = options + f'; eval "$({opkit})"' * 2
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C.UTF-8", "ASCEND_HOME_PATH": str(home)}
    if current is not None:
        environ |= {_OPP: current, "LD_LIBRARY_PATH": current}
    environ["OPKIT_PREFIX"] = str(tmp_path / "none")
    done = subprocess.run([shell, "-c", f"{script}\nenv -0"], env=environ, check=True, capture_output=True, text=True)
    found = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    kept = [each for each in (current or "").split(":") if each]
    assert found[_OPP].split(":") == [str(site_packages(python) / name) for name in ("alpha", "beta")] + kept
    assert found["LD_LIBRARY_PATH"].split(":") == [str(home / "lib64"), *kept]


@pytest.fixture
def for_everyone(make_toolkit: Callable[..., Path]) -> Iterator[Path]:
    """A folder that any user may read: pytest's own are the developer's."""
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        make_toolkit(folder / "toolkit")
        installed_wheel(folder / "packages", "add")
        yield folder


_AS_NOBODY = """\
import os, sys
import opkit.process
from opkit.cli import main
main(["env", "--opp", sys.argv[1]])
os.chdir(sys.argv[2])
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
sys.exit(main(["run", "--opp", sys.argv[1], "--", "/bin/sh", "-c", "echo $ASCEND_CUSTOM_OPP_PATH; id -u; pwd; exit 7"]))
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.case("E12")
@pytest.mark.parametrize("place", ["/", "/usr/bin", "{folder}/unwritable"])
def test_run_needs_no_right_to_write_where_it_is_started(place: str, for_everyone: Path) -> None:
    """As a user who owns nothing and has no home. The modules are loaded before: this test's Python may be for root alone."""
    folder = Path(place.format(folder=for_everyone))
    folder.mkdir(exist_ok=True, mode=0o555)
    before = sorted(folder.iterdir())
    root = for_everyone / "packages" / "add"
    environ = {"PATH": os.environ["PATH"], "ASCEND_HOME_PATH": str(for_everyone / "toolkit"), "HOME": "/nonexistent"}
    argv = [sys.executable, "-c", _AS_NOBODY, str(root), str(folder)]
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 7, done.stderr
    user = 65534 if os.geteuid() == 0 else os.geteuid()
    assert done.stdout.splitlines()[-3:] == [str(root), str(user), str(folder)]
    assert sorted(folder.iterdir()) == before


def test_run_leaves_a_folder_that_it_may_write_to_as_it_was(python: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    argv = [sys.executable, "-m", "opkit", "run", "--python", str(python), "--", "true"]
    assert subprocess.run(argv, cwd=folder, check=False).returncode == 0
    assert list(folder.iterdir()) == []
