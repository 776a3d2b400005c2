"""The checks of a Kernel for one op: its file, its entry, and that each argument fits the parameter that it fills."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from opkit.spec import declare
from opkit.spec.arg_count import Argument, count_advice
from opkit.spec.expressions import (
    INT64_MIN,
    AddressList,
    AttrValue,
    Expr,
    Number,
    PortAddress,
    Scope,
    ShapeBuffer,
    Tiling,
    UserTiling,
    Workspace,
    is_constant,
)
from opkit.spec.fields import check_call, flag_of, sequence_of, shown, text_of
from opkit.spec.kernel_signature import KernelParam, KernelSignature, KernelSource, read_kernel
from opkit.spec.location import Spot
from opkit.spec.model import MAX_BLOCKS, AttrType, Kernel, LaunchArg
from opkit.spec.open_questions import report_open
from opkit.spec.problems import Problems, Rule, nearest, one_of
from opkit.spec.reserved import why_no_macro
from opkit.spec.resolve_entry import EntryNames, resolve_entry
from opkit.spec.resolve_sizes import Names, Sizes, counted
from opkit.spec.resolve_tiling import resolve_tiling
from opkit.spec.scalars import ScalarType, scalar_of
from opkit.spec.user_functions import why_no_file

if TYPE_CHECKING:
    from opkit.spec.kernel_structs import KernelStruct

_TYPED = {"i32": ScalarType.I32, "u32": ScalarType.U32, "i64": ScalarType.I64, "f32": ScalarType.F32}
_WHOLE = {"port", "address_list", "shape_of", "attr", "workspace", "tiling", *_TYPED}
_ARGUMENT_TYPES = {AttrType.INT, AttrType.FLOAT, AttrType.BOOL, AttrType.TYPE}
_PATH_PART = re.compile(r"[\w .+@-]+")


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
    is_full: bool = True
    """Whether each kernel has as many arguments as parameters."""
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
    if shapeless and launches.has_all and launches.is_full:
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
    sizes = Sizes(names, problems)
    blocks = _blocks(kernel, sizes, problems)
    args = _args(kernel, signature, _Arguments(sizes, launches, files.root, problems), problems)
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
        # Not of whole paths: kernels/ and .asc alone make any two alike.
        by_stem = {PurePosixPath(each).stem: each for each in present}
        near = nearest(path.stem, by_stem)
        advice = f"did you mean {by_stem[near]!r}?" if near is not None else f"the project has {one_of(present)}" if present else None
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


def _blocks(kernel: declare.Kernel, sizes: Sizes, problems: Problems) -> Expr | None:
    if "blocks" not in kernel.given:
        return None
    where = kernel.where_of("blocks")
    blocks = sizes.size(kernel.given["blocks"], where)
    if blocks is not None and is_constant(blocks):
        count = blocks.evaluate(Scope())
        if count < 1 or (count > MAX_BLOCKS and kernel.given.get("strides") is not True):
            advice = "a kernel that strides over blocks may be clamped: strides=True" if count > 1 else None
            problems.add(
                Rule.BLOCKS, f"{count} blocks can't be launched", where, because=f"a launch has 1 to {MAX_BLOCKS} blocks", advice=advice
            )
    return blocks


def _args(kernel: declare.Kernel, signature: KernelSignature | None, arguments: _Arguments, problems: Problems) -> list[LaunchArg]:
    launches = arguments.launches
    names = arguments.names
    given = sequence_of(kernel, "args", problems, what='["x", "y", "z", numel("x")]')
    if given is None:
        launches.has_all = False
        return []
    structs = {} if signature is None else {index: param.struct for index, param in enumerate(signature.params)}
    values = [arguments.argument(value, _where(value, kernel, index), structs.get(index)) for index, value in enumerate(given)]
    launches.passed |= {value.expr.port for value in values if value is not None and isinstance(value.expr, (PortAddress, AddressList))}
    launches.shaped |= {value.expr.port for value in values if value is not None and isinstance(value.expr, ShapeBuffer)}
    launches.has_all = launches.has_all and None not in values
    if signature is None:
        return []
    if len(given) != len(signature.params):
        launches.is_full = False
        unshaped = [name for name in names.bounded if name in launches.passed and name not in launches.shaped]
        problems.add(
            Rule.ARG_COUNT,
            f"args has {counted(len(given), 'element')}, and the kernel takes {len(signature.params)}",
            kernel.where_of("args"),
            because=f"{signature} at {signature.place}",
            advice=f'add shape_of("{unshaped[0]}")'
            if unshaped and len(given) < len(signature.params)
            else count_advice(list(map(_argument, given, values)), signature.params, {*names.ranks, *names.attrs}),
        )
        return []
    if not given:
        because = "without an address it can reach no tensor, and GE takes no empty block of arguments"
        problems.add(Rule.ARG_COUNT, f"the kernel {signature.name!r} takes no arguments", kernel.where_of("args"), because=because)
    args = []
    for index, (value, param) in enumerate(zip(values, signature.params, strict=True)):
        if value is None:
            continue
        reason = _misfit(value, param, names)
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


@attrs.frozen
class _Arguments:
    """Turns what stands in `args` into the values of parameters."""

    sizes: Sizes
    launches: _Launches
    _root: Path
    _problems: Problems

    @property
    def names(self) -> Names:
        return self.sizes.names

    def argument(self, value: object, where: Spot, struct: KernelStruct | None = None) -> _Value | None:
        """A whole kernel argument; `struct` is the parameter's, if it is one by value."""
        if value is ...:
            report_open("an argument of the kernel", where, self._problems)
            return None
        if isinstance(value, str):
            return self._bare(value, where)
        if isinstance(value, declare.Size) and value.word in _WHOLE:
            return self._whole(value, struct, where) if value.word == "tiling" or self.sizes.has_operands(value) else None
        expr = self.sizes.size(value, where)
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
            self.sizes.report_unknown(name, {**self.names.ranks, **self.names.attrs}, "port or attr", where)
            return None
        return self._address(name, where)

    def _address(self, name: object, where: Spot) -> _Value | None:
        if not self.sizes.is_port(name, where):
            return None
        if name in self.names.dynamic:
            message = f"{name!r} is a list of tensors, which have no single address"
            self._problems.add(Rule.ADDRESS_LIST, message, where, advice=f'write address_list("{name}")')
            return None
        return _Value(PortAddress(name))

    def _address_list(self, name: object, where: Spot) -> _Value | None:
        if not self.sizes.is_port(name, where):
            return None
        if name not in self.names.dynamic:
            self._problems.add(Rule.ADDRESS_LIST, f"{name!r} is one tensor, not a list of them", where, advice=f'write port("{name}")')
            return None
        return _Value(AddressList(name))

    def _shape_of(self, name: object, where: Spot) -> _Value | None:
        if not self.sizes.is_port(name, where):
            return None
        if name not in {*self.names.bounded, *self.names.undecided}:
            is_output = name in self.names.outputs
            because = "the spec says what shape it has" if is_output else "it is an input"
            advice = f'give the output shape=upper_bound(…), or the kernel dim("{name}", 0)' if is_output else None
            self._problems.add(Rule.UPPER_BOUND, f"no kernel writes the shape of {name!r}", where, because=because, advice=advice)
            return None
        return _Value(ShapeBuffer(name))

    def _workspace(self, given: declare.Size, where: Spot) -> _Value | None:
        numbers = self.launches.workspaces
        number = numbers.setdefault(given, len(numbers))
        size = self.sizes.size(given.operands[0], where)
        if isinstance(size, Number) and size.value < 0:
            self._problems.add(Rule.WORKSPACE, f"a workspace can't have {size.value} bytes", where)
            return None
        return None if size is None else _Value(Workspace(size, number))

    def _attr_argument(self, name: object, where: Spot) -> _Value | None:
        if not isinstance(name, str) or name not in self.names.attrs:
            self.sizes.report_unknown(name, self.names.attrs, "attr", where)
            return None
        kind = self.names.attrs[name]
        if kind is not None and kind not in _ARGUMENT_TYPES:
            because = f"it is a {kind.value}, and a kernel takes numbers"
            self._problems.add(Rule.ARG_KIND, f"attr {name!r} can't be a kernel argument", where, because=because)
        return _Value(AttrValue(name)) if kind in _ARGUMENT_TYPES else None

    def _typed(self, size: declare.Size, where: Spot) -> _Value | None:
        demanded = _TYPED[size.word]
        operand = size.operands[0]
        if demanded is not ScalarType.F32:
            expr = self.sizes.size(operand, where)
            return None if expr is None else _Value(expr, demanded)
        if isinstance(operand, declare.Size) and operand.word == "attr" and self.sizes.has_operands(operand):
            operand = operand.operands[0]
        if not isinstance(operand, str):
            self._problems.add(Rule.EXPRESSION, "f32 takes a float attr", where, advice='write f32("alpha")')
            return None
        value = self._attr_argument(operand, where)
        if value is not None and self.names.attrs[operand] is not AttrType.FLOAT:
            self._problems.add(Rule.EXPRESSION, f"f32 takes a float attr, and {operand!r} isn't one", where)
            return None
        return None if value is None else _Value(value.expr, demanded)
