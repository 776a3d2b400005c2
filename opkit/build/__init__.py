"""From a project to its OPP root: render, configure, compile and install, each only if what it depends on has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opkit.build.building import build, held
    from opkit.build.built import Built, read_opp_root, remembered
    from opkit.build.cleaning import clean
    from opkit.build.folder import mark
    from opkit.build.generator import find_generator
    from opkit.build.mending import build_anew, options_to_build_anew
    from opkit.build.project import Project
    from opkit.build.scratch import scratch_folder
    from opkit.build.settings import BUILD_TYPES, RESERVED, Settings
    from opkit.build.version import require_fixed_version, require_wheel_version, settings_of

_MODULES = {
    "building": ("build", "held"),
    "built": ("Built", "read_opp_root", "remembered"),
    "cleaning": ("clean",),
    "folder": ("mark",),
    "generator": ("find_generator",),
    "mending": ("build_anew", "options_to_build_anew"),
    "project": ("Project",),
    "scratch": ("scratch_folder",),
    "settings": ("BUILD_TYPES", "RESERVED", "Settings"),
    "version": ("require_fixed_version", "require_wheel_version", "settings_of"),
}

__all__ = [
    "BUILD_TYPES",
    "RESERVED",
    "Built",
    "Project",
    "Settings",
    "build",
    "build_anew",
    "clean",
    "find_generator",
    "held",
    "mark",
    "options_to_build_anew",
    "read_opp_root",
    "remembered",
    "require_fixed_version",
    "require_wheel_version",
    "scratch_folder",
    "settings_of",
]


if not TYPE_CHECKING:  # a type checker would take any name for known

    def __getattr__(name: str) -> object:
        from opkit.lazy import load

        return load(name, __name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
