"""The values that an attr can have: the one place that says what fits GE's Int, Float, Bool and String."""

from __future__ import annotations

import math
import struct

from opkit.spec.fields import integer_of
from opkit.spec.model import AttrDefault, AttrType

ATTR_TYPES = tuple(kind.value for kind in AttrType)
_BY_PYTHON_TYPE: dict[object, AttrType] = {int: AttrType.INT, float: AttrType.FLOAT, bool: AttrType.BOOL, str: AttrType.STR}
_BY_WORD = {
    **{kind.value: kind for kind in AttrType},
    **{kind.ge_name: kind for kind in AttrType},
    "string": AttrType.STR,
}


def attr_type_of(word: object) -> AttrType | None:
    """The attr type of `float`, "float" or "Float", or None."""
    if isinstance(word, str):
        return _BY_WORD.get(word)
    return _BY_PYTHON_TYPE.get(word) if isinstance(word, type) else None


def attr_value(kind: AttrType, value: object) -> tuple[AttrDefault | None, str | None]:
    """The value in the attr's Python type and None, or None and the reason why the type can't hold it."""
    match kind:
        case AttrType.BOOL:
            return (value, None) if isinstance(value, bool) else (None, "a bool is True or False")
        case AttrType.INT:
            return _int(value)
        case AttrType.FLOAT:
            return _float(value)
        case AttrType.STR:
            return _str(value)


def _int(value: object) -> tuple[int | None, str | None]:
    number = integer_of(value)
    if number is None:
        return None, "an int is a whole number"
    if not -(2**63) <= number < 2**63:
        return None, "it doesn't fit in int64"
    return number, None


def _float(value: object) -> tuple[float | None, str | None]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None, "a float is a number"
    try:
        number = float(value)
        if not math.isfinite(number):
            return None, "a float attr is finite"
        (single,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return None, "it doesn't fit in float32"
    if single == 0 and number != 0:
        return None, "it is 0 as a float32"
    return number, None


def _str(value: object) -> tuple[str | None, str | None]:
    if not isinstance(value, str):
        return None, "a str is a text"
    if "\0" in value:
        return None, "a C string can't hold a NUL"
    try:
        value.encode()
    except UnicodeEncodeError:
        return None, "it isn't valid Unicode"
    return value, None
