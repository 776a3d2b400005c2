"""What makes a deliverable anew that isn't what was built: a build, which has to be forced if it would see nothing to do.

A forced build forgets what earlier ones were asked for, so nobody is told to force one that needn't be.
"""

from __future__ import annotations

import os
from pathlib import Path

from opkit.build.project import Project
from opkit.build.state import FolderState, stat_of

__all__ = ["build_anew", "options_to_build_anew"]


def options_to_build_anew(project: Project) -> tuple[str, ...]:
    """Of `opkit build`, for a project whose output isn't what was built."""
    known = FolderState.read(project.build_dir)
    output = os.path.realpath(project.output)
    is_as_left = known.output == output and all(_is_as_left(output, name, stat) for name, stat in known.installed.items())
    return ("--force",) if is_as_left and known.installed else ()


def build_anew(opp_root: Path) -> str:
    """The command, to be run in the project of an OPP root, if it has one."""
    project = Project(opp_root.parent, opp_root.parent / "build", opp_root)
    return " ".join(["opkit build", *options_to_build_anew(project)])


def _is_as_left(output: str, name: str, stat: object) -> bool:
    # What is a link is taken out before it is built again.
    path = os.path.join(output, name)  # noqa: PTH118 - a Path costs as much as the call
    return stat is not None and stat == stat_of(path) and os.path.realpath(path) == path
