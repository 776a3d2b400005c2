"""The scalar C types that cross to a kernel, as parameters and as members of a struct, under all their spellings."""

from __future__ import annotations

import enum

__all__ = ["ScalarType", "ordered", "scalar_of"]


class ScalarType(enum.Enum):
    """C types of a scalar kernel parameter; the value is the fixed-width spelling that host code uses."""

    BOOL = "bool"
    I8 = "int8_t"
    I16 = "int16_t"
    I32 = "int32_t"
    I64 = "int64_t"
    U8 = "uint8_t"
    U16 = "uint16_t"
    U32 = "uint32_t"
    U64 = "uint64_t"
    F32 = "float"
    F64 = "double"

    @property
    def bytes(self) -> int:
        return _SCALAR_BYTES[self]

    @property
    def is_integer(self) -> bool:
        return self.value.endswith("_t")

    @property
    def is_float(self) -> bool:
        return self in {ScalarType.F32, ScalarType.F64}

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest integer; 0 and 1 for bool. Not for the two float types."""
        bits = 1 if self is ScalarType.BOOL else self.bytes * 8
        return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if self.value.startswith("int") else (0, 2**bits - 1)


_SCALAR_BYTES = {
    ScalarType.BOOL: 1,
    ScalarType.I8: 1,
    ScalarType.U8: 1,
    ScalarType.I16: 2,
    ScalarType.U16: 2,
    ScalarType.I32: 4,
    ScalarType.U32: 4,
    ScalarType.F32: 4,
    ScalarType.I64: 8,
    ScalarType.U64: 8,
    ScalarType.F64: 8,
}

# Spellings beside the fixed-width ones, for the LP64 targets that Ascend C compiles for.
_SPELLINGS = {
    **{scalar.value: scalar for scalar in ScalarType},
    "signed char": ScalarType.I8,
    "unsigned char": ScalarType.U8,
    "short": ScalarType.I16,
    "unsigned short": ScalarType.U16,
    "int": ScalarType.I32,
    "unsigned": ScalarType.U32,
    "unsigned int": ScalarType.U32,
    "long": ScalarType.I64,
    "unsigned long": ScalarType.U64,
    "long long": ScalarType.I64,
    "unsigned long long": ScalarType.U64,
    "size_t": ScalarType.U64,
}


def scalar_of(c_type: str) -> ScalarType | None:
    """The scalar that an `ordered` spelling means."""
    return _SPELLINGS.get(c_type)


def ordered(c_type: str) -> str:
    """One spelling for the many of C's integer types: `long unsigned int` is `unsigned long`."""
    words = c_type.removeprefix("std::").split()
    if not set(words) <= {"signed", "unsigned", "short", "long", "int", "char"}:
        return " ".join(words)
    sign = [word for word in ("signed", "unsigned") if word in words]
    size = [word for word in words if word in {"short", "long", "char"}]
    if sign == ["signed"] and "char" not in words:
        sign = []
    return " ".join((*sign, *(size or ["int"])))
