"""One configured tree of CMake in the build folder: each toolkit, ABI, architecture and build type has its own, so that going back to one
costs nothing; and the names in the build folder that lead to the tree built last.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.build.folder import mark
from opkit.files import guard_writing, make_folders

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.toolkit import Toolkit

__all__ = ["COMMANDS", "LOG", "Tree", "is_link", "link", "program_name"]

LOG = "opkit-build.log"
COMMANDS = "compile_commands.json"


class Tree(NamedTuple):
    """`path` is `<build folder>/<key>`."""

    path: Path

    @classmethod
    def of(cls, project: Project, toolkit: Toolkit, build_type: str) -> Tree:
        key = f"{toolkit.kind.value}-{toolkit.version}-{toolkit.arch}-abi{toolkit.abi}-{build_type.lower()}"
        # The version is what a file of the toolkit says, which may be anything.
        return cls(project.build_dir / re.sub(r"[^\w.+-]", "_", key)[:200])

    @property
    def key(self) -> str:
        return self.path.name

    @property
    def log(self) -> Path:
        return self.path / LOG

    def make(self) -> None:
        with guard_writing(self.path):
            make_folders(self.path)
            mark(self.path)


def program_name(package: str) -> str:
    return f"{package}_session_run"


def link(tree: Tree, name: str) -> None:
    """Makes `<build folder>/<name>` lead to the tree's file; a file that CMake made there by hand stays."""
    path = tree.path.parent / name
    target = f"{tree.key}/{name}"
    try:
        if path.readlink() == Path(target):
            return
    except OSError:
        if path.exists():
            return
    else:
        if not is_link(path):
            return
    temporary = path.with_name(f".{name}.{os.getpid()}")
    with guard_writing(path):
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target)
        temporary.replace(path)


def is_link(path: Path) -> bool:
    """Whether this is one of the links that `link` makes, wherever the tree has gone."""
    try:
        target = path.readlink()
    except OSError:
        return False
    return not target.is_absolute() and len(target.parts) == 2 and target.name == path.name
