"""What an installer installs and upgrades is what opkit would, with whatever is somebody's own."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from install_support import HEADER, KERNEL, LIBRARY, install
from run_installer_support import ENVIRON, FOLDER, NEW, WAS_FOLDER, Case, cann_root, is_as_built, tree_with_modes

from opkit.deliverable import MANIFEST, OppRoot
from opkit.packaging import installed, uninstall


@pytest.mark.case("F11")
@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_it_installs_what_opkit_installs(case: Case, tmp_path: Path, shell: str) -> None:
    before = os.umask(0o077)
    try:
        ours, its = tmp_path / "opkit" / "p", tmp_path / "installer" / "p"
        for version in ("1.0", "2.0", "2.0", "1.0"):
            install(case.roots[version], ours)
            done = case.script(version, "--install-path", its, shell=shell)
            assert done.returncode == 0, done.stderr
            aside = {".opkit/add.json": "", ".opkit/.lock": ""}
            assert tree_with_modes(its) | aside == tree_with_modes(ours) | aside
            assert is_as_built(its, version)
            assert case.roots[version].manifest == OppRoot.read(its / "add").manifest  # type: ignore[union-attr]
    finally:
        os.umask(before)
    (package,) = installed(its)
    (known,) = installed(ours)
    assert package.receipt is not None
    assert known.receipt is not None
    assert package.receipt._replace(source="", installed="") == known.receipt._replace(
        source="", installed="", sha256=package.receipt.sha256
    )


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_either_upgrades_and_uninstalls_what_the_other_installed(case: Case, tmp_path: Path, shell: str) -> None:
    prefix = tmp_path / "new" / "p"
    install(case.roots["1.0"], prefix)
    assert case.script("2.0", "--install-path", prefix, shell=shell).returncode == 0
    assert is_as_built(prefix, "2.0")
    install(case.roots["1.0"], prefix)
    assert is_as_built(prefix, "1.0")
    assert case.script("2.0", "--install-path", prefix, "--uninstall", shell=shell).returncode == 0
    assert list(tmp_path.iterdir()) == []
    assert case.script("1.0", "--install-path", prefix, shell=shell).returncode == 0
    uninstall(["add"], prefix)
    assert list(tmp_path.iterdir()) == []


def test_an_upgrade_removes_what_the_new_version_lacks(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    case.script("1.0", "--install-path", prefix)
    case.script("2.0", "--install-path", prefix)
    files = {str(path.relative_to((prefix / "add").resolve())) for path in (prefix / "add").resolve().rglob("*") if path.is_file()}
    assert files == {*NEW, MANIFEST}
    assert len(list((prefix / ".opkit" / "add").iterdir())) == 1


def _disturb(prefix: Path) -> None:
    """Whatever users do to the files of a package."""
    root = prefix / "add"
    (root / "notes.txt").write_text("mine")
    (root / FOLDER / "sub .d").mkdir()
    (root / FOLDER / "sub .d" / ".hidden").write_text("mine too")
    (root / FOLDER / "link").symlink_to("nowhere")
    (root / FOLDER / "folder link").symlink_to("..")
    (root / HEADER).write_text("edited")
    (root / f"{HEADER}.edited").write_text("edited")  # A file of that name, even with the same text.
    (root / FOLDER / "加 法.asc").write_text("edited, and the next version lacks it")
    (root / FOLDER / "mul.asc").write_text("where the next version has a file")
    shutil.copy(root / LIBRARY, root / FOLDER / "copy.so")
    (root / KERNEL).unlink()
    (root / WAS_FOLDER / "x.h").write_text("edited, and its folder is a file in the next version")
    (root / WAS_FOLDER / "own.h").write_text("beside it")
    (root / "empty" / "inner").mkdir(parents=True)
    (root / "private").mkdir()
    (root / "private" / "key").write_text("for nobody else")
    (root / "private").chmod(0o700)
    (root / "-x" / "-n").mkdir(parents=True)
    (root / "-x" / "-n" / "--help").write_text("a name like an option")
    (root / "-x").chmod(0o555)


def test_foreign_and_edited_files_stay_as_with_opkit(case: Case, tmp_path: Path) -> None:
    ours, its = tmp_path / "opkit", tmp_path / "installer"
    for prefix in (ours, its):
        install(case.roots["1.0"], prefix)
        _disturb(prefix)
    install(case.roots["2.0"], ours)
    done = case.script("2.0", "--install-path", its)
    assert done.returncode == 0, done.stderr
    expected = tree_with_modes(ours)
    receipt = ".opkit/add.json"
    assert tree_with_modes(its) | {receipt: ""} == expected | {receipt: ""}
    assert sorted(re.findall(r"^  (.*)$", done.stdout, flags=re.MULTILINE)) == sorted(
        [f"{WAS_FOLDER}.edited/own.h", f"{WAS_FOLDER}.edited/x.h"]
        + ["-x/-n/--help", "notes.txt", "private/key", f"{HEADER}.edited", f"{HEADER}.edited.2"]
        + [f"{FOLDER}/{name}" for name in ("copy.so", "folder link", "link", "mul.asc.edited", "sub .d/.hidden", "加 法.asc.edited")]
    )
    assert is_as_built(its, "2.0")
    # And what both leave when the package goes.
    uninstall(["add"], ours)
    done = case.script("2.0", "--install-path", its, "--uninstall")
    assert done.returncode == 0, done.stderr
    assert tree_with_modes(its) == tree_with_modes(ours)
    assert (its / "add" / "notes.txt").read_text() == "mine"
    assert installed(its) == []
    before = tree_with_modes(its)
    assert case.script("2.0", "--install-path", its, "--uninstall").returncode == 0
    assert tree_with_modes(its) == before
    assert case.script("1.0", "--install-path", its).returncode == 0
    assert (its / "add" / "notes.txt").read_text() == "mine"
    assert is_as_built(its, "1.0")


def test_a_folder_is_closed_to_others_until_its_mode_is_that_of_the_old(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    install(case.roots["1.0"], prefix)
    (prefix / "add" / "private").mkdir(mode=0o700)
    (prefix / "add" / "private" / "key").write_text("for nobody else")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "chmod").write_text(f'#!/bin/sh\nstat -c %a {prefix}/.opkit/add/.stage >>{tmp_path}/seen\nexec /bin/chmod "$@"\n')
    (tmp_path / "bin" / "chmod").chmod(0o755)
    environ = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    assert case.script("2.0", "--install-path", prefix, env=environ).returncode == 0
    assert {*(tmp_path / "seen").read_text().split()} == {"700"}
    assert stat.S_IMODE((prefix / "add").stat().st_mode) == 0o755


def test_other_packages_of_the_prefix_stay(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / "p"
    install(cann_root(tmp_path / "mul", NEW, package="mul"), prefix)
    before = tree_with_modes(prefix)
    for options in ([], [], ["--uninstall"]):
        assert case.script("1.0", "--install-path", prefix, *options).returncode == 0
    assert tree_with_modes(prefix) == before
    assert [package.package for package in installed(prefix)] == ["mul"]


def test_what_it_prints_activates_the_package(case: Case, tmp_path: Path) -> None:
    prefix = tmp_path / 'it\'s "my" $HOME `pwd` 算子'
    line = case.script("1.0", "--install-path", prefix).stdout.splitlines()[-1]
    for shell in ("dash", "bash", "zsh"):
        for before, after in (("", ""), ("/other path:/b", ":/other path:/b")):
            environ = {**ENVIRON, **({"ASCEND_CUSTOM_OPP_PATH": before} if before else {})}
            script = f'set -u\n{line}\nprintf %s "$ASCEND_CUSTOM_OPP_PATH"'
            done = subprocess.run([shell, "-c", script], env=environ, capture_output=True, text=True, check=False)
            assert (done.stdout, done.stderr) == (f"{prefix}/add{after}", "")
