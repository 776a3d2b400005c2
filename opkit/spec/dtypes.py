"""The tensor dtypes that a spec may name, each with its GE, kernel and NumPy types: no other room keeps such a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import numpy as np


@attrs.frozen(kw_only=True)
class DType:
    """One element type. `name` is opkit's own spelling, and NumPy's where it has the type."""

    name: str
    ge_enum: str
    number: int
    """GE's number of it: part of the ABI, models store it."""
    kernel_type: str | None = None
    """The type in Ascend C device code; None if that has none, and then a kernel gets no DTYPE_ macro for the port."""
    npy: str | None = None
    """The type as a .npy file of a case names it: the bits of a type of ml_dtypes, which .npy can't name. None if an array can't hold
    tensors of this dtype byte for byte: NumPy has no such type, or it packs several elements in a byte.
    """
    is_everywhere: bool = False
    """Whether a graph is likely to feed it to any op: a message about a wrong tensor then names it even if the package doesn't use it."""
    rtol: float = 0.0
    atol: float = 0.0
    """A result passes if `abs(got - expected) <= atol + rtol * abs(expected)`, unless a case says otherwise; 0 and 0 is exact."""

    @property
    def bytes(self) -> int:
        """Of one element. Raises ValueError where `npy` is None."""
        return int(self._npy[2:])

    def numpy(self) -> np.dtype[Any]:
        """Raises ValueError where `npy` is None."""
        import numpy as np

        if self.name in _OF_ML_DTYPES:
            import ml_dtypes

            found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _OF_ML_DTYPES[self.name]))
            return found
        return np.dtype(self._npy)

    @property
    def _npy(self) -> str:
        if self.npy is None:
            msg = f"NumPy has no {self.name}"
            raise ValueError(msg)
        return self.npy

    def __str__(self) -> str:
        return self.name


_OF_ML_DTYPES = {
    "bfloat16": "bfloat16",
    "float8_e5m2": "float8_e5m2",
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e8m0": "float8_e8m0fnu",
}

# Each rtol is a little more than one unit in the last place (2**-10 for float16, 2**-7 for bfloat16) where the hardware rounds once;
# float32 and float64 leave room for a sum in another order. The atol covers results near zero: a
# difference of numbers of the size 1, as a normalisation has it, is off by some 1e-7 of them however small it is.
_KNOWN = (
    DType(name="float32", ge_enum="DT_FLOAT", number=0, kernel_type="float", npy="<f4", is_everywhere=True, rtol=1e-5, atol=1e-6),
    DType(name="float16", ge_enum="DT_FLOAT16", number=1, kernel_type="half", npy="<f2", is_everywhere=True, rtol=1e-3, atol=1e-5),
    DType(name="bfloat16", ge_enum="DT_BF16", number=27, kernel_type="bfloat16_t", npy="<u2", is_everywhere=True, rtol=8e-3, atol=1e-5),
    DType(name="int8", ge_enum="DT_INT8", number=2, kernel_type="int8_t", npy="|i1", is_everywhere=True),
    DType(name="uint8", ge_enum="DT_UINT8", number=4, kernel_type="uint8_t", npy="|u1", is_everywhere=True),
    DType(name="int32", ge_enum="DT_INT32", number=3, kernel_type="int32_t", npy="<i4", is_everywhere=True),
    DType(name="int64", ge_enum="DT_INT64", number=9, kernel_type="int64_t", npy="<i8", is_everywhere=True),
    DType(name="bool", ge_enum="DT_BOOL", number=12, kernel_type="bool", npy="|b1", is_everywhere=True),
    DType(name="int16", ge_enum="DT_INT16", number=6, kernel_type="int16_t", npy="<i2"),
    DType(name="uint16", ge_enum="DT_UINT16", number=7, kernel_type="uint16_t", npy="<u2"),
    DType(name="uint32", ge_enum="DT_UINT32", number=8, kernel_type="uint32_t", npy="<u4"),
    DType(name="uint64", ge_enum="DT_UINT64", number=10, kernel_type="uint64_t", npy="<u8"),
    DType(name="float64", ge_enum="DT_DOUBLE", number=11, kernel_type="double", npy="<f8", rtol=1e-12, atol=1e-15),
    DType(name="complex32", ge_enum="DT_COMPLEX32", number=33, kernel_type="complex32"),
    DType(name="complex64", ge_enum="DT_COMPLEX64", number=16, kernel_type="complex64", npy="<c8", rtol=1e-5, atol=1e-6),
    DType(name="complex128", ge_enum="DT_COMPLEX128", number=17, npy="<c16", rtol=1e-12, atol=1e-15),
    DType(name="float8_e5m2", ge_enum="DT_FLOAT8_E5M2", number=35, kernel_type="fp8_e5m2_t", npy="|u1", rtol=0.26, atol=1e-4),
    DType(name="float8_e4m3fn", ge_enum="DT_FLOAT8_E4M3FN", number=36, kernel_type="fp8_e4m3fn_t", npy="|u1", rtol=0.13, atol=1e-2),
    # The exponent alone: a neighbour is twice as large, so only the same value is right.
    DType(name="float8_e8m0", ge_enum="DT_FLOAT8_E8M0", number=37, kernel_type="fp8_e8m0_t", npy="|u1"),
    DType(name="hifloat8", ge_enum="DT_HIFLOAT8", number=34, kernel_type="hifloat8_t"),
    DType(name="float6_e3m2", ge_enum="DT_FLOAT6_E3M2", number=38),
    DType(name="float6_e2m3", ge_enum="DT_FLOAT6_E2M3", number=39),
    DType(name="float4_e2m1", ge_enum="DT_FLOAT4_E2M1", number=40, kernel_type="fp4x2_e2m1_t"),
    DType(name="float4_e1m2", ge_enum="DT_FLOAT4_E1M2", number=41, kernel_type="fp4x2_e1m2_t"),
    DType(name="hifloat4", ge_enum="DT_HIFLOAT4", number=42),
    DType(name="int4", ge_enum="DT_INT4", number=29, kernel_type="AscendC::int4b_t"),
    DType(name="int2", ge_enum="DT_INT2", number=31, kernel_type="AscendC::int2b_t"),
    DType(name="uint2", ge_enum="DT_UINT2", number=32),
    DType(name="uint1", ge_enum="DT_UINT1", number=30),
    DType(name="qint8", ge_enum="DT_QINT8", number=18),
    DType(name="qint16", ge_enum="DT_QINT16", number=19),
    DType(name="qint32", ge_enum="DT_QINT32", number=20),
    DType(name="quint8", ge_enum="DT_QUINT8", number=21),
    DType(name="quint16", ge_enum="DT_QUINT16", number=22),
    DType(name="dual", ge_enum="DT_DUAL", number=25),
    DType(name="dual_sub_int8", ge_enum="DT_DUAL_SUB_INT8", number=14),
    DType(name="dual_sub_uint8", ge_enum="DT_DUAL_SUB_UINT8", number=15),
    DType(name="string", ge_enum="DT_STRING", number=13),
    DType(name="string_ref", ge_enum="DT_STRING_REF", number=24),
    DType(name="resource", ge_enum="DT_RESOURCE", number=23),
    DType(name="variant", ge_enum="DT_VARIANT", number=26),
)
DTYPES = {dtype.name: dtype for dtype in _KNOWN}

ALIASES = {
    "float": "float32",
    "fp32": "float32",
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    "double": "float64",
    "fp64": "float64",
    "fp8_e5m2": "float8_e5m2",
    "fp8_e4m3fn": "float8_e4m3fn",
    "fp8_e8m0": "float8_e8m0",
    "float8_e8m0fnu": "float8_e8m0",
    "fp6_e3m2": "float6_e3m2",
    "fp6_e2m3": "float6_e2m3",
    "fp4_e2m1": "float4_e2m1",
    "fp4_e1m2": "float4_e1m2",
    "hif8": "hifloat8",
    **{dtype.ge_enum: dtype.name for dtype in DTYPES.values()},
}


def find_dtype(spelling: str) -> DType | None:
    """The dtype of a spelling that people use (`float32`, `float`, `fp32`, `DT_FLOAT`, `bf16` …), or None."""
    return DTYPES.get(ALIASES.get(spelling, spelling))


def likely_dtype(word: object) -> DType | None:
    """The dtype that is surely meant by what `find_dtype` doesn't take: `DT_FP16`, `Float32`, `np.float32`, `np.dtype("float32")`."""
    if isinstance(word, str):
        return find_dtype(word.lower().removeprefix("dt_"))
    names = (getattr(word, attribute, None) for attribute in ("name", "__name__"))
    return next((dtype for name in names if isinstance(name, str) and (dtype := find_dtype(name.rstrip("_"))) is not None), None)
