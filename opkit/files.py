"""Whole files or none: what opkit writes outside a project's generated tree appears by rename, so a kill leaves the old file or the new."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from opkit.errors import UnreadableError, UnwritableError

__all__ = [
    "copy_whole",
    "digest_of",
    "draft_stem",
    "guard_reading",
    "guard_writing",
    "make_folders",
    "remove_empty_folders",
    "whole_file",
    "whose",
    "write_whole",
]

_LONGEST_STEM = 200  # bytes; a name has 255
_FREE = "free some space"
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
        raise UnreadableError(msg, because=whose(culprit), help=f"let yourself read it: chmod u+rX {culprit}; or move it away") from fault


def write_whole(target: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Raises OSError; the caller knows what the file is for and guards it."""
    with whole_file(target, mode=mode) as file:
        file.write(content)


@contextmanager
def whole_file(target: Path, *, mode: int = 0o644) -> Iterator[BinaryIO]:
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


def copy_whole(source: Path, target: Path, *, mode: int) -> None:
    write_whole(target, source.read_bytes(), mode=mode)


def digest_of(path: Path) -> str:
    import hashlib  # A warm build reads no file for its digest, and this costs it 3 ms.

    return hashlib.sha256(path.read_bytes()).hexdigest()


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
            made.chmod(0o755)
        if not made.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(made))
    return missing


def whose(path: Path) -> str:
    """Why a file or a folder refuses: whom it belongs to and who asks. Of one that can't be asked, the folder that hides it is told."""
    import pwd

    try:
        status = path.lstat()
    except PermissionError:
        return whose(path.parent)
    except OSError as fault:
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


def _refused(target: Path, fault: OSError, help_text: str | None) -> UnwritableError:
    culprit = Path(os.fsdecode(fault.filename)) if fault.filename else target
    is_draft = culprit.parent == target.parent and culprit.name.startswith(f".{draft_stem(target.name)}.")
    because = str(fault.strerror or fault) if culprit == target or is_draft else f"{culprit}: {fault.strerror or fault}"
    if fault.errno in _FULL:
        because = f"the disk is full: {because}"
        help_text = f"{_FREE}, or {help_text.removeprefix(f'{_FREE}, or ')}" if help_text else _FREE
    return UnwritableError(f"cannot write {target}", because=because, help=help_text)
