"""Which cases prove an op: sizes around the edges of its blocks, in shapes that keep to its patterns, for every dtype combination and attr.

* Sizes come from the kernel's own ``blocks`` expression (`opkit.testing.blocks`); an op without one that tells gets `DEFAULT_SIZES` for its
  first input. They become shapes through the spec's patterns (`opkit.testing.shapes`).
* Crossed dtypes aren't all run: each dtype of each port is, at least once. Dtypes that only other SoCs have are left to those.
* For one size, each optional input is absent, and lists have other lengths.
* Attrs have their defaults; then, for one size, each attr in turn has one other value, a list one of as many elements
  (`opkit.testing.attr_values`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from opkit.errors import SpecError
from opkit.testing.attr_values import attrs_of, count_attrs, dtype_attrs, other_values
from opkit.testing.blocks import block_edge, rows_of, several_tiles
from opkit.testing.shapes import broadcasts, first_of, other_members, other_ranks, shapes_for

if TYPE_CHECKING:
    from opkit.run import AttrValue
    from opkit.spec import DTypeCombo, GivenShape, Op, Package

__all__ = ["DEFAULT_SIZES", "Plan", "combos_of", "plans_elsewhere", "plans_of"]

DEFAULT_SIZES = (0, 1, 31, 32, 33, 1000, 4097)

# As many crossed combinations are run as they are.
_FEW = 8


@attrs.frozen(kw_only=True)
class Plan:
    """One case before it has data. ``why`` says what for; without ``has_spec_attrs`` an attr has a value that was only guessed.

    ``block_size`` is the BLOCK_SIZE that the kernel is compiled with for this case; where it is None, that is the kernel's own.
    """

    op: Op
    combo: DTypeCombo
    shapes: Mapping[str, GivenShape]
    attrs: Mapping[str, AttrValue]
    why: str
    has_spec_attrs: bool = True
    block_size: int | None = None


def plans_of(package: Package, op: Op, soc: str | None = None) -> Iterator[Plan]:
    """Gives the cases of an op on a SoC, without those whose shapes the spec refuses: dims that can't be broadcast or that leave an output
    none.
    """
    is_compared = op.outputs and not op.kernel_shaped
    for plan in _candidates(package, op, soc) if is_compared else _uncompared(package, op, soc):
        try:
            op.infer_shapes(plan.shapes, plan.attrs)
        except SpecError:
            continue
        yield plan


def plans_elsewhere(package: Package, op: Op, soc: str | None) -> Iterator[Plan]:
    """Gives one case, never to be run, for each dtype combination that the op has on other SoCs only."""
    here = {str(combo) for combo in op.combos_on(soc)}
    port = first_of(op)
    for combo in _enough(op, [combo for combo in op.dtype_combos() if str(combo) not in here]):
        yield Plan(op=op, combo=combo, shapes=shapes_for(op, port, 1), attrs=attrs_of(package, op, combo), why="on another SoC")


def _uncompared(package: Package, op: Op, soc: str | None) -> Iterator[Plan]:
    """Of an op without outputs, or with one of which only the kernel knows the shape, there is nothing that could be compared: one case
    stands for all, and says so.
    """
    why = "a shape that only the kernel knows" if op.outputs else "no outputs"
    for combo in combos_of(op, soc)[:1]:
        shapes = shapes_for(op, first_of(op), DEFAULT_SIZES[-1])
        yield Plan(op=op, combo=combo, shapes=shapes, attrs=attrs_of(package, op, combo), why=why)


def _candidates(package: Package, op: Op, soc: str | None) -> Iterator[Plan]:
    edge = next((found for kernel in op.kernels if (found := block_edge(kernel.blocks))), None)
    sizes = DEFAULT_SIZES if edge is None else edge.sizes
    port = edge.port if edge is not None else first_of(op)
    for combo in combos_of(op, soc):
        values = attrs_of(package, op, combo)
        seen = set()
        for size in sizes:
            shapes = shapes_for(op, port, size)
            key = tuple(shapes.values())
            if key not in seen:
                seen.add(key)
                yield Plan(op=op, combo=combo, shapes=shapes, attrs=values, why=f"{size} element{'' if size == 1 else 's'}")
        for why, shapes in (
            *several_tiles(package, op, port),
            *rows_of(package, op),
            *other_ranks(op, port, sizes[-1]),
            *broadcasts(op, sizes[-1]),
        ):
            key = tuple(shapes.values())
            if key not in seen:
                seen.add(key)
                yield Plan(op=op, combo=combo, shapes=shapes, attrs=values, why=why)
        shapes = shapes_for(op, port, sizes[-1])
        for why, others in other_members(op, shapes):
            yield Plan(op=op, combo=combo, shapes=others, attrs={**values, **count_attrs(op, others)}, why=why)
        fixed = {**dtype_attrs(op, combo), **count_attrs(op, shapes)}
        for attr in (attr for attr in op.attrs if attr.name not in fixed):
            for other in other_values(attr, values[attr.name]):
                yield Plan(
                    op=op,
                    combo=combo,
                    shapes=shapes,
                    attrs={**values, attr.name: other},
                    why=f"{attr.name} = {other!r}",
                    has_spec_attrs=False,
                )


def combos_of(op: Op, soc: str | None = None) -> tuple[DTypeCombo, ...]:
    """Gives every column; of more than `_FEW` crossed combinations, enough that each port has each of its dtypes. Of those that only some
    SoCs have it gives those of ``soc``; none where that isn't known.
    """
    return _enough(op, op.combos_on(soc))


def _enough(op: Op, chosen: Sequence[DTypeCombo]) -> tuple[DTypeCombo, ...]:
    if not op.is_crossed or len(chosen) <= _FEW:
        return tuple(chosen)
    seen: set[tuple[str, str]] = set()
    kept = []
    # Along the diagonal first: a combination that has nothing in common with the ones before it saves two.
    for new in range(len(op.ports), 0, -1):
        for combo in chosen:
            pairs = {(name, dtype.name) for name, dtype in combo.ports.items()}
            if len(pairs - seen) >= new:
                seen |= pairs
                kept.append(combo)
    return tuple(kept)
