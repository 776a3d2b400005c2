"""Deliverables as a build leaves them, with any text in place of the library: for tests that don't compile."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from opkit.deliverable import BuiltAgainst, Manifest, ManifestFile, ManifestOp, OppRoot, Requires, Target
from opkit.files import digest_of
from opkit.toolkit import host_arch

__all__ = ["signed"]

_PROTOTYPE = ".INPUT(x, TensorType({DT_FLOAT})).OUTPUT(z, TensorType({DT_FLOAT}))"


def signed(
    root: Path,
    files: Iterable[str],
    *,
    package: str = "add",
    version: str = "0.1.0",
    ops: Iterable[str] = ("Add",),
    kind: str = "simulator",
    abi: int = 0,
    target: Target | None = None,
    requires: Requires = Requires(toolkit="9.2"),  # noqa: B008 - a frozen value
) -> OppRoot:
    """Writes the manifest of `files`, which lie below `root` already."""
    manifest = Manifest(
        package=package,
        version=version,
        opkit="0.1.0",
        ops=tuple(ManifestOp(type=op, prototype=_PROTOTYPE) for op in ops),
        target=target or Target(os="linux", arch=host_arch()),
        built_against=BuiltAgainst(kind=kind, version="9.2.0-sim", abi=abi),
        requires=requires,
        files=tuple(
            ManifestFile(path=PurePosixPath(name), sha256=digest_of(root / name), size=(root / name).stat().st_size) for name in files
        ),
    )
    manifest.write(root)
    return OppRoot(path=root, manifest=manifest)
