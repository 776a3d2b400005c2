"""The dtype combinations of an op: its table in C++, and the text for a message about a combination that isn't in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from opkit.codegen.literals import cpp_string, cpp_string_lines
from opkit.spec import DEFAULT_SOC, AttrType, Input, dtypes_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opkit.spec import DType, DTypeCombo, Kernel, Op, Output

__all__ = [
    "ChoiceContext",
    "RowContext",
    "SocContext",
    "dtype_choices",
    "dtype_rows",
    "dtype_table",
    "entry_texts",
    "has_open_rows",
    "prologue",
    "soc_rows",
]


# A table of more rows is told by what each port can have.
_LONGEST_TABLE = 24


@attrs.frozen(kw_only=True)
class RowContext:
    """One dtype combination: GE enumerators by port, and how it is told."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    told: str

    @property
    def line(self) -> str:
        inputs, outputs = (", ".join(f"ge::{dtype}" for dtype in dtypes) for dtypes in (self.inputs, self.outputs))
        return f"{{{{{inputs}}}, {{{outputs}}}}},"


@attrs.frozen(kw_only=True)
class ChoiceContext:
    """What decides an output's dtype besides the inputs: an attr by index and name, or (0 and no name) the graph."""

    output: int
    by: str
    attr: int
    literal: str


@attrs.frozen(kw_only=True)
class SocContext:
    """The rows that a SoC has, a 0 or 1 for each; the name of the default is empty, so that every SoC's begins with it."""

    literal: str
    rows: str


def dtype_table(op: Op) -> Iterable[str]:
    """Literals that the compiler joins: the ports, then each combination, or of many the dtypes of each port."""

    def row(texts: Mapping[str, str]) -> str:
        return f"({', '.join(texts[port.name] for port in op.inputs)} -> {', '.join(texts[port.name] for port in op.outputs)})"

    combos = _distinct_combos(op)
    if len(combos) > _LONGEST_TABLE:
        yield cpp_string(f"{len(combos)} combinations of")
        for port in {port.name: port for port in op.ports}.values():
            names = " | ".join(dict.fromkeys(dtype.name for dtype in port.dtypes))
            yield from cpp_string_lines(f" ({port.name}: {names})")
        return
    yield from cpp_string_lines(row({port.name: port.name for port in op.ports}) + ":")
    for combo in combos:
        texts = {port.name: "any" if op.mixed_input(port) else combo.ports[port.name].name for port in op.ports}
        yield from cpp_string_lines(" " + row(texts))


def _distinct_combos(op: Op) -> tuple[DTypeCombo, ...]:
    """Without those that differ only in the dtypes of a list that may have any of them."""
    fixed = [port.name for port in op.ports if not op.mixed_input(port)]
    combos = op.dtype_combos()
    # The rows of a SoC are told by their number.
    if len(fixed) == len(op.ports) or op.soc_rows:
        return combos
    return tuple({tuple(combo.ports[name] for name in fixed): combo for combo in reversed(combos)}.values())[::-1]


def dtype_rows(op: Op) -> Iterable[RowContext]:
    for combo in _distinct_combos(op):
        enums = {port.name: "DT_UNDEFINED" if op.mixed_input(port) else combo.ports[port.name].ge_enum for port in op.ports}
        yield RowContext(
            inputs=tuple(enums[port.name] for port in op.inputs),
            outputs=tuple(enums[port.name] for port in op.outputs),
            told=cpp_string(dtypes_shown(combo)),
        )


def prologue(op: Op, kernel: Kernel, installed: str, new_name: str | None) -> Iterable[str]:
    """The lines before the kernel's source, as C++: all of them if there is one combination, else what follows the dtypes.

    With `new_name` the entry's function is called so, and by the number of the combination where there are several.
    """
    combos = _distinct_combos(op)
    fixed = [port.name for port in op.ports if not op.mixed_input(port)]
    types = {name: combos[0].ports[name].kernel_type for name in fixed} if len(combos) == 1 else {}
    dtypes = [f"#define DTYPE_{name.upper()} {kernel_type}\n" for name, kernel_type in types.items() if kernel_type is not None]
    defines = [f"#define {name} {value}\n" for name, value in kernel.defines.items()]
    yield from (cpp_string(text) for text in dtypes)
    if new_name is not None:
        rename = f"#define {kernel.signature.function} {new_name}"
        yield cpp_string(f"{rename}\n") if len(combos) == 1 else f'{cpp_string(f"{rename}_")} + std::to_string(row) + "\\n"'
    yield from (cpp_string(text) for text in (*defines, f"#line 1 {cpp_string(installed)}\n"))


def entry_texts(op: Op, kernel: Kernel, new_name: str | None) -> tuple[str, ...]:
    """C++ for the kernel's entry: a literal, or of several rows literals and between them the types of a row. `new_name` as above."""
    combos = _distinct_combos(op)
    parts = kernel.entry_parts
    if len(combos) == 1:
        types = [combos[0].dtype_of(part).kernel_type or "" if index % 2 else part for index, part in enumerate(parts)]
        text = "".join(types)
        return (cpp_string(text if new_name is None else new_name.join(_split_at(kernel.signature.function, text))),)
    return tuple(
        f"KernelTypeOf({_in_row(part, op)})" if index % 2 else _with_number(part, kernel, new_name) for index, part in enumerate(parts)
    )


def _with_number(text: str, kernel: Kernel, new_name: str | None) -> str:
    """C++ of a text, where the entry's function has its new name and after it the number of the row."""
    *befores, last = [text] if new_name is None else _split_at(kernel.signature.function, text)
    numbered = [f"{cpp_string(f'{before}{new_name}_')} + std::to_string(row)" for before in befores]
    return " + ".join([*numbered, *([cpp_string(last)] if last or not befores else [])])


def _split_at(name: str, text: str) -> list[str]:
    return re.split(rf"\b{re.escape(name)}\b", text)


def _in_row(name: str, op: Op) -> str:
    """The dtype of a symbol or a port in a row."""
    port = next(port for port in op.ports_of_dtype(name))
    side: Sequence[Input | Output] = op.inputs if isinstance(port, Input) else op.outputs
    return f"kDtypes[row].{'inputs' if isinstance(port, Input) else 'outputs'}[{side.index(port)}]"


def has_open_rows(op: Op) -> bool:
    """Whether outputs have several dtypes in the rows that are left where all inputs are absent that may be."""
    known = [port for port in op.deciding_ports() if not (isinstance(port, Input) and port.is_optional)]
    outputs = [output for output in op.outputs if not op.mixed_input(output)]
    rows: dict[tuple[DType, ...], tuple[DType, ...]] = {}
    for combo in op.dtype_combos():
        dtypes = tuple(combo.ports[output.name] for output in outputs)
        if rows.setdefault(tuple(combo.ports[port.name] for port in known), dtypes) != dtypes:
            return True
    return False


def dtype_choices(op: Op) -> Iterable[ChoiceContext]:
    told = op.outputs_told_by_graph()
    for index, output in enumerate(op.outputs):
        if output.dtype_attr is not None:
            attr = op.attr(output.dtype_attr)
            by = "kIntAttr" if attr.type is AttrType.INT else "kTypeAttr"
            yield ChoiceContext(output=index, by=by, attr=op.attr_index(attr.name), literal=cpp_string(attr.name))
        elif output in told:
            yield ChoiceContext(output=index, by="kGraph", attr=0, literal="nullptr")


def soc_rows(op: Op) -> Iterable[SocContext]:
    for soc, rows in op.soc_rows.items():
        literal = cpp_string("" if soc == DEFAULT_SOC else soc)
        yield SocContext(literal=literal, rows=cpp_string("".join("1" if is_there else "0" for is_there in rows)))
