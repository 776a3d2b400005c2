"""One opkit at a time in a build folder: a kernel lock, which no crash leaves behind, and the holder's pid for the one who waits."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from opkit import process
from opkit.build.folder import claim
from opkit.console import console
from opkit.errors import BusyError, UnwritableError
from opkit.files import guard_writing

if TYPE_CHECKING:
    from opkit.build.project import Project

__all__ = ["LOCK", "BuildLock", "locked"]

LOCK = ".opkit.lock"
_POLL_S = 0.05


class BuildLock:
    """A held lock; children that outlive a killed opkit are found again by the session noted here."""

    def __init__(self, descriptor: int, folder: Path) -> None:
        self._descriptor = descriptor
        self._folder = folder

    def note_session(self, session: int | None) -> None:
        _write(self._descriptor, {"pid": os.getpid(), "session": session})

    def stop_orphans(self) -> None:
        """Ends what a holder that was killed had started and that still writes in the folder."""
        session = _read(self._descriptor).get("session")
        if not isinstance(session, int) or session <= 1:
            return
        for pid in process.session_members(session):
            # A session number may be in use again by something else; only work in this folder is an orphan of ours.
            with suppress(OSError):
                if Path(f"/proc/{pid}/cwd").resolve().is_relative_to(self._folder):
                    os.kill(pid, signal.SIGKILL)


@contextmanager
def locked(project: Project, *, wait: float) -> Iterator[BuildLock]:
    """Claims and locks the build folder. Raises BusyError after `wait` seconds; says once whom it waits for."""
    descriptor = _acquired(project, wait)
    try:
        lock = BuildLock(descriptor, project.build_dir)
        lock.stop_orphans()
        lock.note_session(None)
        yield lock
    finally:
        os.close(descriptor)


def _acquired(project: Project, wait: float) -> int:
    folder = project.build_dir
    path = folder / LOCK
    deadline = time.monotonic() + wait
    is_announced = False
    while True:
        # Each time anew: whoever was waited for may have been `opkit clean`.
        claim(project)
        try:
            with guard_writing(folder, help="name a folder that can be written with --build-dir DIR"):
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except UnwritableError:
            if folder.is_dir():
                raise
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(descriptor).get("pid", "unknown")
            os.close(descriptor)
            if time.monotonic() >= deadline:
                msg = f"{project.shown(folder)} is in use by another opkit"
                because = f"process {holder} still holds its lock after {wait:g} s"
                raise BusyError(msg, because=because, help="wait for it, or give another --build-dir") from None
            if not is_announced:
                console.say(f"waiting for opkit process {holder}, which works in {folder}")
                is_announced = True
            time.sleep(_POLL_S)
            continue
        if _is_current(descriptor, path):
            return descriptor
        os.close(descriptor)


def _is_current(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _read(descriptor: int) -> dict[str, object]:
    try:
        document = json.loads(os.pread(descriptor, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _write(descriptor: int, document: dict[str, object]) -> None:
    content = json.dumps(document).encode()
    os.pwrite(descriptor, content, 0)
    os.ftruncate(descriptor, len(content))
