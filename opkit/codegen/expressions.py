"""Size expressions and kernel arguments as C++ statements, with what each statement needs of the generated helpers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import attrs

from opkit.codegen.attr_literals import session_type
from opkit.codegen.literals import call_lines, cpp_int, cpp_string
from opkit.spec import (
    AddressList,
    AttrType,
    AttrValue,
    BinaryOp,
    CoreType,
    Expr,
    Input,
    Kernel,
    LaunchArg,
    Op,
    Output,
    PortAddress,
    ScalarType,
    ShapeBuffer,
    Tiling,
    UpperBound,
    UserTiling,
    Workspace,
)

if TYPE_CHECKING:
    from opkit.codegen.host_structs import HostStructs

__all__ = ["ArgStatements", "BlockStatements", "DimReading", "KernelShapeStatements", "WorkspaceStatements"]

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
    def of(cls, op: Op, kernel: Kernel) -> BlockStatements:
        reading = _Reading(op, kernel.core)
        blocks = kernel.blocks.read(reading)
        if kernel.strides:
            blocks = reading.binary(BinaryOp.MIN, blocks, _Text("kMaxBlocks", is_plain=True))
        what = cpp_string(f"the number of blocks, {kernel.blocks},")
        statements = [*reading.declarations(), f"const Size size = {blocks};", f"return StoreBlocks(node, {what}, size, blocks);"]
        return cls(statements=tuple(statements), reads_context=reading.reads_context, helpers=frozenset(reading.helpers))


@attrs.frozen(kw_only=True)
class ListMember:
    """A member of the argument struct that is the address of a list, and the port whose tensors are listed."""

    member: str
    is_input: bool
    index: int


@attrs.frozen(kw_only=True)
class ArgStatements:
    """The body of FillArgs."""

    statements: tuple[str, ...]
    slots: tuple[str, ...]
    """What each argument is, as C++ for an op whose arguments GE fills."""
    lists: tuple[ListMember, ...]
    """What isn't filled here: the members that are addresses of lists, whose blocks exist before."""
    user_headers: tuple[str, ...]
    """What the functions that fill structs are defined in."""
    reads_context: bool
    reads_node: bool
    helpers: frozenset[str]

    @classmethod
    def of(cls, op: Op, kernel: Kernel, hosts: HostStructs) -> ArgStatements:
        reading = _Reading(op, kernel.core)
        statements = [line for arg in kernel.args for line in _argument(arg, reading, hosts)]
        lists = tuple(_list_member(arg, arg.value, op) for arg in kernel.args if isinstance(arg.value, AddressList))
        if lists:
            reading.helpers.add("address_lists")
        declarations = tuple(reading.declarations())
        return cls(
            statements=(*declarations, *statements),
            slots=tuple(_slot(arg, op) for arg in kernel.args),
            lists=lists,
            user_headers=tuple(arg.value.relative for arg in kernel.args if isinstance(arg.value, UserTiling)),
            reads_context=reading.reads_context,
            reads_node=reading.reads_node,
            helpers=frozenset(reading.helpers),
        )


@attrs.frozen(kw_only=True)
class WorkspaceStatements:
    """The body of AllocateWorkspaces; no statements if no kernel has one."""

    statements: tuple[str, ...]
    helpers: frozenset[str]

    @classmethod
    def of(cls, op: Op, *, has_tuple: bool) -> WorkspaceStatements:
        """`has_tuple` says that there is a struct of arguments for each kernel, not one."""
        reading = _Reading(op)
        calls: list[str] = []
        firsts: dict[int, str] = {}
        for index, kernel in enumerate(op.kernels):
            reading.core = kernel.core
            for arg in kernel.args:
                if isinstance(arg.value, Workspace):
                    target = f"{f'std::get<{index}>(args)' if has_tuple else 'args'}.{arg.param.name}"
                    local = arg.param.name if len(op.kernels) == 1 else f"{arg.param.name}_{index + 1}"
                    first = firsts.setdefault(arg.value.number, target)
                    calls += [f"{target} = {first};"] if first != target else _allocated(local, target, arg, arg.value, reading)
        if calls:
            reading.helpers.add("workspaces")
        return cls(statements=(*reading.declarations(), *calls), helpers=frozenset(reading.helpers))


@attrs.frozen(kw_only=True)
class KernelShapeStatements:
    """What an op says of outputs of which only the kernel knows the shape: the indices of the `outputs`, the body of AddBounds, that of
    PassBuffers.
    """

    outputs: tuple[int, ...]
    bounds: tuple[str, ...]
    buffers: tuple[str, ...]
    reads_context: bool
    helpers: frozenset[str]

    @classmethod
    def of(cls, op: Op, *, has_tuple: bool) -> KernelShapeStatements:
        """`has_tuple` says that there is a struct of arguments for each kernel, not one."""
        reading = _Reading(op)
        calls: list[str] = []
        buffers: list[str] = []
        for index, output in enumerate(op.kernel_shaped):
            assert isinstance(output.shape, UpperBound)  # noqa: S101 - that is what it is to be there
            most = dict(output.shape.bounds)
            for dim in output.shape.open_dims:
                bound = most[dim.name]
                words = ["node", cpp_string(dim.name), cpp_string(str(bound)), str(bound.read(reading)), f"shapes[{index}]"]
                calls += [*call_lines("if (!AddBound(", words, ")) {"), "  return false;", "}"]
            buffers += [
                f"{f'std::get<{number}>(args)' if has_tuple else 'args'}.{arg.param.name} = shapes[{index}].buffer;"
                for number, kernel in enumerate(op.kernels)
                for arg in kernel.args
                if arg.value == ShapeBuffer(output.name)
            ]
        return cls(
            outputs=tuple(op.outputs.index(output) for output in op.kernel_shaped),
            bounds=(*reading.declarations(), *calls),
            buffers=tuple(buffers),
            reads_context=reading.reads_context,
            helpers=frozenset({*reading.helpers, *(("kernel_shapes",) if calls else ())}),
        )


def _allocated(local: str, target: str, arg: LaunchArg, workspace: Workspace, reading: _Reading) -> Iterable[str]:
    what = cpp_string(f"{arg.param.name} = {workspace}")
    yield f"const Size {local}_bytes = {workspace.size.read(reading)};"
    yield from call_lines("if (!AllocateWorkspace(", ["node", "ctx", what, f"{local}_bytes", target], ")) {")
    yield "  return false;"
    yield "}"


def _list_member(arg: LaunchArg, value: AddressList, op: Op) -> ListMember:
    port = op.port(value.port)
    side: Sequence[Input | Output] = op.inputs if isinstance(port, Input) else op.outputs
    return ListMember(member=arg.param.name, is_input=isinstance(port, Input), index=side.index(port))


def _slot(arg: LaunchArg, op: Op) -> str:
    match arg.value:
        case PortAddress(name):
            port = op.port(name)
            side: Sequence[Input | Output] = op.inputs if isinstance(port, Input) else op.outputs
            return f"{'Input' if isinstance(port, Input) else 'Output'}Slot({side.index(port)})"
        case Workspace():
            return "WorkspaceSlot()"
        case _:
            return f"ValueSlot({arg.param.bytes})"


def _argument(arg: LaunchArg, reading: _Reading, hosts: HostStructs) -> Iterable[str]:
    name = arg.param.name
    match arg.value:
        case AddressList() | Workspace() | ShapeBuffer():
            return
        case PortAddress(port):
            yield f"args.{name} = {reading.address(port)};"
        case Tiling(members=members):
            for member in members:
                yield from _stored(f"{name}.{member.target}", member.scalar, member.value, reading)
        case UserTiling():
            assert arg.param.struct is not None  # noqa: S101 - the spec lets no other parameter have one
            reading.helpers.add("user_tilings")
            reading.reads_context = reading.reads_node = True
            yield from _filled(name, arg.value, hosts.type_of(arg.param.struct), hosts.namespace)
        case _:
            assert arg.param.scalar is not None  # noqa: S101 - as above
            yield from _stored(name, arg.param.scalar, arg.value, reading)


def _filled(name: str, tiling: UserTiling, struct: str, package: str) -> Iterable[str]:
    header, function = tiling.relative, tiling.function
    yield f"static_assert(kFills<decltype(&::{function}), {struct}>,"
    yield f"              {cpp_string(f'{header}: {function} must be ')}"
    yield f"              {cpp_string(f'bool (const gert::EagerOpExecutionContext &ctx, {package}::{struct} &tiling)')});"
    yield "// From nothing but the context, so that a refresh gives what Execute gave."
    yield f"args.{name} = {{}};"
    yield f"if (!::{function}(ctx, args.{name})) {{"
    yield f'  LOG_ERROR(node, ": {function} of {header} fills no {name}");'
    yield "  return false;"
    yield "}"


def _stored(name: str, scalar: ScalarType, value: Expr, reading: _Reading) -> Iterable[str]:
    target = f"args.{name}"
    if isinstance(value, AttrValue) and reading.attr_type(value.name) in _SAME_TYPE.get(scalar.value, ()):
        yield f"{target} = *{reading.attr_pointer(value.name)};"
        return
    what = cpp_string(f"{name} = {value}")
    size = value.read(reading)
    reading.reads_node = True
    yield from call_lines("if (!Store(", ["node", what, str(size), target], ")) {")
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

    def __init__(self, op: Op, core: CoreType = CoreType.AIV) -> None:
        self._op = op
        self.core = core
        self._ports: dict[str, None] = {}
        self._attrs: dict[str, None] = {}
        self.helpers: set[str] = set()
        self.reads_context = False
        self.reads_node = False

    def number(self, value: int) -> _Text:
        return _Text(cpp_int(value), is_plain=True)

    def numel(self, port: str) -> _Text:
        return _Text(f"Numel({self._shape(port)})")

    def dim(self, port: str, axis: int) -> _Text:
        self.helpers.add("dim_of")
        return _Text(f"DimOf({self._shape(port)}, {axis})")

    def rank(self, port: str) -> _Text:
        self.helpers.add("rank_of")
        return _Text(f"RankOf({self._shape(port)})")

    def count(self, port: str) -> _Text:
        found = self._op.port(port)
        side = "Input" if isinstance(found, Input) else "Output"
        self.reads_context = True
        return _Text(f"Size(static_cast<int64_t>(MembersOf(ctx.GetIr{side}InstanceInfo({self._index(found)})).count))")

    def attr(self, name: str) -> _Text:
        pointer = self.attr_pointer(name)
        return _Text(f"Size(*{pointer} ? 1 : 0)" if self.attr_type(name) is AttrType.BOOL else f"Size(*{pointer})")

    def named_dim(self, name: str) -> _Text:
        return _Text(f"dim_{name}", is_plain=True)

    def cores(self) -> _Text:
        is_cube = self.core is CoreType.AIC
        self.helpers.add("cube_cores" if is_cube else "vector_cores")
        self.reads_node = True
        return _Text("CubeCores(node)" if is_cube else "VectorCores(node)")

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

    def address(self, name: str) -> str:
        port = self._op.port(name)
        if isinstance(port, Input) and port.is_optional:
            self.helpers.add("absent_tensor")
            return f"AddressOf({self.tensor(port)})"
        return f"{self.tensor(port)}->GetAddr()"

    def tensor(self, port: Input | Output) -> str:
        """The tensor of a port, the first one of a list: a pointer, which is nullptr if there is none."""
        index = self._index(port)
        self.reads_context = True
        if isinstance(port, Output):
            if any(each.is_dynamic for each in self._op.outputs):
                self.helpers.add("output_tensor")
                return f"OutputTensor(ctx, {index})"
            return f"ctx.GetOutputTensor({index})"
        if port.is_dynamic:
            return f"ctx.GetDynamicInputTensor({index}, 0)"
        if port.is_optional:
            return f"ctx.GetOptionalInputTensor({index})"
        # A graph may put the tensors of a list anywhere among the node's inputs.
        has_own_index = all(each.is_required for each in self._op.inputs[:index]) and not any(each.is_dynamic for each in self._op.inputs)
        return f"ctx.Get{'' if has_own_index else 'Required'}InputTensor({index})"

    def _index(self, port: Input | Output) -> int:
        side: Sequence[Input | Output] = self._op.inputs if isinstance(port, Input) else self._op.outputs
        return side.index(port)

    def attr_type(self, name: str) -> AttrType:
        return self._op.attr(name).type

    def attr_pointer(self, name: str) -> str:
        self._attrs[name] = None
        self.helpers.add(f"{self.attr_type(name).value}_attr")
        self.reads_context = self.reads_node = True
        return f"{name}_attr"

    def declarations(self) -> Iterable[str]:
        for name in self._ports:
            port = self._op.port(name)
            if port.is_dynamic or (isinstance(port, Input) and port.is_optional):
                self.helpers.add("absent_shape")
                yield f"const gert::Shape *const {name}_shape = ShapeOf({self.tensor(port)});"
            else:
                yield f"const gert::Shape &{name}_shape = {self.tensor(port)}->GetStorageShape();"
        for name in self._attrs:
            index = self._op.attr_index(name)
            kind = self.attr_type(name)
            c_type = session_type(kind)
            function = f"{kind.name.capitalize()}Attr"
            yield f"const {c_type} *const {name}_attr = {function}(node, ctx, {index}, {cpp_string(name)});"
            yield f"if ({name}_attr == nullptr) {{"
            yield "  return false;"
            yield "}"

    def _shape(self, port: str) -> str:
        self._ports[port] = None
        self.reads_context = True
        return f"{port}_shape"


class DimReading(_Reading):
    """The C++ reading of a dim that is computed in InferShapes, where the attrs have been read already."""

    def attr(self, name: str) -> _Text:
        return _Text(f"Size(*attr_{name})")

    def rank(self, port: str) -> _Text:
        self.helpers.add("rank_of")
        return _Text(f"RankOf(shape_{port})")
