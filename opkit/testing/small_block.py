"""The small-block variant of a package: more than 65,535 blocks with a tensor of a few megabytes.

A launch of that many full blocks would need 64 M elements. The variant's kernel is compiled with ``#define BLOCK_SIZE 32``, and the number
in ``blocks`` that is the kernel's own BLOCK_SIZE becomes 32 too. It is a package of its own, rendered and built beside the real one; the
real deliverable never holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from opkit.testing.generate import block_edge

if TYPE_CHECKING:
    from opkit.spec import Op, Package

__all__ = ["MAX_BLOCKS", "SMALL_BLOCK", "NoVariant", "SmallBlock", "small_block_of"]

# A launch of more is refused (107000), so a kernel that strides is launched with this many at most.
MAX_BLOCKS = 65_535
# The least with which a tile of one-byte elements is a whole 32-byte block of the Unified Buffer.
SMALL_BLOCK = 32

_DEFINE = "BLOCK_SIZE"


@attrs.frozen(kw_only=True)
class NoVariant:
    """An op that can't be tested with more than 65,535 blocks, and why."""

    op: str
    reason: str


@attrs.frozen(kw_only=True)
class SmallBlock:
    """``package`` holds the ops that have a variant, None if none has."""

    package: Package | None
    skipped: tuple[NoVariant, ...]

    @property
    def elements(self) -> int:
        """So many elements of an op's block port are more than 65,535 blocks, the last one partly filled."""
        return (MAX_BLOCKS + 1) * SMALL_BLOCK + 1


def small_block_of(package: Package) -> SmallBlock:
    reasons = {op.type: _obstacle(op) for op in package.ops}
    able = tuple(op for op in package.ops if reasons[op.type] is None)
    # Without the benchmark: it may name an op that has no variant.
    variant = attrs.evolve(package, ops=able, benchmark=None).with_define(_DEFINE, SMALL_BLOCK) if able else None
    return SmallBlock(package=variant, skipped=tuple(NoVariant(op=name, reason=reason) for name, reason in reasons.items() if reason))


def _obstacle(op: Op) -> str | None:
    kernel = op.kernel
    if not kernel.strides:
        return f"its kernel doesn't stride over blocks (strides=True), so more than {MAX_BLOCKS} are an error"
    size = kernel.defines.get(_DEFINE, kernel.integer_defaults.get(_DEFINE))
    if not isinstance(size, int):
        return f"{kernel.relative} gives {_DEFINE} no number under #ifndef {_DEFINE}"
    edge = block_edge(kernel.blocks)
    if edge is None or edge.elements != size:
        return f"blocks doesn't hold ceil_div(numel(port), {size}), the kernel's {_DEFINE}"
    return None
