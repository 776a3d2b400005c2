"""From declarations to the frozen values: a package and its ops as a whole, each part by the module of its name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from opkit.layout import MOST_OPS
from opkit.spec import declare
from opkit.spec.fields import check_call, declared_in, name_of, sequence_of, shown, text_of
from opkit.spec.model import Attr, AttrType, Compile, Input, Kernel, Op, Output, Package, Refresh
from opkit.spec.naming import Naming, stem_of
from opkit.spec.problems import Problems, Rule, one_of
from opkit.spec.reserved import why_no_package_name
from opkit.spec.resolve_attrs import resolve_attr
from opkit.spec.resolve_benchmark import resolve_benchmark
from opkit.spec.resolve_bounds import check_bounds
from opkit.spec.resolve_capabilities import check_capabilities, resolve_capabilities
from opkit.spec.resolve_dtypes import Columns, Rows, decided_outputs, distinct_combos, symbols_of
from opkit.spec.resolve_entry import check_entry_types, check_pointers
from opkit.spec.resolve_kernel import KernelFiles, resolve_kernels
from opkit.spec.resolve_names import LONGEST_NAME, file_stem_of, naming_of, op_type_of, unique_names, unique_ops, unique_ports
from opkit.spec.resolve_ports import check_counts, check_in_place, check_mixed, check_values, resolve_input, resolve_output
from opkit.spec.resolve_shapes import OutputScope, dims_of
from opkit.spec.resolve_sizes import Names
from opkit.spec.shapes import UpperBound
from opkit.spec.signature import check_signature, declared_of, tells_all
from opkit.spec.soc_types import check_soc_types

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.h")


def resolve_package(package: declare.Package, root: Path, problems: Problems) -> Package:
    """The resolved package, `sources` still empty. Raises SpecErrors with all that is wrong, what `problems` holds already included."""
    check_call(package, problems)
    name = _package_name(package, problems)
    header = _header(package, name, problems)
    files = KernelFiles(root)
    declared = declared_in(package, "ops", declare.Op, problems)
    if not declared and sequence_of(package, "ops", problems, what="[my_op]") == []:
        problems.add(Rule.MISSING_ARGUMENT, "the package has no ops", package.where_of("ops"))
    if len(declared) > MOST_OPS:
        because = f"a package has at most {MOST_OPS}"
        advice = "make several packages of them"
        problems.add(Rule.MANY_OPS, f"the package has {len(declared)} ops", package.where_of("ops"), because=because, advice=advice)
        problems.raise_if_any()  # Before each of them is read.
    naming = naming_of(package, problems)
    ops = [_op(op, naming, files, problems) for op in declared]
    unique_ops(declared, naming, problems)
    _hidden_classes(declared, problems)
    benchmark = resolve_benchmark(package, list(zip(declared, ops, strict=True)), problems)
    problems.raise_if_any()
    return Package(
        name=name,
        ops=tuple(op for op in ops if op is not None),
        header=header,
        naming=naming,
        benchmark=benchmark,
        root=root,
        sources=(),
        where=package.where,
        warnings=problems.warnings,
    )


def _package_name(package: declare.Package, problems: Problems) -> str:
    name = text_of(package, "name", problems)
    if name is None:
        return ""
    because = why_no_package_name(name)
    if not _PACKAGE_NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        because = f"it must match [a-z][a-z0-9_]* and have at most {LONGEST_NAME} characters"
    if because:
        message = f"{shown(name)} can't name a package: it becomes a CMake target and a Python module"
        suggestion = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:LONGEST_NAME]
        advice = f"{suggestion!r} would do" if _PACKAGE_NAME.fullmatch(suggestion) and not why_no_package_name(suggestion) else None
        problems.add(Rule.PACKAGE_NAME, message, package.where_of("name"), because=because, advice=advice)
    return name


def _header(package: declare.Package, name: str, problems: Problems) -> str:
    if "header" not in package.given:
        return f"{name}.h"
    header = text_of(package, "header", problems)
    if header is not None and (not _HEADER.fullmatch(header) or len(header) > LONGEST_NAME):
        because = "it must be a plain file name that ends in .h"
        problems.add(Rule.HEADER, f"{shown(header)} can't name the header", package.where_of("header"), because=because)
    return header or ""


def _hidden_classes(ops: Sequence[declare.Op], problems: Problems) -> None:
    """The generated class `FooImpl` of an op `Foo` would be hidden by that of an op `FooImpl`."""
    by_type = {str(op.given["type"]): op for op in ops if isinstance(op.given.get("type"), str)}
    for op_type, op in by_type.items():
        other = by_type.get(op_type.removesuffix("Impl"))
        if other is not None and other is not op:
            because = f"the generated C++ has a class {op_type} for {op_type.removesuffix('Impl')!r}, {other.where.place}"
            problems.add(Rule.OP_TYPE, f"{op_type!r} can't be an op type here", op.where_of("type"), because=because)


def _op(op: declare.Op, naming: Naming, files: KernelFiles, problems: Problems) -> Op | None:
    before = len(problems)
    check_call(op, problems, told={"graphs"})
    if "graphs" in op.unknown:
        because = "GE runs the subgraphs of an op that controls the flow; a custom op is a kernel of its own"
        problems.add(
            Rule.SUBGRAPH, f"{name_of(op, 'type')} has subgraphs, and opkit has no such ops", op.where_of("graphs"), because=because
        )
    op_type = op_type_of(op, problems)
    file_stem = file_stem_of(op, problems)
    signature = check_signature(op, problems)
    inputs = [each for each in signature if isinstance(each, declare.Input)]
    outputs = [each for each in signature if isinstance(each, declare.Output)]
    declared_attrs = [each for each in signature if isinstance(each, declare.Attr)]
    unique_names(declared_attrs, "attr", problems)
    start = len(problems)
    unique_ports(inputs, outputs, problems)
    symbols = symbols_of(op, problems)
    columns = Columns(op, symbols, problems)
    has_rows = len(problems) == start and symbols is not None and "dtype_mode" not in op.open
    has_rows = has_rows and tells_all(op, declare.Input, declare.Output, declare.Attr)
    resolved_inputs = [resolve_input(port, columns, problems) for port in inputs]
    resolved_attrs = [resolve_attr(attr, problems) for attr in declared_attrs]
    scope = OutputScope(
        inputs=[port for port in resolved_inputs if port is not None],
        outputs=[name_of(port) for port in outputs],
        bounds=_bounds(outputs),
        attrs={attr.name: attr for attr in resolved_attrs if attr is not None},
        root=files.root,
        unread_inputs=_unread(inputs, resolved_inputs) if tells_all(op, declare.Input) else None,
        unread_attrs=_unread(declared_attrs, resolved_attrs) if tells_all(op, declare.Attr) else None,
    )
    resolved_outputs = [resolve_output(port, columns, scope, problems) for port in outputs]
    start = len(problems)
    columns.check_attrs(resolved_attrs, is_complete=tells_all(op, declare.Attr))
    columns.check(has_all_ports=tells_all(op, declare.Input, declare.Output))
    check_in_place(inputs, outputs, resolved_inputs, resolved_outputs, problems)
    check_mixed([*inputs, *outputs], [*resolved_inputs, *resolved_outputs], problems)
    check_bounds(resolved_outputs, outputs, problems)
    has_rows = has_rows and len(problems) == start and None not in (*resolved_inputs, *resolved_outputs, *resolved_attrs)
    if tells_all(op, declare.Output):
        check_values(inputs, outputs, problems)
    if tells_all(op, declare.Attr):
        check_counts([*inputs, *outputs], {name_of(attr): attr for attr in declared_attrs}, problems)
    capabilities = resolve_capabilities(op, problems)
    reference = _reference(op, inputs, declared_attrs, problems)
    names = _names(op, [*resolved_inputs, *resolved_outputs], resolved_attrs, symbols)
    kernels = _kernels(op, names, files, problems)
    rows = columns.rows() if has_rows else None
    if rows is None:
        return None
    is_right = len(problems) == before and kernels is not None and capabilities is not None
    parts = dict(zip(map(id, (*inputs, *outputs, *declared_attrs)), (*resolved_inputs, *resolved_outputs, *resolved_attrs), strict=True))
    resolved = Op(
        type=op_type,
        stem=file_stem or stem_of(op_type, naming),
        signature=tuple(_in_rows(part, rows, columns) for part in map(parts.get, map(id, signature)) if part is not None),
        dtypes={name: rows.of_symbol(name) for name in symbols or ()},
        promotes={name: symbol.promotes for name, symbol in (symbols or {}).items() if symbol is not None and symbol.promotes},
        is_crossed=columns.is_crossed,
        soc_rows=rows.soc_rows,
        kernels=kernels or (),
        refresh=Refresh.NONE if capabilities is None else capabilities.refresh,
        compile=Compile.LOAD if capabilities is None else capabilities.compile,
        is_portable=capabilities is not None and capabilities.is_portable,
        reference=reference,
        where=op.where,
    )
    distinct_combos(op, resolved, problems)
    decided_outputs(outputs, resolved, problems)
    check_entry_types(op, resolved, problems)
    check_pointers(resolved, files.read, problems)
    check_soc_types(op, resolved, files.read, problems)
    if capabilities is not None:
        check_capabilities(op, resolved, problems)
    return resolved if is_right else None


def _unread(declared: Sequence[declare.Declaration], resolved: Sequence[Input | Attr | None]) -> list[str]:
    return [name_of(each) for each, found in zip(declared, resolved, strict=True) if found is None]


def _bounds(outputs: Sequence[declare.Output]) -> dict[str, str]:
    """The names that an upper bound tells, each with the first output that it is of."""
    found: dict[str, str] = {}
    for port in outputs:
        shape = port.given.get("shape")
        if isinstance(shape, declare.Phrase) and shape.word == "upper_bound":
            for name in shape.members:
                found.setdefault(name, name_of(port))
    return found


def _in_rows(part: Input | Output | Attr, rows: Rows, columns: Columns) -> Input | Output | Attr:
    """A port with its dtype in each combination."""
    if isinstance(part, Output):
        return attrs.evolve(part, dtypes=rows.of(part), dtype_attr=columns.attr_of(part))
    return attrs.evolve(part, dtypes=rows.of(part)) if isinstance(part, Input) else part


def _reference(
    op: declare.Op, inputs: Sequence[declare.Input], declared_attrs: Sequence[declare.Attr], problems: Problems
) -> Callable[..., object] | None:
    reference = op.given["reference"]
    if reference is None:
        return None
    where = op.where_of("reference")
    if not callable(reference):
        problems.add(Rule.REFERENCE, f"the reference is {shown(reference)}, which can't be called", where)
        return None
    if not tells_all(op, declare.Input, declare.Attr):
        return None
    names = [name_of(attr) for attr in declared_attrs]
    try:
        inspect.signature(reference).bind(*inputs, **dict.fromkeys(names))
    except ValueError:
        pass  # a NumPy ufunc, for one, has no signature to ask
    except TypeError as error:
        call = one_of([*(name_of(port) for port in inputs), *(f"{name}=…" for name in names)])
        problems.add(Rule.REFERENCE, f"the reference can't be called as reference({call})", where, because=str(error))
    return reference


def _names(
    op: declare.Op,
    ports: Sequence[Input | Output | None],
    resolved_attrs: Sequence[Attr | None],
    symbols: Mapping[str, object] | None,
) -> Names:
    declared_inputs, declared_outputs = declared_of(op, declare.Input), declared_of(op, declare.Output)
    outputs = {port.name: port for port in ports if isinstance(port, Output)}
    ranks: dict[str, int | None] = {name_of(port): None for port in (*declared_inputs, *declared_outputs)}
    ranks.update({port.name: port.shape.rank for port in ports if port is not None and port.shape is not None})
    types: dict[str, AttrType | None] = {name_of(attr): None for attr in declared_of(op, declare.Attr)}
    types.update({attr.name: attr.type for attr in resolved_attrs if attr is not None})
    return Names(
        ranks=ranks,
        outputs=[name_of(port) for port in declared_outputs],
        attrs=types,
        dynamic=[name_of(port) for port in (*declared_inputs, *declared_outputs) if port.given.get("dynamic") is not False],
        unruled=[name_of(port) for port in declared_inputs if port.given.get("shape") is None],
        dims=dims_of(port for port in ports if isinstance(port, Input)),
        bounded=[name for name, port in outputs.items() if isinstance(port.shape, UpperBound)],
        undecided=[name_of(port) for port in declared_outputs if name_of(port) not in outputs],
        symbols=symbols,
        is_complete=tells_all(op, declare.Input, declare.Output, declare.Attr),
    )


def _kernels(op: declare.Op, names: Names, files: KernelFiles, problems: Problems) -> tuple[Kernel, ...] | None:
    if "kernel" not in op.given:
        return None
    given = op.given["kernel"]
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    kernels = [each for each in listed if isinstance(each, declare.Kernel)]
    where = op.where_of("kernel")
    if len(kernels) < len(listed) or not kernels:
        stray = next((each for each in listed if not isinstance(each, declare.Kernel)), given)
        advice = "an op launches one Kernel(…), or those of a list in its order"
        problems.add(Rule.WRONG_KIND, f"the kernel is {shown(stray)}, not a Kernel", where, advice=advice)
        return None
    return resolve_kernels(kernels, where, names, files, problems)
