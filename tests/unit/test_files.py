"""Whole files or none."""

from __future__ import annotations

import errno
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from waiting_support import never_waiting

from opkit.errors import UnwritableError
from opkit.files import (
    content_of,
    copy_whole,
    digest_of,
    draft_stem,
    guard_writing,
    make_folders,
    remove_empty_folders,
    whole_file,
    write_whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable


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


def test_a_refusal_names_the_file_and_not_its_draft_and_the_way_out(tmp_path: Path) -> None:
    draft = tmp_path / f".{draft_stem('state.json')}.225561775556433"
    with pytest.raises(UnwritableError) as caught, guard_writing(tmp_path):
        raise PermissionError(errno.EACCES, "Permission denied", str(draft))
    assert caught.value.because == f"{tmp_path}/state.json: Permission denied"
    assert caught.value.help == f"let yourself write there: chmod u+rwx {tmp_path}"
    with pytest.raises(UnwritableError) as caught, guard_writing(tmp_path, help="--output DIR"):
        raise PermissionError(errno.EACCES, "Permission denied", str(draft))
    assert caught.value.help == "--output DIR"


_AS_NOBODY = """\
import os, sys
from pathlib import Path
from opkit.errors import UnwritableError
from opkit.files import guard_writing, write_whole
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    with guard_writing(Path(sys.argv[1])):
        write_whole(Path(sys.argv[1]), b"")
except UnwritableError as fault:
    print(fault.message, fault.because, sep="; ")
"""


@pytest.mark.usefixtures("as_nobody")
def test_a_folder_that_is_closed_is_one_clear_error() -> None:
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        closed = Path(name, "closed")
        closed.mkdir()
        Path(name).chmod(0o755)
        closed.chmod(0)
        done = subprocess.run([sys.executable, "-c", _AS_NOBODY, closed / "x"], capture_output=True, text=True, check=False)
        closed.chmod(0o755)
    assert done.stdout == f"cannot write {closed}/x; Permission denied\n", done.stderr


_READS_AS_NOBODY = """\
import os, sys
from pathlib import Path
from opkit.deliverable.elf import read_library
from opkit.errors import OpkitError
from opkit.files import guard_reading
os.umask(0o077)
closed, mode, target = Path(sys.argv[1]), int(sys.argv[2], 8), Path(sys.argv[3])
if os.geteuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
target.parent.mkdir(parents=True)
target.write_bytes(b"")
os.chdir(closed.parent)
closed.chmod(mode)
def read():
    with guard_reading(target):
        target.read_bytes()
for reader in (read, lambda: read_library(target)):
    try:
        reader()
    except OpkitError as fault:
        print(fault.help)
"""


@pytest.mark.usefixtures("as_nobody")
@pytest.mark.parametrize(
    ("closed", "mode", "advised"),
    [
        ("cl", "0000", "let yourself in: chmod u+rX {}"),
        ("cl/in", "0000", "let yourself in: chmod u+rX {}"),
        ("cl/in", "0600", "let yourself in: chmod u+rX {}"),
        ("cl/in/pk/file", "0000", "let yourself read it: chmod u+rX {}; or move it away"),
    ],
)
def test_what_is_advised_below_a_closed_folder_opens_that_one(closed: str, mode: str, advised: str) -> None:
    """A chmod of what lies in it would be refused as the reading was."""
    with tempfile.TemporaryDirectory(prefix="opkit-test-") as name:
        Path(name).chmod(0o777)
        folder = Path(name, closed)
        target = Path(name, "cl/in/pk/file")
        argv = [sys.executable, "-c", _READS_AS_NOBODY, str(folder), mode, str(target)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        folder.chmod(0o755)
    assert done.stdout.splitlines() == [advised.format(folder)] * 2, done.stderr


def test_a_hidden_file_with_a_number_is_no_draft(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError) as caught, guard_writing(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / ".cache.1"))
    assert caught.value.because == f"{tmp_path}/.cache.1: Permission denied"


def test_a_link_to_nowhere_is_told_for_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "build").symlink_to("gone/x")
    with pytest.raises(UnwritableError) as caught, guard_writing(tmp_path / "build"):
        make_folders(tmp_path / "build" / "tree")
    assert caught.value.because == f"{tmp_path}/build is a link to gone/x, which isn't there"


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


def test_a_file_of_somebody_else_s_is_read_up_to_its_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert content_of(tmp_path / "link", most=5) == b"12345"
    with pytest.raises(OSError, match="it has 5 bytes, and at most 4 are read"):
        content_of(tmp_path / "file", most=4)
    # The kernel's own say that they have none.
    maps = Path("/proc/self/status").read_bytes()
    assert content_of(Path("/proc/self/status"), most=1 << 20)[:16] == maps[:16]
    with pytest.raises(OSError, match="it has more than 8 bytes, the most that are read"):
        content_of(Path("/proc/self/status"), most=8)


@pytest.mark.parametrize(
    "read", [lambda path: content_of(path, most=8), digest_of, lambda path: copy_whole(path, path.with_name("copy"), mode=0o644)]
)
@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "device", "link to a pipe"])
def test_nobody_is_waited_for_at_what_is_no_file(
    tmp_path: Path, kind: str, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has 108 bytes
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("file")
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to("pipe")
    with pytest.raises(OSError, match="Is a directory" if kind == "folder" else "it is no file") as caught, never_waiting():
        read(path)
    assert caught.value.filename == str(path)
    assert not (tmp_path / "copy").exists()


def test_a_file_that_no_memory_can_hold_is_a_refusal_like_others(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(4 << 30)
    program = (
        "import pathlib, resource, sys; from opkit.files import content_of; resource.setrlimit(resource.RLIMIT_AS, (2 << 30,) * 2)\n"
        "try: content_of(pathlib.Path(sys.argv[1]), most=8 << 30)\n"
        "except OSError as fault: print(fault.strerror)"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "sparse"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("there is not enough memory for its 4294967296 bytes\n", "")
