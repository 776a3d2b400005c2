"""From a Package to what the templates are given: every decision about the generated code is made here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import attrs

from opkit.codegen.attr_literals import session_type, session_value
from opkit.codegen.dtype_rows import dtype_choices, dtype_rows, dtype_table, entry_texts, prologue, soc_rows
from opkit.codegen.expressions import ArgStatements, BlockStatements, KernelShapeStatements, WorkspaceStatements
from opkit.codegen.helpers import helpers_of
from opkit.codegen.host_structs import HostStructs, include_of
from opkit.codegen.literals import cmake_string, comment_lines, cpp_int, cpp_string
from opkit.codegen.manifest import ManifestContext
from opkit.codegen.ports import PortKinds
from opkit.codegen.proto import proto_line, proto_lines
from opkit.codegen.shapes import ShapeRules
from opkit.codegen.values import (
    AttrContext,
    AttrKindContext,
    BenchmarkContext,
    BodyContext,
    KernelContext,
    KernelFileContext,
    LaunchContext,
    MemberContext,
    OpContext,
    PackageContext,
    PortContext,
    ProtoContext,
    StructContext,
)
from opkit.layout import PREBUILT_KERNELS, include_folder, library_folder
from opkit.spec import (
    DEFAULT_SOC,
    DTYPES,
    MAX_BLOCKS,
    Attr,
    AttrDefault,
    AttrType,
    Compile,
    CoreType,
    Input,
    Kernel,
    KernelParam,
    KernelStruct,
    Op,
    Output,
    Package,
    Refresh,
    ShapePattern,
)

__all__ = ["context_of"]


def context_of(package: Package) -> PackageContext:
    installed = _installed_names(package)
    times = _compile_times(package)
    structs = _struct_names(package)
    hosts = HostStructs.of(package)
    has_tuples = any(len(op.kernels) > 1 for op in package.ops)
    bodies = _bodies(package, _Host(installed=installed, structs=structs, by_value=hosts, has_tuples=has_tuples))
    ops = tuple(_op(op, bodies[_body_key(op)]) for op in package.ops)
    namespace = f"{package.name}_ops"
    distinct = tuple(bodies.values())
    kinds = [kind for kind in AttrType if any(attr.type is kind for op in package.ops for attr in op.attrs)]
    used = {dtype for op in package.ops for port in op.ports for dtype in port.dtypes}
    return PackageContext(
        name=package.name,
        namespace=namespace,
        guard=package.name.upper(),
        header=package.header,
        stem=package.stem,
        library_folder=str(library_folder("${arch}")),
        include_folder=str(include_folder()),
        prebuilt_file=PREBUILT_KERNELS,
        manifest=_manifest(package),
        header_guard=re.sub(r"[^A-Z0-9]", "_", package.stem.upper()),
        dtypes=tuple(dtype for dtype in DTYPES.values() if dtype.is_everywhere or dtype in used),
        held_dtypes=tuple(dtype for dtype in DTYPES.values() if dtype in used and dtype.npy is not None),
        max_blocks=MAX_BLOCKS,
        protos=tuple(ProtoContext(type=op.type, lines=tuple(proto_lines(op))) for op in package.ops),
        structs=tuple(_struct(struct, name) for struct, name in hosts.names.items()),
        kernels=_kernels(package, structs, hosts),
        user_includes=tuple(dict.fromkeys(include_of(header) for body in distinct for header in body.user_headers)),
        kernel_files=tuple(
            KernelFileContext(
                relative=cmake_string(relative)[1:-1],
                installed=cmake_string(name)[1:-1],
                is_installed=bool(times[relative] - {Compile.PREBUILT}),
                is_prebuilt=Compile.PREBUILT in times[relative],
            )
            for relative, name in installed.items()
        ),
        bodies=distinct,
        ops=ops,
        helpers=helpers_of(distinct, ops),
        attr_kinds=tuple(AttrKindContext(word=kind.value, c_type=session_type(kind)) for kind in kinds),
        has_dynamic_ports=any(port.is_dynamic for op in package.ops for port in op.ports),
        has_attr_lists=any(kind.element is not None or kind is AttrType.BYTES for kind in kinds),
        attr_elements=frozenset(_element_of(kind).value for kind in kinds),
        benchmark=_benchmark(package),
    )


def _manifest(package: Package) -> ManifestContext:
    socs = dict.fromkeys(soc for op in package.ops for soc in op.soc_rows if soc != DEFAULT_SOC)
    return ManifestContext.of({op.type: proto_line(op) for op in package.ops}, socs)


def _body_key(op: Op) -> object:
    ports = tuple((port.name, port.dtypes, port.symbol, port.shape, isinstance(port, Output) and port.dtype_attr) for port in op.ports)
    return (
        op.compile,
        len(op.inputs),
        ports,
        PortKinds.of(op),
        tuple(op.soc_rows.items()),
        tuple((attr.name, attr.type, attr.default) for attr in op.attrs),
        tuple(
            (
                kernel.path,
                kernel.signature,
                kernel.expression,
                kernel.core,
                kernel.args,
                kernel.blocks,
                kernel.strides,
                tuple(kernel.defines.items()),
            )
            for kernel in op.kernels
        ),
    )


@attrs.frozen(kw_only=True)
class _Host:
    """What all ops of a package share on the host."""

    installed: dict[str, str]
    structs: dict[tuple[str, str], str]
    by_value: HostStructs
    has_tuples: bool
    """Whether each op has a tuple of arguments, because one has several kernels."""


def _bodies(package: Package, host: _Host) -> dict[object, BodyContext]:
    groups: dict[object, list[Op]] = {}
    for op in package.ops:
        groups.setdefault(_body_key(op), []).append(op)
    return {key: _body(ops, host) for key, ops in groups.items()}


def _body(ops: Sequence[Op], host: _Host) -> BodyContext:
    op = ops[0]
    shapes = ShapeRules.of(op)
    is_annotated = any(each.refresh is Refresh.ANNOTATED for each in ops)
    launches = tuple(
        _launch(op, kernel, "" if len(op.kernels) == 1 else str(number), host, is_annotated=is_annotated)
        for number, kernel in enumerate(op.kernels, start=1)
    )
    return BodyContext(
        title=", ".join(each.type for each in ops),
        summary=tuple(line for text in _summary(op) for line in comment_lines(text)),
        rules=f"{op.type}Rules",
        impl=f"{op.type}Impl",
        inputs=tuple(_port(port) for port in op.inputs),
        outputs=tuple(_port(port) for port in op.outputs),
        kinds=PortKinds.of(op),
        attrs=tuple(_attr(attr, attr.default) for attr in op.attrs),
        dtype_table=tuple(dtype_table(op)),
        rows=tuple(dtype_rows(op)),
        choices=tuple(dtype_choices(op)),
        socs=tuple(soc_rows(op)),
        infer_parameters=shapes.parameters,
        reads_shape_attrs=shapes.reads_attrs,
        ranked=shapes.ranked,
        bindings=shapes.bindings,
        input_rules=shapes.inputs,
        output_rules=shapes.outputs,
        user_rules=shapes.user,
        launches=launches,
        workspaces=WorkspaceStatements.of(op, has_tuple=host.has_tuples),
        kernel_shapes=KernelShapeStatements.of(op, has_tuple=host.has_tuples),
        user_headers=(*(rule.header for rule in shapes.user), *(header for launch in launches for header in launch.fill.user_headers)),
        compile=op.compile.value,
        is_refreshed=any(each.refresh is Refresh.UPDATER for each in ops),
        is_annotated=is_annotated,
    )


def _launch(op: Op, kernel: Kernel, number: str, host: _Host, *, is_annotated: bool) -> LaunchContext:
    # A model knows the binaries that it launches by the names of their entries: of two with one name, the last that GE was given.
    new_name = f"{kernel.signature.function}_of_{op.type}{number and f'_{number}'}" if is_annotated else None
    return LaunchContext(
        name=f"{op.type}Launch{number}",
        variants=f"{op.type}Variants{number}",
        struct=host.structs[kernel.relative, kernel.signature.name],
        source_file=cpp_string(host.installed[kernel.relative]),
        entry=entry_texts(op, kernel, new_name),
        is_named_by_expression=kernel.expression is not None,
        is_cube=kernel.core is CoreType.AIC,
        prologue=tuple(prologue(op, kernel, host.installed[kernel.relative], new_name)),
        blocks=BlockStatements.of(op, kernel),
        fill=ArgStatements.of(op, kernel, host.by_value),
    )


def _op(op: Op, body: BodyContext) -> OpContext:
    return OpContext(
        type=op.type,
        literal=cpp_string(op.type),
        impl=body.impl,
        rules=body.rules,
        capabilities=_capabilities(op),
        refresh=cpp_string(op.refresh.value),
        body=body,
    )


def _capabilities(op: Op) -> tuple[str, ...]:
    # An op whose launches GE knows beforehand is never executed: it isn't for graphs of unknown shapes.
    found = ["ShapeInference", "AnnotatedLaunch" if op.refresh is Refresh.ANNOTATED else "Execution"]
    if op.refresh is Refresh.UPDATER:
        found.append("AddressRefresh")
    if op.compile is Compile.GRAPH:
        found.append("GraphCompilation")
    elif op.refresh is Refresh.ANNOTATED:
        found.append("GraphTarget")
    if op.is_portable:
        found.append("Portability")
    return tuple(found)


def _summary(op: Op) -> Iterable[str]:
    """What the spec says, a line for each thing: the comment over the op's code."""

    def port(port: Input | Output) -> str:
        dtype = port.symbol or " | ".join(dict.fromkeys(dtype.name for dtype in port.dtypes))
        shape = "" if port.shape is None else f"[{port.shape.text}]" if isinstance(port.shape, ShapePattern) else port.shape.text
        return f"{port.name}: {dtype} {shape}".rstrip()

    for input_ in op.inputs:
        yield f"input  {port(input_)}"
    for output in op.outputs:
        yield f"output {port(output)}"
    for attr in op.attrs:
        yield f"attr   {attr.name}: {attr.type.value}"
    for kernel in op.kernels:
        yield f"kernel {kernel.entry} of {kernel.relative}"
        for arg in kernel.args:
            yield f"       {arg.param.name} = {arg.value}"
        yield f"blocks {kernel.blocks}" + (f", at most {MAX_BLOCKS}: the kernel strides over them" if kernel.strides else "")


def _port(port: Input | Output) -> PortContext:
    return PortContext(literal=cpp_string(port.name), symbol=cpp_string(port.symbol or ""))


def _attr(attr: Attr, value: AttrDefault | None) -> AttrContext:
    return AttrContext(literal=cpp_string(attr.name), value=session_value(attr.type, value), is_required=attr.is_required)


def _element_of(kind: AttrType) -> AttrType:
    return kind if kind.element is None else _element_of(kind.element)


def _installed_names(package: Package) -> dict[str, str]:
    """The name beside the library of each kernel file: its own, or its path with `_` where two files have the same name."""
    relatives = list(dict.fromkeys(kernel.relative for op in package.ops for kernel in op.kernels))
    names = [PurePosixPath(relative).name for relative in relatives]
    return {
        relative: name if names.count(name) == 1 else relative.replace("/", "_") for relative, name in zip(relatives, names, strict=True)
    }


# The class of an op has these: a struct of such a name would be hidden there.
_NAMES_IN_OPS = ("Args", "FillArgs")


def _compile_times(package: Package) -> dict[str, set[Compile]]:
    """When each kernel file is compiled, which may be more than once."""
    times: dict[str, set[Compile]] = {}
    for op in package.ops:
        for kernel in op.kernels:
            times.setdefault(kernel.relative, set()).add(op.compile)
    return times


def _struct_names(package: Package) -> dict[tuple[str, str], str]:
    names: dict[tuple[str, str], str] = {}
    for kernel in (kernel for op in package.ops for kernel in op.kernels):
        key = (kernel.relative, kernel.signature.name)
        if key not in names:
            name = "".join(word[:1].upper() + word[1:] for word in re.split(r"_|::", kernel.signature.name)) + "Args"
            name = name if name[0].isalpha() else f"Kernel{name}"
            taken = {*_NAMES_IN_OPS, *names.values()}
            names[key] = name if name not in taken else next(f"{name}{n}" for n in range(2, len(taken) + 3) if f"{name}{n}" not in taken)
    return names


def _struct(struct: KernelStruct, name: str) -> StructContext:
    return StructContext(
        file_name=struct.file.name,
        name=name,
        members=tuple(
            MemberContext(
                name=field.name,
                declaration=f"{field.scalar.value} {field.name}" + (f"[{field.length}]" if field.length is not None else ""),
                offset=field.offset,
            )
            for field in struct.fields
        ),
        bytes=struct.bytes,
    )


def _kernels(package: Package, structs: dict[tuple[str, str], str], hosts: HostStructs) -> tuple[KernelContext, ...]:
    found: dict[tuple[str, str], Kernel] = {}
    for kernel in (kernel for op in package.ops for kernel in op.kernels):
        found.setdefault((kernel.relative, kernel.signature.name), kernel)
    return tuple(
        KernelContext(
            heading=tuple(comment_lines(f"{kernel.relative}: {kernel.signature}")),
            struct=structs[key],
            members=tuple(_member(param, hosts) for param in kernel.signature.params),
            bytes=kernel.signature.args_bytes,
        )
        for key, kernel in found.items()
    )


def _member(param: KernelParam, hosts: HostStructs) -> MemberContext:
    # Below 4 bytes the device ABI aligns more strictly than the host's.
    align = "alignas(4) "
    if param.struct is not None:
        declaration = f"{align if param.struct.alignment < param.alignment else ''}{hosts.type_of(param.struct)} {param.name}"
    elif param.scalar is None:
        declaration = f"const void *{param.name}"
    else:
        declaration = f"{align if param.bytes < param.alignment else ''}{param.scalar.value} {param.name}"
    return MemberContext(name=param.name, declaration=declaration, offset=param.offset)


def _benchmark(package: Package) -> BenchmarkContext | None:
    benchmark = package.benchmark
    if benchmark is None:
        return None
    ops = [benchmark.op] if benchmark.baseline is None else [benchmark.op, benchmark.baseline]
    return BenchmarkContext(
        ops=tuple(cpp_string(op.type) for op in ops),
        shapes=tuple(
            (
                cpp_string(port.name),
                tuple(", ".join(cpp_int(dim) for dim in shape) for shape in port.shapes_in(benchmark.shapes.get(port.name))),
            )
            for port in benchmark.op.inputs
        ),
        counts=tuple((cpp_string(name), count) for name, count in benchmark.op.output_counts(benchmark.shapes, benchmark.attrs).items()),
        mixed=tuple((cpp_string(port.name), port.dtypes[0].ge_enum) for port in benchmark.op.inputs if port.is_mixed),
        attrs=tuple(_attr(attr, benchmark.attrs[attr.name]) for attr in benchmark.op.attrs),
        iters=benchmark.iters,
    )
