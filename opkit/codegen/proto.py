"""An op's prototype as REG_OP text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opkit.codegen.attr_literals import proto_default
from opkit.spec import Attr, DType, Input, Op, Output

__all__ = ["proto_line", "proto_lines"]


def proto_line(op: Op) -> str:
    """As a manifest has it."""
    return "".join(proto_lines(op))


def proto_lines(op: Op) -> Iterable[str]:
    def dtype(port: Input | Output) -> str:
        return f'"{port.symbol}"' if port.symbol else _tensor_type(port.dtypes)

    for part in op.signature:
        match part:
            case Input():
                yield f".{_input_clause(part)}({part.name}, {dtype(part)})"
            case Output():
                yield f".{'DYNAMIC_OUTPUT' if part.is_dynamic else 'OUTPUT'}({part.name}, {dtype(part)})"
            case Attr():
                yield _attr_clause(part)
    mixed = {port.symbol for port in op.inputs if port.is_mixed}
    for symbol, dtypes in op.dtypes.items():
        promoted = ", ".join(f'"{other}"' for other in op.promotes.get(symbol, ()))
        of_one = f"Promote({{{promoted}}})" if promoted else _tensor_type(dtypes)
        yield f".DATATYPE({symbol}, {f'ListTensorType({of_one})' if symbol in mixed else of_one})"


def _input_clause(port: Input) -> str:
    """REG_OP has no clause for a list that may be empty: a dynamic input may be."""
    if port.is_dynamic:
        return "DYNAMIC_INPUT"
    return "OPTIONAL_INPUT" if port.is_optional else "INPUT"


def _attr_clause(attr: Attr) -> str:
    if attr.default is None:
        return f".REQUIRED_ATTR({attr.name}, {attr.type.ge_name})"
    return f".ATTR({attr.name}, {attr.type.ge_name}, {proto_default(attr.type, attr.default)})"


def _tensor_type(dtypes: Sequence[DType]) -> str:
    return f"TensorType({{{', '.join(dict.fromkeys(dtype.ge_enum for dtype in dtypes))}}})"
