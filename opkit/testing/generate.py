"""Which cases prove an op: sizes around the edges of its blocks, in shapes that keep to its patterns, for every dtype combination and attr.

* Sizes come from the kernel's own ``blocks`` expression: where it holds ``ceil_div(numel(port), N)``, that port gets 0, 1, N-1, N, N+1 and
  3N+1 elements. An op without such an expression gets `DEFAULT_SIZES` for its first input.
* Where a kernel strides over as many blocks as a dim has rows, as in ``blocks=dim("x", 0)``, that dim is 0, a few, and more than a launch
  has blocks; where it has a block an element, as in ``blocks=numel("x")``, that port has more elements than a launch has blocks.
* A size becomes a shape through the spec's patterns: the port's group of dims (or, without one, its last named dim) takes the size, its
  other names are 1. A named group gets two more shapes, one of rank 2 and one of rank 0; a port with several named dims one in which none
  is 1.
* Crossed dtypes aren't all run: each dtype of each port is, at least once. Dtypes that only other SoCs have are left to those.
* Optional inputs are there, and dynamic ones have 3 tensors; then, for one size, each optional one is absent, and the dynamic ones have 1
  and 17 tensors. An attr that counts them says so.
* Attrs have their defaults; then, for one size, each attr in turn has one other value, a list one of as many elements. A required attr
  has the benchmark's value, else a small one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from opkit.errors import SpecError
from opkit.spec import (
    MAX_BLOCKS,
    Attr,
    AttrType,
    Binary,
    BinaryOp,
    Broadcast,
    ComputedDim,
    Cores,
    Dim,
    DimGroup,
    DType,
    DTypeCombo,
    Expr,
    FixedDim,
    GivenShape,
    Input,
    NamedDim,
    Number,
    Numel,
    Op,
    Package,
    ShapePattern,
    UpperBound,
    UserShape,
)

if TYPE_CHECKING:
    from opkit.run import AttrValue
    from opkit.spec import Kernel, Scope
    from opkit.spec.shapes import PatternItem

__all__ = [
    "DEFAULT_SIZES",
    "BlockEdge",
    "Plan",
    "attrs_of",
    "block_edge",
    "combos_of",
    "many_rows",
    "plans_elsewhere",
    "plans_of",
    "row_dim",
    "shapes_for",
]

DEFAULT_SIZES = (0, 1, 31, 32, 33, 1000, 4097)

# As many crossed combinations are run as they are.
_FEW = 8

# A dim that no size decides: not 1, so that a mix-up of two axes shows, and no power of two, so that a missing tail shows.
_OTHER_DIM = 3
# The tensors of a dynamic input; then one, and more than fit in any fixed array that a kernel would think of.
_MEMBERS = 3
_OTHER_MEMBERS = (1, 17)

_FEW_ROWS = 7
# Two blocks do a second row: a stride that leaves one out, or does another, shows.
_MANY_ROWS = MAX_BLOCKS + 2
# Of so many random rows of a few elements some have hardly any variance, and what a right kernel makes of those is inexact. The second
# width is for tensors that would be too large.
_ROW_WIDTHS = (17, 3)
_MOST_BYTES = 64 << 20

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
    shapes: Mapping[str, GivenShape]
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
            if _is_limit(left):
                return row_dim(right)
            return row_dim(left) if _is_limit(right) else None
    return None


def _is_limit(expr: Expr) -> bool:
    return isinstance(expr, Number | Cores) or (isinstance(expr, Binary) and _is_limit(expr.left) and _is_limit(expr.right))


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
    shapes = _shapes_with(op, found, _MANY_ROWS, width)
    if shapes is None:
        return f"no input makes {found} as large as one likes"
    combos = op.dtype_combos()
    try:
        scope = op.scope(shapes, attrs_of(package, op, combos[0]))
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
    elements = {name: 0 if shape is None else math.prod(shape) * scope.counts.get(name, 1) for name, shape in scope.shapes.items()}
    size = max(sum(count * _bytes_of(combo.ports[name]) for name, count in elements.items()) for combo in combos)
    return shapes if size <= _MOST_BYTES else f"its tensors would have {size:,} bytes with {found} = {_MANY_ROWS}"


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


def _strided_dim(op: Op) -> Dim | Numel | None:
    return next((found for kernel in op.kernels if kernel.strides and (found := row_dim(kernel.blocks))), None)


def _rows(package: Package, op: Op) -> Iterator[tuple[str, dict[str, GivenShape]]]:
    found = _strided_dim(op)
    if found is None:
        return
    # The ladder of sizes has few elements.
    for rows in (0, _FEW_ROWS) if isinstance(found, Dim) else ():
        shapes = _shapes_with(op, found, rows, _ROW_WIDTHS[0])
        if shapes is not None:
            yield f"{found} = {rows}", shapes
    many = many_rows(package, op)
    if isinstance(many, dict):
        yield f"{found} = {_MANY_ROWS}, more than a launch has blocks", many


def _shapes_with(op: Op, dim: Dim | Numel, size: int, other: int) -> dict[str, GivenShape] | None:
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
    here = {str(combo) for combo in _of_soc(op, soc)}
    port = _first_of(op)
    for combo in _enough(op, [combo for combo in op.dtype_combos() if str(combo) not in here]):
        yield Plan(op=op, combo=combo, shapes=shapes_for(op, port, 1), attrs=attrs_of(package, op, combo), why="on another SoC")


def _uncompared(package: Package, op: Op, soc: str | None) -> Iterator[Plan]:
    """Of an op without outputs, or with one of which only the kernel knows the shape, there is nothing that could be compared: one case
    stands for all, and says so.
    """
    why = "a shape that only the kernel knows" if op.outputs else "no outputs"
    for combo in combos_of(op, soc)[:1]:
        shapes = shapes_for(op, _first_of(op), DEFAULT_SIZES[-1])
        yield Plan(op=op, combo=combo, shapes=shapes, attrs=attrs_of(package, op, combo), why=why)


def _candidates(package: Package, op: Op, soc: str | None) -> Iterator[Plan]:
    edge = next((found for kernel in op.kernels if (found := block_edge(kernel.blocks))), None)
    sizes = DEFAULT_SIZES if edge is None else edge.sizes
    port = edge.port if edge is not None else _first_of(op)
    for combo in combos_of(op, soc):
        values = attrs_of(package, op, combo)
        seen = set()
        for size in sizes:
            shapes = shapes_for(op, port, size)
            key = tuple(shapes.values())
            if key not in seen:
                seen.add(key)
                yield Plan(op=op, combo=combo, shapes=shapes, attrs=values, why=f"{size} elements")
        for why, shapes in (*_rows(package, op), *_other_ranks(op, port, sizes[-1]), *_broadcasts(op, sizes[-1])):
            key = tuple(shapes.values())
            if key not in seen:
                seen.add(key)
                yield Plan(op=op, combo=combo, shapes=shapes, attrs=values, why=why)
        shapes = shapes_for(op, port, sizes[-1])
        for why, others in _other_members(op, shapes):
            yield Plan(op=op, combo=combo, shapes=others, attrs={**values, **_count_attrs(op, others)}, why=why)
        fixed = {**_dtype_attrs(op, combo), **_count_attrs(op, shapes)}
        for attr in (attr for attr in op.attrs if attr.name not in fixed):
            for other in _other_values(attr, values[attr.name]):
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
    return _enough(op, _of_soc(op, soc))


def _of_soc(op: Op, soc: str | None) -> list[DTypeCombo]:
    rows = list(op.soc_rows.values())
    if soc is not None and op.soc_rows:
        names = [name for name in op.soc_rows if name != "default" and soc.startswith(name)]
        found = op.soc_rows.get(max(names, key=len) if names else "default")
        rows = [found or (False,) * len(op.dtype_combos())]
    return [combo for index, combo in enumerate(op.dtype_combos()) if all(each[index] for each in rows)]


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


def _dtype_attrs(op: Op, combo: DTypeCombo) -> dict[str, AttrValue]:
    """The attrs that must say which dtypes the outputs have."""
    return {output.dtype_attr: op.attr(output.dtype_attr).naming(combo.ports[output.name]) for output in op.outputs if output.dtype_attr}


def attrs_of(package: Package, op: Op, combo: DTypeCombo) -> dict[str, AttrValue]:
    benchmark = package.benchmark
    is_measured = benchmark is not None and op.type in {benchmark.op.type, benchmark.baseline and benchmark.baseline.type}
    chosen = benchmark.attrs if benchmark is not None and is_measured else {}
    values = {attr.name: chosen.get(attr.name, _small_value(attr.type)) if attr.default is None else attr.default for attr in op.attrs}
    lists: Mapping[str, GivenShape] = {port.name: [()] * _MEMBERS for port in op.inputs if port.is_dynamic}
    return {**values, **_dtype_attrs(op, combo), **_count_attrs(op, lists)}


def _count_attrs(op: Op, shapes: Mapping[str, GivenShape]) -> dict[str, AttrValue]:
    """The attrs that must say how many tensors the dynamic inputs have."""
    return {port.count_attr: len(port.shapes_in(shapes.get(port.name))) for port in op.inputs if port.count_attr is not None}


def _other_members(op: Op, shapes: Mapping[str, GivenShape]) -> Iterator[tuple[str, dict[str, GivenShape]]]:
    """Each optional input absent, and lists of other lengths."""
    for port in op.inputs:
        if port.is_optional:
            yield f"{port.name} absent", {name: shape for name, shape in shapes.items() if name != port.name}
    lists = {port.name: port.shapes_in(shapes[port.name])[0] for port in op.inputs if port.is_dynamic}
    for count in _OTHER_MEMBERS if lists else ():
        many = f"{count} tensor{'s' if count > 1 else ''} in {' and '.join(lists)}"
        yield many, {**shapes, **{name: (shape,) * count for name, shape in lists.items()}}


def _first_of(op: Op) -> str | None:
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


def _other_ranks(op: Op, port: str | None, size: int) -> Iterator[tuple[str, dict[str, GivenShape]]]:
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

    return {port.name: (shape(port),) * _MEMBERS if port.is_dynamic else shape(port) for port in op.inputs}


def _group_names(op: Op, port: str) -> list[str]:
    return [group.name for group in _pattern(op, port).groups]


def _broadcasts(op: Op, size: int) -> Iterator[tuple[str, dict[str, GivenShape]]]:
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


def _small_value(kind: AttrType) -> AttrValue:
    """For a required attr that nothing is known of."""
    small: Mapping[AttrType, AttrValue] = {
        AttrType.INT: 1,
        AttrType.FLOAT: 0.5,
        AttrType.BOOL: True,
        AttrType.STR: "",
        AttrType.TYPE: "float32",
        AttrType.BYTES: b"\x01",
        AttrType.TENSOR: (),
    }
    return small[kind] if kind.element is None else (_small_value(kind.element),)


def _other_values(attr: Attr, value: AttrValue) -> tuple[AttrValue, ...]:
    """What a text or a dtype may be is the op's own, and how many elements a list may have: no other can be guessed."""
    other = _other_value(attr.type, value)
    return () if other is None or other == value else (other,)


def _other_value(kind: AttrType, value: AttrValue) -> AttrValue | None:
    match kind:
        case AttrType.BOOL:
            return not value
        case AttrType.INT if isinstance(value, int):
            return value - 1 if value == 2**63 - 1 else value + 1
        case AttrType.FLOAT if isinstance(value, float):
            return value * 2 + 0.25 if abs(value) < 1e30 else value / 2
    if kind.element is None or not isinstance(value, tuple):
        return None
    others = tuple(_other_value(kind.element, each) for each in value)
    return None if None in others else tuple(each for each in others if each is not None)
