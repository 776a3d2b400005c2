"""`opkit-manifest.json` of an OPP root: which files are opkit's, their hashes, which ops they bring and what they were linked against.

A manifest travels with its folder and may come from anywhere, so nothing in it is believed before it is checked.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from opkit.errors import DeliverableError
from opkit.files import closed_above, content_of, digest_of, write_whole
from opkit.layout import LAYOUT_VERSION, MANIFEST, MOST_OPS, mode_of

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
    "marked",
    "path_inside",
    "sha256_of",
]

LARGEST_MANIFEST = 8 << 20  # 10,000 files and as many ops; the JSON of a larger one would only be a way to fill the memory
_KINDS = ("cann", "simulator")  # of the toolkit that a deliverable was linked with
# They become names of folders and files.
_PACKAGE = r"[a-z][a-z0-9_]*"
_VERSION = r"[A-Za-z0-9][A-Za-z0-9.!+_-]*"
_WORD = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_SHA256 = r"[0-9a-f]{64}"
_NUMBERS = r"[0-9]+(\.[0-9]+)*"
_OP_TYPE = r"[A-Za-z][A-Za-z0-9_]*"
_ABIS = (0, 1)
_LONGEST_WORD = 128
_Value = TypeVar("_Value", str, int)
_SPECIAL = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_LARGEST_FILE = (1 << 63) - 1  # of any file system
_BUILT_AGAIN = "build it again in its project: opkit build; or install it again"
# No text of a manifest needs them, and a terminal, a file system or a shell might take them for something else.
# A mark of direction or of no width makes a text look like another one.
_UNPRINTABLE = r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"


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

    @property
    def label(self) -> str:
        """For people."""
        return f"{'the host simulator' if self.is_simulator else 'CANN'} {self.version}"


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
    def marked_version(self) -> str:
        """For people and names of files: that of what was built against the simulator says so."""
        return marked(self.version) if self.built_against.is_simulator else self.version

    @property
    def op_types(self) -> tuple[str, ...]:
        return tuple(op.type for op in self.ops)

    @classmethod
    def read(cls, root: Path) -> Manifest | None:
        """None if there is none; raises DeliverableError if it isn't one."""
        path = root / MANIFEST
        try:
            raw = content_of(path, most=LARGEST_MANIFEST)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError as fault:
            import shlex

            closed = closed_above(path)
            msg = f"cannot read {path}"
            advice = f"chmod a+r {shlex.quote(str(path))}" if closed is None else f"chmod a+rx {shlex.quote(str(closed))}"
            raise DeliverableError(msg, because=fault.strerror, help=advice) from fault
        except OSError as fault:
            msg = f"{path} is no manifest that this opkit can read"
            raise DeliverableError(msg, because=fault.strerror, help=_BUILT_AGAIN) from fault
        return cls.parse(raw, str(path), help=_BUILT_AGAIN)

    @classmethod
    def parse(cls, raw: bytes, name: str, *, help: str | None = None) -> Manifest:  # noqa: A002 - the word that is printed
        """Raises DeliverableError, in which `name` says what was read."""
        try:
            if len(raw) > LARGEST_MANIFEST:
                msg = f"{len(raw)} bytes; a manifest has at most {LARGEST_MANIFEST}"
                raise ValueError(msg)  # noqa: TRY301 - one place tells of all that can be wrong
            return _parsed(json.loads(_text_of(raw), object_pairs_hook=_distinct))
        except (ValueError, LookupError, TypeError, RecursionError) as fault:
            msg = f"{name} is no manifest that this opkit can read"
            raise DeliverableError(msg, because=_told(fault), help=help) from fault

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

    def irregularities(self, root: Path) -> dict[PurePosixPath, str]:
        """By path, what no archive of a package holds, each as one sentence: a link in place of a file of the manifest or of a folder
        above it, which may lead anywhere; a file that is run as its owner, or that its owner can't read; and what is no file at all.
        """
        found: dict[PurePosixPath, str] = {}
        files = (PurePosixPath(MANIFEST), *(file.path for file in self.files))
        for path in dict.fromkeys(each for file in files for each in (*reversed(file.parents[:-1]), file)):
            with suppress(OSError):  # Missing, or where nobody may look: a violation.
                mode = (root / path).lstat().st_mode
                if stat.S_ISLNK(mode):
                    found[path] = f"{path} is a link, and a package holds none"
                elif stat.S_ISREG(mode) and (mode & _SPECIAL or not mode & stat.S_IRUSR):
                    found[path] = f"{path} has mode {mode & 0o7777:04o}, and a package holds it with {mode_of(path):04o}"
        for folder, _, names in os.walk(root):
            for place in (Path(folder, name) for name in names):
                with suppress(OSError):
                    if not stat.S_ISREG(place.lstat().st_mode) and not place.is_symlink():
                        stray = PurePosixPath(place.relative_to(root))
                        found[stray] = f"{stray} is neither a file nor a folder"
        return found


class OppRoot(NamedTuple):
    """A folder that ASCEND_CUSTOM_OPP_PATH may name, made by opkit."""

    path: Path
    manifest: Manifest

    @classmethod
    def read(cls, path: Path) -> OppRoot | None:
        manifest = Manifest.read(path)
        return None if manifest is None else cls(path=path, manifest=manifest)


def marked(version: str) -> str:
    """The version of what was built against the simulator."""
    # As PEP 440 has it: a local version begins with one "+", and its parts are joined by dots.
    return version + (".sim" if "+" in version else "+sim")


def is_version(text: str) -> bool:
    """Whether a package can have this version, which becomes a part of names of files and folders."""
    return len(text) <= _LONGEST_WORD and re.fullmatch(_VERSION, text) is not None


def _violation(path: Path, file: ManifestFile, *, by_size_alone: bool) -> str | None:
    try:
        status = path.stat()
        is_same = stat.S_ISREG(status.st_mode) and status.st_size == file.size and (by_size_alone or digest_of(path) == file.sha256)
    except (FileNotFoundError, NotADirectoryError):
        return f"{file.path} is missing"
    except OSError as fault:
        return f"{file.path} can't be read: {fault.strerror}"
    return None if is_same else f"{file.path} isn't the file that was built"


def _told(fault: Exception) -> str:
    if isinstance(fault, LookupError):
        return f"it has no {fault}"
    return "it is nested too deeply" if isinstance(fault, RecursionError) else str(fault)


def _text_of(raw: bytes) -> str:
    """What two readers could read otherwise, as another encoding, is no manifest."""
    if raw.startswith(codecs.BOM_UTF8):
        msg = "it begins with a byte order mark"
        raise ValueError(msg)
    try:
        return raw.decode()
    except UnicodeDecodeError as fault:
        msg = f"it isn't UTF-8: {fault.reason} at byte {fault.start}"
        raise ValueError(msg) from fault


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        msg = f"{next(key for key in keys if keys.count(key) > 1)!r:.80} is there twice"
        raise ValueError(msg)
    return found


def _parsed(document: Any) -> Manifest:  # noqa: ANN401 - whatever the file held
    if _typed(_typed(document, dict)["layout"], int) != LAYOUT_VERSION:
        msg = f"layout {document['layout']!r:.80}; this opkit reads {LAYOUT_VERSION}"
        raise ValueError(msg)
    built: Mapping[str, Any] = _typed(document["built_against"], dict)
    target: Mapping[str, Any] = _typed(document["target"], dict)
    requires: Mapping[str, Any] = _typed(document["requires"], dict)
    return Manifest(
        package=_word(document["package"], _PACKAGE),
        version=_word(document["version"], _VERSION),
        opkit=_optional(document["opkit"]),
        ops=_ops(_typed(document["ops"], list)),
        target=Target(
            os=_word(target["os"], _WORD),
            arch=_word(target["arch"], _WORD),
            npu_arch=None if target["npu_arch"] is None else _word(target["npu_arch"], _WORD),
            socs=_texts(target["socs"]),
        ),
        built_against=BuiltAgainst(
            kind=_known("built_against.kind", _typed(built["kind"], str), _KINDS),
            version=_typed(built["version"], str),
            abi=_known("built_against.abi", _typed(built["abi"], int), _ABIS),
        ),
        requires=Requires(
            toolkit=_optional(requires["toolkit"]),
            glibc=None if requires["glibc"] is None else _word(requires["glibc"], _NUMBERS),
            glibcxx=None if requires["glibcxx"] is None else _word(requires["glibcxx"], _NUMBERS),
            libraries=_texts(requires["libraries"]),
        ),
        files=_files(_typed(document["files"], list)),
    )


def _known(name: str, value: _Value, known: tuple[_Value, ...]) -> _Value:
    if value not in known:
        msg = f"{name} is {value!r:.80}, and this opkit knows {' and '.join(map(str, known))}"
        raise ValueError(msg)
    return value


def _ops(described: list[Any]) -> tuple[ManifestOp, ...]:
    if len(described) > MOST_OPS:
        msg = f"{len(described)} ops; a package has at most {MOST_OPS}"
        raise ValueError(msg)
    ops = tuple(ManifestOp(type=_word(op["type"], _OP_TYPE), prototype=_typed(op["prototype"], str)) for op in described)
    seen: set[str] = set()
    for op in ops:
        if op.type in seen:
            msg = f"the op {op.type} is named twice"
            raise ValueError(msg)
        seen.add(op.type)
    return ops


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
    if not 0 <= size <= _LARGEST_FILE:
        msg = f"a size of {size} bytes"
        raise ValueError(msg)
    return size


def _word(value: Any, pattern: str) -> str:  # noqa: ANN401 - the check is the point
    text = str(_typed(value, str))
    if len(text) > _LONGEST_WORD or not re.fullmatch(pattern, text):
        msg = f"{text[:_LONGEST_WORD]!r} where {pattern} is expected"
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
    if isinstance(value, str) and not (value.isascii() and value.isprintable()) and re.search(_UNPRINTABLE, value):
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
        msg = f"{text!r:.80} leaves the folder"
        raise ValueError(msg)
    return path
