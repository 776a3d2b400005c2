"""From declarations to the frozen values: every rule of a package, its ops and its benchmark that isn't about one kernel."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from opkit.spec import declare
from opkit.spec.attr_values import ATTR_TYPES, attr_type_of, attr_value
from opkit.spec.dtypes import DTYPES, DType, find_dtype
from opkit.spec.fields import check_call, declared_in, lists_all, name_of, sequence_of, shown, text_of
from opkit.spec.model import Attr, AttrDefault, AttrType, Input, Kernel, Op, Output, Package, Refresh
from opkit.spec.naming import stem_of
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.reserved import why_no_cpp_name, why_no_op_type, why_no_package_name
from opkit.spec.resolve_benchmark import resolve_benchmark
from opkit.spec.resolve_kernel import KernelFiles, Names, resolve_kernel
from opkit.spec.shapes import PatternError, ShapePattern, parse_pattern, unbound

if TYPE_CHECKING:
    from pathlib import Path

_OP_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*")
_PORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PACKAGE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_HEADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.h")
_LONGEST_NAME = 100


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
    if not _PACKAGE_NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        because = f"it must match [a-z][a-z0-9_]* and have at most {_LONGEST_NAME} characters"
    if because:
        message = f"{shown(name)} can't name a package: it becomes a CMake target and a Python module"
        suggestion = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:_LONGEST_NAME]
        advice = f"{suggestion!r} would do" if _PACKAGE_NAME.fullmatch(suggestion) and not why_no_package_name(suggestion) else None
        problems.add(Rule.PACKAGE_NAME, message, package.where_of("name"), because=because, advice=advice)
    return name


def _header(package: declare.Package, name: str, problems: Problems) -> str:
    if "header" not in package.given:
        return f"{name}.h"
    header = text_of(package, "header", problems)
    if header is not None and (not _HEADER.fullmatch(header) or len(header) > _LONGEST_NAME):
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


def _op(op: declare.Op, files: KernelFiles, problems: Problems) -> Op | None:
    before = len(problems)
    check_call(op, problems, optional={"dtypes"})
    op_type = _op_type(op, problems)
    inputs = declared_in(op, "inputs", declare.Input, problems)
    outputs = declared_in(op, "outputs", declare.Output, problems)
    declared_attrs = declared_in(op, "attrs", declare.Attr, problems)
    for side, ports in (("inputs", inputs), ("outputs", outputs)):
        if not ports and sequence_of(op, side, problems, what="[…]") == []:
            problems.add(Rule.MISSING_ARGUMENT, f"an op needs {side}", op.where_of(side))
    _unique_names([*inputs, *outputs], "port", problems)
    _unique_names(declared_attrs, "attr", problems)
    symbols = _symbols(op, problems)
    columns = _Columns(op, symbols, problems)
    resolved_inputs = [_input(port, columns, problems) for port in inputs]
    patterns = [port.shape for port in resolved_inputs if port is not None and port.shape is not None]
    has_all_patterns = lists_all(op, "inputs", declare.Input) and all(port is not None for port in resolved_inputs)
    resolved_outputs = [_output(port, columns, patterns if has_all_patterns else None, problems) for port in outputs]
    resolved_attrs = [_attr(attr, problems) for attr in declared_attrs]
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
    _distinct_combos(op, resolved, problems)
    return resolved


def _op_type(op: declare.Op, problems: Problems) -> str:
    op_type = text_of(op, "type", problems)
    if op_type is None:
        return ""
    because = why_no_op_type(op_type)
    if not _is_op_type(op_type):
        because = (
            f"it must match [A-Z][A-Za-z0-9]* and have at most {_LONGEST_NAME} characters: it becomes a C++ class and a GE registration"
        )
    if because:
        words = re.findall(r"[A-Za-z0-9]+", op_type) if op_type.isascii() else []
        camel = "".join(word[0].upper() + word[1:] for word in words)[:_LONGEST_NAME]
        suggestion = next((word for word in (camel, f"{camel}Custom") if _is_op_type(word) and not why_no_op_type(word)), None)
        advice = f"{suggestion!r} would do" if suggestion else None
        problems.add(Rule.OP_TYPE, f"{shown(op_type)} can't be an op type", op.where_of("type"), because=because, advice=advice)
    return op_type


def _is_op_type(word: str) -> bool:
    return _OP_TYPE.fullmatch(word) is not None and len(word) <= _LONGEST_NAME


def _unique_names(declared: Sequence[declare.Declaration], what: str, problems: Problems) -> None:
    first: dict[str, declare.Declaration] = {}
    counts = Counter(map(id, declared))
    for declaration in declared:
        name = declaration.given.get("name")
        if not isinstance(name, str):
            continue
        other = first.setdefault(name.upper(), declaration)
        if other is not declaration or counts[id(declaration)] > 1:
            twin = str(other.given["name"])
            message = (
                f"two {what}s have the name {name!r}" if twin == name else f"the {what} names {twin!r} and {name!r} differ in case only"
            )
            because = f"the other one is {other.where.place}" if other.where != declaration.where else None
            problems.add(Rule.DUPLICATE, message, declaration.where, because=because)


def _name(declared: declare.Input | declare.Output | declare.Attr, problems: Problems) -> str:
    name = text_of(declared, "name", problems)
    if name is None:
        return ""
    because = why_no_cpp_name(name)
    if not _PORT_NAME.fullmatch(name) or "__" in name or len(name) > _LONGEST_NAME:
        because = f"it must match [A-Za-z][A-Za-z0-9_]*, without a double underscore, and have at most {_LONGEST_NAME} characters"
    if because:
        kind = {"Input": "an input", "Output": "an output"}.get(declared.kind, "an attr")
        problems.add(Rule.NAME, f"{shown(name)} can't name {kind}", declared.where_of("name"), because=because)
    return name


def _input(port: declare.Input, columns: _Columns, problems: Problems) -> Input | None:
    before = len(problems)
    check_call(port, problems)
    name = _name(port, problems)
    symbol, dtypes = columns.of(port)
    shape = None if port.given["shape"] is None else _pattern(port, problems)
    if shape is not None and len(shape.groups) > 1:
        because = "two groups in one shape can be matched in many ways"
        problems.add(
            Rule.PATTERN, f"the shape of input {shown(name)} has {len(shape.groups)} groups", port.where_of("shape"), because=because
        )
    return Input(name=name, dtypes=dtypes, symbol=symbol, shape=shape, where=port.where) if len(problems) == before else None


def _output(port: declare.Output, columns: _Columns, inputs: Sequence[ShapePattern] | None, problems: Problems) -> Output | None:
    before = len(problems)
    check_call(port, problems, optional={"shape"})
    name = _name(port, problems)
    symbol, dtypes = columns.of(port)
    shape = None
    if port.given.get("shape") is None and port.strays:
        pass  # The stray one may be the shape.
    elif port.given.get("shape") is None:
        message = f"output {shown(name)} has no shape rule"
        because = "GE would infer an unknown rank and leave the static path"
        problems.add(
            Rule.NO_SHAPE_RULE, message, port.where, because=because, advice='give shape="..." or dims that inputs name, e.g. shape="n k"'
        )
    else:
        shape = _pattern(port, problems)
    for item in () if shape is None or inputs is None else unbound(shape, inputs):
        names = list(dict.fromkeys(str(known) for pattern in inputs or () for known in pattern.names))
        advice = did_you_mean(str(item), names) or (
            f"the inputs bind {one_of(names)}" if names else 'give the inputs shapes, e.g. shape="n k"'
        )
        message = f"the shape of output {shown(name)} uses `{item}`, which no input binds"
        problems.add(Rule.UNBOUND, message, port.where_of("shape"), advice=advice)
    if len(problems) > before or shape is None:
        return None
    return Output(name=name, dtypes=dtypes, symbol=symbol, shape=shape, where=port.where)


def _pattern(port: declare.Input | declare.Output, problems: Problems) -> ShapePattern | None:
    text = text_of(port, "shape", problems)
    try:
        return None if text is None else parse_pattern(text)
    except PatternError as error:
        problems.add(
            Rule.PATTERN,
            f"{shown(text)} is no shape",
            port.where_of("shape"),
            because=str(error),
            advice='write e.g. "...", "n k" or "*batch n 3"',
        )
        return None


def _attr(attr: declare.Attr, problems: Problems) -> Attr | None:
    before = len(problems)
    check_call(attr, problems, optional={"default"})
    name = _name(attr, problems)
    kind = None
    if "type" in attr.given:
        kind = attr_type_of(attr.given["type"])
        if kind is None:
            word = attr.given["type"]
            advice = (did_you_mean(word, ATTR_TYPES) if isinstance(word, str) else None) or f"an attr is {one_of(ATTR_TYPES)}"
            problems.add(Rule.ATTR_TYPE, f"{shown(word)} is no attr type", attr.where_of("type"), advice=advice)
    default: AttrDefault | None = None
    if kind is not None and "default" in attr.given:
        default, because = attr_value(kind, attr.given["default"])
        if because:
            message = f"the default of attr {shown(name)} is {shown(attr.given['default'])}, and its type is {kind.value}"
            problems.add(Rule.ATTR_DEFAULT, message, attr.where_of("default"), because=because)
    return Attr(name=name, type=kind, default=default, where=attr.where) if len(problems) == before and kind is not None else None


def _symbols(op: declare.Op, problems: Problems) -> dict[str, tuple[DType, ...] | None] | None:
    """The dtypes of each symbol; None for one that is wrong and reported, and for all of them if none can be told."""
    if "dtypes" not in op.given:
        return None if op.strays else {}
    given = op.given["dtypes"]
    where = op.where_of("dtypes")
    if not isinstance(given, Mapping):
        problems.add(Rule.WRONG_KIND, f"dtypes is {shown(given)}, not a dict", where, advice='write dtypes={"T": ["float32", "float16"]}')
        return None
    symbols: dict[str, tuple[DType, ...] | None] = {}
    for symbol, words in given.items():
        if not isinstance(symbol, str) or not _PORT_NAME.fullmatch(symbol) or find_dtype(symbol):
            because = "it is the name of a dtype" if isinstance(symbol, str) and find_dtype(symbol) else "it must be a name, such as T"
            problems.add(Rule.DTYPE, f"{shown(symbol)} can't be a dtype symbol", where, because=because)
            continue
        symbols[symbol] = None
        dtypes = [_dtype(word, (), op, "dtypes", problems) for word in _words(words)]
        if not dtypes:
            problems.add(Rule.DTYPE, f"the symbol {symbol!r} has no dtypes", where)
        elif all(dtype is not None for dtype in dtypes):
            symbols[symbol] = tuple(dtype for dtype in dtypes if dtype is not None)
    return symbols


def _words(given: object) -> list[object]:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _dtype(word: object, symbols: Sequence[str], declared: declare.Declaration, argument: str, problems: Problems) -> DType | None:
    dtype = find_dtype(word) if isinstance(word, str) else None
    if dtype is None:
        what = "neither a dtype nor a symbol of this op" if symbols or argument == "dtype" else "no dtype"
        near = did_you_mean(word, (*DTYPES, *symbols)) if isinstance(word, str) else None
        problems.add(
            Rule.DTYPE, f"{shown(word)} is {what}", declared.where_of(argument), advice=near or f"opkit knows {one_of((*DTYPES, *symbols))}"
        )
    return dtype


class _Columns:
    """The dtype lists of one op, which pair column by column; a list of one stands for all columns.

    Where `symbols` is None, a name that is no dtype may be one.
    """

    def __init__(self, op: declare.Op, symbols: Mapping[str, tuple[DType, ...] | None] | None, problems: Problems) -> None:
        self._op = op
        self._has_symbols = symbols is not None
        self._symbols = symbols = symbols or {}
        self._problems = problems
        self._used: set[str] = set()
        self._lengths: dict[str, int] = {f"symbol {name!r}": len(dtypes) for name, dtypes in symbols.items() if dtypes is not None}

    def of(self, port: declare.Input | declare.Output) -> tuple[str | None, tuple[DType, ...]]:
        """Symbol and dtypes of a port; no dtypes after reporting what is wrong with them."""
        word = port.given.get("dtype", ())
        if isinstance(word, str) and word in self._symbols:
            self._used.add(word)
            return word, self._symbols[word] or ()
        if isinstance(word, str) and not self._has_symbols and find_dtype(word) is None:
            return None, ()
        dtypes = [_dtype(each, tuple(self._symbols), port, "dtype", self._problems) for each in _words(word)]
        if not dtypes and "dtype" in port.given:
            self._problems.add(Rule.DTYPE, f"the {port.kind.lower()} {shown(port.given.get('name'))} has no dtypes", port.where_of("dtype"))
        known = tuple(dtype for dtype in dtypes if dtype is not None)
        if len(known) == len(dtypes):
            self._lengths[f"{port.kind.lower()} {shown(port.given.get('name'))}"] = len(known)
        return None, known

    def check(self, *, has_all_ports: bool) -> None:
        where = self._op.where_of("dtypes")
        lengths = {what: length for what, length in self._lengths.items() if length > 1}
        if len(set(lengths.values())) > 1:
            because = ", ".join(f"{what} has {length}" for what, length in lengths.items())
            self._problems.add(Rule.DTYPE_COLUMNS, "the dtype lists have different lengths", where, because=because)
        for symbol in self._symbols if has_all_ports else ():
            if symbol not in self._used:
                self._problems.add(Rule.UNUSED_SYMBOL, f"no port uses the dtype symbol {symbol!r}", where)

    def widened(self, dtypes: tuple[DType, ...]) -> tuple[DType, ...]:
        return dtypes if len(dtypes) > 1 else dtypes * max(self._lengths.values())


def _distinct_combos(declared: declare.Op, op: Op, problems: Problems) -> None:
    seen: dict[tuple[DType, ...], int] = {}
    for index, combo in enumerate(op.dtype_combos()):
        inputs = tuple(combo.ports[port.name] for port in op.inputs)
        first = seen.setdefault(inputs, index)
        if first != index:
            because = f"columns {first + 1} and {index + 1} have the inputs {one_of(dtype.name for dtype in inputs)}"
            problems.add(
                Rule.DTYPE_COLUMNS, "two columns of the dtype lists have the same inputs", declared.where_of("dtypes"), because=because
            )


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
