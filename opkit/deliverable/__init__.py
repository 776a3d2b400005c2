"""The OPP root: what GE searches for custom ops. Its layout, and the manifest that says what is in it and what it was linked against."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
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
        marked,
        path_inside,
        sha256_of,
    )

_MODULES = {
    "claim": ("require_free", "require_own"),
    "manifest": (
        "LARGEST_MANIFEST",
        "BuiltAgainst",
        "Manifest",
        "ManifestFile",
        "ManifestOp",
        "OppRoot",
        "Requires",
        "Target",
        "is_version",
        "marked",
        "path_inside",
        "sha256_of",
    ),
}

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
    "marked",
    "mode_of",
    "other_processors",
    "path_inside",
    "require_free",
    "require_own",
    "root_above",
    "sha256_of",
]


if not TYPE_CHECKING:  # a type checker would take any name for known

    def __getattr__(name: str) -> object:
        from opkit.lazy import load

        return load(name, __name__, _MODULES)


def __dir__() -> list[str]:
    return sorted(__all__)
