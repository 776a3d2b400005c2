"""Which cases prove an op: sizes around the edges of its blocks, in shapes that keep to its patterns, for every dtype combination and attr.

* Sizes come from the kernel's own ``blocks`` expression: where it holds ``ceil_div(numel(port), N)``, that port gets 0, 1, N-1, N, N+1 and
  3N+1 elements. An op without such an expression gets `DEFAULT_SIZES` for its first input.
* A size becomes a shape through the spec's patterns: the port's group of dims (or, without one, its last named dim) takes the size, its
  other names are 1. A named group gets two more shapes, one of rank 2 and one of rank 0; a port with several named dims one in which none
  is 1.
* Attrs have their defaults; then, for one size, each attr in turn has one other value. A required attr has the benchmark's value, else a
  small one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import attrs

from opkit.spec import (
    Attr,
    AttrType,
    Binary,
    BinaryOp,
    DimGroup,
    DTypeCombo,
    Expr,
    FixedDim,
    NamedDim,
    Number,
    Numel,
    Op,
    Package,
    ShapePattern,
)

if TYPE_CHECKING:
    from opkit.run import AttrValue

__all__ = ["DEFAULT_SIZES", "BlockEdge", "Plan", "attrs_of", "block_edge", "plans_of", "shapes_for"]

DEFAULT_SIZES = (0, 1, 31, 32, 33, 1000, 4097)

# A dim that no size decides: not 1, so that a mix-up of two axes shows, and no power of two, so that a missing tail shows.
_OTHER_DIM = 3

_Binding = Mapping[str, tuple[int, ...]]


@attrs.frozen(kw_only=True)
class BlockEdge:
    """``ceil_div(numel(port), elements)``, found in a kernel's blocks."""

    port: str
    elements: int

    @property
    def sizes(self) -> tuple[int, ...]:
        n = self.elements
        return tuple(sorted({0, 1, n - 1, n, n + 1, 3 * n + 1}))


@attrs.frozen(kw_only=True)
class Plan:
    """One case before it has data. ``why`` says what for; without ``has_spec_attrs`` an attr has a value that was only guessed.

    ``block_size`` is the BLOCK_SIZE that the kernel is compiled with for this case; where it is None, that is the kernel's own.
    """

    op: Op
    combo: DTypeCombo
    shapes: Mapping[str, tuple[int, ...]]
    attrs: Mapping[str, AttrValue]
    why: str
    has_spec_attrs: bool = True
    block_size: int | None = None


def block_edge(blocks: Expr) -> BlockEdge | None:
    """Gives the first ``ceil_div(numel(port), N)`` of an expression, from the outside in."""
    match blocks:
        case Binary(op=BinaryOp.CEIL_DIV, left=Numel(port=port), right=Number(value=elements)) if elements > 0:
            return BlockEdge(port=port, elements=elements)
        case Binary(left=left, right=right):
            return block_edge(left) or block_edge(right)
    return None


def plans_of(package: Package, op: Op) -> Iterator[Plan]:
    edge = block_edge(op.kernel.blocks)
    sizes = DEFAULT_SIZES if edge is None else edge.sizes
    port = edge.port if edge is not None else op.inputs[0].name
    values = attrs_of(package, op)
    for combo in op.dtype_combos():
        seen = set()
        for size in sizes:
            shapes = shapes_for(op, port, size)
            key = tuple(shapes.values())
            if key not in seen:
                seen.add(key)
                yield Plan(op=op, combo=combo, shapes=shapes, attrs=values, why=f"{size} elements")
        for why, shapes in _other_ranks(op, port, sizes[-1]):
            key = tuple(shapes.values())
            if key not in seen:
                seen.add(key)
                yield Plan(op=op, combo=combo, shapes=shapes, attrs=values, why=why)
        shapes = shapes_for(op, port, sizes[-1])
        for attr in op.attrs:
            for other in _other_values(attr, values[attr.name]):
                yield Plan(
                    op=op,
                    combo=combo,
                    shapes=shapes,
                    attrs={**values, attr.name: other},
                    why=f"{attr.name} = {other!r}",
                    has_spec_attrs=False,
                )


def attrs_of(package: Package, op: Op) -> dict[str, AttrValue]:
    benchmark = package.benchmark
    is_measured = benchmark is not None and op.type in {benchmark.op.type, benchmark.baseline and benchmark.baseline.type}
    chosen = benchmark.attrs if benchmark is not None and is_measured else {}
    small: Mapping[AttrType, AttrValue] = {AttrType.INT: 1, AttrType.FLOAT: 0.5, AttrType.BOOL: True, AttrType.STR: ""}
    return {attr.name: chosen.get(attr.name, small[attr.type]) if attr.default is None else attr.default for attr in op.attrs}


def shapes_for(op: Op, port: str, size: int, *, at_least: bool = False) -> dict[str, tuple[int, ...]]:
    """Gives a shape for each input so that ``port`` has ``size`` elements, or as near below (``at_least``: above) as its fixed dims and
    names that stand twice allow; all in the fewest dims. A port of fixed dims only has what they say.
    """
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


def _other_ranks(op: Op, port: str, size: int) -> Iterator[tuple[str, dict[str, tuple[int, ...]]]]:
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


def _pattern(op: Op, port: str) -> ShapePattern:
    """An input without a pattern is one group: nothing is known of it."""
    return op.port(port).shape or ShapePattern("...", (DimGroup("..."),))


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


def _applied(op: Op, binding: _Binding, unconstrained: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """Gives each input's shape: bound names as bound, other names `_OTHER_DIM`; an input without a pattern is ``unconstrained``."""

    def dims(item: NamedDim | FixedDim | DimGroup) -> tuple[int, ...]:
        return (item.size,) if isinstance(item, FixedDim) else binding.get(item.name, (_OTHER_DIM,))

    return {
        port.name: unconstrained if port.shape is None else tuple(dim for item in port.shape.items for dim in dims(item))
        for port in op.inputs
    }


def _other_values(attr: Attr, value: AttrValue) -> tuple[AttrValue, ...]:
    """No other text can be guessed for a string: what it may be is the op's own."""
    match attr.type:
        case AttrType.BOOL:
            return (not value,)
        case AttrType.INT:
            return (int(value) + 1,)
        case AttrType.FLOAT:
            return (float(value) * 2 + 0.25,)
        case AttrType.STR:
            return ()
