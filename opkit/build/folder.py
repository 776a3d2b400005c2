"""The build folder as opkit's own: marked when made, so that only what opkit made is ever wiped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.errors import UsageError
from opkit.files import guard_writing, make_folders, write_whole

if TYPE_CHECKING:
    from opkit.build.project import Project

__all__ = ["claim", "empty", "is_ours"]

_TAG = "CACHEDIR.TAG"
# The first line is what backup tools look for (https://bford.info/cachedir/); the second is how opkit knows its own.
_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by opkit, which may remove it.\n"
_SOURCE_LINE = r"(?m)^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$"


def is_ours(folder: Path) -> bool:
    try:
        return (folder / _TAG).read_bytes() == _TEXT
    except OSError:
        return False


def claim(project: Project) -> None:
    """Makes or adopts the build folder.

    Adopted is one that is empty, or that CMake made by hand for this very project. Raises UsageError for any other that opkit didn't make.
    """
    folder = project.build_dir
    with guard_writing(folder, help="name a folder that can be written with --build-dir DIR"):
        if is_ours(folder):
            return
        make_folders(folder)
        if any(folder.iterdir()) and not _is_cmake_tree_of(project):
            msg = f"{project.shown(folder)} wasn't made by opkit"
            raise UsageError(
                msg, because="it holds other files, or the CMake build of another project", help="remove it, or give another --build-dir"
            )
        write_whole(folder / _TAG, _TEXT)


def empty(folder: Path, *, keep: Iterable[str] = ()) -> None:
    """Removes what is in the folder. The tag goes last, so that an interrupted clean can be repeated; with `keep` it stays."""
    import shutil  # It loads three compression libraries, which no warm build needs.

    kept = {*keep}
    entries = [entry for entry in folder.iterdir() if entry.name not in kept and (not kept or entry.name != _TAG)]
    for entry in sorted(entries, key=lambda entry: entry.name == _TAG):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _is_cmake_tree_of(project: Project) -> bool:
    try:
        cache = (project.build_dir / "CMakeCache.txt").read_text("utf-8", "replace")
    except OSError:
        return False
    match = re.search(_SOURCE_LINE, cache)
    return match is not None and Path(match[1]).resolve() == project.root
