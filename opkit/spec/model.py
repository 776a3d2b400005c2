"""The resolved spec: frozen values that `load_package` makes once every check has passed, and that all later rooms take as they are."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import attrs

from opkit.spec.expressions import Expr, replace_number
from opkit.spec.naming import stem_of
from opkit.spec.problems import Rule, did_you_mean, one_of, spec_error
from opkit.spec.shapes import Bindings, ShapePattern, match, shape_of, why_no_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from opkit.spec.dtypes import DType
    from opkit.spec.kernel_signature import KernelParam, KernelSignature
    from opkit.spec.location import Location

AttrDefault = int | float | bool | str

# The documented range of numBlocks is 1 to 65535; a launch of more is refused (107000).
MAX_BLOCKS = 65535


class Refresh(enum.Enum):
    """How a new address of an input or output reaches the kernel of a loaded graph."""

    UPDATER = "updater"
    NONE = "none"


class AttrType(enum.Enum):
    """The value is the word in a spec."""

    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    STR = "str"

    @property
    def ge_name(self) -> str:
        """The word in REG_OP's `.ATTR(name, Type, default)`."""
        return {"int": "Int", "float": "Float", "bool": "Bool", "str": "String"}[self.value]


@attrs.frozen(kw_only=True)
class Input:
    """`dtypes` has one element for each column of `Op.dtype_combos()`; `symbol` is the name in `Op.dtypes` that it came from, if any.
    `shape` is None if nothing is known about it.
    """

    name: str
    dtypes: tuple[DType, ...]
    symbol: str | None
    shape: ShapePattern | None
    where: Location


@attrs.frozen(kw_only=True)
class Output:
    """As `Input`; every name in `shape` is bound by an input."""

    name: str
    dtypes: tuple[DType, ...]
    symbol: str | None
    shape: ShapePattern
    where: Location


@attrs.frozen(kw_only=True)
class Attr:
    """`default` has the Python type of `type`; it is None if the attr is required."""

    name: str
    type: AttrType
    default: AttrDefault | None
    where: Location

    @property
    def is_required(self) -> bool:
        return self.default is None


@attrs.frozen(kw_only=True)
class LaunchArg:
    """One kernel argument: the parameter it fills, and what it is filled with (`PortAddress`, `AttrValue` or a size expression)."""

    param: KernelParam
    value: Expr


@attrs.frozen(kw_only=True)
class Kernel:
    """`path` is absolute, `relative` is what the spec says, with `/`. `args` are in launch order, one for each parameter of `signature`."""

    path: Path
    relative: str
    signature: KernelSignature
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
        return self.signature.name

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


@attrs.frozen(kw_only=True)
class Op:
    type: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    attrs: tuple[Attr, ...]
    dtypes: Mapping[str, tuple[DType, ...]]
    kernel: Kernel
    refresh: Refresh
    reference: Callable[..., Any] | None
    """Called with the inputs by position and the attrs by keyword; gives one array, or a tuple with one for each output."""
    where: Location

    @property
    def stem(self) -> str:
        return stem_of(self.type)

    @property
    def ports(self) -> tuple[Input | Output, ...]:
        return (*self.inputs, *self.outputs)

    def port(self, name: str) -> Input | Output:
        return next(port for port in self.ports if port.name == name)

    def attr(self, name: str) -> Attr:
        return next(attr for attr in self.attrs if attr.name == name)

    def dtype_combos(self) -> tuple[DTypeCombo, ...]:
        """The allowed combinations: the columns of the dtype lists, in the order of the spec."""
        columns = max(len(port.dtypes) for port in self.ports)
        return tuple(
            DTypeCombo(
                symbols={symbol: dtypes[column] for symbol, dtypes in self.dtypes.items()},
                ports={port.name: port.dtypes[column] for port in self.ports},
            )
            for column in range(columns)
        )

    def infer_shapes(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
        """Output shapes by name, for the given shape of every input. Raises SpecError if a shape is missing or breaks the patterns."""
        bindings: Bindings = {}
        for port in self.inputs:
            if port.name not in shapes:
                raise spec_error(Rule.SHAPE_MISMATCH, f"{self.type} gets no shape for input {port.name!r}", port.where)
            shape = tuple(shapes[port.name])
            reason = why_no_shape(shape) or (port.shape and match(port.shape, shape, bindings))
            if reason:
                message = f"{self.type} can't take {list(shape)} as input {port.name!r}"
                raise spec_error(Rule.SHAPE_MISMATCH, message, port.where, because=reason)
        unknown = [name for name in shapes if name not in {port.name for port in self.inputs}]
        if unknown:
            inputs = [port.name for port in self.inputs]
            advice = did_you_mean(unknown[0], inputs) or f"its inputs are {one_of(inputs)}"
            raise spec_error(Rule.SHAPE_MISMATCH, f"{self.type} has no input {unknown[0]!r}", self.where, advice=advice)
        return {port.name: shape_of(port.shape, bindings) for port in self.outputs}


@attrs.frozen(kw_only=True)
class Benchmark:
    """`op` and `baseline` are members of `Package.ops`; `shapes` has every input; `attrs` has every attr of the op, defaults filled in."""

    op: Op
    baseline: Op | None
    shapes: Mapping[str, tuple[int, ...]]
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
    benchmark: Benchmark | None
    root: Path
    sources: tuple[Path, ...]
    where: Location

    @property
    def stem(self) -> str:
        return self.header.removesuffix(".h")

    @property
    def kernel_files(self) -> tuple[Path, ...]:
        """The kernels and the headers that they include, each once, in the order of the ops."""
        return tuple(dict.fromkeys(file for op in self.ops for file in op.kernel.files))
