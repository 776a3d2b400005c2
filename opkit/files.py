"""Whole files or none: what opkit writes outside a project's generated tree appears by rename, so a kill leaves the old file or the new."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opkit.errors import UnwritableError

__all__ = ["copy_whole", "digest_of", "guard_writing", "make_folders", "remove_empty_folders", "write_whole"]


@contextmanager
def guard_writing(target: Path, *, help: str | None = None) -> Iterator[None]:  # noqa: A002 - the word that is printed
    """Turns any refusal of the disk below `target` into one UnwritableError."""
    try:
        yield
    except OSError as fault:
        raise _refused(target, fault, help) from fault


def write_whole(target: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Raises OSError; the caller knows what the file is for and guards it."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
        # Not the umask's business: what one user builds, another user's session loads.
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def copy_whole(source: Path, target: Path, *, mode: int) -> None:
    write_whole(target, source.read_bytes(), mode=mode)


def digest_of(path: Path) -> str:
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
    return UnwritableError(f"cannot write {target}", because=f"{culprit}: {fault.strerror or fault}", help=help_text)
