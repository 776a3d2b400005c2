"""An operator that exists already, brought into a spec: `bring` reads a file or folder into prototypes, `spec_text` writes their ops.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opkit.errors import ForeignFileError
from opkit.spec.importers.folder import read_folder
from opkit.spec.importers.msopgen import read_json
from opkit.spec.importers.ops_text import Question, SpecText, spec_text
from opkit.spec.importers.prototype import AttrClause, Brought, KernelFile, PortClause, PortKind, Prototype, SymbolClause, Unknown
from opkit.spec.importers.reg_op import read_header
from opkit.spec.naming import stem_of

__all__ = [
    "AttrClause",
    "Brought",
    "KernelFile",
    "PortClause",
    "PortKind",
    "Prototype",
    "Question",
    "SpecText",
    "SymbolClause",
    "Unknown",
    "bring",
    "spec_text",
]

# What is read at all; how much of C++ is taken apart is for the reader of C++.
_MOST_BYTES = 16 * 1024 * 1024


def bring(path: Path) -> Brought:
    """What a C++ header, an msopgen JSON or a folder with a hand-written op says. Raises ForeignFileError."""
    with _reading(path):
        brought = read_folder(path, _text) if path.is_dir() else _file(path)
    counts = Counter(prototype.type for prototype in brought.prototypes)
    for prototype in brought.prototypes:
        if counts[prototype.type] > 1:
            first = next(each for each in brought.prototypes if each.type == prototype.type)
            last = [each for each in brought.prototypes if each.type == prototype.type][-1]
            msg = f"the op {prototype.type} is there twice"
            raise ForeignFileError(msg, where=str(last.where), because=f"the other one is {first.where.place}")
    return brought


def _file(path: Path) -> Brought:
    text = _text(path)
    if path.suffix.lower() == ".json" or text.lstrip()[:1] in {"[", "{"}:
        prototypes = read_json(path, text)
        header = f"{stem_of(prototypes[0].type)}.h" if len(prototypes) == 1 else None
        return Brought(origin=path.name, prototypes=prototypes, header=header)
    prototypes = read_header(path, text)
    if not prototypes:
        msg = f"{path.name} has no REG_OP(…)"
        raise ForeignFileError(msg, help="--from takes a header with REG_OP, a JSON for msopgen, or the folder of a hand-written op")
    return Brought(origin=path.name, prototypes=prototypes, header=path.name if path.suffix == ".h" else None)


def _text(path: Path) -> str:
    """Not strictly UTF-8: the comments of old headers aren't, and nothing else in them is more than ASCII."""
    with _reading(path):
        if not path.is_file():
            msg = f"there is no file {path}" if not path.exists() else f"{path} is no regular file"
            raise ForeignFileError(msg)
        if path.stat().st_size > _MOST_BYTES:
            msg = f"{path} is too large for a prototype"
            raise ForeignFileError(msg, because=f"it has {path.stat().st_size:,} bytes")
        return path.read_bytes().decode("utf-8-sig", "replace")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        msg = f"{path} can't be read"
        raise ForeignFileError(msg, because=fault.strerror or str(fault)) from fault
