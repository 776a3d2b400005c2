"""A spec as the document of `opkit inspect --json`, in the words that docs/reference/spec.schema.json publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from opkit.spec.expressions import AddressList, AttrValue, Expr, PortAddress, ShapeBuffer, Tiling, UserTiling, Workspace
from opkit.spec.model import Attr, Input, Output
from opkit.spec.shapes import Broadcast, ShapePattern, UpperBound, UserShape

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.spec.location import Location
    from opkit.spec.model import AttrDefault, Benchmark, GivenShape, Kernel, LaunchArg, Op, Package
    from opkit.spec.shapes import ShapeRule

__all__ = ["SCHEMA", "to_json"]

# Counts up when a reader of the document before would read it wrong: a word gone or with another meaning, not a word more.
SCHEMA = 1


_KINDS: dict[type[Expr], str] = {
    PortAddress: "port",
    AddressList: "address_list",
    ShapeBuffer: "shape_of",
    Workspace: "workspace",
    Tiling: "tiling",
    UserTiling: "tiling",
    AttrValue: "attr",
}


def to_json(package: Package) -> dict[str, Any]:
    """Paths are relative to the project; nothing in it depends on where the project lies."""
    return {
        "schema": SCHEMA,
        "package": package.name,
        "header": package.header,
        "naming": package.naming.value,
        "sources": [_relative(source, package.root) for source in package.sources],
        "ops": [_op(op, package.root) for op in package.ops],
        "benchmark": None if package.benchmark is None else _benchmark(package.benchmark),
        "warnings": [warning.to_json() for warning in package.warnings],
    }


def _op(op: Op, root: Path) -> dict[str, Any]:
    return {
        "type": op.type,
        "stem": op.stem,
        "where": _place(op.where, root),
        "signature": [_declared(each, op, root) for each in op.signature],
        "symbols": {symbol: [dtype.name for dtype in dtypes] for symbol, dtypes in op.dtypes.items()},
        "promotes": {symbol: list(others) for symbol, others in op.promotes.items()},
        "dtypes": [{name: dtype.name for name, dtype in combo.ports.items()} for combo in op.dtype_combos()],
        "socs": {soc: [row for row, is_there in enumerate(rows) if is_there] for soc, rows in op.soc_rows.items()},
        "kernels": [_kernel(kernel, root) for kernel in op.kernels],
        "refresh": op.refresh.value,
        "compile": op.compile.value,
        "portable": op.is_portable,
        "reference": op.reference is not None,
    }


def _declared(declared: Input | Output | Attr, op: Op, root: Path) -> dict[str, Any]:
    match declared:
        case Input():
            return _input(declared, root)
        case Output():
            return _output(declared, op, root)
        case Attr():
            return _attr(declared, root)


def _input(port: Input, root: Path) -> dict[str, Any]:
    return {
        "kind": "input",
        **_port(port),
        "optional": port.is_optional,
        "value_depend": port.value_depend,
        "where": _place(port.where, root),
    }


def _output(port: Output, op: Op, root: Path) -> dict[str, Any]:
    return {
        "kind": "output",
        **_port(port),
        "dtype_attr": port.dtype_attr,
        "in_place": op.input_in_place(port) is not None,
        "where": _place(port.where, root),
    }


def _port(port: Input | Output) -> dict[str, Any]:
    return {
        "name": port.name,
        "symbol": port.symbol,
        "dtypes": list(dict.fromkeys(dtype.name for dtype in port.dtypes)),
        "shape": None if port.shape is None else _shape(port.shape),
        "dynamic": port.is_dynamic,
        "count_attr": port.count_attr,
        "formats": list(port.formats),
    }


def _shape(rule: ShapeRule) -> dict[str, Any]:
    match rule:
        case ShapePattern():
            return {"rule": "pattern", "dims": rule.text}
        case Broadcast():
            return {"rule": "broadcast", "ports": list(rule.ports)}
        case UpperBound():
            return {"rule": "upper_bound", "dims": rule.pattern.text, "bounds": {name: str(bound) for name, bound in rule.bounds}}
        case UserShape():
            return {"rule": "cpp", "header": rule.relative, "function": rule.function}


def _attr(attr: Attr, root: Path) -> dict[str, Any]:
    return {
        "kind": "attr",
        "name": attr.name,
        "type": attr.type.value,
        "ge_type": attr.type.ge_name,
        "required": attr.is_required,
        "default": _value(attr.default),
        "where": _place(attr.where, root),
    }


def _value(value: AttrDefault | None) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, (tuple, bytes)):
        return [_value(each) for each in value]
    return value


def _kernel(kernel: Kernel, root: Path) -> dict[str, Any]:
    return {
        "source": kernel.relative,
        "files": [_relative(file, root) for file in kernel.files],
        "entry": kernel.entry,
        "expression": kernel.expression,
        "core": kernel.core.value,
        "args": [_arg(arg) for arg in kernel.args],
        "args_bytes": kernel.signature.args_bytes,
        "blocks": str(kernel.blocks),
        "strides": kernel.strides,
        "defines": dict(kernel.defines),
        "where": _place(kernel.where, root),
    }


def _arg(arg: LaunchArg) -> dict[str, Any]:
    return {
        "parameter": arg.param.name,
        "type": arg.param.c_type,
        "offset": arg.param.offset,
        "bytes": arg.param.bytes,
        "kind": _KINDS.get(type(arg.value), "size"),
        "value": str(arg.value),
    }


def _benchmark(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "op": benchmark.op.type,
        "baseline": None if benchmark.baseline is None else benchmark.baseline.type,
        "shapes": {name: _given(shape) for name, shape in benchmark.shapes.items()},
        "attrs": {name: _value(value) for name, value in benchmark.attrs.items()},
        "iters": benchmark.iters,
    }


def _given(shape: GivenShape) -> list[Any] | None:
    """A list of dims, or of the shapes of a dynamic input; None for one that is absent."""
    return None if shape is None else [each if isinstance(each, int) else list(each) for each in shape]


def _place(where: Location, root: Path) -> dict[str, Any]:
    return {"file": _relative(where.file, root), "line": where.line}


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
