"""What a build came to, just now or the last time."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.build.settings import Settings
from opkit.build.state import FolderState
from opkit.build.tree import Tree, is_link, program_name
from opkit.deliverable import OppRoot
from opkit.errors import NotBuiltError

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.spec import SpecWarning

__all__ = ["Built", "find_built", "program_of", "remembered"]


class Built(NamedTuple):
    """What a build came to. `steps` are those that had something to do, out of rendered, configured, compiled, installed, and `reasons` say
    why, in sentences; `settings` are those that it was built with; `warnings` are the spec's, if it was loaded.
    """

    project: Project
    package: str
    opp_root: OppRoot
    program: Path
    steps: tuple[str, ...]
    seconds: float
    settings: Settings = Settings()
    reasons: tuple[str, ...] = ()
    warnings: tuple[SpecWarning, ...] = ()


def find_built(project: Project) -> Built:
    """What the last build left, without building. Raises NotBuiltError."""
    opp_root = OppRoot.read(project.output)
    if opp_root is None:
        msg = f"{project.root} isn't built"
        build_it = f"opkit build {shlex.quote(str(project.root))}"
        raise NotBuiltError(msg, because=f"there is no deliverable in {project.output}", help=build_it)
    state = FolderState.read(project.build_dir)
    return Built(
        project=project,
        package=opp_root.manifest.package,
        opp_root=opp_root,
        program=program_of(project, state.tree or "", opp_root),
        steps=(),
        seconds=0.0,
        settings=state.named,
    )


def remembered(project: Project) -> Settings:
    """What earlier builds were asked for, which counts for the next one; nothing for a project that was never built."""
    return FolderState.read(project.build_dir).named


def program_of(project: Project, key: str, opp_root: OppRoot) -> Path:
    """The session program that the tree `key` has; by its name that stays, if that leads to the tree."""
    name = program_name(opp_root.manifest.package)
    tree = Tree(project.build_dir / key)
    path = project.build_dir / name
    return path if not key or (is_link(path) and path.readlink().parts[0] == key) else tree.path / name
