"""A kernel lock on a file, which no crash leaves behind, with what its holder notes for the one who waits: the pid at least."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from opkit.console import console
from opkit.errors import BusyError, UnwritableError
from opkit.files import FILE_MODE, guard_writing

__all__ = ["WAIT", "acquire", "note", "noted"]

WAIT = 60.0  # seconds, unless a user says for how long
_POLL_S = 0.05


def acquire(  # noqa: PLR0913 - what is said to who waits
    path: Path, *, wait: float, shown: str, guard_help: str, busy_help: str, prepare: Callable[[], None]
) -> int:
    """Gives the descriptor of the locked file; closing it lets go. Says once whom it waits for.

    `prepare` makes the folder of the file, and `shown` is its name for people. Raises BusyError after `wait` seconds, and UnwritableError.
    """
    folder = path.parent
    deadline = time.monotonic() + wait
    is_announced = False
    while True:
        # Each time anew: whoever was waited for may have removed the folder.
        prepare()
        try:
            with guard_writing(folder, help=guard_help):
                descriptor = _opened(path)
        except UnwritableError:
            if folder.is_dir():
                raise
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = noted(descriptor).get("pid", "unknown")
            os.close(descriptor)
            if time.monotonic() >= deadline:
                msg = f"{shown} is in use by another process"
                raise BusyError(msg, because=f"process {holder} still holds its lock after {wait:g} s", help=busy_help) from None
            if not is_announced:
                console.say(f"waiting for process {holder}, which works in {folder}")
                is_announced = True
            time.sleep(_POLL_S)
            continue
        if _is_current(descriptor, path):
            if os.fstat(descriptor).st_size == 0:
                # It may be new, and isn't the umask's business: others who use the folder read whom they wait for.
                with suppress(OSError):
                    os.fchmod(descriptor, FILE_MODE)
            return descriptor
        os.close(descriptor)


def _opened(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no file", str(path))
    return descriptor


def noted(descriptor: int) -> dict[str, object]:
    """What the holder wrote; nothing of it is believed."""
    try:
        document = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def note(descriptor: int, document: dict[str, object]) -> None:
    content = json.dumps({"pid": os.getpid(), **document}).encode()
    os.pwrite(descriptor, content, 0)
    os.ftruncate(descriptor, len(content))


def _is_current(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
