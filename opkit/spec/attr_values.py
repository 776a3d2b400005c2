"""The values that an attr can have: the one place that says what fits each of GE's attr types."""

from __future__ import annotations

import math
import numbers
import struct
from typing import TYPE_CHECKING, Any, get_args, get_origin

from opkit.spec.dtypes import DTYPES, find_dtype, likely_dtype
from opkit.spec.fields import integer_of, shown
from opkit.spec.model import AttrDefault, AttrType
from opkit.spec.problems import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

ATTR_TYPES = tuple(kind.value for kind in AttrType)
PYTHON_TYPES: dict[object, AttrType] = {
    int: AttrType.INT,
    float: AttrType.FLOAT,
    bool: AttrType.BOOL,
    str: AttrType.STR,
    bytes: AttrType.BYTES,
}
_LIST_OF: dict[AttrType | None, AttrType] = {kind.element: kind for kind in AttrType if kind.element is not None}
ATTR_WORDS = {
    **{kind.value: kind for kind in AttrType},
    **{kind.ge_name: kind for kind in AttrType},
    "string": AttrType.STR,
    "list_string": AttrType.LIST_STR,
    # As msopgen and TensorFlow's prototypes write them.
    **{f"l{kind.ge_name[1:]}": kind for kind in AttrType if kind.element is not None},
    **{f"{kind.element.value}[]": kind for kind in AttrType if kind.element is not None},
    "string[]": AttrType.LIST_STR,
    "int[][]": AttrType.LIST_LIST_INT,
}
# What NumPy's types of a scalar are as an attr.
_PLAIN = {"bool", "int", "float"}
_NOT_DEFINED = {"NamedAttrs", "ListNamedAttrs"}


def attr_type_of(word: object) -> AttrType | None:
    """The attr type of `float`, "float" or "Float", of `list[float]`, "list_float" or "ListFloat", or None."""
    if isinstance(word, str):
        return ATTR_WORDS.get(word)
    if get_origin(word) is list:
        elements = get_args(word)
        return _LIST_OF.get(attr_type_of(elements[0])) if len(elements) == 1 else None
    return PYTHON_TYPES.get(word) if isinstance(word, type) else None


def why_no_attr_type(word: object) -> tuple[str | None, str | None]:
    """Why a word is no attr type, if that is known, and what to write instead."""
    if isinstance(word, str) and word in _NOT_DEFINED:
        return "GE's public headers only declare that class, so a prototype with it doesn't compile", None
    near = None
    if isinstance(word, str):
        turned = f"List{word.removesuffix('List')}"
        near = f"did you mean {turned!r}?" if word.endswith("List") and turned in ATTR_WORDS else did_you_mean(word, ATTR_TYPES)
    elif (likely := likely_dtype(word)) is not None and (plain := likely.name.lstrip("u").rstrip("0123456789")) in _PLAIN:
        near = f"write {plain}"
    return None, near or f"an attr is {', '.join(ATTR_TYPES)}"


def attr_value(kind: AttrType, value: object) -> tuple[AttrDefault | None, str | None]:
    """The value as `AttrDefault` describes it and None, or None and the reason why the type can't hold it."""
    if kind.element is not None:
        return _list(kind.element, value)
    return _SCALARS[kind](value)


def _list(element: AttrType, value: object) -> tuple[tuple[AttrDefault, ...] | None, str | None]:
    if not isinstance(value, (list, tuple)):
        return None, f"a {_LIST_OF[element].value} is a list"
    found: list[AttrDefault] = []
    for index, each in enumerate(value):
        known, because = attr_value(element, each)
        if known is None:
            return None, f"element {index} is {shown(each)}: {because}"
        found.append(known)
    return tuple(found), None


def _bool(value: object) -> tuple[bool | None, str | None]:
    return (value, None) if isinstance(value, bool) else (None, "a bool is True or False")


def _int(value: object) -> tuple[int | None, str | None]:
    number = integer_of(value)
    if number is None:
        return None, "an int is a whole number"
    if not -(2**63) <= number < 2**63:
        return None, "it doesn't fit in int64"
    return number, None


def _float(value: object) -> tuple[float | None, str | None]:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
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


def _type(value: object) -> tuple[str | None, str | None]:
    dtype = find_dtype(value) if isinstance(value, str) else None
    if dtype is None:
        likely = likely_dtype(value)
        near = f'write "{likely}"' if likely is not None else did_you_mean(value, DTYPES) if isinstance(value, str) else None
        return None, f"a type is the name of a dtype{'' if near is None else f'; {near}'}"
    return dtype.name, None


def _bytes(value: object) -> tuple[bytes | None, str | None]:
    return (bytes(value), None) if isinstance(value, (bytes, bytearray)) else (None, 'bytes are written b"…"')


def _tensor(value: object) -> tuple[tuple[()] | None, str | None]:
    # A prototype is text: what a graph gives the attr can be any tensor.
    return ((), None) if isinstance(value, (list, tuple)) and not value else (None, "a prototype can only have the empty tensor, ()")


_SCALARS: dict[AttrType, Callable[[Any], tuple[AttrDefault | None, str | None]]] = {
    AttrType.BOOL: _bool,
    AttrType.INT: _int,
    AttrType.FLOAT: _float,
    AttrType.STR: _str,
    AttrType.TYPE: _type,
    AttrType.BYTES: _bytes,
    AttrType.TENSOR: _tensor,
}
