"""The resolved spec: frozen values that `load_package` makes once every check has passed, and that all later rooms take as they are."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import attrs

from opkit.errors import SpecError
from opkit.spec.expressions import Expr, Scope, Tiling, UserTiling, replace_number
from opkit.spec.naming import Naming
from opkit.spec.problems import Rule, did_you_mean, one_of, spec_error
from opkit.spec.shapes import Bindings, Broadcast, ShapePattern, ShapeRule, UpperBound, UserShape, broadcast, match, shape_of, why_no_shape
from opkit.spec.socs import entry_of_soc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from opkit.spec.dtypes import DType
    from opkit.spec.kernel_signature import KernelParam, KernelSignature
    from opkit.spec.location import Location
    from opkit.spec.problems import SpecWarning
    from opkit.spec.scalars import ScalarType

# A type is the name of its dtype, a list is a tuple, a tensor the empty tuple.
AttrDefault: TypeAlias = "int | float | bool | str | bytes | tuple[AttrDefault, ...]"

GivenShape: TypeAlias = "Sequence[int] | Sequence[Sequence[int]] | None"
"""The shape of an input: of each tensor of a dynamic one, None if it is absent."""

# The documented range of numBlocks is 1 to 65535; a launch of more is refused (107000).
MAX_BLOCKS = 65535


class Refresh(enum.Enum):
    """How a new address of an input or output reaches the kernel of a loaded graph."""

    UPDATER = "updater"
    """The op writes the addresses into the kernel's arguments."""
    ANNOTATED = "annotated"
    """GE does, for the op says beforehand which argument is which address."""
    NONE = "none"
    """Not at all: GE copies."""


class Compile(enum.Enum):
    """When the kernels of an op are compiled."""

    LOAD = "load"
    """When a graph is loaded, from the source."""
    GRAPH = "graph"
    """When a graph is compiled, for the device that it is compiled for."""
    PREBUILT = "prebuilt"
    """When the project is built."""


class CoreType(enum.Enum):
    """The cores that a kernel runs on: vector or cube ones."""

    AIV = "aiv"
    AIC = "aic"


class AttrType(enum.Enum):
    """The value is the word in a spec."""

    INT = "int"
    """A whole number of 64 bits; `True` is none."""
    FLOAT = "float"
    """A finite number that float32 holds; an int is taken."""
    BOOL = "bool"
    """`True` or `False`."""
    STR = "str"
    """A text without a NUL."""
    TYPE = "type"
    """The name of a dtype; the reference gets opkit's own spelling."""
    BYTES = "bytes"
    """`b"…"`."""
    TENSOR = "tensor"
    """`()`, the empty tensor: a prototype can't have another."""
    LIST_INT = "list_int"
    """A list of ints."""
    LIST_FLOAT = "list_float"
    """A list of floats."""
    LIST_BOOL = "list_bool"
    """A list of bools."""
    LIST_STR = "list_str"
    """A list of texts."""
    LIST_TYPE = "list_type"
    """A list of names of dtypes."""
    LIST_TENSOR = "list_tensor"
    """A list of empty tensors."""
    LIST_LIST_INT = "list_list_int"
    """A list of lists of ints."""

    @property
    def ge_name(self) -> str:
        """The word in REG_OP's `.ATTR(name, Type, default)`."""
        return "".join(_GE_WORDS.get(word, word.capitalize()) for word in self.value.split("_"))

    @property
    def element(self) -> AttrType | None:
        """Of a list."""
        kind, _, element = self.value.partition("_")
        return AttrType(element) if kind == "list" else None


_GE_WORDS = {"str": "String"}


@attrs.frozen(kw_only=True)
class Input:
    """`dtypes` has one element for each column of `Op.dtype_combos()`; `symbol` is the name in `Op.dtypes` that it came from, if any.
    `shape` is None if nothing is known about it.

    An optional input may be absent. A dynamic one is a list of tensors, of at least one unless it is optional too; each of them keeps to
    `shape`, so a dynamic input with a shape has tensors of one shape.
    """

    name: str
    dtypes: tuple[DType, ...]
    symbol: str | None
    shape: ShapePattern | None
    is_optional: bool = False
    is_dynamic: bool = False
    count_attr: str | None = None
    """The int attr that says how many tensors a dynamic input has."""
    is_mixed: bool = False
    """Whether each tensor of a dynamic input may have another of its dtypes."""
    formats: tuple[str, ...] = ("ND",)
    value_depend: str | None = None
    """Whether a shape rule of the user's reads its values, needing them ("required") or not ("optional"): a constant of the graph."""
    where: Location

    @property
    def is_required(self) -> bool:
        """Whether it always is exactly one tensor."""
        return not self.is_optional and not self.is_dynamic

    def shapes_in(self, given: GivenShape) -> tuple[tuple[int, ...], ...]:
        """The shape of each of its tensors: of one, of none where it is absent, of all of a list."""
        if given is None:
            return ()
        members = given if self.is_dynamic else [given]
        return tuple(tuple(cast("Sequence[int]", shape)) for shape in members)


@attrs.frozen(kw_only=True)
class Output:
    """As `Input`; every name in a `shape` that is a pattern is bound by an input, or an int attr. All tensors of a dynamic output have the
    shape that `shape` gives.

    `formats` has the format that the op gives its output first.
    """

    name: str
    dtypes: tuple[DType, ...]
    symbol: str | None
    shape: ShapeRule
    dtype_attr: str | None = None
    """The attr that decides the dtype."""
    is_dynamic: bool = False
    count_attr: str | None = None
    """The int attr that says how many tensors a dynamic output has; None if the graph decides it."""
    formats: tuple[str, ...] = ("ND",)
    where: Location


@attrs.frozen(kw_only=True)
class Attr:
    """`default` is a value of `type`; it is None if the attr is required."""

    name: str
    type: AttrType
    default: AttrDefault | None
    where: Location

    @property
    def is_required(self) -> bool:
        return self.default is None

    def naming(self, dtype: DType) -> AttrDefault:
        """The value by which an attr that decides a dtype names this one: GE's number of it, or in a Type its name."""
        return dtype.number if self.type is AttrType.INT else dtype.name


@attrs.frozen(kw_only=True)
class LaunchArg:
    """One kernel argument: the parameter it fills, and what it is filled with (`PortAddress`, `AttrValue` or a size expression)."""

    param: KernelParam
    value: Expr

    @property
    def scalars(self) -> tuple[tuple[str, ScalarType, Expr], ...]:
        """What is put into scalars: the name, the type and the value of each, of a struct for each of its members."""
        if isinstance(self.value, Tiling):
            return tuple((f"{self.param.name}.{member.target}", member.scalar, member.value) for member in self.value.members)
        return () if self.param.scalar is None else ((self.param.name, self.param.scalar, self.value),)


@attrs.frozen(kw_only=True)
class Kernel:
    """`path` is absolute, `relative` is what the spec says, with `/`. `args` are in launch order, one for each parameter of `signature`."""

    path: Path
    relative: str
    signature: KernelSignature
    expression: str | None = None
    """What a compiled program is asked for the entry's name by, dtypes as symbols and ports in braces; None if that is the name itself."""
    type_args: Mapping[str, str] = attrs.field(factory=dict)
    """The types of a template's arguments by the names of its parameters, as `expression` has them."""
    core: CoreType = CoreType.AIV
    args: tuple[LaunchArg, ...]
    blocks: Expr
    strides: bool
    defines: Mapping[str, int | str]
    """Put before the source text as `#define NAME value`."""
    files: tuple[Path, ...]
    """The kernel and the headers beside it that it includes with quotes, directly or not."""
    integer_defaults: Mapping[str, int]
    """The integers that the source gives under `#ifndef NAME`, by name."""
    where: Location

    @property
    def entry(self) -> str:
        """As the spec names it."""
        return self.expression or self.signature.name

    @property
    def entry_parts(self) -> tuple[str, ...]:
        """The entry's text in turn with the symbols and ports in its braces, a text first and last."""
        return tuple(part.strip() if index % 2 else part for index, part in enumerate(re.split(r"[{}]", self.entry)))

    def with_define(self, name: str, value: int) -> Kernel:
        """A copy whose source is compiled with `name` as `value`, and whose `blocks` and `args` have `value` where they had the present one
        as a literal.

        This is how a block length is made small. Raises KeyError if neither `defines` nor the source gives `name` an integer.
        """
        present = self.defines.get(name, self.integer_defaults.get(name))
        if not isinstance(present, int):
            raise KeyError(name)
        return attrs.evolve(
            self,
            defines={**self.defines, name: value},
            blocks=replace_number(self.blocks, present, value),
            args=tuple(attrs.evolve(arg, value=replace_number(arg.value, present, value)) for arg in self.args),
        )


@attrs.frozen(kw_only=True)
class DTypeCombo:
    """One allowed combination: the dtype of every symbol and of every port."""

    symbols: Mapping[str, DType]
    ports: Mapping[str, DType]

    def dtype_of(self, name: str) -> DType:
        """Of a symbol or a port."""
        return self.symbols[name] if name in self.symbols else self.ports[name]


@attrs.frozen(kw_only=True)
class Op:
    type: str
    stem: str
    """What files of this op are called."""
    signature: tuple[Input | Output | Attr, ...]
    """In the order of the prototype."""
    dtypes: Mapping[str, tuple[DType, ...]]
    """By symbol, one for each combination."""
    is_crossed: bool = False
    """Whether the combinations are those that lists cross to, of which a few show what each dtype does, and not columns."""
    promotes: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    """The symbols whose dtypes promote to that of a symbol."""
    soc_rows: Mapping[str, tuple[bool, ...]] = attrs.field(factory=dict)
    """Which combinations a SoC has, by what its name begins with (the longest counts), or `DEFAULT_SOC`; empty if all SoCs have all."""
    kernels: tuple[Kernel, ...]
    """In the order in which they are launched; at least one."""
    refresh: Refresh
    compile: Compile = Compile.LOAD
    is_portable: bool = False
    """Whether its kernels travel in an offline model."""
    reference: Callable[..., Any] | None
    """Called with the inputs by position (None for an absent one, a list for a dynamic one) and the attrs by keyword; gives one array, or a
    tuple with one for each output, a list in it for a dynamic output.
    """
    where: Location

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(each for each in self.signature if isinstance(each, Input))

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(each for each in self.signature if isinstance(each, Output))

    @property
    def attrs(self) -> tuple[Attr, ...]:
        return tuple(each for each in self.signature if isinstance(each, Attr))

    @property
    def kernel_shaped(self) -> tuple[Output, ...]:
        """The outputs of whose shapes only the kernel knows some dims."""
        return tuple(output for output in self.outputs if isinstance(output.shape, UpperBound))

    @property
    def kernel(self) -> Kernel:
        """The first one."""
        return self.kernels[0]

    @property
    def ports(self) -> tuple[Input | Output, ...]:
        return (*self.inputs, *self.outputs)

    def port(self, name: str) -> Input | Output:
        """The input, where an output of the same name is that input changed in place."""
        return next(port for port in self.ports if port.name == name)

    def ports_of_dtype(self, name: str) -> tuple[Input | Output, ...]:
        """The ports that have the dtype of a symbol, or are named so; without lists whose tensors may differ."""
        ports = (port for port in self.ports if (port.symbol == name if name in self.dtypes else port.name == name))
        return tuple(port for port in ports if not self.mixed_input(port))

    def input_in_place(self, output: Output) -> Input | None:
        """The input whose memory an output has, because it has its name."""
        return next((port for port in self.inputs if port.name == output.name), None)

    def mixed_input(self, port: Input | Output) -> Input | None:
        """The list of any dtypes that a port is, or that an output has its dtypes of, tensor by tensor."""
        if isinstance(port, Input):
            return port if port.is_mixed else None
        mixed = [each for each in self.inputs if each.is_mixed]
        by_name = next((each for each in mixed if each.name == port.name), None)
        return by_name or next((each for each in mixed if port.symbol is not None and each.symbol == port.symbol), None)

    def attr(self, name: str) -> Attr:
        return self.attrs[self.attr_index(name)]

    def attr_index(self, name: str) -> int:
        """Where GE has an attr among those of the op."""
        return [attr.name for attr in self.attrs].index(name)

    def dtype_combos(self, attrs: Mapping[str, AttrDefault] | None = None) -> tuple[DTypeCombo, ...]:
        """The allowed combinations in the order of the spec: the columns of the dtype lists, or what they cross to.

        With `attrs` those in which the outputs have the dtypes that these attrs name.
        """
        columns = max((len(port.dtypes) for port in self.ports), default=1)
        combos = tuple(
            DTypeCombo(
                symbols={symbol: dtypes[column] for symbol, dtypes in self.dtypes.items()},
                ports={port.name: port.dtypes[column] for port in self.ports},
            )
            for column in range(columns)
        )
        deciding = [(output.name, self.attr(output.dtype_attr)) for output in self.outputs if output.dtype_attr]
        if attrs is None or not deciding:
            return combos
        return tuple(combo for combo in combos if all(attrs[attr.name] == attr.naming(combo.ports[name]) for name, attr in deciding))

    def combos_on(self, soc: str | None) -> tuple[DTypeCombo, ...]:
        """Of `dtype_combos` those that a SoC has; where it isn't known which it is, those that every SoC has that the spec names."""
        combos = self.dtype_combos()
        if not self.soc_rows:
            return combos
        here = list(self.soc_rows.values()) if soc is None else [entry_of_soc(self.soc_rows, soc) or (False,) * len(combos)]
        return tuple(combo for index, combo in enumerate(combos) if all(rows[index] for rows in here))

    def outputs_told_by_graph(self) -> tuple[Output, ...]:
        """The outputs whose dtype neither the inputs nor an attr decide: a graph must give them their dtype before it is compiled."""
        rows: dict[tuple[DType, ...], set[tuple[DType, ...]]] = {}
        open_outputs = [output for output in self.outputs if output.dtype_attr is None]
        for combo in self.dtype_combos():
            decided: list[Input | Output] = [*self.inputs, *(output for output in self.outputs if output.dtype_attr is not None)]
            key = tuple(combo.ports[port.name] for port in decided)
            rows.setdefault(key, set()).add(tuple(combo.ports[output.name] for output in open_outputs))
        return tuple(
            output
            for index, output in enumerate(open_outputs)
            if any(len({dtypes[index] for dtypes in same_inputs}) > 1 for same_inputs in rows.values())
        )

    def deciding_ports(self) -> tuple[Input | Output, ...]:
        """The ports whose dtypes tell the combination: the inputs, but for lists of any dtypes, and the outputs that an attr or the graph
        decides.
        """
        told = self.outputs_told_by_graph()
        inputs = (port for port in self.inputs if not port.is_mixed)
        return (*inputs, *(output for output in self.outputs if output.dtype_attr is not None or output in told))

    def infer_shapes(self, shapes: Mapping[str, GivenShape], attrs: Mapping[str, AttrDefault] | None = None) -> dict[str, tuple[int, ...]]:
        """Output shapes by name, for the given shape of every input, and for these attrs beside the defaults. An output whose shape
        is inferred by C++ of the user's, or known only to the kernel, isn't among them; a dynamic one has the shape of each of its tensors.

        Raises SpecError if a shape or a required attr is missing, breaks the patterns or gives a dim no size.
        """
        bindings: Bindings = {}
        for port in self.inputs:
            members = port.shapes_in(shapes.get(port.name))
            if not members and not port.is_optional:
                raise spec_error(Rule.SHAPE_MISMATCH, f"{self.type} gets no shape for input {port.name!r}", port.where)
            for shape in members:
                reason = why_no_shape(shape) or (port.shape and match(port.shape, shape, bindings))
                if reason:
                    message = f"{self.type} can't take {list(shape)} as input {port.name!r}"
                    raise spec_error(Rule.SHAPE_MISMATCH, message, port.where, because=reason)
        unknown = [name for name in shapes if name not in {port.name for port in self.inputs}]
        if unknown:
            inputs = [port.name for port in self.inputs]
            advice = did_you_mean(unknown[0], inputs) or f"its inputs are {one_of(inputs)}"
            raise spec_error(Rule.SHAPE_MISMATCH, f"{self.type} has no input {unknown[0]!r}", self.where, advice=advice)
        values = {attr.name: attr.default for attr in self.attrs if attr.default is not None} | dict(attrs or {})
        given = {port.name: members[0] for port in self.inputs if (members := port.shapes_in(shapes.get(port.name)))}
        found = {output.name: self._output_shape(output, given, bindings, values) for output in self.outputs}
        return {name: shape for name, shape in found.items() if shape is not None}

    def output_counts(self, shapes: Mapping[str, GivenShape], attrs: Mapping[str, AttrDefault]) -> dict[str, int]:
        """How many tensors each dynamic output has: what its attr says, as many as the input that it is, else as many as the first list of
        the inputs. A graph decides it where no attr does.
        """
        lists = [port for port in self.inputs if port.is_dynamic]
        counts = {}
        for output in self.outputs:
            like = self.input_in_place(output) or (lists[0] if lists else None)
            if output.is_dynamic and output.count_attr is not None:
                value = attrs.get(output.count_attr, self.attr(output.count_attr).default)
                counts[output.name] = value if isinstance(value, int) else 0
            elif output.is_dynamic:
                counts[output.name] = 1 if like is None else len(like.shapes_in(shapes.get(like.name)))
        return counts

    def scope(self, shapes: Mapping[str, GivenShape], attrs: Mapping[str, AttrDefault]) -> Scope:
        """What the op's size expressions are evaluated in, with the given shape of every input. Raises as `infer_shapes`."""
        inputs = {port.name: port.shapes_in(shapes.get(port.name)) for port in self.inputs}
        counts = {port.name: len(inputs[port.name]) for port in self.inputs if port.is_dynamic}
        return Scope(
            shapes={**self.infer_shapes(shapes, attrs), **{name: members[0] if members else None for name, members in inputs.items()}},
            counts={**self.output_counts(shapes, attrs), **counts},
            attrs=attrs,
        )

    def _output_shape(
        self, output: Output, shapes: Mapping[str, Sequence[int]], bindings: Bindings, values: Mapping[str, object]
    ) -> tuple[int, ...] | None:
        match output.shape:
            case ShapePattern() as pattern:
                missing = [name for name in pattern.attrs if name not in values]
                if missing:
                    message = f"{self.type} gets no attr {missing[0]!r}, which output {output.name!r} has in its shape"
                    raise spec_error(Rule.SHAPE_MISMATCH, message, output.where)
                try:
                    return shape_of(pattern, bindings, values, shapes)
                except SpecError as error:
                    message = f"{self.type} has no shape for output {output.name!r}"
                    because = f"{error.message}: {error.because}"
                    raise spec_error(Rule.SHAPE_MISMATCH, message, output.where, because=because) from error
            case Broadcast(ports):
                shape = broadcast([shapes[name] for name in ports])
                if shape is None:
                    message = f"{self.type} can't broadcast its inputs"
                    because = ", ".join(f"{name} is {list(shapes[name])}" for name in ports)
                    raise spec_error(Rule.SHAPE_MISMATCH, message, output.where, because=because)
                return shape
            case _:
                return None


@attrs.frozen(kw_only=True)
class Benchmark:
    """`op` and `baseline` are members of `Package.ops`; `shapes` has every input that isn't absent, `attrs` every attr of the op, defaults
    filled in.
    """

    op: Op
    baseline: Op | None
    shapes: Mapping[str, GivenShape]
    attrs: Mapping[str, AttrDefault]
    iters: int
    where: Location


@attrs.frozen(kw_only=True)
class Package:
    """`name` is a CMake target and a Python module name. `header` is the file name of the proto header, `stem` that without `.h`.
    `sources` are ops.py and the modules of its folder that it imported: what a digest of the spec must cover besides the kernels.
    """

    name: str
    ops: tuple[Op, ...]
    header: str
    naming: Naming = Naming.MSOPGEN
    benchmark: Benchmark | None
    root: Path
    sources: tuple[Path, ...]
    where: Location
    warnings: tuple[SpecWarning, ...] = ()

    @property
    def stem(self) -> str:
        return self.header.removesuffix(".h")

    @property
    def kernel_files(self) -> tuple[Path, ...]:
        """The kernels and the headers that they include, each once, in the order of the ops."""
        return tuple(dict.fromkeys(file for op in self.ops for kernel in op.kernels for file in kernel.files))

    @property
    def user_headers(self) -> tuple[Path, ...]:
        """The headers with functions of the user's own, each once."""
        shapes = (output.shape for op in self.ops for output in op.outputs)
        values = (arg.value for op in self.ops for kernel in op.kernels for arg in kernel.args)
        rules = (*shapes, *values)
        return tuple(dict.fromkeys(rule.header for rule in rules if isinstance(rule, (UserShape, UserTiling))))
