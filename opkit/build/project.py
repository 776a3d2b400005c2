"""A project on disk: the folder with ops.py, and where its build and its output lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from opkit.errors import NotAProjectError, UsageError

__all__ = ["Project", "require_plain_names"]

# CMake, make and the depfiles of compilers read these as their own, in the name of any folder.
_SPECIAL = ';#"\\\n'


class Project(NamedTuple):
    """All paths are absolute. `name` in messages is the folder's; the package's own name is in its spec."""

    root: Path
    build_dir: Path
    output: Path

    @classmethod
    def at(cls, folder: Path | str, *, build_dir: Path | str | None = None, output: Path | str | None = None) -> Project:
        """Gives the project of a folder, with or without ops.py. Relative folders count from the current one."""
        root = _absolute(folder)
        project = cls(
            root=root,
            build_dir=root / "build" if build_dir is None else _absolute(build_dir),
            output=root / "output" if output is None else _absolute(output),
        )
        for name, place in (("--build-dir", project.build_dir), ("--output", project.output)):
            if root.is_relative_to(place):
                msg = f"{name} {place} holds the project itself"
                raise UsageError(msg, help=f"name another folder, for instance {name} {place / name.removeprefix('--')}")
        if project.build_dir.is_relative_to(project.output) or project.output.is_relative_to(project.build_dir):
            msg = "the build folder and the output folder must lie apart"
            raise UsageError(
                msg, because=f"{project.build_dir} and {project.output}", help="name two folders with --build-dir and --output"
            )
        return project

    @classmethod
    def find(cls, folder: Path | str, *, build_dir: Path | str | None = None, output: Path | str | None = None) -> Project:
        """As `at`, and raises NotAProjectError for a folder without ops.py."""
        path = Path(folder)
        try:
            if path.name == "ops.py" and path.is_file():
                path = path.parent
            because = None if (path / "ops.py").is_file() else _missing_in(path)
        except OSError as fault:  # A name that is too long for the system, for one.
            because = fault.strerror
        if because is not None:
            msg = f"{path} is no opkit project"
            raise NotAProjectError(msg, because=because, help="name the folder of a project, or start one with: opkit new NAME")
        return cls.at(path, build_dir=build_dir, output=output)

    @property
    def has_own_output(self) -> bool:
        """Whether the output is where it is unless the user names another folder, which may be someone else's."""
        return self.output == self.root / "output"

    @property
    def ops_py(self) -> Path:
        return self.root / "ops.py"

    def shown(self, path: Path) -> str:
        """A path as a person would type it: relative to the project if it lies in it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def require_plain_names(project: Project) -> None:
    """Raises UsageError for a folder whose name no build can have."""
    for what, folder in (("the project", project.root), ("--build-dir", project.build_dir), ("--output", project.output)):
        special = next((letter for letter in str(folder) if letter in _SPECIAL), None)
        if special is not None:
            msg = f"{what} {folder} can't be built in"
            raise UsageError(
                msg, because=f"CMake and make read the {special!r} in its name as their own", help="move it, or name another folder"
            )


def _absolute(folder: Path | str) -> Path:
    # Not Path.resolve: before Python 3.13 it raises on a loop of links, which is for whoever writes there to report.
    return Path(os.path.realpath(folder))


def _missing_in(path: Path) -> str:
    if not path.exists():
        return "it doesn't exist"
    return "it has no ops.py" if path.is_dir() else "it is a file"
