"""The tensor dtypes that a spec may name, each with its GE, kernel and NumPy types: no other room keeps such a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    import numpy as np


@attrs.frozen(kw_only=True)
class DType:
    """One element type. `name` is opkit's own spelling and NumPy's."""

    name: str
    ge_enum: str
    kernel_type: str
    """The type in Ascend C device code."""
    bytes: int
    npy: str
    """The type as a .npy file of a case names it; NumPy has no bfloat16, its bits are stored."""
    is_float: bool = False
    rtol: float = 0.0
    atol: float = 0.0
    """A result passes if `abs(got - expected) <= atol + rtol * abs(expected)`, unless a case says otherwise; 0 and 0 is exact."""

    def numpy(self) -> np.dtype[Any]:
        import numpy as np

        if self.name == "bfloat16":
            import ml_dtypes

            bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
            return bfloat16
        return np.dtype(self.name)

    def __str__(self) -> str:
        return self.name


# Each rtol is a little more than one unit in the last place (2**-10 for float16, 2**-7 for bfloat16) where the hardware rounds once;
# float32 leaves room for a sum in another order. The atol covers results near zero.
_KNOWN = (
    DType(name="float32", ge_enum="DT_FLOAT", kernel_type="float", bytes=4, npy="<f4", is_float=True, rtol=1e-5, atol=1e-8),
    DType(name="float16", ge_enum="DT_FLOAT16", kernel_type="half", bytes=2, npy="<f2", is_float=True, rtol=1e-3, atol=1e-5),
    DType(name="bfloat16", ge_enum="DT_BF16", kernel_type="bfloat16_t", bytes=2, npy="<u2", is_float=True, rtol=8e-3, atol=1e-5),
    DType(name="int8", ge_enum="DT_INT8", kernel_type="int8_t", bytes=1, npy="|i1"),
    DType(name="uint8", ge_enum="DT_UINT8", kernel_type="uint8_t", bytes=1, npy="|u1"),
    DType(name="int32", ge_enum="DT_INT32", kernel_type="int32_t", bytes=4, npy="<i4"),
    DType(name="int64", ge_enum="DT_INT64", kernel_type="int64_t", bytes=8, npy="<i8"),
    DType(name="bool", ge_enum="DT_BOOL", kernel_type="bool", bytes=1, npy="|b1"),
)
DTYPES = {dtype.name: dtype for dtype in _KNOWN}

_ALIASES = {
    "float": "float32",
    "fp32": "float32",
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
    **{dtype.ge_enum: dtype.name for dtype in DTYPES.values()},
}


def find_dtype(spelling: str) -> DType | None:
    """The dtype of a spelling that people use (`float32`, `float`, `fp32`, `DT_FLOAT`, `bf16` …), or None."""
    return DTYPES.get(_ALIASES.get(spelling, spelling))
