"""The small-block variant of a package: more than 65,535 blocks with a tensor of a few megabytes.

A launch of that many full blocks would need 64 M elements. The variant's kernel is compiled with ``#define BLOCK_SIZE 32``, and the number
in ``blocks`` and ``args`` that is the kernel's own BLOCK_SIZE becomes 32 too. It is a package of its own, rendered and built beside the
real one; the real deliverable never holds it. An op whose blocks are the rows of a tensor needs none: many rows are small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from opkit.errors import SpecError
from opkit.spec import MAX_BLOCKS
from opkit.testing.attr_values import attrs_of
from opkit.testing.blocks import block_edge, elements_of, is_bounded, many_rows, row_dim
from opkit.testing.shapes import shapes_for

if TYPE_CHECKING:
    from opkit.spec import GivenShape, Kernel, Op, Package

__all__ = ["BLOCK_DEFINE", "SMALL_BLOCK", "ManyBlocks", "NoVariant", "SmallBlock", "small_block_of"]

# The least with which a tile of one-byte elements is a whole 32-byte block of the Unified Buffer.
SMALL_BLOCK = 32

BLOCK_DEFINE = "BLOCK_SIZE"
# More than 65,535 blocks, the last one partly filled.
_ELEMENTS = (MAX_BLOCKS + 1) * SMALL_BLOCK + 1
# What a pattern makes of them may be the square of it in another port.
_MOST_ELEMENTS = 1 << 24


@attrs.frozen(kw_only=True)
class NoVariant:
    """An op that can't be tested with more than 65,535 blocks, and why."""

    op: str
    reason: str


@attrs.frozen(kw_only=True)
class ManyBlocks:
    """The shapes of an op's case; ``why`` says how many blocks they are, and of what size."""

    shapes: Mapping[str, GivenShape]
    why: str


@attrs.frozen(kw_only=True)
class SmallBlock:
    """``package`` holds the ops that have a variant, None if none has; ``cases`` has each of them by its type."""

    package: Package | None
    cases: Mapping[str, ManyBlocks]
    skipped: tuple[NoVariant, ...]


def small_block_of(package: Package) -> SmallBlock:
    """Says nothing of ops that can't be run at all."""
    cases: dict[str, ManyBlocks] = {}
    skipped: list[NoVariant] = []
    able = []
    for op in (each for each in package.ops if not each.kernel_shaped):
        reason = _obstacle(op)
        small = op if reason else attrs.evolve(op, kernels=tuple(kernel.with_define(BLOCK_DEFINE, SMALL_BLOCK) for kernel in op.kernels))
        rows = many_rows(package, op)
        case = (rows if isinstance(rows, str) else reason) if reason else _many_blocks(package, small)
        if isinstance(case, ManyBlocks):
            cases[op.type] = case
            able.append(small)
        elif not all(is_bounded(kernel.blocks) for kernel in op.kernels) and not (isinstance(rows, dict) and _strides_over_rows(op)):
            skipped.append(NoVariant(op=op.type, reason=case))
    # Without the benchmark: it may name an op that has no variant.
    variant = attrs.evolve(package, ops=tuple(able), benchmark=None) if able else None
    return SmallBlock(package=variant, cases=cases, skipped=tuple(skipped))


def _strides_over_rows(op: Op) -> bool:
    """Whether the case with many rows is one of many blocks for every kernel."""
    return len({row_dim(kernel.blocks) for kernel in op.kernels}) == 1 and all(kernel.strides for kernel in op.kernels)


def _obstacle(op: Op) -> str | None:
    """Why the kernels can't be tried with a small block; of several it names the one."""
    # First those that a shape can give more than 65,535 blocks.
    kernels = sorted(op.kernels, key=lambda kernel: is_bounded(kernel.blocks))
    kernel, reason = next(((kernel, found) for kernel in kernels if (found := _obstacle_of(kernel))), (op.kernel, None))
    return reason if reason is None or len(op.kernels) == 1 else f"{kernel.entry}: {reason}"


def _obstacle_of(kernel: Kernel) -> str | None:
    if not kernel.strides:
        return f"its kernel doesn't stride over blocks (strides=True), so more than {MAX_BLOCKS} are an error"
    edge = block_edge(kernel.blocks)
    if edge is None:
        needed = f"ceil_div(numel(port), N) where N is the kernel's {BLOCK_DEFINE}"
        return f"blocks would have to hold dim(port, axis), the same in every kernel, or {needed}"
    size = kernel.defines.get(BLOCK_DEFINE, kernel.integer_defaults.get(BLOCK_DEFINE))
    if not isinstance(size, int):
        return f"{kernel.relative} gives {BLOCK_DEFINE} no number under #ifndef {BLOCK_DEFINE}"
    if edge.elements != size:
        return f"blocks has {edge.elements} where ceil_div(numel(port), {size}), the kernel's {BLOCK_DEFINE}, would be needed"
    return None


def _many_blocks(package: Package, op: Op) -> ManyBlocks | str:
    """Gives the case of an op whose kernel already has the small block, or why there is none."""
    edge = block_edge(op.kernel.blocks)
    assert edge is not None  # noqa: S101 - _obstacle lets no other op through
    inputs = shapes_for(op, edge.port, _ELEMENTS, at_least=True)
    values = attrs_of(package, op, op.dtype_combos()[0])
    try:
        scope = op.scope(inputs, values)
        blocks = op.kernel.blocks.evaluate(scope)
    except SpecError as error:
        return f"{error.message}: {error.because}" if error.because else error.message
    largest = max(elements_of(scope).values())
    if largest > _MOST_ELEMENTS:
        return f"its shapes would make a tensor of {largest} elements"
    length = math.prod(scope.shapes[edge.port] or ())
    tiles = -(-length // SMALL_BLOCK)
    if tiles <= MAX_BLOCKS:
        return f"{edge.port} can have {length} elements only, {tiles} blocks of {SMALL_BLOCK}"
    # A spec may launch fewer, as `min_(..., cores())` does: then each of them strides over more.
    what = "blocks" if blocks > MAX_BLOCKS else "tiles"
    return ManyBlocks(shapes=inputs, why=f"more than {MAX_BLOCKS} {what} of {BLOCK_DEFINE} {SMALL_BLOCK}")
