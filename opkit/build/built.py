"""What a build came to, just now or the last time."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.build.settings import Settings
from opkit.build.state import FolderState
from opkit.build.tree import Tree, is_link, program_name
from opkit.errors import NotBuiltError

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.deliverable import OppRoot
    from opkit.spec import SpecWarning

__all__ = ["Built", "find_built", "program_of", "remembered"]


class Built(NamedTuple):
    """What a build came to. `ops` are the op types; `steps` are those that had something to do, out of rendered, configured, compiled,
    installed, and `reasons` say why, in sentences; `settings` are those that it was built with; `warnings` are the spec's, if it was
    loaded.
    """

    project: Project
    package: str
    ops: tuple[str, ...]
    program: Path
    steps: tuple[str, ...]
    seconds: float
    settings: Settings = Settings()
    reasons: tuple[str, ...] = ()
    warnings: tuple[SpecWarning, ...] = ()

    def read_opp_root(self) -> OppRoot:
        """The deliverable as it is now. Raises NotBuiltError if it has gone, and DeliverableError."""
        return _opp_root_of(self.project)


def find_built(project: Project) -> Built:
    """What the last build left, without building. Raises NotBuiltError."""
    manifest = _opp_root_of(project).manifest
    state = FolderState.read(project.build_dir)
    return Built(
        project=project,
        package=manifest.package,
        ops=manifest.op_types,
        program=program_of(project, state.tree or "", manifest.package),
        steps=(),
        seconds=0.0,
        settings=state.named,
    )


def remembered(project: Project) -> Settings:
    """What earlier builds were asked for, which counts for the next one; nothing for a project that was never built."""
    return FolderState.read(project.build_dir).named


def program_of(project: Project, key: str, package: str) -> Path:
    """The session program that the tree `key` has; by its name that stays, if that leads to the tree."""
    name = program_name(package)
    tree = Tree(project.build_dir / key)
    path = project.build_dir / name
    return path if not key or (is_link(path) and path.readlink().parts[0] == key) else tree.path / name


def _opp_root_of(project: Project) -> OppRoot:
    from opkit.deliverable import OppRoot

    opp_root = OppRoot.read(project.output)
    if opp_root is None:
        msg = f"{project.root} isn't built"
        build_it = f"opkit build {shlex.quote(str(project.root))}"
        raise NotBuiltError(msg, because=f"there is no deliverable in {project.output}", help=build_it)
    return opp_root
