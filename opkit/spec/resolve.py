"""From declarations to the frozen values: a package and its ops as a whole, each part by the module of its name."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs

from opkit.spec import declare
from opkit.spec.fields import check_call, declared_in, lists_all, name_of, sequence_of, shown, text_of
from opkit.spec.model import Attr, AttrType, Input, Kernel, Op, Output, Package, Refresh
from opkit.spec.naming import stem_of
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.reserved import why_no_package_name
from opkit.spec.resolve_attrs import resolve_attr
from opkit.spec.resolve_benchmark import resolve_benchmark
from opkit.spec.resolve_dtypes import Columns, distinct_combos, symbols_of
from opkit.spec.resolve_kernel import KernelFiles, Names, resolve_kernel
from opkit.spec.resolve_names import LONGEST_NAME, op_type_of, unique_names
from opkit.spec.resolve_ports import resolve_input, resolve_output

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.h")


def resolve_package(package: declare.Package, root: Path, problems: Problems) -> Package:
    """The resolved package, `sources` still empty. Raises SpecErrors with all that is wrong, what `problems` holds already included."""
    check_call(package, problems, optional={"header"})
    name = _package_name(package, problems)
    header = _header(package, name, problems)
    files = KernelFiles(root)
    declared = declared_in(package, "ops", declare.Op, problems)
    if not declared and sequence_of(package, "ops", problems, what="[my_op]") == []:
        problems.add(Rule.MISSING_ARGUMENT, "the package has no ops", package.where_of("ops"))
    ops = [_op(op, files, problems) for op in declared]
    _duplicate_types(declared, problems)
    _hidden_classes(declared, problems)
    benchmark = resolve_benchmark(package, list(zip(declared, ops, strict=True)), problems)
    problems.raise_if_any()
    return Package(
        name=name,
        ops=tuple(op for op in ops if op is not None),
        header=header,
        benchmark=benchmark,
        root=root,
        sources=(),
        where=package.where,
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


def _duplicate_types(ops: Sequence[declare.Op], problems: Problems) -> None:
    first: dict[str, declare.Op] = {}
    counts = Counter(map(id, ops))
    for op in ops:
        op_type = op.given.get("type")
        if not isinstance(op_type, str):
            continue
        other = first.setdefault(stem_of(op_type), op)
        if other is op:
            if counts[id(op)] > 1:
                problems.add(Rule.DUPLICATE, f"the op {op_type!r} is in ops twice", op.where)
            continue
        twin = other.given["type"]
        because = f"GE keeps the first registration only; the other one is {other.where.place}"
        if twin == op_type:
            problems.add(Rule.DUPLICATE, f"two ops have the type {op_type!r}", op.where_of("type"), because=because)
        else:
            message = f"the op types {twin!r} and {op_type!r} give one file name, {stem_of(op_type)!r}"
            problems.add(Rule.DUPLICATE, message, op.where_of("type"), because=f"the other one is {other.where.place}")


def _hidden_classes(ops: Sequence[declare.Op], problems: Problems) -> None:
    """The generated class `FooImpl` of an op `Foo` would be hidden by that of an op `FooImpl`."""
    by_type = {str(op.given["type"]): op for op in ops if isinstance(op.given.get("type"), str)}
    for op_type, op in by_type.items():
        other = by_type.get(op_type.removesuffix("Impl"))
        if other is not None and other is not op:
            because = f"the generated C++ has a class {op_type} for {op_type.removesuffix('Impl')!r}, {other.where.place}"
            problems.add(Rule.OP_TYPE, f"{op_type!r} can't be an op type here", op.where_of("type"), because=because)


def _op(op: declare.Op, files: KernelFiles, problems: Problems) -> Op | None:
    before = len(problems)
    check_call(op, problems, optional={"dtypes"})
    op_type = op_type_of(op, problems)
    inputs = declared_in(op, "inputs", declare.Input, problems)
    outputs = declared_in(op, "outputs", declare.Output, problems)
    declared_attrs = declared_in(op, "attrs", declare.Attr, problems)
    for side, ports in (("inputs", inputs), ("outputs", outputs)):
        if not ports and sequence_of(op, side, problems, what="[…]") == []:
            problems.add(Rule.MISSING_ARGUMENT, f"an op needs {side}", op.where_of(side))
    unique_names([*inputs, *outputs], "port", problems)
    unique_names(declared_attrs, "attr", problems)
    symbols = symbols_of(op, problems)
    columns = Columns(op, symbols, problems)
    resolved_inputs = [resolve_input(port, columns, problems) for port in inputs]
    patterns = [port.shape for port in resolved_inputs if port is not None and port.shape is not None]
    has_all_patterns = lists_all(op, "inputs", declare.Input) and all(port is not None for port in resolved_inputs)
    resolved_outputs = [resolve_output(port, columns, patterns if has_all_patterns else None, problems) for port in outputs]
    resolved_attrs = [resolve_attr(attr, problems) for attr in declared_attrs]
    columns.check(has_all_ports=lists_all(op, "inputs", declare.Input) and lists_all(op, "outputs", declare.Output))
    refresh = _refresh(op, problems)
    reference = _reference(op, inputs, declared_attrs, problems)
    kernel = _kernel(op, [*resolved_inputs, *resolved_outputs], resolved_attrs, files, problems)
    if len(problems) > before or kernel is None or refresh is None:
        return None
    resolved = Op(
        type=op_type,
        inputs=tuple(attrs.evolve(port, dtypes=columns.widened(port.dtypes)) for port in resolved_inputs if port is not None),
        outputs=tuple(attrs.evolve(port, dtypes=columns.widened(port.dtypes)) for port in resolved_outputs if port is not None),
        attrs=tuple(attr for attr in resolved_attrs if attr is not None),
        dtypes={symbol: columns.widened(dtypes) for symbol, dtypes in (symbols or {}).items() if dtypes is not None},
        kernel=kernel,
        refresh=refresh,
        reference=reference,
        where=op.where,
    )
    distinct_combos(op, resolved, problems)
    return resolved


def _refresh(op: declare.Op, problems: Problems) -> Refresh | None:
    word = op.given["refresh"]
    known = [refresh.value for refresh in Refresh]
    if isinstance(word, str) and word in known:
        return Refresh(word)
    advice = (did_you_mean(word, known) if isinstance(word, str) else None) or f"refresh is {' or '.join(repr(each) for each in known)}"
    problems.add(Rule.REFRESH, f"{shown(word)} is no way to refresh addresses", op.where_of("refresh"), advice=advice)
    return None


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
    if not lists_all(op, "inputs", declare.Input) or not lists_all(op, "attrs", declare.Attr):
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


def _kernel(
    op: declare.Op,
    ports: Sequence[Input | Output | None],
    resolved_attrs: Sequence[Attr | None],
    files: KernelFiles,
    problems: Problems,
) -> Kernel | None:
    if "kernel" not in op.given:
        return None
    kernel = op.given["kernel"]
    if not isinstance(kernel, declare.Kernel):
        problems.add(
            Rule.WRONG_KIND, f"the kernel is {shown(kernel)}, not a Kernel", op.where_of("kernel"), advice="an op launches one Kernel(…)"
        )
        return None
    declared_ports = [port for side in ("inputs", "outputs") for port in _declared(op, side)]
    ranks: dict[str, int | None] = {name_of(port): None for port in declared_ports}
    ranks.update({port.name: port.shape.rank for port in ports if port is not None and port.shape is not None})
    types: dict[str, AttrType | None] = {name_of(attr): None for attr in _declared(op, "attrs")}
    types.update({attr.name: attr.type for attr in resolved_attrs if attr is not None})
    outputs = [name_of(port) for port in _declared(op, "outputs")]
    sides: dict[str, type[declare.Declaration]] = {"inputs": declare.Input, "outputs": declare.Output, "attrs": declare.Attr}
    is_complete = all(lists_all(op, side, kind) for side, kind in sides.items())
    return resolve_kernel(kernel, Names(ranks=ranks, outputs=outputs, attrs=types, is_complete=is_complete), files, problems)


def _declared(op: declare.Op, side: str) -> list[declare.Declaration]:
    given = op.given.get(side)
    return [each for each in given if isinstance(each, declare.Declaration)] if isinstance(given, (list, tuple)) else []
