"""What a library or an OPP root registers, needs and is for: by its manifest, if it has one, and by what its libraries show themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from opkit.deliverable.elf import ElfLibrary, read_library
from opkit.deliverable.manifest import Manifest
from opkit.errors import DeliverableError
from opkit.files import digest_of
from opkit.layout import LIBRARY, libraries_of, root_above

__all__ = ["Inspection", "RegisteredOp", "inspect_library", "inspect_opp_root"]

# Counts up when a reader of the document before would read it wrong.
_SCHEMA = 1


@attrs.frozen(kw_only=True)
class RegisteredOp:
    """`prototype` is what a manifest says. GE runs an op that `is_executed`, and builds graphs with one that `is_described`."""

    type: str
    prototype: str | None
    is_executed: bool
    is_described: bool


@attrs.frozen(kw_only=True)
class Inspection:
    """`libraries` are those that GE would load, by their paths in the OPP root; `violations` are differences from the manifest."""

    name: str
    libraries: Mapping[str, ElfLibrary]
    manifest: Manifest | None
    violations: tuple[str, ...] = ()

    @property
    def ops(self) -> tuple[RegisteredOp, ...]:
        """In the order of the manifest, then what it doesn't name."""
        executed = {op for library in self.libraries.values() for op in library.ops}
        described = {op for library in self.libraries.values() for op in library.prototypes}
        prototypes = {} if self.manifest is None else {op.type: op.prototype for op in self.manifest.ops}
        return tuple(
            RegisteredOp(type=op, prototype=prototypes.get(op), is_executed=op in executed, is_described=op in described)
            for op in dict.fromkeys((*prototypes, *sorted(executed | described)))
        )

    @property
    def needed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for library in self.libraries.values() for name in library.needed))

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(library.machine for library in self.libraries.values()))

    @property
    def string_abis(self) -> tuple[int, ...]:
        return tuple(sorted({abi for library in self.libraries.values() for abi in library.string_abis}))

    def highest(self, name: str) -> str | None:
        """The highest version of `glibc`, `glibcxx` or `cxxabi` that is needed."""
        found: Iterable[str | None] = (getattr(library, name) for library in self.libraries.values())
        return max((each for each in found if each is not None), key=lambda each: [*map(int, each.split("."))], default=None)

    def to_json(self) -> dict[str, Any]:
        manifest = None if self.manifest is None else self.manifest.to_json()
        return {
            "schema": _SCHEMA,
            "name": self.name,
            "ops": [attrs.asdict(op) for op in self.ops],
            "libraries": [
                {
                    "path": path,
                    "machine": library.machine,
                    "soname": library.soname,
                    "needed": list(library.needed),
                    "runpath": list(library.runpath),
                    "glibc": library.glibc,
                    "glibcxx": library.glibcxx,
                    "cxxabi": library.cxxabi,
                    "string_abis": sorted(library.string_abis),
                    "ops": list(library.ops),
                    "prototypes": list(library.prototypes),
                }
                for path, library in self.libraries.items()
            ],
            "manifest": manifest,
            "violations": list(self.violations),
        }


def inspect_library(path: Path) -> Inspection:
    """A library alone, with the manifest of the OPP root that it lies in, if that means this library. Raises ElfError."""
    library = read_library(path)
    absolute = path.absolute()
    root = root_above(absolute.parent) or absolute.parent
    try:
        manifest = Manifest.read(root)
    except DeliverableError:
        manifest = None
    if manifest is not None and not any(root / file.path == absolute and file.sha256 == digest_of(absolute) for file in manifest.files):
        manifest = None
    return Inspection(name=path.name, libraries={path.name: library}, manifest=manifest)


def inspect_opp_root(root: Path, *, name: str) -> Inspection:
    """Raises DeliverableError for a manifest or a library that can't be read."""
    manifest = Manifest.read(root)
    places = [path for path in (root / LIBRARY, *libraries_of(root)) if path.exists()]
    return Inspection(
        name=name,
        libraries={path.relative_to(root).as_posix(): read_library(path) for path in places},
        manifest=manifest,
        violations=() if manifest is None else tuple(manifest.violations(root)),
    )
