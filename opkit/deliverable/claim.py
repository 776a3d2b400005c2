"""Whose an OPP root is: asked before anything is written there, because a deliverable that is overwritten is gone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from opkit.deliverable.manifest import Manifest, ManifestFile
from opkit.errors import UsageError

__all__ = ["require_free", "require_own"]


def require_own(folder: Path, package: str, *, option: str) -> tuple[ManifestFile, ...] | None:
    """Gives the files of an earlier deliverable of this package, None if there is none. Raises UsageError for one of another package, and
    DeliverableError for a manifest that isn't one. ``option`` is how the user named the folder.
    """
    manifest = Manifest.read(folder)
    if manifest is not None and manifest.package != package:
        msg = f"{option} {folder} holds the package {manifest.package}"
        raise UsageError(msg, because="an OPP root of opkit holds one package", help=f"name a folder for {package} alone")
    return None if manifest is None else manifest.files


def require_free(folder: Path, paths: Iterable[PurePosixPath], *, option: str) -> None:
    """Raises UsageError if one of `paths` is there: without a manifest it is somebody's."""
    in_the_way = [str(path) for path in paths if (folder / path).exists() or (folder / path).is_symlink()]
    if in_the_way:
        msg = f"{option} {folder} holds files that opkit didn't put there"
        raise UsageError(msg, because=", ".join(in_the_way), help="remove them, or name another folder")
