"""`opkit-manifest.json` of an OPP root: which files are opkit's, their hashes, which ops they bring and what they were linked against.

A manifest travels with its folder and may come from anywhere, so nothing in it is believed before it is checked.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from opkit.errors import DeliverableError
from opkit.files import digest_of, write_whole
from opkit.layout import LAYOUT_VERSION, MANIFEST

__all__ = [
    "LARGEST_MANIFEST",
    "BuiltAgainst",
    "Manifest",
    "ManifestFile",
    "ManifestOp",
    "OppRoot",
    "Requires",
    "Target",
    "is_version",
    "path_inside",
    "sha256_of",
]

LARGEST_MANIFEST = 8 << 20  # 10,000 files and as many ops; the JSON of a larger one would only be a way to fill the memory
# They become names of folders and files.
_PACKAGE = re.compile(r"[a-z][a-z0-9_]*")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NUMBERS = re.compile(r"[0-9]+(\.[0-9]+)*")
_LONGEST_WORD = 128
# No text of a manifest needs them, and a terminal, a file system or a shell might take them for something else.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


# Named tuples here and in the rooms of a warm build: a frozen class costs 1 ms each at import, attrs 30 ms more.
class BuiltAgainst(NamedTuple):
    """The toolkit that a deliverable was linked with.

    What was linked with the simulator carries genuine sonames and would load on a device: who ships it must say so.
    """

    kind: str
    version: str
    abi: int

    @property
    def is_simulator(self) -> bool:
        return self.kind == "simulator"


class Target(NamedTuple):
    """What it was built for. `npu_arch` is that of its prebuilt kernels, if it has any; `socs` are the SoCs that its spec tells apart."""

    os: str
    arch: str
    npu_arch: str | None = None
    socs: tuple[str, ...] = ()


class Requires(NamedTuple):
    """What the library needs of the machine that loads it; None or empty is what the build couldn't find out.

    `toolkit` is the oldest version with all the interfaces that it uses; `glibc` and `glibcxx` are the highest symbol versions, such as
    "2.34" and "3.4.29"; `libraries` are the sonames that it is linked with.
    """

    toolkit: str | None = None
    glibc: str | None = None
    glibcxx: str | None = None
    libraries: tuple[str, ...] = ()


class ManifestOp(NamedTuple):
    """An op and its prototype, as the clauses of REG_OP in one line."""

    type: str
    prototype: str


class ManifestFile(NamedTuple):
    """One file; `path` is relative to the OPP root."""

    path: PurePosixPath
    sha256: str
    size: int


class Manifest(NamedTuple):
    """What an OPP root holds. `ops` are in the order of the spec; `opkit` is the version that built it, None for a build by hand."""

    package: str
    version: str
    ops: tuple[ManifestOp, ...]
    target: Target
    built_against: BuiltAgainst
    requires: Requires
    files: tuple[ManifestFile, ...]
    opkit: str | None = None

    @property
    def op_types(self) -> tuple[str, ...]:
        return tuple(op.type for op in self.ops)

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
        return cls.parse(raw, str(path), help="build it again in its project: opkit build --force; or install it again")

    @classmethod
    def parse(cls, raw: bytes, name: str, *, help: str | None = None) -> Manifest:  # noqa: A002 - the word that is printed
        """Raises DeliverableError, in which `name` says what was read."""
        try:
            if len(raw) > LARGEST_MANIFEST:
                msg = f"{len(raw)} bytes; a manifest has at most {LARGEST_MANIFEST}"
                raise ValueError(msg)  # noqa: TRY301 - one place tells of all that can be wrong
            return _parsed(json.loads(raw))
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            msg = f"{name} is no manifest that this opkit can read"
            raise DeliverableError(msg, because=f"{type(fault).__name__}: {fault}", help=help) from fault

    def to_json(self) -> dict[str, Any]:
        return {
            "layout": LAYOUT_VERSION,
            "package": self.package,
            "version": self.version,
            "opkit": self.opkit,
            "ops": [op._asdict() for op in self.ops],
            "target": {**self.target._asdict(), "socs": list(self.target.socs)},
            "built_against": self.built_against._asdict(),
            "requires": {**self.requires._asdict(), "libraries": list(self.requires.libraries)},
            "files": [{"path": str(file.path), "sha256": file.sha256, "size": file.size} for file in self.files],
        }

    def write(self, root: Path) -> None:
        write_whole(root / MANIFEST, (json.dumps(self.to_json(), indent=2) + "\n").encode())

    def violations(self, root: Path, *, by_size_alone: bool = False) -> list[str]:
        """All that differs between the folder and its manifest, each as one sentence. `by_size_alone` reads no file, for those who have
        no time: a file that was changed to another of its size isn't noticed then.
        """
        found = (_violation(root / file.path, file, by_size_alone=by_size_alone) for file in self.files)
        return [violation for violation in found if violation is not None]


class OppRoot(NamedTuple):
    """A folder that ASCEND_CUSTOM_OPP_PATH may name, made by opkit."""

    path: Path
    manifest: Manifest

    @classmethod
    def read(cls, path: Path) -> OppRoot | None:
        manifest = Manifest.read(path)
        return None if manifest is None else cls(path=path, manifest=manifest)


def is_version(text: str) -> bool:
    """Whether a package can have this version, which becomes a part of names of files and folders."""
    return len(text) <= _LONGEST_WORD and _VERSION.fullmatch(text) is not None


def _violation(path: Path, file: ManifestFile, *, by_size_alone: bool) -> str | None:
    try:
        status = path.stat()
        is_same = stat.S_ISREG(status.st_mode) and status.st_size == file.size and (by_size_alone or digest_of(path) == file.sha256)
    except (FileNotFoundError, NotADirectoryError):
        return f"{file.path} is missing"
    except OSError as fault:
        return f"{file.path} can't be read: {fault.strerror}"
    return None if is_same else f"{file.path} isn't the file that was built"


def _parsed(document: Any) -> Manifest:  # noqa: ANN401 - whatever the file held
    if _typed(document, dict)["layout"] != LAYOUT_VERSION:
        msg = f"layout {document['layout']!r}; this opkit reads {LAYOUT_VERSION}"
        raise ValueError(msg)
    built: Mapping[str, Any] = _typed(document["built_against"], dict)
    target: Mapping[str, Any] = _typed(document["target"], dict)
    requires: Mapping[str, Any] = _typed(document["requires"], dict)
    return Manifest(
        package=_word(document["package"], _PACKAGE),
        version=_word(document["version"], _VERSION),
        opkit=_optional(document["opkit"]),
        ops=tuple(ManifestOp(type=_typed(op["type"], str), prototype=_typed(op["prototype"], str)) for op in _typed(document["ops"], list)),
        target=Target(
            os=_word(target["os"], _WORD),
            arch=_word(target["arch"], _WORD),
            npu_arch=None if target["npu_arch"] is None else _word(target["npu_arch"], _WORD),
            socs=_texts(target["socs"]),
        ),
        built_against=BuiltAgainst(kind=_typed(built["kind"], str), version=_typed(built["version"], str), abi=_typed(built["abi"], int)),
        requires=Requires(
            toolkit=_optional(requires["toolkit"]),
            glibc=None if requires["glibc"] is None else _word(requires["glibc"], _NUMBERS),
            glibcxx=None if requires["glibcxx"] is None else _word(requires["glibcxx"], _NUMBERS),
            libraries=_texts(requires["libraries"]),
        ),
        files=_files(_typed(document["files"], list)),
    )


def _files(described: list[Any]) -> tuple[ManifestFile, ...]:
    files = tuple(
        ManifestFile(path=path_inside(file["path"]), sha256=sha256_of(file["sha256"]), size=_size(file["size"])) for file in described
    )
    if len({file.path for file in files}) != len(files):
        msg = "a file is named twice"
        raise ValueError(msg)
    return files


def _size(value: Any) -> int:  # noqa: ANN401 - the check is the point
    size = int(_typed(value, int))
    if size < 0:
        msg = f"a size of {size} bytes"
        raise ValueError(msg)
    return size


def _word(value: Any, pattern: re.Pattern[str]) -> str:  # noqa: ANN401 - the check is the point
    text = str(_typed(value, str))
    if len(text) > _LONGEST_WORD or not pattern.fullmatch(text):
        msg = f"{text[:_LONGEST_WORD]!r} where {pattern.pattern} is expected"
        raise ValueError(msg)
    return text


def _texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - the check is the point
    return tuple(_typed(each, str) for each in _typed(value, list))


def _optional(value: Any) -> str | None:  # noqa: ANN401 - the check is the point
    return None if value is None else str(_typed(value, str))


def _typed(value: Any, kind: type) -> Any:  # noqa: ANN401 - the check is the point
    if not isinstance(value, kind) or isinstance(value, bool):
        msg = f"expected {kind.__name__}, found {value!r:.80}"
        raise TypeError(msg)
    if isinstance(value, str) and _UNPRINTABLE.search(value):
        msg = f"{value!r:.80} holds what can't be printed"
        raise ValueError(msg)
    return value


def sha256_of(value: Any) -> str:  # noqa: ANN401 - the check is the point
    """Raises ValueError and TypeError for what is no SHA-256 in hexadecimal digits."""
    return _word(value, _SHA256)


def path_inside(value: Any) -> PurePosixPath:  # noqa: ANN401 - the check is the point
    """Raises ValueError and TypeError for what is no path below a folder, written plainly and so that a terminal can show it."""
    text = str(_typed(value, str))
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts or str(path) != text:
        msg = f"{text!r} leaves the folder"
        raise ValueError(msg)
    return path
