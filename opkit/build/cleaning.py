"""`opkit clean`: what builds made goes, and nothing else."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.build.folder import TAG, claim, is_leftover, is_ours, remove, require_owner
from opkit.build.lock import LOCK, locked
from opkit.build.state import STATE, FolderState
from opkit.build.tree import is_link
from opkit.files import guard_writing
from opkit.lock import WAIT

if TYPE_CHECKING:
    from opkit.build.project import Project

__all__ = ["clean"]


def clean(project: Project, *, wait: float = WAIT) -> list[Path]:
    """Removes what opkit made in the build folder, and its files in the output folder; gives what was removed.

    A tree that CMake made by hand beside opkit's stays; what went is told by its own name then. Raises UsageError for a build folder of
    someone else.
    """
    from opkit.build.publish import withdraw

    removed = []
    folder = project.build_dir
    if folder.is_dir():
        claim(project)
        gone = []
        with locked(project, wait=wait, busy_help="wait for it"), guard_writing(folder):
            require_owner(project, FolderState.read(folder))
            for entry in sorted(folder.iterdir()):
                if entry.name == STATE or is_ours(entry) or is_link(entry) or is_leftover(entry):
                    remove(entry)
                    gone.append(entry)
            # The lock goes before the mark, so that an interrupted clean can be repeated.
            remove(folder / LOCK)
            remove(folder / TAG)
        with suppress(OSError):
            folder.rmdir()  # Someone who waited for the lock may already build again.
            gone = [folder]
        removed += gone
    if withdraw(project.output):
        removed.append(project.output)
    return removed
