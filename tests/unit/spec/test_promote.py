"""Promotion gives GE's own table, whichever way round two dtypes stand."""

from __future__ import annotations

import pytest

from opkit.spec import DTYPES, find_dtype
from opkit.spec.promote import promote, promote_all

# What GE's PromoteType gives, row and column in the order of the names; `-` is no dtype.
NAMES = ("f32", "f16", "i8", "i32", "u8", "i16", "i64", "f64", "b", "bf", "c64", "c128", "c32", "u16", "u64", "str")
TABLE = """\
f32: f32 f32 f32 f32 f32 f32 f32 f64 f32 f32 c64 c128 c64 - - -
f16: f32 f16 f16 f16 f16 f16 f16 f64 f16 f32 c64 c128 c32 - - -
i8: f32 f16 i8 i32 i16 i16 i64 f64 i8 bf c64 c128 c32 - - -
i32: f32 f16 i32 i32 i32 i32 i64 f64 i32 bf c64 c128 c32 - - -
u8: f32 f16 i16 i32 u8 i16 i64 f64 u8 bf c64 c128 c32 - - -
i16: f32 f16 i16 i32 i16 i16 i64 f64 i16 bf c64 c128 c32 - - -
i64: f32 f16 i64 i64 i64 i64 i64 f64 i64 bf c64 c128 c32 - - -
f64: f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128 c128 - - -
b: f32 f16 i8 i32 u8 i16 i64 f64 b bf c64 c128 c32 - - -
bf: f32 f32 bf bf bf bf bf f64 bf bf c64 c128 c64 - - -
c64: c64 c64 c64 c64 c64 c64 c64 c128 c64 c64 c64 c128 c64 - - -
c128: c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 - - -
c32: c64 c32 c32 c32 c32 c32 c32 c128 c32 c64 c64 c128 c32 - - -
u16: - - - - - - - - - - - - - u16 - -
u64: - - - - - - - - - - - - - - u64 -
str: - - - - - - - - - - - - - - - str
"""
LONG = {"f": "float", "i": "int", "u": "uint", "c": "complex"}


def full(short: str) -> str:
    return {"b": "bool", "bf": "bfloat16", "str": "string"}.get(short) or LONG[short[0]] + short[1:]


def cells() -> list[tuple[str, str, str | None]]:
    found = []
    for line in TABLE.splitlines():
        left, _, row = line.partition(":")
        found += [(full(left), full(right), None if cell == "-" else full(cell)) for right, cell in zip(NAMES, row.split(), strict=True)]
    return found


@pytest.mark.case("C12")
def test_every_pair_promotes_as_in_ge_s_table() -> None:
    assert len(cells()) == len(NAMES) ** 2
    assert [(left, right, got.name if (got := promote(DTYPES[left], DTYPES[right])) else None) for left, right, _ in cells()] == cells()


def test_promotion_is_the_same_from_both_sides_and_gives_what_it_is_given() -> None:
    for left in DTYPES.values():
        assert promote(left, left) is left
        for right in DTYPES.values():
            assert promote(left, right) == promote(right, left)


@pytest.mark.parametrize(
    ("words", "promoted"),
    [
        ("float16 float32", "float32"),
        ("int32 bool", "int32"),
        ("float16 bfloat16 int8", "float32"),
        ("int8", "int8"),
        ("int8 string bool", None),
    ],
)
def test_several_dtypes_promote_from_left_to_right(words: str, promoted: str | None) -> None:
    got = promote_all(dtype for word in words.split() if (dtype := find_dtype(word)))
    assert (got and got.name) == promoted
