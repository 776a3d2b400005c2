"""Whole files or none: what opkit writes outside a project's generated tree appears by rename, so a kill leaves the old file or the new."""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from opkit.errors import UnreadableError, UnwritableError

__all__ = [
    "FILE_MODE",
    "FOLDER_MODE",
    "LARGEST_LIBRARY",
    "LARGEST_SETTINGS",
    "LARGEST_TEXT",
    "PROGRAM_MODE",
    "closed_above",
    "content_of",
    "copy_whole",
    "digest_of",
    "draft_stem",
    "guard_reading",
    "guard_writing",
    "make_folders",
    "plain_file",
    "readable_again",
    "remove_empty_folders",
    "whole_file",
    "whose",
    "write_whole",
]

# Whatever the umask: what one user installs is for all.
FILE_MODE = 0o644
FOLDER_MODE = 0o755
PROGRAM_MODE = 0o755  # and that of libraries
_LONGEST_STEM = 200  # bytes; a name has 255
_FREE = "free some space"
# Of files that somebody else may have put there: one with a line for each setting, a text that a tool or a person wrote, and a library.
LARGEST_SETTINGS = 1 << 20
LARGEST_TEXT = 64 << 20
LARGEST_LIBRARY = 1 << 31
_CHUNK = 1 << 20
_NO_PLAIN_FILE = {errno.EINVAL, errno.EISDIR, errno.EFBIG, errno.ENOMEM}
_FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def guard_writing(target: Path, *, help: str | None = None) -> Iterator[None]:  # noqa: A002 - the word that is printed
    """Turns any refusal of the disk below `target` into one UnwritableError."""
    try:
        yield
    except OSError as fault:
        raise _refused(target, fault, help) from fault


@contextmanager
def guard_reading(target: Path) -> Iterator[None]:
    """Turns any refusal to let `target`, or what lies below it, be read into one UnreadableError that says whose it is."""
    try:
        yield
    except OSError as fault:
        culprit = Path(os.fsdecode(fault.filename)) if fault.filename else target
        msg = f"cannot read {culprit}"
        because = fault.strerror if fault.errno in _NO_PLAIN_FILE else whose(culprit)
        raise UnreadableError(msg, because=because, help=readable_again(culprit, fault)) from fault


def readable_again(path: Path, fault: OSError) -> str | None:
    """What lets a file be read that refused so; None for one that isn't there."""
    if fault.errno in _NO_PLAIN_FILE:
        return f"move {shlex.quote(str(path))} away"
    if fault.errno in {errno.ENOENT, errno.ENOTDIR}:
        return None
    closed = closed_above(path)
    if closed is not None:
        return f"let yourself in: chmod u+rX {shlex.quote(str(closed))}"
    return f"let yourself read it: chmod u+rX {shlex.quote(str(path))}; or move it away"


def closed_above(path: Path) -> Path | None:
    """The outermost folder above `path` that you may not enter, or None. Nobody can tell how it is below that one."""
    return next((folder for folder in reversed(path.absolute().parents) if not os.access(folder, os.X_OK)), None)


def write_whole(target: Path, content: bytes, *, mode: int = FILE_MODE) -> None:
    """Raises OSError; the caller knows what the file is for and guards it."""
    with whole_file(target, mode=mode) as file:
        file.write(content)


@contextmanager
def whole_file(target: Path, *, mode: int = FILE_MODE) -> Iterator[BinaryIO]:
    """A file to write and read that takes the name of `target` at the end, or is gone if that fails. Raises OSError."""
    # A name that nobody can foresee, and never one that is there: a link that lies in wait would be written through.
    temporary = target.with_name(f".{draft_stem(target.name)}.{int.from_bytes(os.urandom(6), 'big')}")
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
        # Not the umask's business: what one user builds, another user's session loads.
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def draft_stem(name: str) -> str:
    """What a file of this name is called while it is written: a dot, this, a dot and a number."""
    return name if len(name) * 4 <= _LONGEST_STEM else os.fsencode(name)[:_LONGEST_STEM].decode("utf-8", "ignore")


@contextmanager
def plain_file(path: Path) -> Iterator[BinaryIO]:
    """A file to read that somebody else may have put there. Raises OSError, also for what is no file: who reads a pipe may wait forever."""
    # Asked before and after it is opened: opening a device does something, and what is there may be another by then.
    _require_plain(path, path.stat())
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
        _require_plain(path, os.fstat(file.fileno()))
        yield file


def content_of(path: Path, *, most: int) -> bytes:
    """What is in a file that somebody else may have put there, all of it. Raises OSError, also for one of more than `most` bytes."""
    with plain_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it has {size} bytes, and at most {most} are read", str(path))
        try:
            content = file.read(size + 1)
            # It grew, or is one of the kernel's, which say that they have no bytes.
            if len(content) > size:
                content += file.read(most + 1 - len(content))
        except MemoryError as fault:
            raise OSError(errno.ENOMEM, f"there is not enough memory for its {size} bytes", str(path)) from fault
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes, the most that are read", str(path))
    return content


def copy_whole(source: Path, target: Path, *, mode: int) -> None:
    with plain_file(source) as file, whole_file(target, mode=mode) as copy:
        while chunk := file.read(_CHUNK):
            copy.write(chunk)


def digest_of(path: Path) -> str:
    import hashlib  # A warm build reads no file for its digest, and this costs it 3 ms.

    digest = hashlib.sha256()
    with plain_file(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def make_folders(folder: Path) -> list[Path]:
    """Makes what is missing of `folder` with mode 0755 and gives those, outermost first."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    missing.reverse()
    for made in missing:
        with suppress(FileExistsError):
            made.mkdir()
            made.chmod(FOLDER_MODE)
        if not made.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(made))
    return missing


def whose(path: Path) -> str:
    """Why a file or a folder refuses: whom it belongs to and who asks. Of one that can't be asked, the folder that hides it is told."""
    import pwd

    try:
        status = path.lstat()
    except OSError as fault:
        closed = closed_above(path)
        if closed is not None:
            return whose(closed)
        return f"{path}: {fault.strerror}"
    try:
        name = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        name = "no name here"
    return f"{path} is owned by uid {status.st_uid} ({name}), mode {status.st_mode & 0o7777:04o}; you are uid {os.geteuid()}"


def remove_empty_folders(folder: Path, *, upto: Path) -> None:
    """Removes `folder` and its parents below `upto` as long as they are empty."""
    while folder not in (upto, folder.parent):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _require_plain(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no file", str(path))


def _refused(target: Path, fault: OSError, help_text: str | None) -> UnwritableError:
    culprit = _without_draft(Path(os.fsdecode(fault.filename)) if fault.filename else target, target)
    because = str(fault.strerror or fault) if culprit == target else f"{culprit}: {fault.strerror or fault}"
    # os.path, because Path's own questions raise in the very case of a folder that is closed.
    dangling = next((path for path in (culprit, *culprit.parents) if os.path.islink(path) and not os.path.exists(path)), None)  # noqa: PTH110, PTH114
    if dangling is not None and fault.errno != errno.EACCES:
        because = f"{dangling} is a link to {os.readlink(dangling)}, which isn't there"  # noqa: PTH115 - a Path would lose a "./"
    elif fault.errno in _FULL:
        because = f"the disk is full: {because}"
        help_text = f"{_FREE}, or {help_text.removeprefix(f'{_FREE}, or ')}" if help_text else _FREE
    elif fault.errno == errno.EACCES and help_text is None:
        folder = culprit if os.path.isdir(culprit) else culprit.parent  # noqa: PTH112
        help_text = f"let yourself write there: chmod u+rwx {shlex.quote(str(folder))}"
    return UnwritableError(f"cannot write {target}", because=because, help=help_text)


def _without_draft(path: Path, target: Path) -> Path:
    """The target in place of its draft, and what becomes of a draft in the target: the name of a draft says nothing to anybody."""
    if path.parent == target.parent and path.name.startswith(f".{draft_stem(target.name)}."):
        return target
    found = re.fullmatch(r"\.(.+)\.\d+", path.name) if path.parent == target else None
    return path if found is None else path.with_name(found[1])
