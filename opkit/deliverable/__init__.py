"""The OPP root: what GE searches for custom ops. Its layout, and the manifest that says what is in it and what it was linked against."""

from __future__ import annotations

from opkit.deliverable.claim import require_free, require_own
from opkit.deliverable.manifest import BuiltAgainst, Manifest, ManifestFile, OppRoot
from opkit.layout import LIBRARY, MANIFEST, OS, include_folder, library_folder, mode_of, root_above

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
    "require_free",
    "require_own",
    "root_above",
]
