"""The kinds of an op's ports as C++: rows of a table that says of each port how many tensors it is, in which formats, and whose memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from opkit.codegen.dtype_rows import has_open_rows
from opkit.codegen.literals import cpp_string
from opkit.spec import Input, Op, Output
from opkit.spec.formats import PLAIN_FORMATS

__all__ = ["PortKinds"]

_PLAIN = ("ND",)


@attrs.frozen(kw_only=True)
class PortRow:
    """What the table says of one port; None stands for the default of `PortKind`'s member."""

    least: int
    most: str
    first_format: str
    counter: str | None
    formats: str | None
    mixed: str | None
    shared_input: str | None

    @property
    def is_long(self) -> bool:
        """Whether its initializer may be longer than a line."""
        return self.formats is not None or self.mixed is not None

    def text(self, helpers: Collection[str]) -> str:
        """The initializer, in a package whose `PortKind` has the members that `helpers` name."""
        members = {"count_attrs": self.counter, "formats": self.formats, "mixed_dtypes": self.mixed}
        fields = [str(self.least), self.most, *(text or "{}" for helper, text in members.items() if helper in helpers)]
        if self.shared_input is not None:
            fields.append(self.shared_input)
        while len(fields) > 2 and fields[-1] == "{}":
            fields.pop()
        return f"{{{', '.join(fields)}}}"


@attrs.frozen(kw_only=True)
class PortKinds:
    """`helpers` is empty for an op whose ports are each one tensor with memory of its own, in any plain format."""

    inputs: tuple[PortRow, ...]
    outputs: tuple[PortRow, ...]
    dynamic_inputs: tuple[str, ...]
    dynamic_outputs: tuple[str, ...]
    helpers: frozenset[str]

    @classmethod
    def of(cls, op: Op) -> PortKinds:
        helpers = {
            helper
            for helper, is_used in (
                ("absent_inputs", any(port.is_optional for port in op.inputs)),
                ("count_attrs", any(port.count_attr for port in op.ports)),
                ("formats", any(port.formats != _PLAIN for port in op.ports)),
                ("open_rows", has_open_rows(op)),
                ("mixed_dtypes", any(port.is_mixed for port in op.inputs)),
                ("in_place", any(op.input_in_place(port) for port in op.outputs)),
            )
            if is_used
        }
        if helpers or not op.inputs or not op.outputs or any(port.is_dynamic for port in op.ports):
            helpers.add("port_kinds")
        return cls(
            inputs=tuple(_row(op, port, least=0 if port.is_optional else 1) for port in op.inputs),
            outputs=tuple(_row(op, port, least=0 if port.is_dynamic else 1) for port in op.outputs),
            dynamic_inputs=tuple(port.name for port in op.inputs if port.is_dynamic),
            dynamic_outputs=tuple(port.name for port in op.outputs if port.is_dynamic),
            helpers=frozenset(helpers),
        )


def _row(op: Op, port: Input | Output, *, least: int) -> PortRow:
    counter = None
    if port.count_attr is not None:
        counter = f"{{{cpp_string(port.count_attr)}, {op.attr_index(port.count_attr)}}}"
    shared = op.input_in_place(port) if isinstance(port, Output) else None
    return PortRow(
        least=least,
        most="kAnyNumber" if port.is_dynamic else "1",
        first_format=port.formats[0],
        counter=counter,
        formats=None if port.formats == _PLAIN else _formats(port.formats),
        mixed=_mixed(op, port),
        shared_input=None if shared is None else str(op.inputs.index(shared)),
    )


def _mixed(op: Op, port: Input | Output) -> str | None:
    source = op.mixed_input(port)
    if source is None:
        return None
    dtypes = list(dict.fromkeys(source.dtypes))
    listed = ", ".join(f"ge::{dtype.ge_enum}" for dtype in dtypes)
    return f"{{DtypeSet({{{listed}}}), {cpp_string(', '.join(map(str, dtypes)))}, {op.inputs.index(source)}}}"


def _formats(formats: Sequence[str]) -> str:
    """ND stands for every format without blocks."""
    taken = dict.fromkeys([*formats, *(PLAIN_FORMATS if "ND" in formats else ())])
    listed = ", ".join(f"ge::FORMAT_{name}" for name in taken)
    return f"{{ge::FORMAT_{formats[0]}, FormatSet({{{listed}}}), {cpp_string(', '.join(formats))}}}"
