"""From a project to its OPP root: render, configure, compile and install, each only if what it depends on has changed."""

from __future__ import annotations

from opkit.build.project import Project
from opkit.build.steps import Built, build, clean, find_built

__all__ = ["Built", "Project", "build", "clean", "find_built"]
