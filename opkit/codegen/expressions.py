"""Size expressions and kernel arguments as C++ statements, with what each statement needs of the generated helpers."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from opkit.codegen.literals import cpp_int, cpp_string
from opkit.spec import AttrType, AttrValue, BinaryOp, Input, LaunchArg, Op, PortAddress

__all__ = ["ArgStatements", "BlockStatements"]

_OPERATORS = {BinaryOp.ADD: ("+", "add"), BinaryOp.SUB: ("-", "sub"), BinaryOp.MUL: ("*", "mul")}
_FUNCTIONS = {
    BinaryOp.FLOOR_DIV: ("FloorDiv", "floor_div"),
    BinaryOp.MOD: ("Mod", "mod"),
    BinaryOp.CEIL_DIV: ("CeilDiv", "ceil_div"),
    BinaryOp.MIN: ("Min", "min"),
    BinaryOp.MAX: ("Max", "max"),
}


@attrs.frozen(kw_only=True)
class BlockStatements:
    """The body of CountBlocks."""

    statements: tuple[str, ...]
    reads_context: bool
    helpers: frozenset[str]

    @classmethod
    def of(cls, op: Op) -> BlockStatements:
        reading = _Reading(op)
        blocks = op.kernel.blocks.read(reading)
        if op.kernel.strides:
            blocks = reading.binary(BinaryOp.MIN, blocks, _Text("kMaxBlocks", is_plain=True))
        what = cpp_string(f"the number of blocks, {op.kernel.blocks},")
        statements = [*reading.declarations(), f"const Size size = {blocks};", f"return StoreBlocks(node, {what}, size, blocks);"]
        return cls(statements=tuple(statements), reads_context=reading.reads_context, helpers=frozenset(reading.helpers))


@attrs.frozen(kw_only=True)
class ArgStatements:
    """The body of FillArgs."""

    statements: tuple[str, ...]
    reads_node: bool
    helpers: frozenset[str]

    @classmethod
    def of(cls, op: Op) -> ArgStatements:
        reading = _Reading(op)
        statements = [line for arg in op.kernel.args for line in _argument(arg, reading)]
        reads_node = reading.reads_node or any("(node," in line for line in statements)
        return cls(statements=(*reading.declarations(), *statements), reads_node=reads_node, helpers=frozenset(reading.helpers))


def _argument(arg: LaunchArg, reading: _Reading) -> Iterable[str]:
    target = f"args.{arg.param.name}"
    if isinstance(arg.value, PortAddress):
        yield f"{target} = {reading.tensor(arg.value.port)}->GetAddr();"
        return
    if isinstance(arg.value, AttrValue) and reading.attr_type(arg.value.name) in _SAME_TYPE.get(
        str(arg.param.scalar and arg.param.scalar.value), ()
    ):
        yield f"{target} = *{reading.attr_pointer(arg.value.name)};"
        return
    what = cpp_string(f"{arg.param.name} = {arg.value}")
    value = arg.value.read(reading)
    yield f"if (!Store(node, {what}, {value}, {target})) {{"
    yield "  return false;"
    yield "}"


# Attr types that a parameter holds as they are: nothing to check.
_SAME_TYPE = {
    "float": (AttrType.FLOAT,),
    "double": (AttrType.FLOAT,),
    "bool": (AttrType.BOOL,),
    "int64_t": (AttrType.INT,),
}


@attrs.frozen
class _Text:
    """C++ text of a Size, or of a plain int64 that becomes one beside a Size. `is_sum` text needs brackets beside an operator."""

    text: str
    is_plain: bool = False
    is_sum: bool = False

    def bracketed(self) -> str:
        return f"({self.text})" if self.is_sum else self.text

    def __str__(self) -> str:
        return self.text


class _Reading:
    """The C++ reading of a size expression: `Reading[_Text]`. Collects the shapes and attrs that the text refers to."""

    def __init__(self, op: Op) -> None:
        self._op = op
        self._ports: dict[str, None] = {}
        self._attrs: dict[str, None] = {}
        self.helpers: set[str] = set()
        self.reads_node = False

    @property
    def reads_context(self) -> bool:
        return bool(self._ports or self._attrs)

    def number(self, value: int) -> _Text:
        return _Text(cpp_int(value), is_plain=True)

    def numel(self, port: str) -> _Text:
        return _Text(f"Numel({self._shape(port)})")

    def dim(self, port: str, axis: int) -> _Text:
        self.helpers.add("dim_of")
        return _Text(f"DimOf({self._shape(port)}, {axis})")

    def attr(self, name: str) -> _Text:
        pointer = self.attr_pointer(name)
        return _Text(f"Size(*{pointer} ? 1 : 0)" if self.attr_type(name) is AttrType.BOOL else f"Size(*{pointer})")

    def cores(self) -> _Text:
        self.helpers.add("vector_cores")
        self.reads_node = True
        return _Text("VectorCores(node)")

    def binary(self, op: BinaryOp, left: _Text, right: _Text) -> _Text:
        # Two plain integers would be C++'s own arithmetic, which wraps.
        first = _Text(f"Size({left})") if left.is_plain and right.is_plain else left
        if op in _OPERATORS:
            sign, helper = _OPERATORS[op]
            self.helpers.add(helper)
            return _Text(f"{first.bracketed()} {sign} {right.bracketed()}", is_sum=True)
        function, helper = _FUNCTIONS[op]
        self.helpers.add(helper)
        return _Text(f"{function}({first}, {right})")

    def tensor(self, port: str) -> str:
        names = [each.name for each in self._op.inputs]
        if isinstance(self._op.port(port), Input):
            return f"ctx.GetInputTensor({names.index(port)})"
        return f"ctx.GetOutputTensor({[each.name for each in self._op.outputs].index(port)})"

    def attr_type(self, name: str) -> AttrType:
        return self._op.attr(name).type

    def attr_pointer(self, name: str) -> str:
        self._attrs[name] = None
        self.helpers.add(f"{self.attr_type(name).value}_attr")
        self.reads_node = True
        return f"{name}_attr"

    def declarations(self) -> Iterable[str]:
        for port in self._ports:
            yield f"const gert::Shape &{port}_shape = {self.tensor(port)}->GetStorageShape();"
        for name in self._attrs:
            index = [attr.name for attr in self._op.attrs].index(name)
            kind = self.attr_type(name)
            c_type = {AttrType.INT: "int64_t", AttrType.FLOAT: "float", AttrType.BOOL: "bool"}[kind]
            function = f"{kind.name.capitalize()}Attr"
            yield f"const {c_type} *const {name}_attr = {function}(node, ctx, {index}, {cpp_string(name)});"
            yield f"if ({name}_attr == nullptr) {{"
            yield "  return false;"
            yield "}"

    def _shape(self, port: str) -> str:
        self._ports[port] = None
        return f"{port}_shape"
