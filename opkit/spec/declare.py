"""What ops.py writes: declarations that take whatever they are given, remember their line and leave every check to `opkit.spec.resolve`.

A constructor that raised would stop ops.py at its first mistake; this way all of them are told at once.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import attrs

from opkit.spec.location import Call, Location, Spot, calling
from opkit.spec.problems import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from typing_extensions import Self

_MISSING: Any = object()
# Above what is enough for a question to the user: `sizes` is as near to `iters` as 0.6.
_SURELY_MEANT = 0.75


class Declaration:
    """`given` holds the arguments by name, without those left out; `surplus` and `unknown` what the declaration has no place for.

    A misspelt keyword is in `unknown`, and in `given` as the argument that it most likely means: then its spelling is the one mistake told,
    and not everything that would follow from the argument's absence.

    An argument that is `...` is in `open`: a question that the user still has to answer, and until then not in `given` but for its default.
    """

    parameters: ClassVar[tuple[str, ...]]
    """Every argument by name, the `positional` ones first. What each means is in the docstring, which docs/reference/spec.md takes over."""
    positional: ClassVar[int]
    omittable: ClassVar[Mapping[str, str]] = {}
    """What has no default and that `check_call` doesn't miss, each with what docs/reference/spec.md says in place of a default."""

    def __init__(self, surplus: Sequence[object], unknown: Mapping[str, object], **arguments: object) -> None:
        self.call = self.made = calling(type(self).__name__, skip=(__file__,))
        self.given = {name: value for name, value in arguments.items() if value is not _MISSING}
        self.surplus = tuple(surplus)
        self.unknown = dict(unknown)
        self._calls: dict[str, Call] = {}
        self._spelt: dict[str, str] = {}
        if unknown:
            defaults = inspect.signature(type(self).__init__).parameters
            self._read_misspelt(unknown, chosen={name for name, value in self.given.items() if value is not defaults[name].default})
        self.open: tuple[str, ...] = ()
        self._set_open_aside()

    def _set_open_aside(self) -> None:
        asked = [name for name, value in self.given.items() if value is ...]
        if asked:
            self.open = (*self.open, *asked)
            defaults = inspect.signature(type(self).__init__).parameters
            for name in asked:
                self.given[name] = defaults[name].default
                if self.given[name] is _MISSING:
                    del self.given[name]

    def _read_misspelt(self, unknown: Mapping[str, object], *, chosen: Collection[str]) -> None:
        """Reads each unknown keyword as the parameter that it resembles, unless that one is among the `chosen`."""
        taken = set(chosen)
        for keyword, value in unknown.items():
            meant = self._meant_by(keyword)
            if meant is not None and meant not in taken:
                taken.add(meant)
                self.given[meant] = value
                self._spelt[meant] = keyword

    @property
    def kind(self) -> str:
        return type(self).__name__

    @property
    def where(self) -> Location:
        return self.call.where

    @property
    def strays(self) -> tuple[object, ...]:
        """What was given and resembles no parameter, or is still open; what is absent may have been meant by it."""
        asked = (... for name in self.open if name not in self.given)
        return (*self.surplus, *asked, *(value for keyword, value in self.unknown.items() if self._meant_by(keyword) is None))

    def _meant_by(self, keyword: str) -> str | None:
        return nearest(keyword, self.parameters, cutoff=_SURELY_MEANT)

    def where_of(self, argument: str, element: int | None = None) -> Spot:
        """Where an argument, or an element of it, was written."""
        call = self._calls.get(argument, self.call)
        parameters = self.parameters[: self.positional]
        position = parameters.index(argument) if argument in parameters and call.callee == self.kind else None
        return Spot(call=call, argument=self._spelt.get(argument, argument), position=position, element=element)

    def _replaced(self, changes: Mapping[str, object]) -> Self:
        copy = object.__new__(type(self))
        copy.call = calling("replace", skip=(__file__,))
        copy.made = self.made
        known = {name: value for name, value in changes.items() if name in self.parameters}
        unknown = {name: value for name, value in changes.items() if name not in self.parameters}
        copy.given = {**self.given, **known}
        copy.surplus = self.surplus
        copy.unknown = {**self.unknown, **unknown}
        copy._spelt = {meant: keyword for meant, keyword in self._spelt.items() if meant not in known}
        copy._read_misspelt(unknown, chosen=known)
        changed = {*changes, *(meant for meant, keyword in copy._spelt.items() if keyword in unknown)}
        copy._calls = {
            **dict.fromkeys((*self.given, *self.unknown, *self.open), self.call),
            **self._calls,
            **dict.fromkeys(changed, copy.call),
        }
        copy.open = tuple(name for name in self.open if name not in changed)
        copy._set_open_aside()
        return copy


class Input(Declaration):
    """An input port.

    Args:
        name: What the prototype, `args` and messages call it: a C++ name without a double underscore.
        dtype: A dtype, a list of dtypes, or a symbol of the op's `dtypes`.
        shape: A text of dims, to which every tensor keeps. Without one nothing is known of the shape.
        optional: Whether a graph may leave it out.
        dynamic: Whether it is a list of tensors.
        count_attr: The int attr that says how many tensors a dynamic input has.
        same_dtype: False if each tensor of a dynamic input may have another of its dtypes.
        formats: GE's formats of the input, without `FORMAT_`. A tensor of another one is an error when the graph is loaded.
        value_depend: Whether a shape rule of yours reads its values: `"required"`, `"optional"`, or `None` for not at all.

    """

    parameters = ("name", "dtype", "shape", "optional", "dynamic", "count_attr", "same_dtype", "formats", "value_depend")
    positional = 2

    def __init__(  # noqa: PLR0913 - the arguments are the words of the spec
        self,
        name: str = _MISSING,
        dtype: str | Sequence[str] = _MISSING,
        *surplus: object,
        shape: str | None = None,
        optional: bool = False,
        dynamic: bool = False,
        count_attr: str | None = None,
        same_dtype: bool = True,
        formats: Sequence[str] = ("ND",),
        value_depend: str | None = None,
        **unknown: object,
    ) -> None:
        super().__init__(
            surplus,
            unknown,
            name=name,
            dtype=dtype,
            shape=shape,
            optional=optional,
            dynamic=dynamic,
            count_attr=count_attr,
            same_dtype=same_dtype,
            formats=formats,
            value_depend=value_depend,
        )


class Output(Declaration):
    """An output port. With the name of an input it is that input, changed in place.

    Args:
        name: As of an input.
        dtype: As of an input, or `from_attr`.
        shape: A text of dims, with names that inputs bind and int attrs, or a shape rule.
        dynamic: `True` for a list as long as the graph makes it; `attr("n")` for one of as many tensors as the int attr `n` says.
        formats: GE's formats of the output, without `FORMAT_`. It gets the first one.

    """

    parameters = ("name", "dtype", "shape", "dynamic", "formats")
    positional = 2
    omittable: ClassVar = {"shape": "required, unless changed in place"}

    def __init__(
        self,
        name: str = _MISSING,
        dtype: str | Sequence[str] | Phrase = _MISSING,
        *surplus: object,
        shape: str | Phrase = _MISSING,
        dynamic: bool | Size = False,
        formats: Sequence[str] = ("ND",),
        **unknown: object,
    ) -> None:
        super().__init__(surplus, unknown, name=name, dtype=dtype, shape=shape, dynamic=dynamic, formats=formats)


class Attr(Declaration):
    """An attr.

    Args:
        name: What the prototype, `args` and the reference call it: as the name of a port.
        type: A Python type such as `int` or `list[float]`, or a word such as `"type"`.
        default: A value of that type. Without one the attr is required.

    """

    parameters = ("name", "type", "default")
    positional = 2
    omittable: ClassVar = {"default": "none"}

    def __init__(
        self,
        name: str = _MISSING,
        type: type[int | float | bool | str | bytes | list[Any]] | str = _MISSING,  # noqa: A002 - the word of the spec
        *surplus: object,
        default: int | float | bool | str | bytes | Sequence[Any] = _MISSING,  # noqa: PYI041 - an int isn't a float here
        **unknown: object,
    ) -> None:
        super().__init__(surplus, unknown, name=name, type=type, default=default)


class Kernel(Declaration):
    """An Ascend C kernel, and how it is launched.

    Args:
        source: The path of its file below the project, with `/`.
        entry: The function that a launch runs, with its namespace and the arguments of a template.
        args: What the entry is called with, in the order of its parameters: ports, attrs, sizes and other kernel arguments.
        blocks: How many blocks run: a size, a whole number or an attr.
        strides: Whether the kernel strides over its blocks, so that a launch may have fewer of them.
        defines: Macros by name, put before the source as `#define NAME value`: an integer of 64 bits, or a text of one line that closes its
            comments and quotes.

    """

    parameters = ("source", "entry", "args", "blocks", "strides", "defines")
    positional = 1
    omittable: ClassVar = {"defines": "none"}

    def __init__(  # noqa: PLR0913 - the arguments are the words of the spec
        self,
        source: str = _MISSING,
        *surplus: object,
        entry: str = _MISSING,
        args: Sequence[str | int | Size] = _MISSING,
        blocks: int | str | Size = _MISSING,
        strides: bool = False,
        defines: Mapping[str, int | str] = _MISSING,
        **unknown: object,
    ) -> None:
        super().__init__(surplus, unknown, source=source, entry=entry, args=args, blocks=blocks, strides=strides, defines=defines)

    def replace(self, **changes: object) -> Kernel:
        return self._replaced(changes)


class Op(Declaration):
    """A custom operator.

    Args:
        type: The op type of `REG_OP`, in UpperCamel.
        inputs: The input ports, each an `Input`; `[]` if there are none.
        outputs: The output ports, each an `Output`; `[]` if there are none.
        attrs: The attrs, each an `Attr`.
        signature: One list that stands for `inputs`, `outputs` and `attrs`, where the prototype mixes them.
        dtypes: The dtypes of each dtype symbol: a dtype, a list of dtypes, or a dtype rule.
        dtype_mode: Whether the lists of `dtypes` and of ports pair column by column, `"columns"`, or are crossed, `"product"`.
        kernel: A `Kernel`, or a list of those that are launched one after the other.
        refresh: How a loaded graph follows new addresses of inputs and outputs.
        compile: When its kernels are compiled.
        portable: Whether its kernels travel in an offline model.
        reference: A function of NumPy arrays, called with the inputs by position and the attrs by keyword, that gives an array, or a tuple
            with one for each output. Without it nothing is compared.
        file_stem: What files of the op are called, where its type gives another name.
        allow_builtin: Whether it is meant to take the place of the built-in op of its type. Without it such a type gets a warning.

    """

    parameters = (
        "type",
        "inputs",
        "outputs",
        "attrs",
        "signature",
        "dtypes",
        "dtype_mode",
        "kernel",
        "refresh",
        "compile",
        "portable",
        "reference",
        "file_stem",
        "allow_builtin",
    )
    positional = 1
    omittable: ClassVar = {
        "inputs": "required, unless `signature`",
        "outputs": "required, unless `signature`",
        "attrs": "none",
        "signature": "none",
        "dtypes": "none",
    }

    def __init__(  # noqa: PLR0913 - the arguments are the words of the spec
        self,
        type: str = _MISSING,  # noqa: A002 - as above
        *surplus: object,
        inputs: Sequence[Input] = _MISSING,
        outputs: Sequence[Output] = _MISSING,
        attrs: Sequence[Attr] = _MISSING,
        signature: Sequence[Input | Output | Attr] = _MISSING,
        dtypes: Mapping[str, str | Sequence[str] | Phrase] = _MISSING,
        dtype_mode: str = "columns",
        kernel: Kernel = _MISSING,
        refresh: str = "updater",
        compile: str = "load",  # noqa: A002 - as above
        portable: bool = False,
        reference: Callable[..., Any] | None = None,
        file_stem: str | None = None,
        allow_builtin: bool = False,
        **unknown: object,
    ) -> None:
        super().__init__(
            surplus,
            unknown,
            type=type,
            inputs=inputs,
            outputs=outputs,
            attrs=attrs,
            signature=signature,
            dtypes=dtypes,
            dtype_mode=dtype_mode,
            kernel=kernel,
            refresh=refresh,
            compile=compile,
            portable=portable,
            reference=reference,
            file_stem=file_stem,
            allow_builtin=allow_builtin,
        )

    def replace(self, **changes: object) -> Op:
        """A copy with other arguments, which must be keywords of `Op`."""
        return self._replaced(changes)


class Benchmark(Declaration):
    """What `opkit bench` measures.

    Args:
        op: An op of the package.
        baseline: Another one of the same inputs, which it is compared with.
        shapes: The shape of each input: a list of shapes for a dynamic one, nothing for an absent one.
        attrs: The value of each attr that has no default or shall have another one.
        iters: How many executions a repeat times.

    """

    parameters = ("op", "baseline", "shapes", "attrs", "iters")
    positional = 1
    omittable: ClassVar = {"shapes": "required", "attrs": "none"}

    def __init__(
        self,
        op: Op = _MISSING,
        *surplus: object,
        baseline: Op | None = None,
        shapes: Mapping[str, Sequence[int]] = _MISSING,
        attrs: Mapping[str, Any] = _MISSING,
        iters: int = 100,
        **unknown: object,
    ) -> None:
        super().__init__(surplus, unknown, op=op, baseline=baseline, shapes=shapes, attrs=attrs, iters=iters)


class Package(Declaration):
    """What is built into one deliverable.

    Args:
        name: The name of the CMake project and of a Python module, in snake_case.
        ops: The ops, each an `Op`.
        header: The file name of the proto header.
        naming: The rule that makes the file stems of op types: `"msopgen"` or `"cann"`.
        benchmark: What `opkit bench` measures, a `Benchmark`.

    """

    parameters = ("name", "ops", "header", "naming", "benchmark")
    positional = 1
    omittable: ClassVar = {"header": "`<name>.h`"}

    def __init__(
        self,
        name: str = _MISSING,
        *surplus: object,
        ops: Sequence[Op] = _MISSING,
        header: str = _MISSING,
        naming: str = "msopgen",
        benchmark: Benchmark | None = None,
        **unknown: object,
    ) -> None:
        super().__init__(surplus, unknown, name=name, ops=ops, header=header, naming=naming, benchmark=benchmark)


@attrs.frozen(eq=False)
class Size:
    """A size expression, or a kernel argument with its kind or type told: a word of the spec and what it was given."""

    word: str
    operands: tuple[object, ...]
    call: Call
    members: Mapping[str, object] = attrs.field(factory=dict)
    """What it was given by keyword."""

    def __add__(self, other: object) -> Size:
        return _size("+", self, other)

    def __radd__(self, other: object) -> Size:
        return _size("+", other, self)

    def __sub__(self, other: object) -> Size:
        return _size("-", self, other)

    def __rsub__(self, other: object) -> Size:
        return _size("-", other, self)

    def __mul__(self, other: object) -> Size:
        return _size("*", self, other)

    def __rmul__(self, other: object) -> Size:
        return _size("*", other, self)

    def __floordiv__(self, other: object) -> Size:
        return _size("//", self, other)

    def __rfloordiv__(self, other: object) -> Size:
        return _size("//", other, self)

    def __truediv__(self, other: object) -> Size:
        return _size("/", self, other)

    def __rtruediv__(self, other: object) -> Size:
        return _size("/", other, self)

    def __mod__(self, other: object) -> Size:
        return _size("%", self, other)

    def __rmod__(self, other: object) -> Size:
        return _size("%", other, self)

    def __neg__(self) -> Size:
        return _size("-", 0, self)

    def __bool__(self) -> bool:
        msg = "the value of a size expression is known only when the op runs: use min_ and max_ instead of `if`, `and`, `or`"
        raise TypeError(msg)

    def _compared(self, other: object) -> NoReturn:  # noqa: ARG002 - the signature is Python's
        msg = "the value of a size expression is known only when the op runs: use min_ and max_ instead of min, max and comparisons"
        raise TypeError(msg)

    __lt__ = __le__ = __gt__ = __ge__ = _compared

    def __pow__(self, other: object) -> NoReturn:
        msg = 'a size expression has no `**`: write numel("x") * numel("x")'
        raise TypeError(msg)


@attrs.frozen(eq=False)
class Phrase:
    """A rule that a spec gives where a plain value could stand: its word and what it was given."""

    word: str
    operands: tuple[object, ...]
    call: Call
    members: Mapping[str, object] = attrs.field(factory=dict)
    """What it was given by keyword."""


def _phrase(word: str, *operands: object) -> Phrase:
    return Phrase(word, tuple(operand for operand in operands if operand is not _MISSING), calling(word, skip=(__file__,)))


def Promote(*symbols: str) -> Phrase:  # noqa: N802 - the word of REG_OP
    """A symbol of `dtypes`: what the dtypes of these symbols, as in `Promote("T1", "T2")`, promote to in GE. int32 and float32 give
    float32, float16 and bfloat16 too. Crossed dtypes that have no promotion are no combination; a column without one is a mistake.
    """
    return _phrase("Promote", *symbols)


def from_attr(attr: str = _MISSING, dtypes: str | Sequence[str] = _MISSING, *surplus: object) -> Phrase:
    """An output's dtype, or a symbol of `dtypes`: the one that an attr says, of these, as in `from_attr("dst_type", ["float32", "int32"])`.
    The attr is a `"type"`, or an `int` that holds GE's number of a dtype.
    """
    return _phrase("from_attr", attr, dtypes, *surplus)


def per_soc(dtypes: Mapping[str, str | Sequence[str]] = _MISSING, *surplus: object) -> Phrase:
    """A symbol of `dtypes`: dtypes that differ by SoC, as in `per_soc({"Ascend310P": ["float16"], "default": ["float16", "bfloat16"]})`.
    The prototype has all of them; when the op runs, the longest name counts that the SoC's begins with, else `"default"`. A name that no
    known SoC's begins with is warned of; a dtype whose type kernels can't name there is refused where one does.
    """
    return _phrase("per_soc", dtypes, *surplus)


def broadcast(*ports: str) -> Phrase:
    """An output's shape: what the shapes of these inputs, as in `broadcast("x", "y")`, are broadcast to by NumPy's rules."""
    return _phrase("broadcast", *ports)


def upper_bound(pattern: str = _MISSING, /, *surplus: object, **bounds: int | str | Size) -> Phrase:
    """An output's shape: one of which only the kernel knows some dims, those given by keyword, each with the most that it can be."""
    operands = tuple(operand for operand in (pattern, *surplus) if operand is not _MISSING)
    return Phrase("upper_bound", operands, calling("upper_bound", skip=(__file__,)), bounds)


def cpp(header: str = _MISSING, function: str = _MISSING, *surplus: object) -> Phrase:
    """An output's shape: what a function in a header of yours infers, such as `cpp("ge/user/infer.h", "InferPad")`. In `tiling` such a
    function fills the struct.
    """
    return _phrase("cpp", header, function, *surplus)


def _size(word: str, *operands: object) -> Size:
    return Size(word, tuple(operand for operand in operands if operand is not _MISSING), calling(word, skip=(__file__,)))


def numel(port: str = _MISSING, *surplus: object) -> Size:
    """The number of elements of a port; of a dynamic one those of each of its tensors, which must have a shape in common. 0 for a port
    without a tensor.
    """
    return _size("numel", port, *surplus)


def dim(port: str = _MISSING, axis: int = _MISSING, *surplus: object) -> Size:
    """One dim of a port, or of each tensor of a dynamic one, as `numel`; negative axes count from the last."""
    return _size("dim", port, axis, *surplus)


def rank(port: str = _MISSING, *surplus: object) -> Size:
    """The number of dims of a port."""
    return _size("rank", port, *surplus)


def attr(name: str = _MISSING, *surplus: object) -> Size:
    """The value of an attr: in a size that of an int attr."""
    return _size("attr", name, *surplus)


def port(name: str = _MISSING, *surplus: object) -> Size:
    """A kernel argument: the address of a port."""
    return _size("port", name, *surplus)


def count(port: str = _MISSING, *surplus: object) -> Size:
    """The number of tensors of a dynamic port."""
    return _size("count", port, *surplus)


def address_list(port: str = _MISSING, *surplus: object) -> Size:
    """A kernel argument: the address of a block in GM that holds the address of each tensor of a dynamic port."""
    return _size("address_list", port, *surplus)


def shape_of(output: str = _MISSING, *surplus: object) -> Size:
    """A kernel argument: the address where the kernel writes the shape of an output with an `upper_bound`, as uint64 [ndim, d0, d1, …]."""
    return _size("shape_of", output, *surplus)


def workspace(size: int | str | Size = _MISSING, *surplus: object) -> Size:
    """A kernel argument: the address of so many bytes of device memory for the kernel's own use, as in
    `workspace(ceil_div(numel("x"), 1024) * 4)`. Anything may lie in it before a launch; no bytes have no address.
    """
    return _size("workspace", size, *surplus)


def tiling(struct: str | Phrase = _MISSING, /, *surplus: object, **members: int | str | Size | Sequence[int | str | Size]) -> Size:
    """A kernel argument: a struct by value, with a value for each member; or one that a function of yours fills, `cpp(…)`."""
    operands = tuple(operand for operand in (struct, *surplus) if operand is not _MISSING)
    return Size("tiling", operands, calling("tiling", skip=(__file__,)), members)


def cores(*surplus: object) -> Size:
    """The number of cores of the device, of the kind that the kernel runs on."""
    return _size("cores", *surplus)


def ceil_div(dividend: int | str | Size = _MISSING, divisor: int | str | Size = _MISSING, *surplus: object) -> Size:
    """The quotient, rounded up."""
    return _size("ceil_div", dividend, divisor, *surplus)


def min_(*operands: int | str | Size) -> Size:
    """The least of two or more."""
    return _size("min_", *operands)


def max_(*operands: int | str | Size) -> Size:
    """The greatest of two or more."""
    return _size("max_", *operands)


def i32(value: int | str | Size = _MISSING, *surplus: object) -> Size:
    """A kernel argument: a size, and the kernel's parameter must be an `int32_t`."""
    return _size("i32", value, *surplus)


def u32(value: int | str | Size = _MISSING, *surplus: object) -> Size:
    """A kernel argument: a size, and the kernel's parameter must be a `uint32_t`."""
    return _size("u32", value, *surplus)


def i64(value: int | str | Size = _MISSING, *surplus: object) -> Size:
    """A kernel argument: a size, and the kernel's parameter must be an `int64_t`."""
    return _size("i64", value, *surplus)


def f32(value: str | Size = _MISSING, *surplus: object) -> Size:
    """A kernel argument: a float attr, and the kernel's parameter must be a `float`."""
    return _size("f32", value, *surplus)
