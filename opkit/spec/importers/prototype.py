"""What every importer gives and the printer takes: an op's prototype, whatever file it came from."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from opkit.spec.dtypes import DType
    from opkit.spec.kernel_signature import FoundEntry
    from opkit.spec.location import Location
    from opkit.spec.model import AttrDefault, AttrType
    from opkit.spec.resolve_capabilities import Capabilities

__all__ = ["AttrClause", "Brought", "KernelFile", "PortClause", "PortKind", "Prototype", "SymbolClause", "Unknown"]


_PLAIN = re.compile(r"[\w .+@-]+")


class PortKind(enum.Enum):
    """The value is the clause of REG_OP."""

    INPUT = "INPUT"
    OPTIONAL_INPUT = "OPTIONAL_INPUT"
    DYNAMIC_INPUT = "DYNAMIC_INPUT"
    OUTPUT = "OUTPUT"
    DYNAMIC_OUTPUT = "DYNAMIC_OUTPUT"

    @property
    def is_output(self) -> bool:
        return self in {PortKind.OUTPUT, PortKind.DYNAMIC_OUTPUT}

    @property
    def is_dynamic(self) -> bool:
        return self in {PortKind.DYNAMIC_INPUT, PortKind.DYNAMIC_OUTPUT}


@attrs.frozen(kw_only=True)
class PortClause:
    """It has a `symbol`, or `dtypes` of its own. `formats` is empty where the file says nothing about them."""

    kind: PortKind
    name: str
    symbol: str | None = None
    dtypes: tuple[DType, ...] = ()
    formats: tuple[str, ...] = ()
    where: Location


@attrs.frozen
class Unknown:
    """A default that can't be read: a C++ expression, as the file has it, or nothing at all."""

    text: str


@attrs.frozen(kw_only=True)
class AttrClause:
    """`default` is None if the attr is required."""

    name: str
    type: AttrType
    default: AttrDefault | Unknown | None
    where: Location


@attrs.frozen(kw_only=True)
class SymbolClause:
    """`dtypes`, or for a promotion the symbols that it is made of. `is_list`: the tensors of a dynamic port may differ in it."""

    name: str
    dtypes: tuple[DType, ...] = ()
    promoted: tuple[str, ...] = ()
    is_list: bool = False
    where: Location


@attrs.frozen(kw_only=True)
class Prototype:
    """`clauses` are in the order of the file. `has_columns`: dtype lists of one length pair column by column, as the file's format says;
    elsewhere nothing says which dtypes go together. `condition` is the first `#if` between its clauses: those under one are all here, since
    only a compiler can decide it.
    """

    type: str
    clauses: tuple[PortClause | AttrClause, ...]
    symbols: tuple[SymbolClause, ...] = ()
    has_columns: bool = False
    condition: Location | None = None
    where: Location

    @property
    def ports(self) -> tuple[PortClause, ...]:
        return tuple(clause for clause in self.clauses if isinstance(clause, PortClause))

    @property
    def attrs(self) -> tuple[AttrClause, ...]:
        return tuple(clause for clause in self.clauses if isinstance(clause, AttrClause))

    def symbol(self, name: str) -> SymbolClause:
        return next(symbol for symbol in self.symbols if symbol.name == name)


@attrs.frozen(kw_only=True)
class KernelFile:
    """A kernel to copy: `path` is the entry's own file relative to `root`, `files` are it and its headers, relative too."""

    root: Path
    path: str
    files: tuple[str, ...]
    entries: tuple[FoundEntry, ...]


@attrs.frozen(kw_only=True)
class Brought:
    """What was found in a file or folder. `capabilities` has the op types whose class tells them; `header` is the proto header's own name,
    if there is one.
    """

    origin: str
    prototypes: tuple[Prototype, ...]
    header: str | None = None
    kernels: tuple[KernelFile, ...] = ()
    capabilities: Mapping[str, Capabilities] = attrs.field(factory=dict)

    @property
    def named(self) -> str:
        """The origin as texts of the project can have it: a file may be called anything."""
        return self.origin if _PLAIN.fullmatch(self.origin) else "a file"
