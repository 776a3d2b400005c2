"""What one build was asked for, parsed once; each step reads it and none changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from opkit.build.settings import BUILD_TYPES
from opkit.build.tree import Tree

if TYPE_CHECKING:
    from opkit.build.project import Project
    from opkit.build.settings import Settings
    from opkit.toolkit import Toolkit

__all__ = ["Request"]


class Request(NamedTuple):
    """`asked` is what this build names, `settings` are these with what earlier builds named; `toolkit` has the ABI to build with.
    Without `has_program` the session program isn't built.
    """

    project: Project
    tree: Tree
    toolkit: Toolkit
    environ: Mapping[str, str]
    asked: Settings
    settings: Settings
    has_program: bool

    @classmethod
    def of(  # noqa: PLR0913 - what a build is made of
        cls, project: Project, toolkit: Toolkit, environ: Mapping[str, str], *, asked: Settings, named: Settings, has_program: bool
    ) -> Request:
        """`named` are the settings that earlier builds named."""
        settings = asked.over(named)
        if settings.abi is not None:
            toolkit = toolkit._replace(abi=settings.abi)
        tree = Tree.of(project, toolkit, settings.build_type or BUILD_TYPES[0])
        return cls(project, tree, toolkit, environ, asked, settings, has_program)
