"""The checks of a Kernel for one op: its file, its entry, and that each argument fits the parameter that it fills."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeGuard

import attrs

from opkit.errors import SpecError
from opkit.spec import declare
from opkit.spec.arg_count import Argument, count_advice
from opkit.spec.expressions import (
    INT64_MAX,
    INT64_MIN,
    MAX_DEPTH,
    AddressList,
    AttrValue,
    Binary,
    BinaryOp,
    Cores,
    Count,
    Dim,
    Expr,
    Number,
    Numel,
    PortAddress,
    Rank,
    Scope,
    ShapeBuffer,
    Tiling,
    UserTiling,
    Workspace,
    is_constant,
)
from opkit.spec.fields import check_call, flag_of, integer_of, sequence_of, shown, text_of
from opkit.spec.kernel_signature import KernelParam, KernelSignature, KernelSource, read_kernel
from opkit.spec.location import Spot
from opkit.spec.model import MAX_BLOCKS, AttrType, Kernel, LaunchArg
from opkit.spec.open_questions import report_open
from opkit.spec.problems import Problems, Rule, did_you_mean, one_of
from opkit.spec.reserved import why_no_macro
from opkit.spec.resolve_entry import EntryNames, resolve_entry
from opkit.spec.resolve_tiling import resolve_tiling
from opkit.spec.scalars import ScalarType, scalar_of
from opkit.spec.shapes import MAX_RANK
from opkit.spec.user_functions import why_no_file

if TYPE_CHECKING:
    from opkit.spec.kernel_structs import KernelStruct

_TYPED = {"i32": ScalarType.I32, "u32": ScalarType.U32, "i64": ScalarType.I64, "f32": ScalarType.F32}
_WHOLE = {"port", "address_list", "shape_of", "attr", "workspace", "tiling", *_TYPED}
_ARITY = {
    "numel": 1,
    "dim": 2,
    "rank": 1,
    "attr": 1,
    "port": 1,
    "count": 1,
    "address_list": 1,
    "shape_of": 1,
    "workspace": 1,
    "tiling": 1,
    "cores": 0,
    "ceil_div": 2,
    "i32": 1,
    "u32": 1,
    "i64": 1,
    "f32": 1,
}
_BINARY = {op.value: op for op in BinaryOp}
_ARGUMENT_TYPES = {AttrType.INT, AttrType.FLOAT, AttrType.BOOL, AttrType.TYPE}
_PATH_PART = re.compile(r"[\w .+@-]+")


@attrs.frozen(kw_only=True)
class Names:
    """What a kernel argument can name: the ranks of the ports (None if open) and the types of the attrs (None if mistaken).

    `symbols` are those of `dtypes`, None if they can't be told. Of the ports, `dynamic` are lists of tensors, and of those the `unruled`
    have tensors of any shape. `dims` are the names in the shapes of inputs, each with the first input that has it and the axis there.
    `bounded` are the outputs whose shape only the kernel knows.

    Unless it `is_complete`, a mistake elsewhere hides names, and one that isn't here may be right.
    """

    ranks: Mapping[str, int | None]
    outputs: Sequence[str]
    attrs: Mapping[str, AttrType | None]
    dynamic: Collection[str]
    unruled: Collection[str]
    dims: Mapping[str, tuple[str, int]]
    bounded: Collection[str]
    symbols: Collection[str] | None
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


@attrs.define(kw_only=True)
class _Launches:
    """What the arguments of an op's kernels have shown so far."""

    passed: set[str] = attrs.field(factory=set)
    """The ports that a kernel gets."""
    shaped: set[str] = attrs.field(factory=set)
    """The outputs whose shape a kernel writes."""
    has_all: bool = True
    """Whether no argument is mistaken."""
    workspaces: dict[declare.Size, int] = attrs.field(factory=dict)
    """The number of each `workspace(…)` of the spec: it may stand in several places."""


def resolve_kernels(
    kernels: Sequence[declare.Kernel], where: Spot, names: Names, files: KernelFiles, problems: Problems
) -> tuple[Kernel, ...] | None:
    launches = _Launches()
    resolved = [_kernel(kernel, names, launches, files, problems) for kernel in kernels]
    absent = [name for name in names.outputs if name not in launches.passed]
    if absent and launches.has_all:
        message = f"{'the kernel never' if len(kernels) == 1 else 'no kernel'} gets output {absent[0]!r}"
        place = kernels[0].where_of("args") if len(kernels) == 1 else where
        problems.add(Rule.ARG_KIND, message, place, because="it isn't among args, so nothing would write it")
        return None
    shapeless = [name for name in names.bounded if name not in launches.shaped]
    if shapeless and launches.has_all:
        message = f"{'the kernel never' if len(kernels) == 1 else 'no kernel'} gets the place for the shape of output {shapeless[0]!r}"
        place = kernels[0].where_of("args") if len(kernels) == 1 else where
        because = "it has an upper bound, and only the kernel knows the shape"
        problems.add(Rule.UPPER_BOUND, message, place, because=because, advice=f'add shape_of("{shapeless[0]}") to args')
        return None
    found = tuple(kernel for kernel in resolved if kernel is not None)
    return found if len(found) == len(resolved) else None


def _kernel(kernel: declare.Kernel, names: Names, launches: _Launches, files: KernelFiles, problems: Problems) -> Kernel | None:
    before = len(problems)
    check_call(kernel, problems)
    defines = _defines(kernel, problems)
    found = _source(kernel, files, problems)
    entry_names = EntryNames(symbols=names.symbols or (), ports=names.ranks, is_complete=names.is_complete and names.symbols is not None)
    entry = None if found is None else resolve_entry(kernel, found[1], defines, entry_names, problems)
    signature = None if entry is None else entry.signature
    expressions = _Expressions(names, launches, files.root, problems)
    blocks = _blocks(kernel, expressions, problems)
    args = _args(kernel, signature, expressions, problems)
    strides = flag_of(kernel, "strides", problems)
    if len(problems) > before or found is None or entry is None or blocks is None:
        return None
    path, source = found
    return Kernel(
        path=path,
        relative=path.relative_to(files.root).as_posix(),
        signature=entry.signature,
        expression=entry.expression,
        type_args=entry.type_args,
        core=entry.core,
        args=tuple(args),
        blocks=blocks,
        strides=strides,
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
    elif why_no_file(path) is None:
        return path
    else:
        present = sorted(file.relative_to(root).as_posix() for file in (*root.glob("*.asc"), *root.glob("kernels/*.asc")))
        message = f"there is no kernel file {shown(text)}"
        because = why_no_file(path)
        advice = did_you_mean(text, present) or (f"the project has {one_of(present)}" if present else None)
    problems.add(Rule.KERNEL_FILE, message, kernel.where_of("source"), because=because, advice=advice)
    return None


_MACRO = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Texts, characters and comments that end, and the digits that an apostrophe may stand between.
_CLOSED = re.compile(r"""R"([^()\\\s]*)\(.*?\)\1"|"(?:\\.|[^"\\])*"|\b[0-9](?:'?[A-Za-z0-9_.])*|'(?:\\.|[^'\\])*'|//.*|/\*.*?\*/""")


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
        elif (because := why_no_macro(name)) is not None:
            problems.add(Rule.DEFINE, f"{name!r} can't be defined here", where, because=because)
        elif (reason := _why_no_value(value)) is not None:
            problems.add(Rule.DEFINE, f"the define {name!r} is {shown(value)}, {reason}", where)
    return dict(given)


def _why_no_value(value: object) -> str | None:
    """Why a macro can't be this, as a message goes on, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return "not an integer or a text"
    if isinstance(value, int):
        return None if INT64_MIN <= value < 2**64 else "which doesn't fit in 64 bits"
    if "\n" in value or "\r" in value or "\0" in value or value.rstrip().endswith("\\"):
        return "which isn't one line"
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        return "which isn't valid Unicode"
    rest = _CLOSED.sub(" ", value)
    return "which opens a comment or a text and doesn't close it" if "/*" in rest or '"' in rest or "'" in rest else None


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
    launches = expressions.launches
    given = sequence_of(kernel, "args", problems, what='["x", "y", "z", numel("x")]')
    if given is None:
        launches.has_all = False
        return []
    structs = {} if signature is None else {index: param.struct for index, param in enumerate(signature.params)}
    values = [expressions.argument(value, _where(value, kernel, index), structs.get(index)) for index, value in enumerate(given)]
    launches.passed |= {value.expr.port for value in values if value is not None and isinstance(value.expr, (PortAddress, AddressList))}
    launches.shaped |= {value.expr.port for value in values if value is not None and isinstance(value.expr, ShapeBuffer)}
    launches.has_all = launches.has_all and None not in values
    if signature is None:
        return []
    if len(given) != len(signature.params):
        arguments = [_argument(value, found) for value, found in zip(given, values, strict=True)]
        problems.add(
            Rule.ARG_COUNT,
            f"args has {_counted(len(given), 'element')}, and the kernel takes {len(signature.params)}",
            kernel.where_of("args"),
            because=f"{signature} at {signature.place}",
            advice=count_advice(arguments, signature.params, {*expressions.names.ranks, *expressions.names.attrs}),
        )
        return []
    if not given:
        because = "without an address it can reach no tensor, and GE takes no empty block of arguments"
        problems.add(Rule.ARG_COUNT, f"the kernel {signature.name!r} takes no arguments", kernel.where_of("args"), because=because)
    args = []
    for index, (value, param) in enumerate(zip(values, signature.params, strict=True)):
        if value is None:
            continue
        reason = _misfit(value, param, expressions.names)
        if reason is not None:
            problems.add(
                Rule.WORKSPACE if isinstance(value.expr, Workspace) else Rule.ARG_KIND,
                f"argument {index + 1}, {_shown(value)}, doesn't fit {param.c_type} {param.name}",
                _where(given[index], kernel, index),
                because=reason,
                advice=f"the kernel is {signature} at {signature.place}",
            )
        args.append(LaunchArg(param=param, value=value.expr))
    return args


def resolve_size(value: object, where: Spot, names: Names, root: Path, problems: Problems) -> Expr | None:
    """A size expression that is no kernel argument; None after reporting why there is none."""
    return _Expressions(names, _Launches(), root, problems).size(value, where)


@attrs.frozen
class _Value:
    """An argument with the C type that the spec demands for it, if it does."""

    expr: Expr
    demanded: ScalarType | None = None


def _shown(value: _Value) -> str:
    return str(value.expr)


def _argument(given: object, value: _Value | None) -> Argument:
    expr = None if value is None else value.expr
    name = given if isinstance(given, str) else None
    if isinstance(expr, (PortAddress, AddressList)):
        name = expr.port
    elif isinstance(expr, AttrValue):
        name = expr.name
    return Argument(shown=f'"{given}"' if isinstance(given, str) else shown(given) if expr is None else str(expr), name=name)


def _misfit(value: _Value, param: KernelParam, names: Names) -> str | None:  # noqa: PLR0911 - one return for each reason
    if isinstance(value.expr, (PortAddress, AddressList)):
        return None if param.is_pointer else "a port is passed as an address"
    if isinstance(value.expr, ShapeBuffer):
        return _shape_misfit(param)
    if isinstance(value.expr, Workspace):
        return None if param.is_pointer else "a workspace is passed as an address"
    if isinstance(value.expr, (Tiling, UserTiling)):
        return None if param.struct is not None else "tiling fills a struct that the kernel takes by value"
    if param.scalar is None:
        return _POINTEE if param.is_pointer else f'a struct takes tiling("{param.c_type}", …)'
    if value.demanded is not None and value.demanded is not param.scalar:
        return f"the spec says {value.demanded.value}, and the kernel {param.scalar.value}"
    if isinstance(value.expr, AttrValue):
        return _attr_misfit(names.attrs[value.expr.name], param.scalar)
    if not param.scalar.is_integer:
        return "a size is an integer"
    if isinstance(value.expr, Number):
        low, high = param.scalar.limits
        return None if low <= value.expr.value <= high else f"{param.scalar.value} holds {low} to {high}"
    return None


_POINTEE = "a pointer takes the address of a port or a workspace"


def _shape_misfit(param: KernelParam) -> str | None:
    if not param.is_pointer:
        return "a shape is written to an address"
    pointee = scalar_of(param.c_type.removesuffix(" *"))
    is_right = pointee in {None, ScalarType.U8, ScalarType.I64, ScalarType.U64}
    return None if is_right else "a shape is written as uint64_t"


def _attr_misfit(kind: AttrType | None, scalar: ScalarType) -> str | None:
    is_misfit = {
        AttrType.FLOAT: not scalar.is_float,
        AttrType.INT: not scalar.is_integer,
        AttrType.BOOL: scalar.is_float,
        AttrType.TYPE: not scalar.is_integer,
    }
    reasons = {AttrType.INT: "the attr is an int", AttrType.TYPE: "the attr is a type: GE's number of a dtype"}
    return reasons.get(kind, f"the attr is a {kind.value}") if kind is not None and is_misfit[kind] else None


def _where(value: object, kernel: declare.Kernel, index: int) -> Spot:
    return (
        Spot(call=value.call) if isinstance(value, declare.Size) and value.call.file == kernel.call.file else kernel.where_of("args", index)
    )


class _Expressions:
    """Turns what stands in `args` and `blocks` into trees, with every name looked up."""

    def __init__(self, names: Names, launches: _Launches, root: Path, problems: Problems) -> None:
        self.names = names
        self.launches = launches
        self._root = root
        self._problems = problems

    def argument(self, value: object, where: Spot, struct: KernelStruct | None = None) -> _Value | None:
        """A whole kernel argument; `struct` is the parameter's, if it is one by value."""
        if value is ...:
            report_open("an argument of the kernel", where, self._problems)
            return None
        if isinstance(value, str):
            return self._bare(value, where)
        if isinstance(value, declare.Size) and value.word in _WHOLE:
            return self._whole(value, struct, where) if value.word == "tiling" or self._has_operands(value) else None
        expr = self.size(value, where)
        return None if expr is None else _Value(expr)

    def _whole(self, value: declare.Size, struct: KernelStruct | None, where: Spot) -> _Value | None:
        if value.word == "tiling":
            tiling = resolve_tiling(value, struct, self._root, self.member, self._problems)
            return None if tiling is None else _Value(tiling)
        if value.word in _TYPED:
            return self._typed(value, where)
        if value.word == "workspace":
            return self._workspace(value, where)
        read = {"port": self._address, "address_list": self._address_list, "shape_of": self._shape_of, "attr": self._attr_argument}
        return read[value.word](value.operands[0], where)

    def member(self, value: object, param: KernelParam, where: Spot) -> Expr | None:
        """The value of a member of a struct; None after reporting why there is none."""
        found = self.argument(value, where)
        if found is None:
            return None
        reason = _misfit(found, param, self.names)
        if reason is None:
            return found.expr
        message = f"{param.name}={_shown(found)} doesn't fit {param.c_type} {param.name}"
        self._problems.add(Rule.TILING, message, where, because=reason)
        return None

    def size(self, value: object, where: Spot) -> Expr | None:
        """An integer expression, constants folded; None after reporting why there is none."""
        if isinstance(value, declare.Size) and (because := _why_too_large(value)) is not None:
            self._problems.add(Rule.EXPRESSION, "a size expression is too large", Spot(call=value.call), because=because)
            return None
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
                else "use numel, dim, rank, attr, cores, ceil_div, min_, max_, + - * // %"
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
                expr = self._numel(size.operands[0], where)
            case "rank":
                expr = self._rank(size.operands[0], where)
            case "count":
                expr = self._count(size.operands[0], where)
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
        if not is_port:
            self._unknown(name, {**self.names.ranks, **self.names.attrs}, "port or attr", where)
            return None
        return self._address(name, where)

    def _address(self, name: object, where: Spot) -> _Value | None:
        if not self._is_port(name, where):
            return None
        if name in self.names.dynamic:
            message = f"{name!r} is a list of tensors, which have no single address"
            self._problems.add(Rule.ADDRESS_LIST, message, where, advice=f'write address_list("{name}")')
            return None
        return _Value(PortAddress(name))

    def _address_list(self, name: object, where: Spot) -> _Value | None:
        if not self._is_port(name, where):
            return None
        if name not in self.names.dynamic:
            self._problems.add(Rule.ADDRESS_LIST, f"{name!r} is one tensor, not a list of them", where, advice=f'write port("{name}")')
            return None
        return _Value(AddressList(name))

    def _shape_of(self, name: object, where: Spot) -> _Value | None:
        if not self._is_port(name, where):
            return None
        if name not in self.names.bounded:
            is_output = name in self.names.outputs
            because = "the spec says what shape it has" if is_output else "it is an input"
            advice = f'give the output shape=upper_bound(…), or the kernel dim("{name}", 0)' if is_output else None
            self._problems.add(Rule.UPPER_BOUND, f"no kernel writes the shape of {name!r}", where, because=because, advice=advice)
            return None
        return _Value(ShapeBuffer(name))

    def _workspace(self, given: declare.Size, where: Spot) -> _Value | None:
        numbers = self.launches.workspaces
        number = numbers.setdefault(given, len(numbers))
        size = self.size(given.operands[0], where)
        if isinstance(size, Number) and size.value < 0:
            self._problems.add(Rule.WORKSPACE, f"a workspace can't have {size.value} bytes", where)
            return None
        return None if size is None else _Value(Workspace(size, number))

    def _numel(self, name: object, where: Spot) -> Expr | None:
        return Numel(name) if self._is_port(name, where) and self._has_one_shape(name, where) else None

    def _rank(self, name: object, where: Spot) -> Expr | None:
        return Rank(name) if self._is_port(name, where) and self._has_one_shape(name, where) else None

    def _count(self, name: object, where: Spot) -> Expr | None:
        if not self._is_port(name, where):
            return None
        if name not in self.names.dynamic:
            self._problems.add(Rule.COUNT, f"{name!r} is one tensor: there is nothing to count", where)
            return None
        return Count(name)

    def _is_port(self, name: object, where: Spot) -> TypeGuard[str]:
        if isinstance(name, str) and name in self.names.ranks:
            return True
        self._unknown(name, self.names.ranks, "port", where)
        return False

    def _has_one_shape(self, name: str, where: Spot) -> bool:
        if name not in self.names.dynamic or name not in self.names.unruled:
            return True
        message = f"the tensors of {name!r} needn't have one shape"
        self._problems.add(Rule.COUNT, message, where, advice=f'give the input {name!r} a shape that they all keep to, e.g. shape="..."')
        return False

    def _attr_argument(self, name: object, where: Spot) -> _Value | None:
        if not isinstance(name, str) or name not in self.names.attrs:
            self._unknown(name, self.names.attrs, "attr", where)
            return None
        kind = self.names.attrs[name]
        if kind is not None and kind not in _ARGUMENT_TYPES:
            because = f"it is a {kind.value}, and a kernel takes numbers"
            self._problems.add(Rule.ARG_KIND, f"attr {name!r} can't be a kernel argument", where, because=because)
        return _Value(AttrValue(name)) if kind in _ARGUMENT_TYPES else None

    def _integer_attr(self, name: object, where: Spot) -> Expr | None:
        if isinstance(name, str) and name in self.names.ranks and name not in self.names.attrs:
            message = f"{name!r} is a port, and a size needs a number"
            self._problems.add(Rule.EXPRESSION, message, where, advice=f'write numel("{name}") or dim("{name}", 0)')
            return None
        if not isinstance(name, str) or name not in self.names.attrs:
            self._unknown(name, self.names.attrs, "attr", where)
            return None
        kind = self.names.attrs[name]
        if kind not in {AttrType.INT, AttrType.BOOL, None}:
            because = f"it is a {kind.value}, and a size is an integer"
            self._problems.add(Rule.EXPRESSION, f"attr {name!r} can't be part of a size", where, because=because)
            return None
        return None if kind is None else AttrValue(name)

    def _dim(self, port: object, axis: object, *, where: Spot) -> Expr | None:
        if not self._is_port(port, where) or not self._has_one_shape(port, where):
            return None
        index = integer_of(axis)
        if index is None:
            first = self.names.dims.get(axis) if isinstance(axis, str) else None
            advice = None if first is None else f'write dim("{first[0]}", {first[1]})'
            self._problems.add(Rule.EXPRESSION, f"the axis of dim is {shown(axis)}, not an integer", where, advice=advice)
            return None
        rank = self.names.ranks[port]
        most = MAX_RANK if rank is None else rank
        if not -most <= index < most:
            because = f"GE has at most {MAX_RANK} dims" if rank is None else f"{port!r} has {_counted(rank, 'dim')}"
            self._problems.add(Rule.EXPRESSION, f'dim("{port}", {shown(index)}) is outside the shape', where, because=because)
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
        if name in self.names.dims:
            port, axis = self.names.dims[name]
            advice = f'write dim("{port}", {axis}): {name!r} is a dim of {port!r}'
        self._problems.add(Rule.UNKNOWN_NAME, f"there is no {what} {name!r}", where, advice=advice)


# One that adds an expression to itself again and again has few objects, and a C++ text that no compiler reads.
_MAX_OPERANDS = 1000


def _why_too_large(size: declare.Size) -> str | None:
    pending: list[tuple[object, int]] = [(size, 0)]
    count = 0
    while pending:
        value, depth = pending.pop()
        count += 1
        if depth > MAX_DEPTH:
            return f"its operators stand more than {MAX_DEPTH} deep inside each other"
        if count > _MAX_OPERANDS:
            return f"it has more than {_MAX_OPERANDS} operands"
        if isinstance(value, declare.Size) and value.word in _BINARY:
            # Those of min_ and max_ are taken two by two.
            inside = depth + max(1, len(value.operands) - 1)
            pending += [(operand, inside) for operand in value.operands]
    return None


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
