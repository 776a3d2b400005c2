"""The OPP root: what GE searches for custom ops. Its layout, and the manifest that says what is in it and what it was linked against."""

from __future__ import annotations

from opkit.deliverable.layout import LIBRARY, MANIFEST, OS, include_folder, library_folder, mode_of, root_above
from opkit.deliverable.manifest import BuiltAgainst, Manifest, ManifestFile, OppRoot

__all__ = [
    "LIBRARY",
    "MANIFEST",
    "OS",
    "BuiltAgainst",
    "Manifest",
    "ManifestFile",
    "OppRoot",
    "include_folder",
    "library_folder",
    "mode_of",
    "root_above",
]
