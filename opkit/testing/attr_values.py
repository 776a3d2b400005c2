"""Values of the attrs of an op: those of the spec, and for one case each another one.

Attrs have their defaults, a required one has the benchmark's value, else a small one. One that counts tensors or names the dtype of an
output says what the case has.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from opkit.spec import Attr, AttrType, DTypeCombo, GivenShape, Op, Package
from opkit.testing.shapes import MEMBERS

if TYPE_CHECKING:
    from opkit.run import AttrValue

__all__ = ["attrs_of", "count_attrs", "dtype_attrs", "other_values"]


def attrs_of(package: Package, op: Op, combo: DTypeCombo) -> dict[str, AttrValue]:
    benchmark = package.benchmark
    is_measured = benchmark is not None and op.type in {benchmark.op.type, benchmark.baseline and benchmark.baseline.type}
    chosen = benchmark.attrs if benchmark is not None and is_measured else {}
    values = {attr.name: chosen.get(attr.name, _small_value(attr.type)) if attr.default is None else attr.default for attr in op.attrs}
    lists: Mapping[str, GivenShape] = {port.name: [()] * MEMBERS for port in op.inputs if port.is_dynamic}
    return {**values, **dtype_attrs(op, combo), **count_attrs(op, lists)}


def dtype_attrs(op: Op, combo: DTypeCombo) -> dict[str, AttrValue]:
    """The attrs that must say which dtypes the outputs have."""
    return {output.dtype_attr: op.attr(output.dtype_attr).naming(combo.ports[output.name]) for output in op.outputs if output.dtype_attr}


def count_attrs(op: Op, shapes: Mapping[str, GivenShape]) -> dict[str, AttrValue]:
    """The attrs that must say how many tensors the dynamic inputs have."""
    return {port.count_attr: len(port.shapes_in(shapes.get(port.name))) for port in op.inputs if port.count_attr is not None}


def other_values(attr: Attr, value: AttrValue) -> tuple[AttrValue, ...]:
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
