"""The OPP root: what GE searches for custom ops. Its layout, and the manifest that says what is in it and what it was linked against."""

from __future__ import annotations

from opkit.deliverable.claim import require_free, require_own
from opkit.deliverable.manifest import (
    LARGEST_MANIFEST,
    BuiltAgainst,
    Manifest,
    ManifestFile,
    ManifestOp,
    OppRoot,
    Requires,
    Target,
    is_version,
    path_inside,
    sha256_of,
)
from opkit.layout import (
    LIBRARY,
    MANIFEST,
    MOST_OPS,
    OS,
    include_folder,
    is_of_the_system,
    is_opp_root,
    library_folder,
    mode_of,
    other_processors,
    root_above,
)

__all__ = [
    "LARGEST_MANIFEST",
    "LIBRARY",
    "MANIFEST",
    "MOST_OPS",
    "OS",
    "BuiltAgainst",
    "Manifest",
    "ManifestFile",
    "ManifestOp",
    "OppRoot",
    "Requires",
    "Target",
    "include_folder",
    "is_of_the_system",
    "is_opp_root",
    "is_version",
    "library_folder",
    "mode_of",
    "other_processors",
    "path_inside",
    "require_free",
    "require_own",
    "root_above",
    "sha256_of",
]
