"""From a project to its OPP root: render, configure, compile and install, each only if what it depends on has changed."""

from __future__ import annotations

from opkit.build.project import Project
from opkit.build.scratch import scratch_folder
from opkit.build.steps import Built, build, clean, find_built, held

__all__ = ["Built", "Project", "build", "clean", "find_built", "held", "scratch_folder"]
