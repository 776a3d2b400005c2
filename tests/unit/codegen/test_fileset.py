"""The tree of generated files on disk: written whole, never over an edit, removed when no longer needed."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest

from opkit.codegen import DriftKind, FileSet, GeneratedFile, drift
from opkit.errors import EditedFileError, FolderNotEmptyError, UnreadableError, UnwritableError

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = ".opkit/generated.json"


def files(**texts: str) -> FileSet:
    """`a__b` stands for the path a/b; a script is executable."""
    paths = {name.replace("__", "/"): text for name, text in texts.items()}
    return FileSet(tuple(GeneratedFile(path=path, text=text, is_executable=path == "run") for path, text in paths.items()))


def tree(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file() and ".opkit" not in path.parts
    }


def times(root: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in root.rglob("*")}


def test_files_and_their_hashes_are_written(tmp_path: Path) -> None:
    changes = files(a="1\n", ge__b="2\n").write(tmp_path)
    assert (changes.written, changes.removed, changes.kept) == (("a", "ge/b"), (), ())
    assert tree(tmp_path) == {"a": "1\n", "ge/b": "2\n"}
    assert set(json.loads((tmp_path / MANIFEST).read_text())["files"]) == {"a", "ge/b"}


@pytest.mark.case("D2")
def test_writing_the_same_again_touches_nothing(tmp_path: Path) -> None:
    files(a="1\n", ge__b="2\n").write(tmp_path)
    before = times(tmp_path)
    assert not files(a="1\n", ge__b="2\n").write(tmp_path)
    assert times(tmp_path) == before


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    files(a="1\n", b="2\n").write(tmp_path)
    before = (tmp_path / "a").stat().st_mtime_ns
    assert files(a="1\n", b="3\n").write(tmp_path).written == ("b",)
    assert (tmp_path / "a").stat().st_mtime_ns == before
    assert tree(tmp_path) == {"a": "1\n", "b": "3\n"}


@pytest.mark.case("D4", "D5")
def test_edited_files_are_named_together_and_nothing_is_written(tmp_path: Path) -> None:
    files(a="1\n", b="2\n", c="3\n").write(tmp_path)
    (tmp_path / "a").write_text("mine\n")
    (tmp_path / "b").write_text("mine too\n")
    before = times(tmp_path)
    with pytest.raises(EditedFileError) as caught:
        files(a="4\n", b="5\n", c="6\n", d="7\n").write(tmp_path)
    assert "a, b" in caught.value.message
    assert times(tmp_path) == before


def test_an_edited_file_that_would_not_change_is_no_obstacle(tmp_path: Path) -> None:
    files(a="1\n", b="2\n").write(tmp_path)
    (tmp_path / "a").write_text("4\n")
    assert files(a="4\n", b="5\n").write(tmp_path).written == ("b",)


@pytest.mark.case("D5")
def test_a_file_that_opkit_never_wrote_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine\n")
    with pytest.raises(EditedFileError) as caught:
        files(a="1\n", b="2\n").write(tmp_path)
    assert "not written by opkit: a" in (caught.value.because or "")
    assert tree(tmp_path) == {"a": "mine\n"}


def test_a_deleted_file_is_written_again(tmp_path: Path) -> None:
    files(a="1\n", b="2\n").write(tmp_path)
    (tmp_path / "a").unlink()
    assert files(a="1\n", b="2\n").write(tmp_path).written == ("a",)


@pytest.mark.case("A5", "D4")
def test_what_is_no_longer_needed_is_removed_with_its_empty_folder(tmp_path: Path) -> None:
    files(a="1\n", ge__b="2\n").write(tmp_path)
    (tmp_path / "notes.txt").write_text("mine\n")
    assert files(a="1\n").write(tmp_path).removed == ("ge/b",)
    assert tree(tmp_path) == {"a": "1\n", "notes.txt": "mine\n"}
    assert not (tmp_path / "ge").exists()


def test_an_edited_file_that_is_no_longer_needed_stays_and_is_told(tmp_path: Path) -> None:
    files(a="1\n", ge__b="2\n").write(tmp_path)
    (tmp_path / "ge" / "b").write_text("mine\n")
    changes = files(a="1\n").write(tmp_path)
    assert (changes.removed, changes.kept) == ((), ("ge/b",))
    assert tree(tmp_path) == {"a": "1\n", "ge/b": "mine\n"}
    # It is the user's from now on.
    assert files(a="1\n").write(tmp_path).kept == ()


def test_modes_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        files(run="#!/bin/sh\n", ge__b="2\n").write(tmp_path)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"run": 0o755, "ge": 0o755, "b": 0o644, ".opkit": 0o755, "generated.json": 0o644}


def test_a_script_that_lost_its_mode_gets_it_back(tmp_path: Path) -> None:
    files(run="#!/bin/sh\n").write(tmp_path)
    (tmp_path / "run").chmod(0o644)
    files(run="#!/bin/sh\n").write(tmp_path)
    assert os.access(tmp_path / "run", os.X_OK)


def test_a_write_that_was_killed_half_way_is_no_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files(a="1\n", b="1\n").write(tmp_path)
    fileset = __import__("opkit.codegen.fileset", fromlist=["write_whole"])
    write = fileset.write_whole

    def killed(target: Path, content: bytes, *, mode: int = 0o644) -> None:
        if target.name == "b":
            raise KeyboardInterrupt
        write(target, content, mode=mode)

    monkeypatch.setattr(fileset, "write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        files(a="2\n", b="2\n").write(tmp_path)
    monkeypatch.undo()
    assert tree(tmp_path) == {"a": "2\n", "b": "1\n"}
    files(a="3\n", b="3\n").write(tmp_path)
    assert tree(tmp_path) == {"a": "3\n", "b": "3\n"}


def test_no_temporary_file_stays(tmp_path: Path) -> None:
    files(a="1\n").write(tmp_path)
    (tmp_path / "b").mkdir()
    with pytest.raises(UnreadableError):
        files(a="1\n", b="2\n").write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".opkit", "a", "b"]


@pytest.mark.case("D4")
@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_an_unwritable_folder_is_one_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(UnwritableError):
        files(a="1\n").write(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[]",
        "{}",
        '{"schema": 2, "files": {}}',
        '{"schema": 1, "files": {"../a": {"sha256": "0"}}}',
        '{"schema": 1, "files": {"/etc/passwd": {"sha256": "0"}}}',
        '{"schema": 1, "files": {"a": {}}}',
        '{"schema": 1, "files": {"a": "0"}}',
    ],
)
def test_a_manifest_that_opkit_did_not_write_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / ".opkit").mkdir()
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(EditedFileError) as caught:
        files(a="1\n").write(tmp_path)
    assert caught.value.where == str(tmp_path / MANIFEST)
    assert tree(tmp_path) == {}


def test_drift_tells_each_kind_of_difference(tmp_path: Path) -> None:
    files(same="1\n", old="1\n", edited="1\n", gone="1\n", extra="1\n").write(tmp_path)
    (tmp_path / "edited").write_text("mine\n")
    (tmp_path / "gone").unlink()
    found = {item.path: item for item in drift(tmp_path, files(same="1\n", old="2\n", edited="1\n", gone="1\n", new="1\n"))}
    assert {path: item.kind for path, item in found.items()} == {
        "old": DriftKind.OUTDATED,
        "edited": DriftKind.EDITED,
        "gone": DriftKind.MISSING,
        "new": DriftKind.MISSING,
        "extra": DriftKind.UNNEEDED,
    }
    assert found["old"].diff == "--- a/old\n+++ b/old\n@@ -1 +1 @@\n-1\n+2\n"
    assert found["extra"].diff == "--- a/extra\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
    assert found["gone"].diff == "--- /dev/null\n+++ b/gone\n@@ -0,0 +1 @@\n+1\n"


def test_drift_shows_a_missing_newline(tmp_path: Path) -> None:
    files(a="1\n").write(tmp_path)
    (tmp_path / "a").write_text("1")
    (item,) = drift(tmp_path, files(a="1\n"))
    assert item.diff == "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+1\n"


def test_there_is_no_drift_right_after_writing(tmp_path: Path) -> None:
    files(a="1\n", ge__b="2\n").write(tmp_path)
    assert drift(tmp_path, files(a="1\n", ge__b="2\n")) == []


def test_user_files_are_created_once_and_not_owned(tmp_path: Path) -> None:
    files(a="1\n", b="2\n").create(tmp_path)
    assert tree(tmp_path) == {"a": "1\n", "b": "2\n"}
    assert not (tmp_path / MANIFEST).exists()
    (tmp_path / "b").unlink()
    with pytest.raises(FolderNotEmptyError):
        files(a="3\n", b="4\n").create(tmp_path)
    assert tree(tmp_path) == {"a": "1\n"}
