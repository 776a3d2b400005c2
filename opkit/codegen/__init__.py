"""From a Package to the files of its project: rendered in memory, compared with what is on disk, written whole or not at all."""

from __future__ import annotations

from opkit.codegen.fileset import OWNED_FILES, Changes, Drift, DriftKind, FileSet, GeneratedFile, drift
from opkit.codegen.project import ImportedProject, NewProject, render_imported, render_project
from opkit.codegen.render import render

__all__ = [
    "OWNED_FILES",
    "Changes",
    "Drift",
    "DriftKind",
    "FileSet",
    "GeneratedFile",
    "ImportedProject",
    "NewProject",
    "drift",
    "render",
    "render_imported",
    "render_project",
]
