"""A folder for what a built program is given to read: in the build folder, large at times, and gone whatever ends the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.files import guard_writing

if TYPE_CHECKING:
    from opkit.build.project import Project

__all__ = ["scratch_folder"]

_FOLDER = "opkit-scratch"


@contextmanager
def scratch_folder(project: Project) -> Iterator[Path]:
    """Gives an empty folder that is removed afterwards. The caller holds the build folder (`held`), so what lies there already is left from
    a run that was killed. Raises UnwritableError.
    """
    folder = project.build_dir / _FOLDER
    with guard_writing(folder):
        _remove(folder)
    try:
        with guard_writing(folder):
            folder.mkdir()
        yield folder
    finally:
        with guard_writing(folder):
            _remove_for_sure(folder)


def _remove_for_sure(folder: Path) -> None:
    interrupt = None
    while True:
        try:
            _remove(folder)
        except KeyboardInterrupt as again:
            # The second Ctrl-C of an impatient user would otherwise leave half of it.
            interrupt = again
            continue
        break
    if interrupt is not None:
        raise interrupt


def _remove(folder: Path) -> None:
    import shutil  # It loads three compression libraries, which no warm build needs.

    if folder.exists():
        shutil.rmtree(folder)
