"""Shapes of the inputs of an op that keep to its patterns: of a size, of other ranks, broadcast, and of lists.

* A size becomes a shape through the spec's patterns: the port's group of dims (or, without one, its last named dim) takes the size, its
  other names are 1. A named group gets two more shapes, one of rank 2 and one of rank 0; a port with several named dims one in which none
  is 1.
* Optional inputs are there, and dynamic ones have 3 tensors; then each optional one is absent, and the dynamic ones have 1 and 17 tensors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opkit.spec import (
    Broadcast,
    ComputedDim,
    Dim,
    DimGroup,
    FixedDim,
    GivenShape,
    Input,
    NamedDim,
    Numel,
    Op,
    ShapePattern,
    UpperBound,
    UserShape,
)

if TYPE_CHECKING:
    from opkit.spec.shapes import PatternItem

__all__ = ["MEMBERS", "broadcasts", "first_of", "other_members", "other_ranks", "shapes_for", "shapes_with"]

# A dim that no size decides: not 1, so that a mix-up of two axes shows, and no power of two, so that a missing tail shows.
_OTHER_DIM = 3
MEMBERS = 3
"""The tensors of a dynamic input."""
# Then one, and more than fit in any fixed array that a kernel would think of.
_OTHER_MEMBERS = (1, 17)

_Binding = Mapping[str, tuple[int, ...]]


def first_of(op: Op) -> str | None:
    """The port that sizes are tried with: the first input, one that is always there if there is any."""
    return next((port.name for port in sorted(op.inputs, key=lambda port: port.is_optional)), None)


def shapes_for(op: Op, port: str | None, size: int, *, at_least: bool = False) -> dict[str, GivenShape]:
    """Gives a shape for each input so that ``port`` has ``size`` elements, or as near below (``at_least``: above) as its fixed dims and
    names that stand twice allow; all in the fewest dims. A port of fixed dims only has what they say. Optional inputs are there, and a
    dynamic one has a few tensors of one shape.
    """
    if port is None:
        return {}
    pattern = _pattern(op, port)
    free = _free(pattern)
    binding: dict[str, tuple[int, ...]] = dict.fromkeys(free, (1,))
    main = _main(pattern)
    if main is not None:
        per_unit = math.prod(item.size for item in pattern.items if isinstance(item, FixedDim))
        # A name that stands twice, as in "n n", takes the root.
        units = 0 if per_unit == 0 else -(-size // per_unit) if at_least else size // per_unit
        root = _root(units, free[main])
        binding[main] = (root + 1 if at_least and root ** free[main] < units else root,)
    return _applied(op, binding, (size,))


def shapes_with(op: Op, dim: Dim | Numel, size: int, other: int) -> dict[str, GivenShape] | None:
    """Gives a shape for each input so that ``dim`` is ``size`` and other dims are ``other``; None if no name is that dim."""
    if isinstance(dim, Numel):
        return shapes_for(op, dim.port, size, at_least=True)
    pattern = _pattern(op, dim.port)
    items = pattern.items
    # What is broadcast with the port follows it, in `_applied`.
    is_broadcast = any(isinstance(output.shape, Broadcast) for output in op.outputs)
    patterns = (pattern,) if is_broadcast else (pattern, *(_pattern(op, port.name) for port in op.inputs))
    binding: dict[str, tuple[int, ...]] = {name: (other,) for each in patterns for name in _free(each)}
    group = next((place for place, item in enumerate(items) if isinstance(item, DimGroup)), None)
    from_start = dim.axis >= 0
    # How many dims lie between the end that the axis is counted from and the group.
    before = len(items) if group is None else group if from_start else len(items) - group - 1
    place = dim.axis if from_start else -dim.axis - 1
    if place < before:
        item = items[dim.axis]
        if not isinstance(item, NamedDim):
            return None
        binding[item.name] = (size,)
    elif group is not None:
        # One dim more than the axis needs: a row has several elements.
        inside = (*((other,) * (place - before)), size, other)
        binding[_group_names(op, dim.port)[0]] = inside if from_start else inside[::-1]
    else:
        return None
    like = tuple(each for item in items for each in (binding[item.name] if isinstance(item, NamedDim | DimGroup) else (_OTHER_DIM,)))
    return _applied(op, binding, like)


def other_ranks(op: Op, port: str | None, size: int) -> Iterator[tuple[str, dict[str, GivenShape]]]:
    if port is None:
        return
    pattern = _pattern(op, port)
    free = _free(pattern)
    groups = [item.name for item in pattern.items if isinstance(item, DimGroup)]
    rows = (_OTHER_DIM, max(1, size // _OTHER_DIM))
    if groups:
        others = {name: (_OTHER_DIM,) for name in free if name not in groups}
        yield "rank 2", _applied(op, {**others, **dict.fromkeys(groups, (1,)), groups[0]: rows}, rows)
        yield "rank 0", _applied(op, {**others, **dict.fromkeys(groups, ())}, ())
    elif len(free) > 1:
        last = _main(pattern)
        yield "no dim is 1", _applied(op, {name: (rows[1],) if name == last else (_OTHER_DIM,) for name in free}, rows)


def other_members(op: Op, shapes: Mapping[str, GivenShape]) -> Iterator[tuple[str, dict[str, GivenShape]]]:
    """Each optional input absent, and lists of other lengths."""
    for port in op.inputs:
        if port.is_optional:
            yield f"{port.name} absent", {name: shape for name, shape in shapes.items() if name != port.name}
    lists = {port.name: port.shapes_in(shapes[port.name])[0] for port in op.inputs if port.is_dynamic}
    for count in _OTHER_MEMBERS if lists else ():
        many = f"{count} tensor{'s' if count > 1 else ''} in {' and '.join(lists)}"
        yield many, {**shapes, **{name: (shape,) * count for name, shape in lists.items()}}


def broadcasts(op: Op, size: int) -> Iterator[tuple[str, dict[str, GivenShape]]]:
    """Shapes that differ and are broadcast, as far as the patterns let the inputs have them."""
    columns = max(2, size // _OTHER_DIM)
    pairs = (
        ("equal shapes", (_OTHER_DIM, columns), (_OTHER_DIM, columns)),
        ("one element broadcast", (columns,), ()),
        ("a row broadcast", (_OTHER_DIM, columns), (columns,)),
        ("a column broadcast", (_OTHER_DIM, columns), (_OTHER_DIM, 1)),
        ("both broadcast", (1, columns), (_OTHER_DIM, 1)),
    )
    for output in op.outputs:
        if isinstance(output.shape, Broadcast):
            first, *others = output.shape.ports
            full = shapes_for(op, first, 1)
            yield from ((why, {**full, first: one, **dict.fromkeys(others, other)}) for why, one, other in pairs)


def _pattern(op: Op, port: str) -> ShapePattern:
    """An input without a pattern is one group: nothing is known of it. What is broadcast is as large as the first of its inputs, and for
    an output whose shape opkit doesn't know the first input stands.
    """
    shape = op.port(port).shape
    if isinstance(shape, Broadcast):
        return _pattern(op, shape.ports[0])
    if isinstance(shape, UserShape | UpperBound):
        return _pattern(op, op.inputs[0].name) if op.inputs else ShapePattern("", ())
    return shape or ShapePattern("...", (DimGroup("..."),))


def _free(pattern: ShapePattern) -> Counter[str]:
    """How often each name of a pattern stands in it."""
    return Counter(item.name for item in pattern.items if isinstance(item, NamedDim | DimGroup))


def _main(pattern: ShapePattern) -> str | None:
    groups = [item.name for item in pattern.items if isinstance(item, DimGroup)]
    names = [item.name for item in pattern.items if isinstance(item, NamedDim)]
    return groups[0] if groups else names[-1] if names else None


def _root(value: int, degree: int) -> int:
    root = round(math.pow(value, 1 / degree))
    while root**degree > value:
        root -= 1
    return root


def _applied(op: Op, binding: _Binding, unconstrained: tuple[int, ...]) -> dict[str, GivenShape]:
    """Gives each input's shape: bound names as bound, other names `_OTHER_DIM`; an input without a pattern is ``unconstrained``.

    Inputs that are broadcast together have the same group, and 1 for a dim that isn't bound.
    """
    together = {name for output in op.outputs if isinstance(output.shape, Broadcast) for name in output.shape.ports}
    groups = [name for port in together for name in _group_names(op, port) if name in binding]

    def dims(port: str, item: PatternItem) -> tuple[int, ...]:
        if isinstance(item, FixedDim):
            return (item.size,)
        if isinstance(item, ComputedDim) or item.name not in binding:
            if port not in together:
                return (_OTHER_DIM,)
            return binding[groups[0]] if isinstance(item, DimGroup) and groups else (1,)
        return binding[item.name]

    def shape(port: Input) -> tuple[int, ...]:
        return unconstrained if port.shape is None else tuple(dim for item in port.shape.items for dim in dims(port.name, item))

    return {port.name: (shape(port),) * MEMBERS if port.is_dynamic else shape(port) for port in op.inputs}


def _group_names(op: Op, port: str) -> list[str]:
    return [group.name for group in _pattern(op, port).groups]
