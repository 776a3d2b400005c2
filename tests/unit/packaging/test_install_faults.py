"""Installs that are killed, refused by the disk, shut out or crowded: the prefix holds the old version or the new one, whole and in use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from install_support import HEADER, LIBRARY, install, opp_root, tree

from opkit.cli import main
from opkit.errors import NoSpaceError, UnwritableError
from opkit.packaging import installed, pack, uninstall

_PROGRAM = Path(__file__).resolve().parents[2] / "fault_support.py"
_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system of its own, and one that makes and removes folders fast


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Everybody may pass through it."""
    made = Path(tempfile.mkdtemp(dir=_MEMORY if os.access(_MEMORY, os.W_OK) else tmp_path))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def _run(fault: str, folder: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, _PROGRAM, fault, folder, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("scenario", ["first", "upgrade", "uninstall"])
def test_killed_at_any_step_the_old_version_or_the_new_one_is_whole_and_in_use(folder: Path, scenario: str) -> None:
    assert int(_run("killed", folder, scenario)) > 20


@pytest.mark.parametrize("scenario", ["upgrade", "uninstall"])
def test_interrupted_at_any_step_one_of_the_two_is_whole_and_in_use(folder: Path, scenario: str) -> None:
    assert int(_run("interrupted", folder, scenario)) > 20


@pytest.mark.case("F6")
@pytest.mark.parametrize("scenario", ["first", "upgrade"])
def test_a_disk_that_is_full_at_any_step_fails_the_install_and_leaves_the_prefix_as_it_was(folder: Path, scenario: str) -> None:
    assert int(_run("refused", folder, scenario)) > 20


@pytest.mark.case("J6")
def test_ten_installs_at_once_into_one_prefix_are_all_there(folder: Path) -> None:
    assert _run("crowded", folder) == "10\n"


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.case("F9")
def test_a_folder_of_somebody_else_is_named_with_its_owner_and_ones_own_is_installed_to_again(folder: Path) -> None:
    told, owner = _run("unprivileged", folder).rstrip("\n").rsplit("\n", 1)
    assert f"because: {folder / 'closed'} is owned by {owner} (" in told
    assert "mode 0555" in told
    assert "help: name a folder that can be written with --prefix DIR" in told


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A prefix with a package in it, mounted so that nobody can write it."""
    prefix = tmp_path / "read-only"
    install(opp_root(tmp_path / "old", {LIBRARY: "old"}), prefix)
    mounted = subprocess.run(["mount", "--bind", "-o", "ro", prefix, prefix], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield prefix
    subprocess.run(["umount", prefix], check=True)


def test_a_read_only_file_system_is_told_as_that(read_only: Path, tmp_path: Path) -> None:
    for change in (lambda: install(opp_root(tmp_path / "new", {LIBRARY: "new"}), read_only), lambda: uninstall(["add"], read_only)):
        with pytest.raises(UnwritableError) as caught:
            change()
        assert caught.value.because == f"{read_only} lies on a read-only file system"
    assert installed(read_only)[0].problems() == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Two megabytes and as many files as three installs of a package of one file need."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=32", "tmpfs", disk], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.case("F6")
def test_a_really_full_disk_leaves_the_installed_version(small_disk: Path, tmp_path: Path) -> None:
    prefix = small_disk / "prefix"
    install(opp_root(tmp_path / "old", {LIBRARY: "old"}), prefix)
    with pytest.raises(NoSpaceError):
        install(opp_root(tmp_path / "large", {LIBRARY: "x" * (5 << 19)}), prefix)
    # There is room, but not for so many files.
    many = {f"op_graph/include/{number}.h": "" for number in range(40)}
    with pytest.raises(UnwritableError, match="cannot write") as caught:
        install(opp_root(tmp_path / "many", {LIBRARY: "many", **many}), prefix)
    assert "No space left on device" in (caught.value.because or "")
    assert tree(prefix / "add") == {LIBRARY: "old"}
    assert installed(prefix)[0].problems() == []
    assert install(opp_root(tmp_path / "new", {LIBRARY: "new"}), prefix).problems() == []


@pytest.mark.case("F6")
def test_an_install_that_fails_half_way_says_no_word_of_success(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    old = opp_root(tmp_path / "old", {LIBRARY: "old"}).path
    new = opp_root(tmp_path / "new", {HEADER: "header", LIBRARY: "x" * 5000}, version="0.2.0").path
    # No file may be larger than 4096 bytes: the header is written, and the library isn't.
    script = 'ulimit -f 4; exec "$0" -B -m opkit install "$@"'
    for source, exit_code in ((old, 0), (new, 3), (old, 0)):
        argv: list[str | Path] = ["bash", "-c", script, sys.executable, source, "--prefix", prefix]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == exit_code, done.stderr
        assert ("nstalled" in done.stderr) == (exit_code == 0)
        assert tree(prefix / "add") == {LIBRARY: "old"}


@pytest.mark.case("I9")
def test_an_archive_is_installed_from_a_temporary_folder_on_another_file_system(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if folder.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system that this user may write")
    root = opp_root(tmp_path / "output", {LIBRARY: "library"})
    packed = pack(root, tmp_path / "dist", is_simulator_allowed=True)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert main(["install", str(packed.path), "--prefix", str(tmp_path / "prefix")]) == 0
    assert tree(tmp_path / "prefix/add") == {LIBRARY: "library"}
    assert list(folder.iterdir()) == []
    (state,) = installed(tmp_path / "prefix")
    assert state.receipt is not None
    assert (state.receipt.source, state.receipt.sha256) == (str(packed.path), packed.sha256)
