"""Which dtype two dtypes promote to: the one rule, for `Promote` in a spec and for the rows that are rendered from it.

The rule gives what GE's own table of promotions gives (`PromoteType` of `op_common/data_type_utils.h`, hicann/ge at ffdcbc9f; its uint16,
uint32 and uint64 promote with nothing but, in one order of the operands only, a complex number, which is left out). PyTorch's rule is the
same for the dtypes that both have.
"""

from __future__ import annotations

from collections.abc import Iterable

from opkit.spec.dtypes import DTYPES, DType

__all__ = ["promote", "promote_all"]

_SIGNED = ("int8", "int16", "int32", "int64")
_INTEGERS = ("bool", "uint8", *_SIGNED)
_FLOATS = ("bfloat16", "float16", "float32", "float64")
# The float dtype that each part of a complex number has.
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_COMPLEX_OF = {part: name for name, part in _PARTS.items()}


def promote(left: DType, right: DType) -> DType | None:
    """The dtype that holds a result of both, or None if they have none."""
    if left == right:
        return left
    name = _promoted(left.name, right.name)
    return None if name is None else DTYPES[name]


def promote_all(dtypes: Iterable[DType]) -> DType | None:
    """As `promote`, for one dtype or more, from left to right."""
    first, *others = dtypes
    found: DType | None = first
    for other in others:
        found = None if found is None else promote(found, other)
    return found


def _promoted(left: str, right: str) -> str | None:
    for one, other in ((left, right), (right, left)):
        if one in _PARTS:
            if other in _INTEGERS:
                return one
            part = _PARTS.get(other, other)
            return _COMPLEX_OF[_wider_float(_PARTS[one], part)] if part in _FLOATS else None
    floats = [name for name in (left, right) if name in _FLOATS]
    if len(floats) == 2:
        return _wider_float(left, right)
    if floats:
        return floats[0] if {left, right} <= {*_INTEGERS, *_FLOATS} else None
    return _wider_integer(left, right) if {left, right} <= set(_INTEGERS) else None


def _wider_float(left: str, right: str) -> str:
    """Neither 16-bit float holds the other."""
    if {left, right} == {"bfloat16", "float16"}:
        return "float32"
    return max(left, right, key=_FLOATS.index)


def _wider_integer(left: str, right: str) -> str:
    """int8 and uint8 don't hold each other; bool counts as the narrowest."""
    if {left, right} == {"uint8", "int8"}:
        return "int16"
    return max(left, right, key=_INTEGERS.index)
