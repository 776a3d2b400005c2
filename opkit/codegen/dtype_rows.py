"""The dtype combinations of an op: its table in C++, and the text for a message about a combination that isn't in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from opkit.codegen.literals import cpp_string

if TYPE_CHECKING:
    from opkit.spec import Op

__all__ = ["RowContext", "dtype_rows", "dtype_table"]


@attrs.frozen(kw_only=True)
class RowContext:
    """One dtype combination: GE enumerators by port, and the lines before the kernel's source as literals."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    prologue: tuple[str, ...]


def dtype_table(op: Op) -> Iterable[str]:
    """Literals that the compiler joins: the ports, then each combination."""

    def row(texts: Mapping[str, str]) -> str:
        return f"({', '.join(texts[port.name] for port in op.inputs)} -> {', '.join(texts[port.name] for port in op.outputs)})"

    yield cpp_string(row({port.name: port.name for port in op.ports}) + ":")
    for combo in op.dtype_combos():
        yield cpp_string(" " + row({name: dtype.name for name, dtype in combo.ports.items()}))


def dtype_rows(op: Op, installed: str) -> Iterable[RowContext]:
    defines = [f"#define {name} {value}\n" for name, value in op.kernel.defines.items()]
    for combo in op.dtype_combos():
        dtypes = [f"#define DTYPE_{port.name.upper()} {combo.ports[port.name].kernel_type}\n" for port in op.ports]
        line = f"#line 1 {cpp_string(installed)}\n"
        yield RowContext(
            inputs=tuple(combo.ports[port.name].ge_enum for port in op.inputs),
            outputs=tuple(combo.ports[port.name].ge_enum for port in op.outputs),
            prologue=tuple(cpp_string(text) for text in (*dtypes, *defines, line)),
        )
