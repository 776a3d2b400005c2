"""Size expressions: one tree for what a kernel is told about its tensors, read as Python integers and as C++.

Both readings are int64 arithmetic in which nothing wraps: a result outside int64, and `//`, `%` or `ceil_div` by anything but a
positive number, are errors. `//` rounds down and `%` is never negative, as in Python; `ceil_div` rounds up.
"""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Protocol, TypeVar

import attrs

from opkit.errors import SpecError
from opkit.spec.dtypes import find_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from opkit.spec.scalars import ScalarType

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
# How deeply operators may stand inside each other: a tree is walked by functions that call themselves, here and in a C++ compiler.
MAX_DEPTH = 100

T = TypeVar("T")


class BinaryOp(enum.Enum):
    """The value is the word in a spec."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    FLOOR_DIV = "//"
    MOD = "%"
    CEIL_DIV = "ceil_div"
    MIN = "min_"
    MAX = "max_"

    @property
    def divides(self) -> bool:
        return self in {BinaryOp.FLOOR_DIV, BinaryOp.MOD, BinaryOp.CEIL_DIV}


class Reading(Protocol[T]):
    """What a tree means in one language. `Expr.read` calls the leaves and then `binary` from the inside out, left before right."""

    def number(self, value: int) -> T: ...

    def numel(self, port: str) -> T: ...

    def dim(self, port: str, axis: int) -> T:
        """`axis` may be negative: it then counts from the last axis, as in NumPy."""

    def rank(self, port: str) -> T: ...

    def count(self, port: str) -> T: ...

    def attr(self, name: str) -> T: ...

    def named_dim(self, name: str) -> T: ...

    def cores(self) -> T: ...

    def binary(self, op: BinaryOp, left: T, right: T) -> T: ...


@attrs.frozen(kw_only=True)
class Scope:
    """What a tree is evaluated in: the shape of every port, the value of every attr, the number of vector cores.

    The shape of a dynamic port is that of each of its tensors, and `counts` has how many they are. A port without a tensor has the shape
    None: its numel and dims are 0.
    """

    shapes: Mapping[str, Sequence[int] | None] = attrs.field(factory=dict)
    counts: Mapping[str, int] = attrs.field(factory=dict)
    dims: Mapping[str, int] = attrs.field(factory=dict)
    """What the names of a shape pattern are bound to."""
    attrs: Mapping[str, object] = attrs.field(factory=dict)
    cores: int = 1


class Expr:
    """Base of the node classes `Number Numel Dim Rank Count AttrValue DimName Cores Binary PortAddress
    AddressList ShapeBuffer Workspace Tiling UserTiling`; there are no others.
    """

    def read(self, reading: Reading[T]) -> T:
        raise NotImplementedError

    def evaluate(self, scope: Scope) -> int:
        """The value. Raises SpecError where C++ reports an error too, and for the shape of a port that the scope lacks."""
        return self.read(_Evaluation(scope, self))

    def __str__(self) -> str:
        """The expression as it would be written in a spec."""
        return self.read(SpecText())[0]


@attrs.frozen(str=False)
class Number(Expr):
    value: int

    def read(self, reading: Reading[T]) -> T:
        return reading.number(self.value)


@attrs.frozen(str=False)
class Numel(Expr):
    """Number of elements of a port, of one of its tensors if it is dynamic; 1 for rank 0, 0 for an absent input."""

    port: str

    def read(self, reading: Reading[T]) -> T:
        return reading.numel(self.port)


@attrs.frozen(str=False)
class Dim(Expr):
    port: str
    axis: int

    def read(self, reading: Reading[T]) -> T:
        return reading.dim(self.port, self.axis)


@attrs.frozen(str=False)
class Rank(Expr):
    """Number of dims of a port, of one of its tensors if it is dynamic; 0 for an absent input."""

    port: str

    def read(self, reading: Reading[T]) -> T:
        return reading.rank(self.port)


@attrs.frozen(str=False)
class Count(Expr):
    """The number of tensors of a dynamic port."""

    port: str

    def read(self, reading: Reading[T]) -> T:
        return reading.count(self.port)


@attrs.frozen(str=False)
class AttrValue(Expr):
    """The value of an attr: an integer (or bool, as 0 and 1) inside an expression, or a float or type if it is a whole kernel argument."""

    name: str

    def read(self, reading: Reading[T]) -> T:
        return reading.attr(self.name)


@attrs.frozen(str=False)
class DimName(Expr):
    """What a name in the shape patterns of the inputs is bound to: only in the shape of an output."""

    name: str

    def read(self, reading: Reading[T]) -> T:
        return reading.named_dim(self.name)


@attrs.frozen(str=False)
class Cores(Expr):
    """The number of cores of the device, of the kind that the kernel runs on."""

    def read(self, reading: Reading[T]) -> T:
        return reading.cores()


@attrs.frozen(str=False)
class Binary(Expr):
    op: BinaryOp
    left: Expr
    right: Expr

    def read(self, reading: Reading[T]) -> T:
        left = self.left.read(reading)
        return reading.binary(self.op, left, self.right.read(reading))


@attrs.frozen(str=False)
class PortAddress(Expr):
    """The device address of a port. Only as a whole kernel argument, never inside an expression, so there is nothing to read."""

    port: str

    def __str__(self) -> str:
        return f'port("{self.port}")'


@attrs.frozen(str=False)
class AddressList(Expr):
    """The device address of a block that holds the address of each tensor of a dynamic port. As `PortAddress`, a whole argument only."""

    port: str

    def __str__(self) -> str:
        return f'address_list("{self.port}")'


@attrs.frozen(str=False)
class ShapeBuffer(Expr):
    """The device address where kernels write the shape of an output that has an upper bound: uint64 `[ndim, d0, d1, …]`. As
    `PortAddress`, a whole argument only.
    """

    port: str

    def __str__(self) -> str:
        return f'shape_of("{self.port}")'


@attrs.frozen(str=False)
class Workspace(Expr):
    """The device address of memory of this many bytes that only the kernels use. As `PortAddress`, a whole argument only.

    Arguments of one `number` have the same memory: what a kernel leaves there is there for the next.
    """

    size: Expr
    number: int = 0

    def __str__(self) -> str:
        return f"workspace({self.size})"


@attrs.frozen(kw_only=True)
class TilingMember:
    """The value of a member of a struct, or of the element `index` of a member that is an array."""

    name: str
    index: int | None
    scalar: ScalarType
    value: Expr

    @property
    def target(self) -> str:
        return self.name if self.index is None else f"{self.name}[{self.index}]"


@attrs.frozen(str=False)
class Tiling(Expr):
    """A struct by value. `members` are in the order of the struct. As `PortAddress`, a whole argument only."""

    struct: str
    members: tuple[TilingMember, ...]

    def __str__(self) -> str:
        values: dict[str, list[TilingMember]] = {}
        for member in self.members:
            values.setdefault(member.name, []).append(member)
        parts = [_quoted(self.struct)]
        for name, members in values.items():
            text = ", ".join(str(member.value) for member in members)
            parts.append(f"{name}={text if members[0].index is None else f'[{text}]'}")
        return f"tiling({', '.join(parts)})"


@attrs.frozen(str=False)
class UserTiling(Expr):
    """A struct by value that a C++ function of the user's fills. `header` is absolute, `relative` what the spec says."""

    header: Path
    relative: str
    function: str

    def __str__(self) -> str:
        return f"tiling(cpp({_quoted(self.relative)}, {_quoted(self.function)}))"


def _quoted(text: str) -> str:
    return f'"{text}"'


def replace_number(expr: Expr, old: int, new: int) -> Expr:
    """The tree with every literal `old` made `new`: how a kernel's block length is changed in the spec along with its define."""
    if isinstance(expr, Number) and expr.value == old:
        return Number(new)
    if isinstance(expr, Binary):
        return Binary(expr.op, replace_number(expr.left, old, new), replace_number(expr.right, old, new))
    if isinstance(expr, Tiling):
        members = (attrs.evolve(member, value=replace_number(member.value, old, new)) for member in expr.members)
        return Tiling(expr.struct, tuple(members))
    return Workspace(replace_number(expr.size, old, new), expr.number) if isinstance(expr, Workspace) else expr


def leaves(expr: Expr) -> tuple[Expr, ...]:
    """What a tree is made of that isn't an operator, from left to right."""
    return (*leaves(expr.left), *leaves(expr.right)) if isinstance(expr, Binary) else (expr,)


def is_constant(expr: Expr) -> bool:
    return isinstance(expr, Number) or (isinstance(expr, Binary) and is_constant(expr.left) and is_constant(expr.right))


@attrs.frozen
class _Evaluation:
    scope: Scope
    whole: Expr

    def number(self, value: int) -> int:
        return self._checked(value, "the number")

    def numel(self, port: str) -> int:
        shape = self._shape(port)
        return 0 if shape is None else self._checked(math.prod(shape), f'numel("{port}")')

    def dim(self, port: str, axis: int) -> int:
        shape = self._shape(port)
        if shape is None:
            return 0
        if not -len(shape) <= axis < len(shape):
            raise self._no_value(because=f'dim("{port}", {axis}) is outside the shape {tuple(shape)}')
        return self._checked(shape[axis], f'dim("{port}", {axis})')

    def rank(self, port: str) -> int:
        return len(self._shape(port) or ())

    def count(self, port: str) -> int:
        return self.scope.counts[port]

    def attr(self, name: str) -> int:
        value = self.scope.attrs[name]
        dtype = find_dtype(value) if isinstance(value, str) else None
        value = value if dtype is None else dtype.number
        if not isinstance(value, int):
            raise self._no_value(because=f"attr {name!r} is {value!r}, not an integer")
        return self._checked(int(value), f"attr {name!r}")

    def named_dim(self, name: str) -> int:
        return self.scope.dims[name]

    def cores(self) -> int:
        return self.scope.cores

    def binary(self, op: BinaryOp, left: int, right: int) -> int:
        if op.divides and right <= 0:
            raise self._no_value(because=f"{_written(op, str(left), str(right))} divides by {right}, and a divisor must be positive")
        return self._checked(_BINARY[op](left, right), _written(op, str(left), str(right)))

    def _shape(self, port: str) -> Sequence[int] | None:
        if port not in self.scope.shapes:
            raise self._no_value(because=f"the shape of {port!r} is known only when the op runs")
        return self.scope.shapes[port]

    def _checked(self, value: int, what: str) -> int:
        if not INT64_MIN <= value <= INT64_MAX:
            raise self._no_value(because=f"{what} is {value}, which doesn't fit in int64")
        return value

    def _no_value(self, *, because: str) -> SpecError:
        return SpecError(f"the size expression `{self.whole}` has no value here", because=because, number="OPK0292")


_BINARY: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.ADD: lambda left, right: left + right,
    BinaryOp.SUB: lambda left, right: left - right,
    BinaryOp.MUL: lambda left, right: left * right,
    BinaryOp.FLOOR_DIV: lambda left, right: left // right,
    BinaryOp.MOD: lambda left, right: left % right,
    BinaryOp.CEIL_DIV: lambda left, right: -(-left // right),
    BinaryOp.MIN: min,
    BinaryOp.MAX: max,
}

# Binding strength of what a text was made of: an operand that binds less than its operator needs parentheses.
_ATOM, _PRODUCT, _SUM = 3, 2, 1
_STRENGTH = {
    BinaryOp.ADD: _SUM,
    BinaryOp.SUB: _SUM,
    BinaryOp.MUL: _PRODUCT,
    BinaryOp.FLOOR_DIV: _PRODUCT,
    BinaryOp.MOD: _PRODUCT,
}


def _written(op: BinaryOp, left: str, right: str) -> str:
    return f"{left} {op.value} {right}" if op in _STRENGTH else f"{op.value}({left}, {right})"


class SpecText:
    """Reads a tree back as the text of a spec, each part with its binding strength."""

    def number(self, value: int) -> tuple[str, int]:
        return (str(value), _ATOM if value >= 0 else _SUM)

    def numel(self, port: str) -> tuple[str, int]:
        return (f'numel("{port}")', _ATOM)

    def dim(self, port: str, axis: int) -> tuple[str, int]:
        return (f'dim("{port}", {axis})', _ATOM)

    def rank(self, port: str) -> tuple[str, int]:
        return (f'rank("{port}")', _ATOM)

    def count(self, port: str) -> tuple[str, int]:
        return (f'count("{port}")', _ATOM)

    def attr(self, name: str) -> tuple[str, int]:
        return (f'attr("{name}")', _ATOM)

    def named_dim(self, name: str) -> tuple[str, int]:
        return (name, _ATOM)

    def cores(self) -> tuple[str, int]:
        return ("cores()", _ATOM)

    def binary(self, op: BinaryOp, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
        strength = _STRENGTH.get(op)
        if strength is None:
            return (_written(op, left[0], right[0]), _ATOM)
        left_text = left[0] if left[1] >= strength else f"({left[0]})"
        right_text = right[0] if right[1] > strength else f"({right[0]})"
        return (_written(op, left_text, right_text), strength)


class ShapeText(SpecText):
    """Reads a tree back as what stands in the brackets of a shape."""

    def attr(self, name: str) -> tuple[str, int]:
        return (name, _ATOM)

    def rank(self, port: str) -> tuple[str, int]:
        return (f"rank({port})", _ATOM)
