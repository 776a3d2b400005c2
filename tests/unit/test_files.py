"""Whole files or none."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from opkit.errors import UnwritableError
from opkit.files import copy_whole, digest_of, draft_stem, guard_writing, make_folders, remove_empty_folders, whole_file, write_whole


def test_a_file_appears_whole_with_its_mode_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_whole(tmp_path / "file", b"content", mode=0o644)
        made = make_folders(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert (tmp_path / "file").read_bytes() == b"content"
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644
    assert made == [tmp_path / "a", tmp_path / "a" / "b"]
    assert [folder.stat().st_mode & 0o777 for folder in made] == [0o755, 0o755]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def refuse(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(KeyboardInterrupt):
        write_whole(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_reader_of_the_old_file_keeps_it(tmp_path: Path) -> None:
    target = tmp_path / "library.so"
    target.write_bytes(b"old")
    (tmp_path / "new").write_bytes(b"new")
    with target.open("rb") as reader:
        copy_whole(tmp_path / "new", target, mode=0o755)
        assert reader.read() == b"old"
    assert target.read_bytes() == b"new"
    assert digest_of(target) == digest_of(tmp_path / "new")


def test_a_file_where_a_folder_should_be_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("")
    with pytest.raises(UnwritableError) as caught, guard_writing(tmp_path / "in-the-way" / "x", help="--output DIR"):
        make_folders(tmp_path / "in-the-way" / "x")
    assert str(tmp_path / "in-the-way") in (caught.value.because or "")
    assert caught.value.help == "--output DIR"
    assert caught.value.exit_code == 3


def test_empty_folders_go_up_to_the_limit_and_full_ones_stay(tmp_path: Path) -> None:
    make_folders(tmp_path / "root" / "a" / "b" / "c")
    (tmp_path / "root" / "a" / "kept").write_text("")
    remove_empty_folders(tmp_path / "root" / "a" / "b" / "c", upto=tmp_path / "root")
    assert sorted(path.name for path in (tmp_path / "root").rglob("*")) == ["a", "kept"]


@pytest.mark.parametrize(("help_text", "expected"), [(None, "free some space"), ("name another", "free some space, or name another")])
def test_a_full_disk_is_told_in_the_same_words_wherever_it_is(tmp_path: Path, help_text: str | None, expected: str) -> None:
    with pytest.raises(UnwritableError) as caught, guard_writing(tmp_path, help=help_text), Path("/dev/full").open("wb") as file:
        file.write(b"x")
    assert caught.value.because == "the disk is full: No space left on device"
    assert caught.value.help == expected


def test_a_path_that_can_not_be_written_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError) as caught, guard_writing(tmp_path):
        tmp_path.open("wb")
    assert (caught.value.message, caught.value.because) == (f"cannot write {tmp_path}", "Is a directory")


def test_a_link_that_lies_in_wait_is_not_written_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs").write_bytes(b"old")
    (tmp_path / f".file.{os.getpid()}").symlink_to("theirs")
    write_whole(tmp_path / "file", b"new")
    # Not even where the number was foreseen.
    monkeypatch.setattr(os, "urandom", lambda size: b"\0" * size)
    (tmp_path / ".file.0").symlink_to("theirs")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "file", b"again")
    assert (tmp_path / "theirs").read_bytes() == b"old"
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["f" * 255, "算" * 85, "file"], ids=["long", "wide", "usual"])
def test_a_draft_is_named_after_its_file_as_far_as_there_is_room(tmp_path: Path, name: str) -> None:
    with whole_file(tmp_path / name) as file:
        file.write(b"content")
        (draft,) = tmp_path.iterdir()
        assert re.fullmatch(rf"\.{draft_stem(name)}\.\d+", draft.name)
        assert name.startswith(draft_stem(name))
        assert draft.stat().st_mode & 0o777 == 0o600
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"content")]
