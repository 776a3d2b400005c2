"""What a build came to, just now or the last time."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opkit.build.settings import Settings
from opkit.build.state import FolderState
from opkit.build.tree import Tree, is_link, program_name
from opkit.errors import DeliverableError, NotBuiltError

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.deliverable import OppRoot
    from opkit.spec import SpecWarning

__all__ = ["Built", "program_of", "read_opp_root", "remembered"]


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
        return read_opp_root(self.project)


def read_opp_root(project: Project) -> OppRoot:
    """What the last build left. Raises NotBuiltError, and DeliverableError."""
    from opkit.deliverable import OppRoot

    try:
        opp_root = OppRoot.read(project.output)
    except DeliverableError as fault:
        if not isinstance(fault.__cause__, PermissionError):
            from opkit.build.mending import options_to_build_anew

            fault.help = shlex.join(["opkit", "build", str(project.root), *options_to_build_anew(project)])
        raise
    if opp_root is None:
        msg = f"{project.root} isn't built"
        build_it = f"opkit build {shlex.quote(str(project.root))}"
        raise NotBuiltError(msg, because=f"there is no deliverable in {project.output}", help=build_it)
    return opp_root


def remembered(project: Project) -> Settings:
    """What earlier builds were asked for, which counts for the next one; nothing for a project that was never built."""
    return FolderState.read(project.build_dir).named


def program_of(project: Project, key: str, package: str) -> Path:
    """The session program that the tree `key` has; by its name that stays, if that leads to the tree."""
    name = program_name(package)
    tree = Tree(project.build_dir / key)
    path = project.build_dir / name
    return path if not key or (is_link(path) and path.readlink().parts[0] == key) else tree.path / name
