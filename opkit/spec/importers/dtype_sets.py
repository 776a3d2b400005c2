"""The sets of dtypes that GE's headers and msopgen have names for."""

from __future__ import annotations

from opkit.spec.dtypes import DType, find_dtype

__all__ = ["GROUPS", "group_named"]

_INTEGERS = "int16 int32 int64 int8 uint16 uint32 uint64 uint8"
_QUANTIZED = "qint16 qint32 qint8 quint16 quint8"
_UNARY = "complex128 complex64 float64 float32 float16 bfloat16 complex32"
_NUMBERS = "complex128 complex64 float64 float32 float16 int16 int32 int64 int8"


def _dtypes(words: str) -> tuple[DType, ...]:
    found = [find_dtype(word) for word in words.split()]
    return tuple(dtype for dtype in found if dtype is not None)


# The static functions of ge::TensorType (graph/types.h), each in its own order. FloatingDataType lacks bfloat16, FLOAT has it.
GROUPS: dict[str, tuple[DType, ...]] = {
    "ALL": _dtypes(f"bool {_NUMBERS} qint16 qint32 qint8 quint16 quint8 resource string uint16 uint32 uint64 uint8 bfloat16 complex32"),
    "OrdinaryType": _dtypes(f"bool {_NUMBERS} uint16 uint32 uint64 uint8 bfloat16 complex32"),
    "BasicType": _dtypes(f"{_NUMBERS} {_QUANTIZED} uint16 uint32 uint64 uint8 bfloat16 complex32"),
    "NumberType": _dtypes(f"{_NUMBERS} qint32 qint8 quint8 uint16 uint32 uint64 uint8 bfloat16 complex32"),
    "RealNumberType": _dtypes("float64 float32 float16 int16 int32 int64 int8 uint16 uint32 uint64 uint8 bfloat16"),
    "UnaryDataType": _dtypes(_UNARY),
    "IntegerDataType": _dtypes(_INTEGERS),
    "SignedDataType": _dtypes("int16 int32 int64 int8"),
    "UnsignedDataType": _dtypes("uint16 uint32 uint64 uint8"),
    "QuantifiedType": _dtypes(_QUANTIZED),
    "ComplexDataType": _dtypes("complex128 complex64 complex32"),
    "FloatingDataType": _dtypes("float64 float32 float16"),
    "IndexNumberType": _dtypes("int32 int64"),
    "FLOAT": _dtypes("float32 float16 bfloat16"),
}

# msopgen's words for the same, in any case.
_BY_WORD = {**{name.casefold(): dtypes for name, dtypes in GROUPS.items() if name != "FLOAT"}, "quantizedtype": GROUPS["QuantifiedType"]}


def group_named(word: str) -> tuple[DType, ...] | None:
    """The dtypes of msopgen's `numbertype`, `BasicType` and so on, or None."""
    return _BY_WORD.get(word.casefold())
