"""Where an installer installs to: the default, and folders that can't be one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from run_installer_support import ENVIRON, Case, is_as_built, tree_with_modes


def test_the_default_is_the_prefix_of_opkit(case: Case, tmp_path: Path) -> None:
    home, data, own = tmp_path / "home", tmp_path / "data", tmp_path / "own"
    environ = {**ENVIRON, "HOME": str(home), "XDG_DATA_HOME": str(data), "OPKIT_PREFIX": str(own)}
    home.mkdir()
    for prefix in (own, data / "opkit" / "opp", home / ".local" / "share" / "opkit" / "opp"):
        done = case.script("1.0", env=environ)
        assert done.returncode == 0, done.stderr
        assert is_as_built(prefix, "1.0")
        assert case.script("1.0", "--uninstall", env=environ).returncode == 0
        assert not prefix.exists()
        environ.popitem()
    nowhere = case.script("1.0", env=environ)
    assert nowhere.returncode == 3
    assert "neither OPKIT_PREFIX, XDG_DATA_HOME nor HOME names an absolute path" in nowhere.stderr


@pytest.mark.case("F8")
def test_the_search_path_of_ge_is_never_a_target(case: Case, tmp_path: Path) -> None:
    listed = f"{tmp_path / 'a'}:{tmp_path / 'b'}"
    (tmp_path / "home").mkdir()
    environ = {**ENVIRON, "HOME": str(tmp_path / "home"), "ASCEND_CUSTOM_OPP_PATH": listed}
    assert case.script("1.0", env=environ).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    for options, variables in ((["--install-path", listed], {}), ([f"--install-path={listed}"], {}), ([], {"OPKIT_PREFIX": listed})):
        done = case.script("1.0", *options, env={**environ, **variables})
        assert done.returncode == 2
        assert f"isn't one folder: {listed}\n  because: a ':' separates the folders of ASCEND_CUSTOM_OPP_PATH" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (["--install-path"], "nothing comes after it"),
        (["--install-path", ""], "it has to name a folder"),
        (["--install-path="], "it has to name a folder"),
        (["--install-path", "//"], "packages need a folder of their own"),
        (["--install-path", "/."], "packages need a folder of their own"),
        (["--install-path", "/opt/./..//"], "packages need a folder of their own"),
        (["--install-path", "relative/path"], "what it is relative to differs"),
        (["--install-path", "~/opp"], "what it is relative to differs"),
        (["--install-path", "/opt/a\nb"], "it holds a control character"),
        (["--uninstall", "--install-path", "relative"], "what it is relative to differs"),
    ],
)
def test_a_path_that_is_no_folder_of_its_own_is_refused(case: Case, tmp_path: Path, options: list[str], because: str) -> None:
    before = sorted(case.unpacked["1.0"].rglob("*"))
    done = case.script("1.0", *options, env={**ENVIRON, "HOME": str(tmp_path)})
    assert done.returncode == 2
    assert re.fullmatch(r"error: .*\n  because: .*\n  help: .*\n", done.stderr), done.stderr
    assert because in done.stderr
    assert done.stdout == ""
    assert (sorted(case.unpacked["1.0"].rglob("*")), list(tmp_path.iterdir())) == (before, [])


def test_a_path_is_taken_without_its_detours(case: Case, tmp_path: Path) -> None:
    done = case.script("1.0", "--install-path", f"{tmp_path}/not-there/..//./p/.//")
    assert (done.returncode, f"installed add 1.0 -> {tmp_path}/p/add\n" in done.stdout) == (0, True)
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


@pytest.mark.parametrize("within", ["add", "add/op_graph/deeper", "linked"])
def test_a_prefix_inside_of_a_package_is_refused(case: Case, tmp_path: Path, within: str) -> None:
    case.script("1.0", "--install-path", tmp_path / "p")
    (tmp_path / "p" / "linked").symlink_to("add/op_graph")
    before = tree_with_modes(tmp_path)
    done = case.script("1.0", "--install-path", tmp_path / "p" / within)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {tmp_path / 'p' / within} lies in a package\n  because: {tmp_path / 'p'}")
    assert tree_with_modes(tmp_path) == before


def test_a_link_to_nowhere_is_told_as_that(case: Case, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    done = case.script("1.0", "--install-path", tmp_path / "link")
    assert (done.returncode, f"because: {tmp_path / 'link'} is a link to nowhere, which isn't there" in done.stderr) == (3, True), (
        done.stderr
    )


def test_a_read_only_file_system_is_told_as_that(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    case.script("1.0", "--install-path", prefix)
    mounted = subprocess.run(["mount", "--bind", "-o", "ro", prefix, prefix], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        for options in ([], ["--uninstall"]):
            done = case.script("1.0", "--install-path", prefix, *options)
            assert (done.returncode, f"because: {prefix} lies on a read-only file system" in done.stderr) == (3, True), done.stderr
    finally:
        subprocess.run(["umount", prefix], check=True)


def test_a_file_in_the_way_is_told(case: Case, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    done = case.script("1.0", "--install-path", tmp_path / "file" / "opp")
    assert (done.returncode, f"because: {tmp_path / 'file'} is no folder" in done.stderr) == (3, True)
    (tmp_path / "add").mkdir()
    done = case.script("1.0", "--install-path", tmp_path)
    assert done.returncode == 2
    assert f"error: {tmp_path} holds add, which opkit didn't put there" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["add", "file"]
