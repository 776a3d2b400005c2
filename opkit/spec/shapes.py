"""Shape patterns: what a spec says about the dims of a port, and the matching of real shapes against it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import attrs

from opkit.errors import SpecError
from opkit.spec.expressions import (
    MAX_DEPTH,
    AttrValue,
    Binary,
    BinaryOp,
    DimName,
    Expr,
    Number,
    Rank,
    Scope,
    ShapeText,
    is_constant,
    leaves,
)
from opkit.spec.fields import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

MAX_RANK = 25  # gert::Shape::kMaxDimNum
_MAX_DIM = 2**63 - 1
_MAX_DIM_DIGITS = len(str(_MAX_DIM))
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@attrs.frozen(str=False)
class NamedDim:
    """A dim that has the same size wherever its name stands."""

    name: str

    def __str__(self) -> str:
        return self.name


@attrs.frozen(str=False)
class FixedDim:
    size: int

    def __str__(self) -> str:
        return str(self.size)


@attrs.frozen(str=False)
class DimGroup:
    """Any number of dims, equal wherever its name stands; `name` is "..." or what stands after the `*`."""

    name: str

    def __str__(self) -> str:
        return self.name if self.name == "..." else f"*{self.name}"


@attrs.frozen(str=False)
class ComputedDim:
    """A dim of an output that is computed from dims that inputs bind, from int attrs and from ranks of inputs: `DimName`, `AttrValue` and
    `Rank` are its leaves.
    """

    expr: Expr

    @property
    def dims(self) -> tuple[NamedDim, ...]:
        return tuple(dict.fromkeys(NamedDim(leaf.name) for leaf in leaves(self.expr) if isinstance(leaf, DimName)))

    @property
    def attrs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(leaf.name for leaf in leaves(self.expr) if isinstance(leaf, AttrValue)))

    @property
    def ranked(self) -> tuple[str, ...]:
        """The inputs whose ranks it is computed from."""
        return tuple(dict.fromkeys(leaf.port for leaf in leaves(self.expr) if isinstance(leaf, Rank)))

    def __str__(self) -> str:
        """Without the brackets."""
        return self.expr.read(ShapeText())[0]


PatternItem = NamedDim | FixedDim | DimGroup | ComputedDim


class PatternError(ValueError):
    """A shape text that is no pattern; the message says why. `is_expression` if what is wrong is inside brackets."""

    def __init__(self, message: str, *, is_expression: bool = False) -> None:
        super().__init__(message)
        self.is_expression = is_expression


@attrs.frozen
class ShapePattern:
    """An input's pattern has at most one group, so that a shape matches in one way only; an output's may have several.

    `text` is what the spec says, on one line.
    """

    text: str
    items: tuple[PatternItem, ...]

    @property
    def groups(self) -> tuple[DimGroup, ...]:
        return tuple(item for item in self.items if isinstance(item, DimGroup))

    @property
    def rank(self) -> int | None:
        """The number of dims, or None if a group leaves it open."""
        return None if self.groups else len(self.items)

    @property
    def names(self) -> tuple[NamedDim | DimGroup, ...]:
        """What must be bound for the pattern to be a shape, each once."""
        named = [(item,) if isinstance(item, NamedDim | DimGroup) else item.dims for item in self.items if not isinstance(item, FixedDim)]
        return tuple(dict.fromkeys(name for names in named for name in names))

    @property
    def attrs(self) -> tuple[str, ...]:
        """The attrs that dims are computed from, each once."""
        return tuple(dict.fromkeys(name for item in self.items if isinstance(item, ComputedDim) for name in item.attrs))

    @property
    def ranked(self) -> tuple[str, ...]:
        """The inputs whose ranks dims are computed from, each once."""
        return tuple(dict.fromkeys(name for item in self.items if isinstance(item, ComputedDim) for name in item.ranked))

    def with_attrs(self, names: Iterable[str]) -> ShapePattern:
        """A copy in which these names are attrs and no dims."""
        known = set(names)
        items = (_with_attrs(item, known) for item in self.items)
        return ShapePattern(self.text, tuple(items))


@attrs.frozen
class Broadcast:
    """An output's shape: what the shapes of these inputs are broadcast to, by NumPy's rules."""

    ports: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"broadcast({', '.join(self.ports)})"

    @property
    def rank(self) -> None:
        return None


@attrs.frozen
class UserShape:
    """An output's shape: what the user's own C++ function infers. `header` is absolute, `relative` what the spec says."""

    header: Path
    relative: str
    function: str

    @property
    def text(self) -> str:
        return f"{self.function} of {self.relative}"

    @property
    def rank(self) -> None:
        return None


@attrs.frozen
class UpperBound:
    """An output's shape of which only the kernel knows some dims: those that `bounds` names, with the most that each can be."""

    pattern: ShapePattern
    bounds: tuple[tuple[str, Expr], ...]

    @property
    def text(self) -> str:
        return f'upper_bound("{self.pattern.text}", {", ".join(f"{name}={bound}" for name, bound in self.bounds)})'

    @property
    def rank(self) -> int | None:
        return self.pattern.rank

    @property
    def open_dims(self) -> tuple[NamedDim, ...]:
        """The dims that only the kernel knows, each as often as it stands in the pattern."""
        names = {name for name, _ in self.bounds}
        return tuple(item for item in self.pattern.items if isinstance(item, NamedDim) and item.name in names)


ShapeRule = ShapePattern | Broadcast | UserShape | UpperBound
Bindings = dict[NamedDim | DimGroup, tuple[int, ...]]


def parse_pattern(text: str) -> ShapePattern:
    """Reads dims separated by blanks: a name, a number, `...`, `*name`, an expression in brackets; "" is rank 0. Raises PatternError."""
    items = tuple(_item(word, text) for word in _words(text) if word)
    if len(items) > MAX_RANK:
        msg = f"{len(items)} dims, and GE has at most {MAX_RANK}"
        raise PatternError(msg)
    both = {item.name for item in items if isinstance(item, NamedDim)} & {item.name for item in items if isinstance(item, DimGroup)}
    if both:
        msg = f"{min(both)!r} is a dim and a group at once"
        raise PatternError(msg)
    return ShapePattern(" ".join(text.split()), items)


def _words(text: str) -> Iterable[str]:
    """Splits at blanks outside of brackets."""
    word = ""
    depth = 0
    for character in text:
        if character.isspace() and depth == 0:
            yield word
            word = ""
            continue
        word += character
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            break
    if depth != 0:
        msg = f"{text!r} opens and closes different numbers of brackets"
        raise PatternError(msg)
    yield word


def _item(word: str, text: str) -> PatternItem:
    if word == "...":
        return DimGroup(word)
    if word.isascii() and word.isdigit():
        if len(word.lstrip("0")) > _MAX_DIM_DIGITS or int(word) > _MAX_DIM:
            msg = f"{word if len(word) <= 2 * _MAX_DIM_DIGITS else f'a number of {len(word)} digits'} doesn't fit in int64"
            raise PatternError(msg)
        return FixedDim(int(word))
    if _NAME.fullmatch(word):
        return NamedDim(word)
    if word.startswith("*") and _NAME.fullmatch(word[1:]):
        return DimGroup(word[1:])
    if word.startswith("(") and word.endswith(")"):
        return _computed(word[1:-1])
    if "(" in word or _is_pattern(f"({word})"):
        msg = f"{word!r} is no dim: an expression stands in brackets, as in `n (k // 2)`"
        raise PatternError(msg)
    if "," in text:
        msg = "dims are separated by blanks, not commas"
        raise PatternError(msg)
    msg = f"{word!r} is no dim: a dim is a name, a number, `...` or `*name`"
    raise PatternError(msg)


# What other notations put around a shape and between its dims.
_AROUND = re.compile(r"\s*[\[({](.*)[\])}]\s*", re.DOTALL)
_BETWEEN = re.compile(r"[,;|\u00d7\s]+")
_OPERATOR = re.compile(r"\s*(//|[-+*/%])\s*")


def likely_pattern(text: str) -> str | None:
    """What a text that is no pattern most likely means, as a pattern; None if nothing is likely."""
    around = _AROUND.fullmatch(text)
    plain = around[1] if around is not None else text
    blanks = " ".join(_BETWEEN.sub(" ", plain).split())
    computed = " ".join(map(_as_computed, _OPERATOR.sub(r"\1", blanks).split()))
    return next((guess for guess in (blanks, computed, f"({text.strip()})") if _is_pattern(guess)), None)


def _as_computed(word: str) -> str:
    if _is_pattern(word):
        return word
    counted = re.fullmatch(r"([0-9]+)([A-Za-z]\w*)", word)
    expression = f"{counted[1]}*{counted[2]}" if counted is not None else word
    return f"({_OPERATOR.sub(lambda found: f' {found[1]} '.replace(' / ', ' // '), expression)})"


def _is_pattern(text: str) -> bool:
    try:
        parse_pattern(text)
    except PatternError:
        return False
    return True


_OPERATORS: dict[type[ast.operator], BinaryOp] = {
    ast.Add: BinaryOp.ADD,
    ast.Sub: BinaryOp.SUB,
    ast.Mult: BinaryOp.MUL,
    ast.FloorDiv: BinaryOp.FLOOR_DIV,
    ast.Mod: BinaryOp.MOD,
}
_FUNCTIONS = {op.value: op for op in (BinaryOp.CEIL_DIV, BinaryOp.MIN, BinaryOp.MAX)}


def _computed(text: str) -> PatternItem:
    """The expression of one dim; a constant is a fixed dim, and a name alone is that dim."""
    try:
        # In brackets of its own: a line break in it is none of Python's business.
        tree = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        msg = f"`{text}` is no expression"
        raise PatternError(msg, is_expression=True) from None
    if _is_deep(tree):
        msg = f"its operators stand more than {MAX_DEPTH} deep inside each other"
        raise PatternError(msg, is_expression=True)
    expr = _expression(tree, text)
    if isinstance(expr, DimName):
        return NamedDim(expr.name)
    if not is_constant(expr):
        return ComputedDim(expr)
    try:
        size = expr.evaluate(Scope())
    except SpecError as error:
        raise PatternError(str(error.because), is_expression=True) from None
    if size < 0:
        msg = f"`{text}` is {size}, and a dim isn't negative"
        raise PatternError(msg, is_expression=True)
    return FixedDim(size)


def _is_deep(tree: ast.expr) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH + 1):
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return bool(level)


def _expression(tree: ast.expr, text: str) -> Expr:
    match tree:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            if value > _MAX_DIM:
                msg = f"{shown(value)} doesn't fit in int64"
                raise PatternError(msg, is_expression=True)
            return Number(value)
        case ast.Name(id=name) if _NAME.fullmatch(name):
            return DimName(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Binary(BinaryOp.SUB, Number(0), _expression(operand, text))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return Binary(_OPERATORS[type(operator)], _expression(left, text), _expression(right, text))
        case ast.Call(func=ast.Name(id="rank"), args=[ast.Name(id=name)], keywords=[]) if _NAME.fullmatch(name):
            return Rank(name)
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in _FUNCTIONS:
            return Binary(_FUNCTIONS[name], _expression(left, text), _expression(right, text))
    found = ast.unparse(tree)
    msg = f"`{found}` can't be part of a dim: use names, numbers, + - * // %, ceil_div, min_, max_ of two, rank(x)"
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Div):
        msg = f"`{found}` gives a fraction: write // to round down, ceil_div to round up"
    raise PatternError(msg, is_expression=True)


def _with_attrs(item: PatternItem, names: set[str]) -> PatternItem:
    if isinstance(item, NamedDim) and item.name in names:
        return ComputedDim(AttrValue(item.name))
    return ComputedDim(_attrs_in(item.expr, names)) if isinstance(item, ComputedDim) else item


def _attrs_in(expr: Expr, names: Collection[str]) -> Expr:
    """The tree in which these names are attrs and no dims."""
    if isinstance(expr, Binary):
        return Binary(expr.op, _attrs_in(expr.left, names), _attrs_in(expr.right, names))
    return AttrValue(expr.name) if isinstance(expr, DimName) and expr.name in names else expr


def why_no_shape(shape: Sequence[int]) -> str | None:
    """Why no tensor can have this shape, or None."""
    if any(dim < 0 for dim in shape):
        return "a dim is negative"
    if any(dim > _MAX_DIM for dim in shape):
        return "a dim doesn't fit in int64"
    return f"GE has at most {MAX_RANK} dims" if len(shape) > MAX_RANK else None


def match(pattern: ShapePattern, shape: Sequence[int], bindings: Bindings) -> str | None:
    """Binds the names of an input's pattern to a shape, in `bindings`. Gives None, or the reason why they disagree."""
    group = next((index for index, item in enumerate(pattern.items) if isinstance(item, DimGroup)), None)
    spare = len(shape) - len(pattern.items)
    if spare != 0 and (group is None or spare < -1):
        wanted = str(len(pattern.items)) if group is None else f"at least {len(pattern.items) - 1}"
        return f"the rank is {len(shape)}, and the pattern {pattern.text!r} has {wanted}"
    position = 0
    for index, item in enumerate(pattern.items):
        width = spare + 1 if index == group else 1
        found = tuple(shape[position : position + width])
        position += width
        if isinstance(item, ComputedDim):
            continue  # No input has one.
        if isinstance(item, FixedDim):
            if found != (item.size,):
                return f"dim {position - 1} is {found[0]}, and the pattern {pattern.text!r} fixes {item.size}"
            continue
        bound = bindings.setdefault(item, found)
        if bound != found:
            return f"`{item}` is {_shown(item, found)} here and {_shown(item, bound)} on an input before"
    return None


def unbound(pattern: ShapePattern, inputs: Iterable[ShapePattern]) -> tuple[NamedDim | DimGroup, ...]:
    """The names of an output's pattern that no input's pattern binds."""
    bound = {name for known in inputs for name in known.names}
    return tuple(name for name in pattern.names if name not in bound)


def shape_of(
    pattern: ShapePattern, bindings: Bindings, attrs: Mapping[str, object], shapes: Mapping[str, Sequence[int]] | None = None
) -> tuple[int, ...]:
    """The shape that an output's pattern stands for; every name must be bound, and `shapes` have the inputs whose ranks it is computed
    from. Raises SpecError for a dim that has no value, KeyError for an attr that isn't given.
    """
    dims = {name.name: sizes[0] for name, sizes in bindings.items() if isinstance(name, NamedDim)}
    scope = Scope(dims=dims, attrs=attrs, shapes=shapes or {})
    shape: list[int] = []
    for item in pattern.items:
        match item:
            case FixedDim():
                shape.append(item.size)
            case ComputedDim():
                shape.append(_size_of(item, scope))
            case _:
                shape.extend(bindings[item])
    return tuple(shape)


def _size_of(item: ComputedDim, scope: Scope) -> int:
    size = item.expr.evaluate(scope)
    if size < 0:
        msg = f"the dim `{item}` has no size here"
        raise SpecError(msg, because=f"it is {size}", number="OPK0292")
    return size


def broadcast(shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """What shapes are broadcast to, by NumPy's rules; None if they can't be."""
    rank = max((len(shape) for shape in shapes), default=0)
    found = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, start=rank - len(shape)):
            if size != 1 and found[axis] not in {1, size}:
                return None
            found[axis] = found[axis] if size == 1 else size
    return tuple(found)


def _shown(item: NamedDim | DimGroup, dims: tuple[int, ...]) -> str:
    return str(dims[0]) if isinstance(item, NamedDim) else str(list(dims))
