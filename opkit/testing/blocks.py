"""What decides how many blocks a kernel is launched with, found in its ``blocks`` expression, and the shapes around that.

* Where it holds ``ceil_div(numel(port), N)``, that port gets 0, 1, N-1, N, N+1 and 3N+1 elements.
* Where a kernel strides over as many blocks as a dim has rows, as in ``blocks=dim("x", 0)``, that dim is 0, a few, and more than a launch
  has blocks; where it has a block an element, as in ``blocks=numel("x")``, that port has more elements than a launch has blocks.
* Where no shape makes them more than a fixed number, as in ``blocks=32``, one case has so many elements that a block has several tiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from opkit.errors import SpecError
from opkit.spec import MAX_BLOCKS, Binary, BinaryOp, Cores, Dim, DType, Expr, GivenShape, Number, Numel, Op, Package
from opkit.testing.attr_values import attrs_of
from opkit.testing.shapes import shapes_for, shapes_with

if TYPE_CHECKING:
    from opkit.spec import Kernel, Scope

__all__ = ["BlockEdge", "block_edge", "elements_of", "is_bounded", "many_rows", "row_dim", "rows_of", "several_tiles"]

_FEW_ROWS = 7
# Two blocks do a second row: a stride that leaves one out, or does another, shows.
_MANY_ROWS = MAX_BLOCKS + 2
# Of so many random rows of a few elements some have hardly any variance, and what a right kernel makes of those is inexact. The second
# width is for tensors that would be too large.
_ROW_WIDTHS = (17, 3)
_MOST_BYTES = 64 << 20
# Dozens of blocks have a second tile of some thousand elements each, and the last one isn't full.
_MANY_ELEMENTS = 200_003


@attrs.frozen(kw_only=True)
class BlockEdge:
    """``ceil_div(numel(port), elements)``, found in a kernel's blocks."""

    port: str
    elements: int

    @property
    def sizes(self) -> tuple[int, ...]:
        n = self.elements
        return tuple(sorted({0, 1, n - 1, n, n + 1, 3 * n + 1}))


def block_edge(blocks: Expr) -> BlockEdge | None:
    """Gives the first ``ceil_div(numel(port), N)`` of an expression, from the outside in."""
    match blocks:
        case Binary(op=BinaryOp.CEIL_DIV, left=Numel(port=port), right=Number(value=elements)) if elements > 0:
            return BlockEdge(port=port, elements=elements)
        case Binary(left=left, right=right):
            return block_edge(left) or block_edge(right)
    return None


def row_dim(blocks: Expr) -> Dim | Numel | None:
    """Gives a dim that decides how many blocks there are, or the elements of a port: the first one that is multiplied by something, or held
    to limits that no shape changes.
    """
    match blocks:
        case Dim() | Numel():
            return blocks
        case Binary(op=BinaryOp.MUL, left=left, right=right):
            return row_dim(left) or row_dim(right)
        case Binary(op=BinaryOp.MIN | BinaryOp.MAX, left=left, right=right):
            if _is_fixed(left):
                return row_dim(right)
            return row_dim(left) if _is_fixed(right) else None
    return None


def is_bounded(blocks: Expr) -> bool:
    """Whether no shape makes them more than some fixed number."""
    match blocks:
        case Binary(op=BinaryOp.MIN, left=left, right=right):
            return is_bounded(left) or is_bounded(right)
        case Binary(op=BinaryOp.MAX, left=left, right=right):
            return is_bounded(left) and is_bounded(right)
    return _is_fixed(blocks)


def _is_fixed(expr: Expr) -> bool:
    return isinstance(expr, Number | Cores) or (isinstance(expr, Binary) and _is_fixed(expr.left) and _is_fixed(expr.right))


def rows_of(package: Package, op: Op) -> Iterator[tuple[str, dict[str, GivenShape]]]:
    found = _strided_dim(op)
    if found is None:
        return
    # The ladder of sizes has few elements.
    for rows in (0, _FEW_ROWS) if isinstance(found, Dim) else ():
        shapes = shapes_with(op, found, rows, _ROW_WIDTHS[0])
        if shapes is not None:
            yield f"{found} = {rows}", shapes
    many = many_rows(package, op)
    if isinstance(many, dict):
        yield f"{found} = {_MANY_ROWS}, more than a launch has blocks", many


def several_tiles(package: Package, op: Op, port: str | None) -> Iterator[tuple[str, dict[str, GivenShape]]]:
    """Of an op whose kernels share their work among no more than some fixed number of blocks: a case in which each has several tiles."""
    if port is None or not any(is_bounded(kernel.blocks) and kernel.blocks != Number(1) for kernel in op.kernels):
        return
    shapes = shapes_for(op, port, _MANY_ELEMENTS)
    try:
        scope = op.scope(shapes, attrs_of(package, op, op.dtype_combos()[0]))
    except SpecError:
        return
    if _most_bytes(op, scope) <= _MOST_BYTES and all(_why_unfit(kernel, scope) is None for kernel in op.kernels):
        yield f"{_MANY_ELEMENTS} elements, several tiles a block", shapes


def many_rows(package: Package, op: Op) -> dict[str, GivenShape] | str | None:
    """Gives the shapes of the case that has more rows than a launch has blocks, or why there is none; None for an op without such rows."""
    found = _strided_dim(op)
    if found is None:
        return None
    made: dict[str, GivenShape] | str = ""
    for width in _ROW_WIDTHS:
        made = _held_rows(package, op, found, width)
        if isinstance(made, dict):
            break
    return made


def _held_rows(package: Package, op: Op, found: Dim | Numel, width: int) -> dict[str, GivenShape] | str:
    shapes = shapes_with(op, found, _MANY_ROWS, width)
    if shapes is None:
        return f"no input makes {found} as large as one likes"
    try:
        scope = op.scope(shapes, attrs_of(package, op, op.dtype_combos()[0]))
        rows = found.evaluate(scope)
        launches = [(kernel, kernel.blocks.evaluate(scope)) for kernel in op.kernels]
    except SpecError as error:
        return f"{error.message}: {error.because}" if error.because else error.message
    if rows < _MANY_ROWS:
        return f"no input makes {found} as large as one likes"
    if any(blocks > MAX_BLOCKS and not kernel.strides for kernel, blocks in launches):
        return f"a kernel of it doesn't stride over blocks (strides=True), so more than {MAX_BLOCKS} are an error"
    unfit = next((reason for kernel in op.kernels if (reason := _why_unfit(kernel, scope)) is not None), None)
    if unfit is not None:
        return unfit
    size = _most_bytes(op, scope)
    return shapes if size <= _MOST_BYTES else f"its tensors would have {size:,} bytes with {found} = {_MANY_ROWS}"


def elements_of(scope: Scope) -> dict[str, int]:
    """The elements of each port, of all tensors of a list together."""
    return {name: 0 if shape is None else math.prod(shape) * scope.counts.get(name, 1) for name, shape in scope.shapes.items()}


def _most_bytes(op: Op, scope: Scope) -> int:
    """What all tensors have, with the widest dtypes."""
    elements = elements_of(scope)
    return max(sum(count * _bytes_of(combo.ports[name]) for name, count in elements.items()) for combo in op.dtype_combos())


def _strided_dim(op: Op) -> Dim | Numel | None:
    return next((found for kernel in op.kernels if kernel.strides and (found := row_dim(kernel.blocks))), None)


def _why_unfit(kernel: Kernel, scope: Scope) -> str | None:
    """Why an argument can't hold its value, with which the op refuses a launch; None if each can, as far as values are known."""
    for name, scalar, expr in (each for arg in kernel.args for each in arg.scalars if each[1].is_integer):
        try:
            value = expr.evaluate(scope)
        except SpecError:
            continue
        low, high = scalar.limits
        if not low <= value <= high:
            return f"{scalar.value} {name} of the kernel can't hold {value}"
    return None


def _bytes_of(dtype: DType) -> int:
    # A tensor that no array can hold is never made.
    return 0 if dtype.npy is None else dtype.bytes
