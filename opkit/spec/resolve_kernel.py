"""The checks of a Kernel for one op: its file, its entry, and that each argument fits the parameter that it fills."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import attrs

from opkit.errors import SpecError
from opkit.spec import declare
from opkit.spec.expressions import (
    INT64_MAX,
    INT64_MIN,
    AttrValue,
    Binary,
    BinaryOp,
    Cores,
    Dim,
    Expr,
    Number,
    Numel,
    PortAddress,
    Scope,
    is_constant,
)
from opkit.spec.fields import check_call, integer_of, sequence_of, shown, text_of
from opkit.spec.kernel_signature import (
    FoundEntry,
    KernelParam,
    KernelSignature,
    KernelSource,
    ScalarType,
    UnknownParamTypeError,
    lay_out,
    read_kernel,
)
from opkit.spec.location import Spot, location_of
from opkit.spec.model import MAX_BLOCKS, AttrType, Kernel, LaunchArg
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of

_TYPED = {"i32": ScalarType.I32, "u32": ScalarType.U32, "i64": ScalarType.I64, "f32": ScalarType.F32}
_ARITY = {"numel": 1, "dim": 2, "attr": 1, "port": 1, "cores": 0, "ceil_div": 2, "i32": 1, "u32": 1, "i64": 1, "f32": 1}
_BINARY = {op.value: op for op in BinaryOp}
_PATH_PART = re.compile(r"[\w .+@-]+")
_ENTRY_FORM = 'extern "C" __global__ __aicore__ void {name}(…)'


@attrs.frozen(kw_only=True)
class Names:
    """What a kernel argument can name: the ranks of the ports (None if open) and the types of the attrs (None if mistaken).

    Unless it `is_complete`, a mistake elsewhere hides names, and one that isn't here may be right.
    """

    ranks: Mapping[str, int | None]
    outputs: Sequence[str]
    attrs: Mapping[str, AttrType | None]
    is_complete: bool


class KernelFiles:
    """Kernel sources of one load, each read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._sources: dict[Path, KernelSource] = {}

    def read(self, path: Path) -> KernelSource:
        if path not in self._sources:
            self._sources[path] = read_kernel(path)
        return self._sources[path]


def resolve_kernel(kernel: declare.Kernel, names: Names, files: KernelFiles, problems: Problems) -> Kernel | None:
    before = len(problems)
    check_call(kernel, problems, optional={"defines"})
    defines = _defines(kernel, problems)
    found = _source(kernel, files, problems)
    signature = None if found is None else _signature(kernel, found[1], problems)
    expressions = _Expressions(names, problems)
    blocks = _blocks(kernel, expressions, problems)
    args = _args(kernel, signature, expressions, problems)
    strides = kernel.given.get("strides")
    if not isinstance(strides, bool):
        problems.add(Rule.WRONG_KIND, f"strides is {shown(strides)}, not True or False", kernel.where_of("strides"))
    if len(problems) > before or found is None or signature is None or blocks is None:
        return None
    path, source = found
    return Kernel(
        path=path,
        relative=path.relative_to(files.root).as_posix(),
        signature=signature,
        args=tuple(args),
        blocks=blocks,
        strides=strides is True,
        defines=defines,
        files=source.files,
        integer_defaults=source.integer_defaults,
        where=kernel.where,
    )


def _source(kernel: declare.Kernel, files: KernelFiles, problems: Problems) -> tuple[Path, KernelSource] | None:
    text = text_of(kernel, "source", problems)
    path = None if text is None else _path(text, kernel, files.root, problems)
    if path is None:
        return None
    where = kernel.where_of("source")
    try:
        source = files.read(path)
    except OSError as error:
        problems.add(Rule.KERNEL_FILE, f"the kernel file {text!r} can't be read", where, because=f"{error.filename}: {error.strerror}")
        return None
    outside = [file for file in source.files if not file.is_relative_to(files.root)]
    if outside:
        because = f"{outside[0]} isn't below {files.root}, so a copy of the project wouldn't have it"
        problems.add(Rule.KERNEL_FILE, f"the kernel {text!r} includes a file from outside the project", where, because=because)
        return None
    return path, source


def _path(text: str, kernel: declare.Kernel, root: Path, problems: Problems) -> Path | None:
    relative = PurePosixPath(text)
    path = root / relative
    because = advice = None
    if relative.is_absolute() or ".." in relative.parts or not relative.name or "\\" in text or "\0" in text:
        message = f"the kernel {shown(text)} isn't a path inside the project"
        advice = "put it beside ops.py, e.g. kernels/add.asc"
    elif not all(_PATH_PART.fullmatch(part) for part in relative.parts):
        message = f"the kernel {shown(text)} has a character that can't be in its name"
        because = "CMake and the generated C++ hold letters, digits, blanks and . _ + - @ only"
    elif path.is_file():
        return path
    else:
        present = sorted(file.relative_to(root).as_posix() for file in (*root.glob("*.asc"), *root.glob("kernels/*.asc")))
        message = f"there is no kernel file {text!r}"
        because = f"{path} is no file" if path.exists() else f"{path} doesn't exist"
        advice = did_you_mean(text, present) or (f"the project has {one_of(present)}" if present else None)
    problems.add(Rule.KERNEL_FILE, message, kernel.where_of("source"), because=because, advice=advice)
    return None


def _signature(kernel: declare.Kernel, source: KernelSource, problems: Problems) -> KernelSignature | None:
    name = text_of(kernel, "entry", problems)
    if name is None:
        return None
    where = kernel.where_of("entry")
    kernel_file = source.files[0].name
    candidates = [entry for entry in source.entries if entry.name == name]
    if not candidates:
        others = list(dict.fromkeys(entry.name for entry in source.entries))
        because = f"it defines {one_of(others)}" if others else "it defines no __global__ function"
        if source.syntax_error_line is not None:
            because += f", as far as it can be read: line {source.syntax_error_line} isn't understood"
        advice = f"did you mean {others[0]!r}?" if len(others) == 1 else did_you_mean(name, others) or _ENTRY_FORM.format(name=name)
        problems.add(Rule.ENTRY, f"{kernel_file} doesn't define an entry {name!r}", where, because=because, advice=advice)
        return None
    entry = candidates[0]
    place = location_of(entry.file, entry.line).place
    if entry.is_template or not entry.is_extern_c:
        because = f"{place} is a template" if entry.is_template else f'{place} lacks extern "C", so its name is mangled'
        problems.add(
            Rule.ENTRY_FORM,
            f"the entry {name!r} can't be launched by its name",
            where,
            because=because,
            advice=_ENTRY_FORM.format(name=name),
        )
        return None
    differing = next((other for other in candidates if _types(other) != _types(entry)), None)
    if differing is not None:
        because = f"{place} and {location_of(differing.file, differing.line).place}"
        problems.add(Rule.ENTRY_FORM, f"{kernel_file} defines {name!r} twice with different parameters", where, because=because)
        return None
    try:
        return lay_out(name, list(entry.params), file=entry.file, line=entry.line)
    except UnknownParamTypeError as error:
        problems.add(
            Rule.ENTRY_FORM,
            f"{name!r} has a parameter of a type that opkit can't pass",
            where,
            because=f"{error} at {location_of(entry.file, error.line).place}",
            advice=f"use GM_ADDR, another pointer, or one of {one_of(scalar.value for scalar in ScalarType)}",
        )
        return None


def _types(entry: FoundEntry) -> list[str]:
    return [c_type for c_type, _, _ in entry.params]


_MACRO = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _defines(kernel: declare.Kernel, problems: Problems) -> dict[str, int | str]:
    given = kernel.given.get("defines", {})
    where = kernel.where_of("defines")
    if not isinstance(given, Mapping):
        problems.add(Rule.WRONG_KIND, f"defines is {shown(given)}, not a dict", where, advice='write defines={"BLOCK_SIZE": 1024}')
        return {}
    for name, value in given.items():
        if not isinstance(name, str) or not _MACRO.fullmatch(name):
            problems.add(Rule.DEFINE, f"{shown(name)} is no macro name", where)
        elif name.startswith("DTYPE_"):
            problems.add(Rule.DEFINE, f"{name!r} can't be defined here", where, because="opkit defines DTYPE_<PORT> for each dtype")
        elif isinstance(value, bool) or not isinstance(value, (int, str)):
            problems.add(Rule.DEFINE, f"the define {name!r} is {shown(value)}, not an integer or a text", where)
        elif isinstance(value, str) and ("\n" in value or "\r" in value or "\0" in value or value.rstrip().endswith("\\")):
            problems.add(Rule.DEFINE, f"the define {name!r} is {shown(value)}, which isn't one line", where)
    return dict(given)


def _blocks(kernel: declare.Kernel, expressions: _Expressions, problems: Problems) -> Expr | None:
    if "blocks" not in kernel.given:
        return None
    where = kernel.where_of("blocks")
    blocks = expressions.size(kernel.given["blocks"], where)
    if blocks is not None and is_constant(blocks):
        count = blocks.evaluate(Scope())
        if count < 1 or (count > MAX_BLOCKS and kernel.given.get("strides") is not True):
            advice = "a kernel that strides over blocks may be clamped: strides=True" if count > 1 else None
            problems.add(
                Rule.BLOCKS, f"{count} blocks can't be launched", where, because=f"a launch has 1 to {MAX_BLOCKS} blocks", advice=advice
            )
    return blocks


def _args(kernel: declare.Kernel, signature: KernelSignature | None, expressions: _Expressions, problems: Problems) -> list[LaunchArg]:
    given = sequence_of(kernel, "args", problems, what='["x", "y", "z", numel("x")]')
    if given is None:
        return []
    values = [expressions.argument(value, _where(value, kernel, index)) for index, value in enumerate(given)]
    absent = [name for name in expressions.names.outputs if not any(isinstance(v, _Value) and v.expr == PortAddress(name) for v in values)]
    if absent and all(value is not None for value in values):
        message = f"the kernel never gets output {absent[0]!r}"
        problems.add(Rule.ARG_KIND, message, kernel.where_of("args"), because="it isn't among args, so nothing would write it")
    if signature is None:
        return []
    if len(given) != len(signature.params):
        problems.add(
            Rule.ARG_COUNT,
            f"args has {_counted(len(given), 'element')}, and the kernel takes {len(signature.params)}",
            kernel.where_of("args"),
            because=f"{signature} at {signature.place}",
            advice=_missing_advice(len(given), signature),
        )
        return []
    args = []
    for index, (value, param) in enumerate(zip(values, signature.params, strict=True)):
        if value is None:
            continue
        reason = _misfit(value, param, expressions.names)
        if reason is not None:
            problems.add(
                Rule.ARG_KIND,
                f"argument {index + 1}, {_shown(value)}, doesn't fit {param.c_type} {param.name}",
                _where(given[index], kernel, index),
                because=reason,
                advice=f"the kernel is {signature} at {signature.place}",
            )
        args.append(LaunchArg(param=param, value=value.expr))
    return args


def _missing_advice(given: int, signature: KernelSignature) -> str | None:
    if given >= len(signature.params):
        return None
    missing = signature.params[given:]
    return f"the first without a value is `{missing[0].c_type} {missing[0].name}`"


@attrs.frozen
class _Value:
    """An argument with the C type that the spec demands for it, if it does."""

    expr: Expr
    demanded: ScalarType | None = None


def _shown(value: _Value) -> str:
    return str(value.expr)


def _misfit(value: _Value, param: KernelParam, names: Names) -> str | None:  # noqa: PLR0911 - one return for each reason
    if isinstance(value.expr, PortAddress):
        return None if param.is_pointer else "a port is passed as an address"
    if param.scalar is None:
        return "a pointer takes the address of a port"
    if value.demanded is not None and value.demanded is not param.scalar:
        return f"the spec says {value.demanded.value}, and the kernel {param.scalar.value}"
    if isinstance(value.expr, AttrValue):
        kind = names.attrs[value.expr.name]
        if kind is AttrType.FLOAT and not param.scalar.is_float:
            return "the attr is a float"
        if kind is AttrType.INT and not param.scalar.is_integer:
            return "the attr is an int"
        if kind is AttrType.BOOL and param.scalar.is_float:
            return "the attr is a bool"
        return None
    if not param.scalar.is_integer:
        return "a size is an integer"
    if isinstance(value.expr, Number):
        low, high = param.scalar.limits
        return None if low <= value.expr.value <= high else f"{param.scalar.value} holds {low} to {high}"
    return None


def _where(value: object, kernel: declare.Kernel, index: int) -> Spot:
    return (
        Spot(call=value.call) if isinstance(value, declare.Size) and value.call.file == kernel.call.file else kernel.where_of("args", index)
    )


class _Expressions:
    """Turns what stands in `args` and `blocks` into trees, with every name looked up."""

    def __init__(self, names: Names, problems: Problems) -> None:
        self.names = names
        self._problems = problems

    def argument(self, value: object, where: Spot) -> _Value | None:
        """A whole kernel argument."""
        if isinstance(value, str):
            return self._bare(value, where)
        if isinstance(value, declare.Size):
            if not self._has_operands(value):
                return None
            if value.word == "port":
                return self._named(value.operands[0], self.names.ranks, "port", PortAddress, where)
            if value.word == "attr":
                return self._attr_argument(value.operands[0], where)
            if value.word in _TYPED:
                return self._typed(value, where)
        expr = self.size(value, where)
        return None if expr is None else _Value(expr)

    def size(self, value: object, where: Spot) -> Expr | None:
        """An integer expression, constants folded; None after reporting why there is none."""
        expr = self._tree(value, where)
        if expr is None or not is_constant(expr):
            return expr
        try:
            return Number(expr.evaluate(Scope()))
        except SpecError as error:
            self._problems.add(Rule.EXPRESSION, f"`{expr}` has no value", where, because=error.because)
            return None

    def _tree(self, value: object, where: Spot) -> Expr | None:
        if isinstance(value, declare.Size):
            return self._size(value)
        if isinstance(value, str):
            return self._integer_attr(value, where)
        number = integer_of(value)
        if number is None:
            advice = (
                "a float reaches a kernel as a float attr"
                if isinstance(value, float)
                else "use numel, dim, attr, cores, ceil_div, min_, max_, + - * // %"
            )
            self._problems.add(Rule.EXPRESSION, f"{shown(value)} is no size expression", where, advice=advice)
            return None
        if not INT64_MIN <= number <= INT64_MAX:
            self._problems.add(Rule.EXPRESSION, f"{shown(number)} doesn't fit in int64", where)
            return None
        return Number(number)

    def _size(self, size: declare.Size) -> Expr | None:
        where = Spot(call=size.call)
        if not self._has_operands(size):
            return None
        if size.word in _BINARY:
            return self._binary(_BINARY[size.word], [self._tree(operand, where) for operand in size.operands], where)
        expr: Expr | None = None
        match size.word:
            case "cores":
                expr = Cores()
            case "attr":
                expr = self._integer_attr(size.operands[0], where)
            case "numel":
                named = self._named(size.operands[0], self.names.ranks, "port", Numel, where)
                expr = None if named is None else named.expr
            case "dim":
                expr = self._dim(*size.operands, where=where)
            case _:
                self._no_size(size.word, where)
        return expr

    def _no_size(self, word: str, where: Spot) -> None:
        if word == "/":
            message, advice = "`/` gives a fraction, and a size is an integer", "write // to round down, ceil_div to round up"
        elif word == "port":
            message, advice = "an address is no part of a size", 'use numel("x") or dim("x", 0)'
        else:
            message, advice = f"{word}(…) is a whole kernel argument, no part of a size", None
        self._problems.add(Rule.EXPRESSION, message, where, advice=advice)

    def _binary(self, op: BinaryOp, operands: list[Expr | None], where: Spot) -> Expr | None:
        known = [operand for operand in operands if operand is not None]
        if len(known) < len(operands):
            return None
        if op.divides and isinstance(known[1], Number) and known[1].value <= 0:
            self._problems.add(
                Rule.EXPRESSION,
                f"`{Binary(op, known[0], known[1])}` divides by {known[1].value}",
                where,
                advice="a divisor must be positive",
            )
            return None
        tree = known[0]
        for operand in known[1:]:
            tree = Binary(op, tree, operand)
        return tree

    def _has_operands(self, size: declare.Size) -> bool:
        given = len(size.operands)
        if size.word in {"min_", "max_"}:
            wanted, is_right = "at least 2 operands", given >= 2
        else:
            count = _ARITY.get(size.word, 2)
            wanted, is_right = _counted(count, "operand"), given == count
        if not is_right:
            self._problems.add(Rule.EXPRESSION, f"{size.word} takes {wanted}, not {given}", Spot(call=size.call))
        return is_right

    def _bare(self, name: str, where: Spot) -> _Value | None:
        is_port, is_attr = name in self.names.ranks, name in self.names.attrs
        if is_port and is_attr:
            self._problems.add(
                Rule.AMBIGUOUS,
                f"{name!r} is both a port and an attr",
                where,
                advice=f'write port("{name}") for the address, attr("{name}") for the value',
            )
            return None
        if is_attr:
            return self._attr_argument(name, where)
        return self._named(name, {**self.names.ranks, **self.names.attrs}, "port or attr", PortAddress, where)

    def _named(self, name: object, known: Mapping[str, object], what: str, node: type[Numel | PortAddress], where: Spot) -> _Value | None:
        if isinstance(name, str) and name in known:
            return _Value(node(name))
        self._unknown(name, known, what, where)
        return None

    def _attr_argument(self, name: object, where: Spot) -> _Value | None:
        if not isinstance(name, str) or name not in self.names.attrs:
            self._unknown(name, self.names.attrs, "attr", where)
            return None
        kind = self.names.attrs[name]
        if kind is AttrType.STR:
            self._problems.add(
                Rule.ARG_KIND, f"attr {name!r} can't be a kernel argument", where, because="it is a str, and a kernel takes numbers"
            )
        return None if kind in {None, AttrType.STR} else _Value(AttrValue(name))

    def _integer_attr(self, name: object, where: Spot) -> Expr | None:
        if isinstance(name, str) and name in self.names.ranks and name not in self.names.attrs:
            message = f"{name!r} is a port, and a size needs a number"
            self._problems.add(Rule.EXPRESSION, message, where, advice=f'write numel("{name}") or dim("{name}", 0)')
            return None
        if not isinstance(name, str) or name not in self.names.attrs:
            self._unknown(name, self.names.attrs, "attr", where)
            return None
        kind = self.names.attrs[name]
        if kind in {AttrType.FLOAT, AttrType.STR}:
            self._problems.add(
                Rule.EXPRESSION, f"attr {name!r} can't be part of a size", where, because=f"it is a {kind.value}, and a size is an integer"
            )
            return None
        return None if kind is None else AttrValue(name)

    def _dim(self, port: object, axis: object, *, where: Spot) -> Expr | None:
        if not isinstance(port, str) or port not in self.names.ranks:
            self._unknown(port, self.names.ranks, "port", where)
            return None
        index = integer_of(axis)
        if index is None:
            self._problems.add(Rule.EXPRESSION, f"the axis of dim is {shown(axis)}, not an integer", where)
            return None
        rank = self.names.ranks[port]
        if rank is not None and not -rank <= index < rank:
            self._problems.add(
                Rule.EXPRESSION, f'dim("{port}", {index}) is outside the shape', where, because=f"{port!r} has {_counted(rank, 'dim')}"
            )
            return None
        return Dim(port, index)

    def _typed(self, size: declare.Size, where: Spot) -> _Value | None:
        demanded = _TYPED[size.word]
        operand = size.operands[0]
        if demanded is not ScalarType.F32:
            expr = self.size(operand, where)
            return None if expr is None else _Value(expr, demanded)
        if isinstance(operand, declare.Size) and operand.word == "attr" and self._has_operands(operand):
            operand = operand.operands[0]
        if not isinstance(operand, str):
            self._problems.add(Rule.EXPRESSION, "f32 takes a float attr", where, advice='write f32("alpha")')
            return None
        value = self._attr_argument(operand, where)
        if value is not None and self.names.attrs[operand] is not AttrType.FLOAT:
            self._problems.add(Rule.EXPRESSION, f"f32 takes a float attr, and {operand!r} isn't one", where)
            return None
        return None if value is None else _Value(value.expr, demanded)

    def _unknown(self, name: object, known: Mapping[str, object], what: str, where: Spot) -> None:
        if not isinstance(name, str):
            self._problems.add(Rule.WRONG_KIND, f"{shown(name)} isn't the name of a {what}", where)
            return
        if not self.names.is_complete:
            return
        advice = did_you_mean(name, known) or (f"the op has {one_of(known)}" if known else None)
        self._problems.add(Rule.UNKNOWN_NAME, f"there is no {what} {name!r}", where, advice=advice)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
