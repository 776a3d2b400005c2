"""What the templates are given: every decision about the generated code, as values that a template only has to place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import attrs

from opkit.codegen.dtype_rows import RowContext, dtype_rows, dtype_table
from opkit.codegen.expressions import ArgStatements, BlockStatements
from opkit.codegen.literals import cmake_string, cpp_bool, cpp_float, cpp_int, cpp_string
from opkit.codegen.proto import proto_lines
from opkit.codegen.shapes import InputRule, OutputRule, ShapeRules
from opkit.layout import include_folder, library_folder
from opkit.spec import DTYPES, MAX_BLOCKS, Attr, AttrType, DType, Input, Kernel, KernelParam, Op, Output, Package, Refresh

__all__ = ["PackageContext", "context_of"]


@attrs.frozen(kw_only=True)
class PortContext:
    literal: str
    symbol: str
    """The dtype symbol as a literal, `""` if the port has none."""


@attrs.frozen(kw_only=True)
class AttrContext:
    """`default` is a literal of the attr's type; a required attr has the zero of its type there, which nobody reads."""

    literal: str
    kind: str
    value: str
    is_required: bool


@attrs.frozen(kw_only=True)
class MemberContext:
    name: str
    declaration: str
    offset: int


@attrs.frozen(kw_only=True)
class KernelContext:
    """One kernel entry and the struct of its arguments."""

    relative: str
    signature: str
    struct: str
    members: tuple[MemberContext, ...]
    bytes: int


@attrs.frozen(kw_only=True)
class KernelFileContext:
    """A kernel source, as text inside a quoted CMake argument: its path in the project, and its name beside the library."""

    relative: str
    installed: str


@attrs.frozen(kw_only=True)
class ProtoContext:
    type: str
    lines: tuple[str, ...]


@attrs.frozen(kw_only=True)
class BodyContext:
    """What ops have in common that differ in type and refresh only: one struct of rules, one of the rest."""

    title: str
    summary: tuple[str, ...]
    rules: str
    impl: str
    inputs: tuple[PortContext, ...]
    outputs: tuple[PortContext, ...]
    attrs: tuple[AttrContext, ...]
    dtype_table: tuple[str, ...]
    rows: tuple[RowContext, ...]
    infer_parameters: str
    bindings: tuple[str, ...]
    input_rules: tuple[InputRule, ...]
    output_rules: tuple[OutputRule, ...]
    struct: str
    source_file: str
    entry: str
    blocks: BlockStatements
    fill: ArgStatements
    is_refreshed: bool


@attrs.frozen(kw_only=True)
class OpContext:
    type: str
    literal: str
    impl: str
    rules: str
    base: str
    is_updater: bool
    body: BodyContext


@attrs.frozen(kw_only=True)
class BenchmarkContext:
    """The case that session_run builds without `--case`: the ops to compare, the shape of each input, the value of each attr."""

    ops: tuple[str, ...]
    shapes: tuple[tuple[str, str], ...]
    attrs: tuple[AttrContext, ...]
    iters: int


@attrs.frozen(kw_only=True)
class PackageContext:
    name: str
    namespace: str
    guard: str
    header: str
    stem: str
    header_guard: str
    library_folder: str
    include_folder: str
    dtypes: tuple[DType, ...]
    max_blocks: int
    protos: tuple[ProtoContext, ...]
    kernels: tuple[KernelContext, ...]
    kernel_files: tuple[KernelFileContext, ...]
    bodies: tuple[BodyContext, ...]
    ops: tuple[OpContext, ...]
    helpers: frozenset[str]
    """Names of the optional functions that some op needs; the others aren't rendered."""
    attr_kinds: frozenset[str]
    benchmark: BenchmarkContext | None


def context_of(package: Package) -> PackageContext:
    installed = _installed_names(package)
    structs = _struct_names(package)
    bodies = _bodies(package, installed, structs)
    ops = tuple(_op(op, bodies[_body_key(op)]) for op in package.ops)
    namespace = f"{package.name}_ops"
    distinct = tuple(bodies.values())
    return PackageContext(
        name=package.name,
        namespace=namespace,
        guard=package.name.upper(),
        header=package.header,
        stem=package.stem,
        library_folder=str(library_folder("${arch}")),
        include_folder=str(include_folder()),
        header_guard=re.sub(r"[^A-Z0-9]", "_", package.stem.upper()),
        dtypes=tuple(DTYPES.values()),
        max_blocks=MAX_BLOCKS,
        protos=tuple(ProtoContext(type=op.type, lines=tuple(proto_lines(op))) for op in package.ops),
        kernels=_kernels(package, structs),
        kernel_files=tuple(
            KernelFileContext(relative=cmake_string(relative)[1:-1], installed=cmake_string(name)[1:-1])
            for relative, name in installed.items()
        ),
        bodies=distinct,
        ops=ops,
        helpers=_helpers(distinct, ops),
        attr_kinds=frozenset(attr.kind for body in distinct for attr in body.attrs),
        benchmark=_benchmark(package),
    )


def _body_key(op: Op) -> object:
    ports = tuple((port.name, port.dtypes, port.symbol, port.shape) for port in op.ports)
    kernel = op.kernel
    return (
        len(op.inputs),
        ports,
        tuple((attr.name, attr.type, attr.default) for attr in op.attrs),
        (kernel.path, kernel.signature, kernel.args, kernel.blocks, kernel.strides, tuple(kernel.defines.items())),
    )


def _bodies(package: Package, installed: dict[str, str], structs: dict[tuple[str, str], str]) -> dict[object, BodyContext]:
    groups: dict[object, list[Op]] = {}
    for op in package.ops:
        groups.setdefault(_body_key(op), []).append(op)
    return {key: _body(ops, installed, structs) for key, ops in groups.items()}


def _body(ops: Sequence[Op], installed: dict[str, str], structs: dict[tuple[str, str], str]) -> BodyContext:
    op = ops[0]
    kernel = op.kernel
    shapes = ShapeRules.of(op)
    return BodyContext(
        title=", ".join(each.type for each in ops),
        summary=tuple(_summary(op)),
        rules=f"{op.type}Rules",
        impl=f"{op.type}Impl",
        inputs=tuple(_port(port) for port in op.inputs),
        outputs=tuple(_port(port) for port in op.outputs),
        attrs=tuple(_attr(attr, attr.default) for attr in op.attrs),
        dtype_table=tuple(dtype_table(op)),
        rows=tuple(dtype_rows(op, installed[kernel.relative])),
        infer_parameters=shapes.parameters,
        bindings=shapes.bindings,
        input_rules=shapes.inputs,
        output_rules=shapes.outputs,
        struct=structs[kernel.relative, kernel.entry],
        source_file=cpp_string(installed[kernel.relative]),
        entry=cpp_string(kernel.entry),
        blocks=BlockStatements.of(op),
        fill=ArgStatements.of(op),
        is_refreshed=any(each.refresh is Refresh.UPDATER for each in ops),
    )


def _op(op: Op, body: BodyContext) -> OpContext:
    is_updater = op.refresh is Refresh.UPDATER
    return OpContext(
        type=op.type,
        literal=cpp_string(op.type),
        impl=body.impl,
        rules=body.rules,
        base="RefreshedOp" if is_updater else "CustomOp",
        is_updater=is_updater,
        body=body,
    )


def _summary(op: Op) -> Iterable[str]:
    """What the spec says, a line for each thing: the comment over the op's code."""

    def port(port: Input | Output) -> str:
        dtype = port.symbol or " | ".join(dict.fromkeys(dtype.name for dtype in port.dtypes))
        return f"{port.name}: {dtype}" + ("" if port.shape is None else f" [{port.shape.text}]")

    kernel = op.kernel
    for input_ in op.inputs:
        yield f"input  {port(input_)}"
    for output in op.outputs:
        yield f"output {port(output)}"
    for attr in op.attrs:
        yield f"attr   {attr.name}: {attr.type.value}"
    yield f"kernel {kernel.entry} of {kernel.relative}"
    for arg in kernel.args:
        yield f"       {arg.param.name} = {arg.value}"
    yield f"blocks {kernel.blocks}" + (f", at most {MAX_BLOCKS}: the kernel strides over them" if kernel.strides else "")


def _port(port: Input | Output) -> PortContext:
    return PortContext(literal=cpp_string(port.name), symbol=cpp_string(port.symbol or ""))


def _attr(attr: Attr, value: float | bool | str | None) -> AttrContext:
    return AttrContext(
        literal=cpp_string(attr.name), kind=attr.type.name.capitalize(), value=_attr_value(attr.type, value), is_required=attr.is_required
    )


def _attr_value(kind: AttrType, value: float | bool | str | None) -> str:
    match kind:
        case AttrType.INT:
            return f"int64_t{{{cpp_int(int(value or 0))}}}"
        case AttrType.FLOAT:
            return cpp_float(float(value or 0))
        case AttrType.BOOL:
            return cpp_bool(bool(value))
        case AttrType.STR:
            return f"std::string({cpp_string(str(value or ''))})"


def _installed_names(package: Package) -> dict[str, str]:
    """The name beside the library of each kernel file: its own, or its path with `_` where two files have the same name."""
    relatives = list(dict.fromkeys(op.kernel.relative for op in package.ops))
    names = [PurePosixPath(relative).name for relative in relatives]
    return {
        relative: name if names.count(name) == 1 else relative.replace("/", "_") for relative, name in zip(relatives, names, strict=True)
    }


def _struct_names(package: Package) -> dict[tuple[str, str], str]:
    names: dict[tuple[str, str], str] = {}
    for op in package.ops:
        key = (op.kernel.relative, op.kernel.entry)
        if key not in names:
            name = "".join(word[:1].upper() + word[1:] for word in op.kernel.entry.split("_")) + "Args"
            taken = set(names.values())
            names[key] = name if name not in taken else next(f"{name}{n}" for n in range(2, len(taken) + 3) if f"{name}{n}" not in taken)
    return names


def _kernels(package: Package, structs: dict[tuple[str, str], str]) -> tuple[KernelContext, ...]:
    found: dict[tuple[str, str], Kernel] = {}
    for op in package.ops:
        found.setdefault((op.kernel.relative, op.kernel.entry), op.kernel)
    return tuple(
        KernelContext(
            relative=kernel.relative,
            signature=str(kernel.signature),
            struct=structs[key],
            members=tuple(_member(param) for param in kernel.signature.params),
            bytes=kernel.signature.args_bytes,
        )
        for key, kernel in found.items()
    )


def _member(param: KernelParam) -> MemberContext:
    if param.scalar is None:
        declaration = f"const void *{param.name}"
    else:
        # Below 4 bytes the device ABI aligns more strictly than the host's.
        align = "alignas(4) " if param.bytes < param.alignment else ""
        declaration = f"{align}{param.scalar.value} {param.name}"
    return MemberContext(name=param.name, declaration=declaration, offset=param.offset)


def _benchmark(package: Package) -> BenchmarkContext | None:
    benchmark = package.benchmark
    if benchmark is None:
        return None
    ops = [benchmark.op] if benchmark.baseline is None else [benchmark.op, benchmark.baseline]
    return BenchmarkContext(
        ops=tuple(cpp_string(op.type) for op in ops),
        shapes=tuple(
            (cpp_string(port.name), ", ".join(cpp_int(dim) for dim in benchmark.shapes[port.name])) for port in benchmark.op.inputs
        ),
        attrs=tuple(_attr(attr, benchmark.attrs[attr.name]) for attr in benchmark.op.attrs),
        iters=benchmark.iters,
    )


def _helpers(bodies: Sequence[BodyContext], ops: Sequence[OpContext]) -> frozenset[str]:
    used: set[str] = set()
    for body in bodies:
        used |= body.blocks.helpers | body.fill.helpers
        for input_rule in body.input_rules:
            used |= {"ruled_shape", *input_rule.helpers}
        for output_rule in body.output_rules:
            used |= output_rule.helpers
    if any(op.is_updater for op in ops):
        used.add("update_host_args")
    return frozenset(used)
