"""A pipe where a file of somebody else's is expected keeps no reader of opkit's waiting: it is no file, whoever asks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from install_support import HEADER, LIBRARY, install, opp_root
from waiting_support import never_waiting

from opkit.build import Project
from opkit.build.folder import TAG, is_ours
from opkit.build.state import STATE, FolderState, TreeState
from opkit.build.workspace import find_projects
from opkit.cli import main
from opkit.codegen import FileSet, GeneratedFile, drift
from opkit.deliverable import MANIFEST
from opkit.errors import NotAProjectError, UnreadableError
from opkit.lookup import lookup
from opkit.lookup.host import host_folder
from opkit.packaging import installed, verify_installed
from opkit.toolkit import Kind, Toolkit, elf_arch, served_abis

if TYPE_CHECKING:
    from pathlib import Path


def _pipe(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return path


def test_of_a_build_folder_it_is_no_state(tmp_path: Path) -> None:
    _pipe(tmp_path / STATE)
    _pipe(tmp_path / TAG)
    with never_waiting():
        assert FolderState.read(tmp_path) == FolderState()
        assert TreeState.read(tmp_path) == TreeState()
        assert not is_ours(tmp_path)


def test_among_projects_it_is_one_that_says_itself_why_it_is_none(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one/ops.py").write_text("import opkit\n")
    _pipe(tmp_path / "two/ops.py")
    with never_waiting():
        assert [project.root for project in find_projects([tmp_path])] == [tmp_path / "one", tmp_path / "two"]
        with pytest.raises(NotAProjectError):
            Project.find(tmp_path / "two")


@pytest.mark.parametrize("name", ["CMakeLists.txt", ".opkit/generated.json"])
def test_among_generated_files_it_is_one_clear_error(tmp_path: Path, name: str) -> None:
    files = FileSet(files=(GeneratedFile(path="CMakeLists.txt", text="project(x)\n"),))
    _pipe(tmp_path / name)
    for use in (lambda: files.write(tmp_path), lambda: drift(tmp_path, files)):
        with pytest.raises(UnreadableError) as caught, never_waiting():
            use()
        assert (caught.value.message, caught.value.because) == (f"cannot read {tmp_path / name}", "it is no file")


def test_in_a_toolkit_it_tells_nothing(tmp_path: Path, toolkit: Toolkit) -> None:
    cann = toolkit._replace(kind=Kind.CANN, home=tmp_path / "cann")
    _pipe(cann.home / "lib64/libgraph_base.so")
    _pipe(cann.home / "opp/scene.info")
    _pipe(cann.home / "compiler/version.info")
    (tmp_path / "opp/built-in").mkdir(parents=True)
    _pipe(tmp_path / "opp/vendors/config.ini")
    _pipe(tmp_path / "root" / LIBRARY)
    with never_waiting():
        assert elf_arch(cann.lib64 / "libgraph_base.so") is None
        assert served_abis(cann.lib64) == set()
        assert host_folder(cann).source is None
        found = lookup({"ASCEND_OPP_PATH": str(tmp_path / "opp"), "ASCEND_CUSTOM_OPP_PATH": str(tmp_path / "root")}, cann)
    assert found.vendors is not None
    assert found.vendors.faults == ("it can't be read: it is no file",)
    assert [library.ops for place in found.custom for library in place.libraries] == [None]


@pytest.mark.parametrize("arguments", [["verify"], ["verify", "--json"], ["inspect"], ["install"]])
@pytest.mark.parametrize("name", [MANIFEST, HEADER, LIBRARY])
def test_in_an_opp_root_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, arguments: list[str]) -> None:
    root = opp_root(tmp_path / "output", {LIBRARY: "library", HEADER: "header"}, kind="cann")
    _pipe(root.path / name)
    options = ["--no-load"] if "verify" in arguments else ["--prefix", str(tmp_path / "prefix")] if "install" in arguments else []
    with never_waiting():
        # What differs from its manifest can be inspected, as long as it can be read.
        assert main([*arguments, str(root.path), *options]) == (0 if arguments == ["inspect"] and name == HEADER else 4)
    assert not (tmp_path / "prefix").exists()
    told = capsys.readouterr()
    assert "it is no file" in told.out + told.err or f"{name} isn't the file that was built" in told.out + told.err


def test_in_the_place_of_a_lock_it_locks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = opp_root(tmp_path / "output", {LIBRARY: "library", HEADER: "header"}, kind="cann")
    lock = _pipe(tmp_path / "prefix/.opkit/.lock")
    with never_waiting():
        assert main(["install", str(root.path), "--prefix", str(tmp_path / "prefix")]) == 3
    assert f"because: {lock}: it is no file" in capsys.readouterr().err


@pytest.mark.parametrize("place", [f"add/{MANIFEST}", f"add/{HEADER}", ".opkit/add.json"])
def test_in_a_prefix_it_is_told_and_installing_again_mends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    root = opp_root(tmp_path / "output", {LIBRARY: "library", HEADER: "header"}, kind="cann")
    prefix = tmp_path / "prefix"
    sound = verify_installed(install(root, prefix), environ=None).violations
    _pipe(prefix / place)
    with never_waiting():
        assert main(["list", "--prefix", str(prefix)]) == 0
        assert "problem: " in capsys.readouterr().out
        assert verify_installed(installed(prefix)[0], environ=None).violations != sound
        assert main(["install", str(root.path), "--prefix", str(prefix)]) == 0
        capsys.readouterr()
        assert main(["list", "--prefix", str(prefix)]) == 0
    told = capsys.readouterr().out.split("problem: ")[1:]
    assert all(".edited" in each or "pipe" in each for each in told)
