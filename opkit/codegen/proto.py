"""An op's prototype as REG_OP text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opkit.codegen.literals import cpp_bool, cpp_float, cpp_int, cpp_string
from opkit.spec import AttrType, DType, Input, Op, Output

__all__ = ["proto_lines"]


def proto_lines(op: Op) -> Iterable[str]:
    def dtype(port: Input | Output) -> str:
        return f'"{port.symbol}"' if port.symbol else _tensor_type(port.dtypes)

    for input_ in op.inputs:
        yield f".INPUT({input_.name}, {dtype(input_)})"
    for output in op.outputs:
        yield f".OUTPUT({output.name}, {dtype(output)})"
    for attr in op.attrs:
        if attr.default is None:
            yield f".REQUIRED_ATTR({attr.name}, {attr.type.ge_name})"
        else:
            yield f".ATTR({attr.name}, {attr.type.ge_name}, {_default(attr.type, attr.default)})"
    for symbol, dtypes in op.dtypes.items():
        yield f".DATATYPE({symbol}, {_tensor_type(dtypes)})"


def _tensor_type(dtypes: Sequence[DType]) -> str:
    return f"TensorType({{{', '.join(dict.fromkeys(dtype.ge_enum for dtype in dtypes))}}})"


def _default(kind: AttrType, value: float | bool | str) -> str:
    match kind:
        case AttrType.INT:
            return cpp_int(int(value))
        case AttrType.FLOAT:
            return cpp_float(float(value))
        case AttrType.BOOL:
            return cpp_bool(bool(value))
        case AttrType.STR:
            return cpp_string(str(value))
