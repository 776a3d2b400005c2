"""Shape patterns: what a spec says about the dims of a port, and the matching of real shapes against it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_RANK = 25  # gert::Shape::kMaxDimNum
_MAX_DIM = 2**63 - 1
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


PatternItem = NamedDim | FixedDim | DimGroup


class PatternError(ValueError):
    """A shape text that is no pattern; the message says why."""


@attrs.frozen
class ShapePattern:
    """An input's pattern has at most one group, so that a shape matches in one way only; an output's may have several."""

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
        return tuple(dict.fromkeys(item for item in self.items if not isinstance(item, FixedDim)))


Bindings = dict[NamedDim | DimGroup, tuple[int, ...]]


def parse_pattern(text: str) -> ShapePattern:
    """Reads dims separated by blanks: a name, a number, `...`, `*name`; "" is rank 0. Raises PatternError."""
    items = tuple(_item(word, text) for word in text.split())
    if len(items) > MAX_RANK:
        msg = f"{len(items)} dims, and GE has at most {MAX_RANK}"
        raise PatternError(msg)
    both = {item.name for item in items if isinstance(item, NamedDim)} & {item.name for item in items if isinstance(item, DimGroup)}
    if both:
        msg = f"{min(both)!r} is a dim and a group at once"
        raise PatternError(msg)
    return ShapePattern(text, items)


def _item(word: str, text: str) -> PatternItem:
    if word == "...":
        return DimGroup(word)
    if word.isascii() and word.isdigit():
        if int(word) > _MAX_DIM:
            msg = f"{word} doesn't fit in int64"
            raise PatternError(msg)
        return FixedDim(int(word))
    if _NAME.fullmatch(word):
        return NamedDim(word)
    if word.startswith("*") and _NAME.fullmatch(word[1:]):
        return DimGroup(word[1:])
    if "," in text:
        msg = "dims are separated by blanks, not commas"
        raise PatternError(msg)
    msg = f"{word!r} is no dim: a dim is a name, a number, `...` or `*name`"
    raise PatternError(msg)


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


def shape_of(pattern: ShapePattern, bindings: Bindings) -> tuple[int, ...]:
    """The shape that an output's pattern stands for; every name must be bound."""
    dims: list[int] = []
    for item in pattern.items:
        dims.extend((item.size,) if isinstance(item, FixedDim) else bindings[item])
    return tuple(dims)


def _shown(item: NamedDim | DimGroup, dims: tuple[int, ...]) -> str:
    return str(dims[0]) if isinstance(item, NamedDim) else str(list(dims))
