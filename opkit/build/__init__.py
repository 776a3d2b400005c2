"""From a project to its OPP root: render, configure, compile and install, each only if what it depends on has changed."""

from __future__ import annotations

from opkit.build.building import build, held
from opkit.build.built import Built, find_built, remembered
from opkit.build.cleaning import clean
from opkit.build.folder import mark
from opkit.build.generator import find_generator
from opkit.build.project import Project
from opkit.build.scratch import scratch_folder
from opkit.build.settings import BUILD_TYPES, RESERVED, Settings
from opkit.build.version import require_fixed_version, require_wheel_version, settings_of

__all__ = [
    "BUILD_TYPES",
    "RESERVED",
    "Built",
    "Project",
    "Settings",
    "build",
    "clean",
    "find_built",
    "find_generator",
    "held",
    "mark",
    "remembered",
    "require_fixed_version",
    "require_wheel_version",
    "scratch_folder",
    "settings_of",
]
