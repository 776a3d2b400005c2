"""`opkit-manifest.json` of an OPP root: which files are opkit's, their hashes, which ops they bring and what they were linked against.

A manifest travels with its folder and may come from anywhere, so nothing in it is believed before it is checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from opkit.errors import DeliverableError
from opkit.files import digest_of, write_whole
from opkit.layout import MANIFEST

__all__ = ["BuiltAgainst", "Manifest", "ManifestFile", "OppRoot"]

LAYOUT_VERSION = 1


# Named tuples here and in the rooms of a warm build: a frozen class costs 1 ms each at import, attrs 30 ms more.
class BuiltAgainst(NamedTuple):
    """The toolkit that a deliverable was linked with.

    What was linked with the simulator carries genuine sonames and would load on a device: who ships it must say so.
    """

    kind: str
    version: str
    abi: int
    arch: str

    @property
    def is_simulator(self) -> bool:
        return self.kind == "simulator"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "version": self.version, "abi": self.abi, "arch": self.arch}


class ManifestFile(NamedTuple):
    """One file; `path` is relative to the OPP root."""

    path: PurePosixPath
    sha256: str
    size: int


class Manifest(NamedTuple):
    """What an OPP root holds. `ops` are op types in the order of the spec."""

    opkit: str
    package: str
    ops: tuple[str, ...]
    files: tuple[ManifestFile, ...]
    built_against: BuiltAgainst

    @classmethod
    def read(cls, root: Path) -> Manifest | None:
        """None if there is none; raises DeliverableError if it isn't one."""
        path = root / MANIFEST
        try:
            raw = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            msg = f"cannot read {path}"
            raise DeliverableError(msg, because=fault.strerror) from fault
        try:
            return _parsed(json.loads(raw))
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            msg = f"{path} is no manifest that this opkit can read"
            raise DeliverableError(msg, because=f"{type(fault).__name__}: {fault}", help="opkit build") from fault

    def write(self, root: Path) -> None:
        document = {
            "layout": LAYOUT_VERSION,
            "opkit": self.opkit,
            "package": self.package,
            "ops": list(self.ops),
            "built_against": self.built_against.to_json(),
            "files": [{"path": str(file.path), "sha256": file.sha256, "size": file.size} for file in self.files],
        }
        write_whole(root / MANIFEST, (json.dumps(document, indent=2) + "\n").encode())

    def violations(self, root: Path) -> list[str]:
        """All that differs between the folder and its manifest, each as one sentence."""
        found = []
        for file in self.files:
            path = root / file.path
            if not path.is_file():
                found.append(f"{file.path} is missing")
            elif path.stat().st_size != file.size or digest_of(path) != file.sha256:
                found.append(f"{file.path} isn't the file that was built")
        return found


class OppRoot(NamedTuple):
    """A folder that ASCEND_CUSTOM_OPP_PATH may name, made by opkit."""

    path: Path
    manifest: Manifest

    @classmethod
    def read(cls, path: Path) -> OppRoot | None:
        manifest = Manifest.read(path)
        return None if manifest is None else cls(path=path, manifest=manifest)


def _parsed(document: Any) -> Manifest:  # noqa: ANN401 - whatever the file held
    if _typed(document, dict)["layout"] != LAYOUT_VERSION:
        msg = f"layout {document['layout']!r}; this opkit reads {LAYOUT_VERSION}"
        raise ValueError(msg)
    built: Mapping[str, Any] = _typed(document["built_against"], dict)
    return Manifest(
        opkit=_typed(document["opkit"], str),
        package=_typed(document["package"], str),
        ops=tuple(_typed(op, str) for op in _typed(document["ops"], list)),
        files=tuple(
            ManifestFile(path=_inside(_typed(file["path"], str)), sha256=_typed(file["sha256"], str), size=_typed(file["size"], int))
            for file in _typed(document["files"], list)
        ),
        built_against=BuiltAgainst(
            kind=_typed(built["kind"], str),
            version=_typed(built["version"], str),
            abi=_typed(built["abi"], int),
            arch=_typed(built["arch"], str),
        ),
    )


def _typed(value: Any, kind: type) -> Any:  # noqa: ANN401 - the check is the point
    if not isinstance(value, kind):
        msg = f"expected {kind.__name__}, found {value!r}"
        raise TypeError(msg)
    return value


def _inside(text: str) -> PurePosixPath:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in text:
        msg = f"{text!r} leaves the folder"
        raise ValueError(msg)
    return path
