"""What is activated outside of a project: packages of a prefix and of wheels, found without importing one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from install_support import LIBRARY, install, opp_root
from wheel_support import environment, installed_wheel, site_packages

from opkit import env
from opkit.deliverable import MANIFEST
from opkit.errors import DeliverableError, NotInstalledError, PythonError
from opkit.run import Sources, find_installed, wheels


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return environment(tmp_path / "my venv 昇")


def test_wheels_of_another_python_are_found_in_the_order_of_their_names(python: Path) -> None:
    site = site_packages(python)
    expected = [installed_wheel(site, name) for name in ("zeta", "alpha", "mid")]
    found = find_installed(Sources(prefix=None, python=python))
    assert [root.path for root in found] == [expected[1], expected[2], expected[0]]
    assert [root.manifest.package for root in found] == ["alpha", "mid", "zeta"]


def test_an_interpreter_is_as_good_as_its_environment(python: Path) -> None:
    root = installed_wheel(site_packages(python), "add")
    assert [found.path for found in find_installed(Sources(prefix=None, python=python / "bin" / "python"))] == [root]


def test_a_package_inside_another_is_found_without_importing_either(python: Path) -> None:
    root = installed_wheel(site_packages(python), "ops", module="mine.csrc.ops")
    assert [found.path for found in find_installed(Sources(prefix=None, python=python))] == [root]


def test_a_folder_on_pythonpath_brings_nothing(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed_wheel(tmp_path / "elsewhere", "add")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert find_installed(Sources(prefix=None, python=python)) == []


def test_the_wheels_of_this_python_are_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = installed_wheel(tmp_path / "site", "add")
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert [found.path for found in find_installed(Sources(prefix=None), ["add"])] == [root]


def test_packages_of_a_prefix_and_of_wheels_are_in_one_order_and_the_prefix_hides(
    python: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site, prefix, library = site_packages(python), tmp_path / "prefix", LIBRARY
    for name in ("alpha", "beta"):
        installed_wheel(site, name)
    for name in ("beta", "aardvark"):
        install(opp_root(tmp_path / name, {library: "library"}, package=name), prefix)
    found = find_installed(Sources(prefix=prefix, python=python))
    assert [root.path for root in found] == [prefix / "aardvark", site / "alpha", prefix / "beta"]
    told = f"warning: the package beta is installed twice: {prefix / 'beta'} hides {site / 'beta'}"
    assert capsys.readouterr().err.splitlines() == [told]


def test_a_broken_package_of_a_prefix_is_told_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix, library = tmp_path / "prefix", LIBRARY
    install(opp_root(tmp_path / "add", {library: "library"}, package="add"), prefix)
    (prefix / "add" / MANIFEST).write_text("{")
    assert find_installed(Sources(prefix=prefix)) == []
    assert capsys.readouterr().err.startswith("warning: the package add is broken and stays out: ")


@pytest.mark.parametrize("fault", ["is missing", "isn't the file that was built"])
def test_a_package_of_a_prefix_without_its_library_or_with_a_shorter_one_is_left_out(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix, library = tmp_path / "prefix", LIBRARY
    install(opp_root(tmp_path / "add", {library: "library"}, package="add"), prefix)
    if fault == "is missing":
        (prefix / "add" / library).unlink()
    else:
        (prefix / "add" / library).write_text("cut")
    assert find_installed(Sources(prefix=prefix)) == []
    assert f"{library} {fault}" in capsys.readouterr().err
    with pytest.raises(DeliverableError, match="the package add is broken"):
        find_installed(Sources(prefix=prefix), ["add"])


@pytest.mark.parametrize("broken", ["no manifest", "a manifest of another", "no JSON", "an edited file", "a missing file", "no module"])
def test_a_broken_wheel_is_told_and_left_out(broken: str, python: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = site_packages(python)
    sound = installed_wheel(site, "sound")
    root = installed_wheel(site, "add", entry="other" if broken == "a manifest of another" else None)
    library = root / LIBRARY
    if broken == "no manifest":
        (root / MANIFEST).unlink()
    elif broken == "no JSON":
        (root / MANIFEST).write_text("{")
    elif broken == "an edited file":
        library.write_text("another")
    elif broken == "a missing file":
        library.unlink()
    elif broken == "no module":
        shutil.rmtree(root)
    assert [found.path for found in find_installed(Sources(prefix=None, python=python))] == [sound]
    warning, advice = capsys.readouterr().err.splitlines()
    assert advice == "  help: install its wheel again: pip install --force-reinstall --no-deps FILE"
    assert warning.startswith(f"warning: the package {'other' if broken == 'a manifest of another' else 'add'} is broken and stays out: ")
    if broken != "a manifest of another":
        with pytest.raises(DeliverableError, match="the package add is broken"):
            find_installed(Sources(prefix=None, python=python), ["add"])


def test_a_name_picks_among_the_installed(python: Path) -> None:
    site = site_packages(python)
    roots = [installed_wheel(site, name) for name in ("alpha", "beta", "gamma")]
    found = find_installed(Sources(prefix=None, python=python), ["gamma", "alpha"])
    assert [root.path for root in found] == [roots[0], roots[2]]


def test_a_name_that_is_not_installed_is_an_error_that_says_where_it_was_looked_for(python: Path) -> None:
    with pytest.raises(NotInstalledError, match="the package mul isn't installed") as caught:
        find_installed(Sources(prefix=None, python=python), ["mul"])
    assert str(python) in (caught.value.because or "")


def test_a_name_that_is_nearly_right_gets_the_one_that_was_meant(python: Path, tmp_path: Path) -> None:
    installed_wheel(site_packages(python), "add_first")
    install(opp_root(tmp_path / "mul", {LIBRARY: "library"}, package="mul_all"), tmp_path / "prefix")
    sources = Sources(prefix=tmp_path / "prefix", python=python)
    for name, meant in (("add_frist", "add_first"), ("mulall", "mul_all")):
        with pytest.raises(NotInstalledError) as caught:
            find_installed(sources, [name])
        assert caught.value.help == f"did you mean '{meant}'?"
        assert caught.value.because == f"there is none of this name in {sources}, where there are add_first, mul_all"


def test_one_package_is_told_as_one(python: Path) -> None:
    installed_wheel(site_packages(python), "add")
    with pytest.raises(NotInstalledError) as caught:
        find_installed(Sources(prefix=None, python=python), ["sub"])
    assert (caught.value.because or "").endswith(", where there is add")


@pytest.mark.parametrize("entries", [b"[opkit.opp]\n\xff\xfe = x\n", b"[console_scripts]\nnothing\n"], ids=["not UTF-8", "no value"])
@pytest.mark.parametrize("name", ["stranger", None])
def test_a_distribution_that_can_not_be_read_is_named_and_stops_nobody(
    entries: bytes, name: str | None, python: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = site_packages(python)
    root = installed_wheel(site, "add")
    metadata = site / "stranger-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_bytes(entries)
    if name is not None:
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    assert [found.path for found in find_installed(Sources(prefix=None, python=python))] == [root]
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning.startswith(f"warning: the distribution {name or 'without a name'} in {site} can't be asked for its entry points: ")
    assert warning.endswith("; its operators, if it has any, stay out")


def test_a_distribution_hides_a_later_one_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does for an import: what an older one of the same name calls its operators is nobody's any more."""
    for folder, module in (("new", "zeta_ops"), ("old", "alpha_ops")):
        installed_wheel(tmp_path / folder, "add", module=module)
    for folder in ("old", "new"):
        monkeypatch.syspath_prepend(tmp_path / folder)
    assert [found.path for found in find_installed(Sources(prefix=None), ["add"])] == [tmp_path / "new" / "zeta_ops"]


def test_what_an_installer_brought_is_mended_by_it(tmp_path: Path) -> None:
    """opkit runs none itself."""
    prefix, installer = tmp_path / "the prefix", tmp_path / "add-0.1.0.run"
    install(opp_root(tmp_path / "add", {LIBRARY: "library"}, package="add"), prefix)
    (prefix / "add" / LIBRARY).unlink()
    receipt = prefix / ".opkit" / "add.json"
    receipt.write_text(receipt.read_text().replace(f'"{tmp_path}/add"', f'"{installer}"'))
    installer.write_text("#!/bin/sh\n")
    with pytest.raises(DeliverableError) as caught:
        find_installed(Sources(prefix=prefix), ["add"])
    assert caught.value.help == f"install it again: sh {installer} --install-path '{prefix}'"


def test_if_one_is_needed_and_all_are_broken_that_is_the_error(python: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = opp_root(tmp_path / "my add", {LIBRARY: "library"}, package="add")
    install(source, tmp_path / "prefix")
    sources = Sources(prefix=tmp_path / "prefix", python=python)
    assert [root.manifest.package for root in find_installed(sources, is_needed=True)] == ["add"]
    (tmp_path / "prefix" / "add" / LIBRARY).unlink()
    with pytest.raises(DeliverableError, match="can be activated") as caught:
        find_installed(sources, is_needed=True)
    assert caught.value.because == "add is broken"
    assert caught.value.help == f"install it again: opkit install '{source.path}' --prefix {tmp_path / 'prefix'}"
    assert f"{LIBRARY} is missing\n  help: {caught.value.help}\n" in capsys.readouterr().err
    # From where it came there is nothing any more.
    shutil.rmtree(source.path)
    installed_wheel(site_packages(python), "mul").joinpath(MANIFEST).unlink()
    with pytest.raises(DeliverableError) as caught:
        find_installed(sources, is_needed=True)
    assert caught.value.because == "add, mul are broken"
    assert caught.value.help == f"install it again: opkit install FILE --prefix {tmp_path / 'prefix'}"
    assert find_installed(Sources(prefix=tmp_path / "none", python=environment(tmp_path / "empty")), is_needed=True) == []


@pytest.mark.parametrize(
    "kind", ["an empty folder", "no program", "another program", "a program that nests", "a program that fails", "nothing"]
)
def test_a_python_that_is_none_is_one_error(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "python"
    if kind == "an empty folder":
        path.mkdir()
    elif kind != "nothing":
        nesting = "#!/bin/sh\nprintf '%0100000d' 0 | tr 0 '['\n"
        texts = {"no program": "", "another program": "#!/bin/sh\necho hello\n", "a program that nests": nesting}
        path.write_text(texts.get(kind, "#!/bin/sh\necho worse >&2\nexit 3\n"))
        path.chmod(0o644 if kind == "no program" else 0o755)
    with pytest.raises(PythonError, match="can't be asked for its packages") as caught:
        find_installed(Sources(prefix=None, python=path))
    assert caught.value.because


_AS_NOBODY = """\
import os, sys
from pathlib import Path
import opkit.process
from opkit.errors import PythonError
from opkit.run import Sources, find_installed, wheels
os.setgroups([]), os.setgid(65534), os.setuid(65534)
os.chdir(sys.argv[1])
try:
    find_installed(Sources(prefix=None, python=Path(sys.argv[2])))
except PythonError as error:
    print(error.because)
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
@pytest.mark.parametrize("named", ["closed/x", "closed/x/bin/python", "half"])
def test_a_python_below_a_closed_folder_is_one_error_that_says_whose_it_is(named: str) -> None:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        folder = Path(name)
        (folder / "closed" / "x").mkdir(parents=True)
        (folder / "half" / "bin").mkdir(parents=True)
        for path, mode in ((folder, 0o755), (folder / "closed", 0), (folder / "half" / "bin", 0)):
            path.chmod(mode)
        argv = [sys.executable, "-c", _AS_NOBODY, name, str(folder / named)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        closed = folder / ("half/bin" if named == "half" else "closed")
    assert done.stdout == f"{closed} is owned by uid 0 (root), mode 0000; you are uid 65534\n", done.stderr


def test_a_python_s_bare_name_is_a_command_on_path(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = installed_wheel(site_packages(python), "add")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "my python").chmod(0o755)
    with pytest.raises(PythonError) as caught:
        find_installed(Sources(prefix=None, python=Path("my python")))
    assert caught.value.because == "no folder and no command on PATH is called my python"
    assert caught.value.help == "name its file: --python './my python'"
    (python / "bin" / "my python").symlink_to(python / "bin" / "python")
    monkeypatch.setenv("PATH", str(python / "bin"))
    assert [found.path for found in find_installed(Sources(prefix=None, python=Path("my python")))] == [root]


@pytest.mark.case("E7")
@pytest.mark.parametrize(("value", "expected"), [(None, []), ("", []), (":", []), ("/a::/b:", ["/a", "/b"])])
def test_python_reads_the_roots_of_any_environment(value: str | None, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_CUSTOM_OPP_PATH", raising=False)
    if value is not None:
        monkeypatch.setenv("ASCEND_CUSTOM_OPP_PATH", value)
    assert env.current() == [Path(each) for each in expected]


def test_the_wheels_of_a_python_are_plain_json(python: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What another Python is asked by is a program of its own: it imports nothing of opkit."""
    installed_wheel(site_packages(python), "add")
    done = subprocess.run([python / "bin" / "python", "-I", wheels.__file__, "opkit.opp"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[["add", str(site_packages(python) / "add"), None]], []]
