"""The build folder as opkit's own: marked when made, as is each folder in it, so that only what opkit made is ever wiped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from opkit.errors import UsageError
from opkit.files import LARGEST_TEXT, content_of, guard_writing, make_folders, write_whole

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.build.state import FolderState

__all__ = ["TAG", "claim", "empty", "is_leftover", "is_ours", "mark", "remove", "require_owner"]

TAG = "CACHEDIR.TAG"
# The first line is what backup tools look for (https://bford.info/cachedir/); the second is how opkit knows its own.
_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by opkit, which may remove it.\n"
# What `write_whole`, a link, a run of a built program and a build of a wheel leave behind when they are killed.
_LEFTOVER = r"\.(?:CACHEDIR\.TAG|opkit-build\.json|compile_commands\.json|\w+_session_run)\.\d+|opkit-scratch|opkit-wheel\.log"
_SOURCE_LINE = r"(?m)^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$"


def is_ours(folder: Path) -> bool:
    try:
        return content_of(folder / TAG, most=len(_TEXT)) == _TEXT
    except OSError:
        return False


def is_leftover(path: Path) -> bool:
    return re.fullmatch(_LEFTOVER, path.name) is not None


def mark(folder: Path) -> None:
    """Notes that opkit made the folder and may remove it with all that is in it. Raises OSError."""
    if not is_ours(folder):
        write_whole(folder / TAG, _TEXT)


def claim(project: Project) -> None:
    """Makes or adopts the build folder.

    Adopted is one that is empty, or in which only CMake worked by hand for this very project: opkit's trees lie beside that then.
    Raises UsageError for any other that opkit didn't make.
    """
    folder = project.build_dir
    with guard_writing(folder, help="name a folder that can be written with --build-dir DIR"):
        if is_ours(folder):
            return
        make_folders(folder)
        if not _holds_only_cmake_trees_of(project):
            msg = f"{project.shown(folder)} wasn't made by opkit"
            raise UsageError(
                msg, because="it holds other files, or the CMake build of another project", help="remove it, or give another --build-dir"
            )
        mark(folder)


def require_owner(project: Project, state: FolderState) -> None:
    """Raises UsageError for a build folder that opkit builds another project in: neither a copy nor one whose project is gone."""
    folder = project.build_dir
    if state.root is None or state.place != str(folder) or state.root == str(project.root) or not Path(state.root).is_dir():
        return
    msg = f"{project.shown(folder)} is the build folder of another project"
    raise UsageError(msg, because=f"{state.root} was built in it", help="give another --build-dir")


def empty(folder: Path, *, keep: Iterable[str] = ()) -> None:
    """Removes what is in the folder but its mark and what is in `keep`."""
    kept = {TAG, *keep}
    for entry in folder.iterdir():
        if entry.name not in kept:
            remove(entry)


def remove(entry: Path) -> None:
    """Removes a file, a link or a whole folder; the mark of a folder goes last, so that an interrupted removal can be repeated."""
    import shutil  # It loads three compression libraries, which no warm build needs.

    if entry.is_dir() and not entry.is_symlink():
        if is_ours(entry):
            empty(entry)
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


def _holds_only_cmake_trees_of(project: Project) -> bool:
    folder = project.build_dir
    others = [entry for entry in folder.iterdir() if not is_leftover(entry)]
    return _is_cmake_tree_of(folder, project) or all(_is_cmake_tree_of(entry, project) for entry in others)


def _is_cmake_tree_of(folder: Path, project: Project) -> bool:
    try:
        cache = content_of(folder / "CMakeCache.txt", most=LARGEST_TEXT).decode("utf-8", "replace")
    except OSError:
        return False
    match = re.search(_SOURCE_LINE, cache)
    return match is not None and Path(match[1]).resolve() == project.root
