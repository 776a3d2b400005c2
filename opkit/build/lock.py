"""One opkit at a time in a build folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from opkit import process
from opkit.build.folder import claim
from opkit.lock import acquire, note, noted

if TYPE_CHECKING:
    from opkit.build.project import Project

__all__ = ["LOCK", "BuildLock", "locked"]

LOCK = ".opkit.lock"


class BuildLock:
    """A held lock; children that outlive a killed opkit are found again by the session noted here."""

    def __init__(self, descriptor: int, folder: Path) -> None:
        self._descriptor = descriptor
        self._folder = folder

    def note_session(self, session: int | None) -> None:
        note(self._descriptor, {"session": session})

    def stop_orphans(self) -> None:
        """Ends what a holder that was killed had started and that still writes in the folder."""
        session = noted(self._descriptor).get("session")
        if not isinstance(session, int) or session <= 1:
            return
        for pid in process.session_members(session):
            # A session number may be in use again by something else; only work in this folder is an orphan of ours.
            with suppress(OSError):
                if Path(f"/proc/{pid}/cwd").resolve().is_relative_to(self._folder):
                    os.kill(pid, signal.SIGKILL)


@contextmanager
def locked(project: Project, *, wait: float, busy_help: str = "wait for it, or give another --build-dir") -> Iterator[BuildLock]:
    """Claims and locks the build folder. Raises BusyError after `wait` seconds; says once whom it waits for."""
    folder = project.build_dir
    descriptor = acquire(
        folder / LOCK,
        wait=wait,
        shown=project.shown(folder),
        guard_help="name a folder that can be written with --build-dir DIR",
        busy_help=busy_help,
        prepare=lambda: claim(project),
    )
    try:
        lock = BuildLock(descriptor, folder)
        lock.stop_orphans()
        lock.note_session(None)
        yield lock
    finally:
        os.close(descriptor)
