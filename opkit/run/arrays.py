"""Arrays as a session program exchanges them: a dtype's NumPy form, the `.npy` files of a case, fixed-seed inputs and tolerances.

NumPy has no bfloat16: in memory it is ml_dtypes' type, in a file its bits as `<u2`, because `.npy` can't name it. So it is with the floats
of 8 bits. The case file says which type it is.
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from opkit.spec import find_dtype

if TYPE_CHECKING:
    from pathlib import Path

    from opkit.spec import DType

__all__ = ["Array", "Tolerance", "is_of_ml_dtypes", "numpy_dtype", "random_input", "save", "tolerance_of"]

Array: TypeAlias = npt.NDArray[Any]


@attrs.frozen(kw_only=True)
class Tolerance:
    """An element passes if ``abs(got - expected) <= atol + rtol * abs(expected)``; NaN passes only where NaN is expected, an infinity by
    its sign.
    """

    rtol: float
    atol: float


# Small enough that a sum or a difference of two values stays in range: what happens on overflow is the kernel's own affair, not a test's
# default.
_INTEGER_LIMITS = {
    "int8": (-50, 50),
    "uint8": (0, 100),
    "int16": (-10_000, 10_000),
    "uint16": (0, 20_000),
    "int32": (-1_000_000, 1_000_000),
    "uint32": (0, 1_000_000),
    "int64": (-1_000_000, 1_000_000),
    "uint64": (0, 1_000_000),
}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Gives the in-memory dtype; raises ValueError for a name that no spec may use, and for a dtype that NumPy lacks."""
    return _known(name).numpy()


def is_of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    """Whether `.npy` can't name the type."""
    return dtype.isbuiltin == 2  # registered with NumPy by another library


def tolerance_of(dtype: str) -> Tolerance:
    """Gives the default of a dtype: exact for integers and bool."""
    known = _known(dtype)
    return Tolerance(rtol=known.rtol, atol=known.atol)


def _known(name: str) -> DType:
    dtype = find_dtype(name)
    if dtype is None:
        msg = f"no such dtype: {name!r}"
        raise ValueError(msg)
    return dtype


def save(path: Path, array: Array) -> None:
    """Writes version 1.0, C order, little endian: the only form that the generated session program reads."""
    little = np.ascontiguousarray(array.view(f"u{array.dtype.itemsize}") if is_of_ml_dtypes(array.dtype) else array)
    # ascontiguousarray turns rank 0 into rank 1.
    little = little.reshape(array.shape)
    little = little.astype(little.dtype.newbyteorder("<"), copy=False)
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(little))
        # Not write_array: it hides what the system says, and of a full disk only numbers are left.
        file.write(little.reshape(-1).view(np.uint8).data)


def random_input(port: str, dtype: str, shape: tuple[int, ...], *, seed: int) -> Array:
    """Gives the same bytes for the same port, dtype, shape and seed on every machine: PCG64's raw stream, no library distribution.

    Floats, and both parts of a complex number, lie in [-1, 1) on a grid that float32 holds exactly; integers in a range whose sums don't
    overflow.
    """
    name = hashlib.sha256(port.encode()).digest()
    generator = np.random.PCG64(np.random.SeedSequence([seed, int.from_bytes(name[:4], "little")]))
    wanted = numpy_dtype(dtype)
    count = math.prod(shape) * (2 if wanted.kind == "c" else 1)
    raw = generator.random_raw((count + 1) // 2).view("<u4")[:count]
    if wanted.kind == "b":
        values: Array = (raw >> np.uint32(31)).astype(np.bool_)
    elif wanted.kind in "iu":
        low, high = _INTEGER_LIMITS[dtype]
        values = (raw % np.uint32(high - low + 1)).astype(np.int64) + low
        values = values.astype(wanted)
    elif dtype == "float8_e8m0":  # powers of two, from 2**-7 to 1
        values = (np.uint32(120) + (raw >> np.uint32(29))).astype(np.uint8).view(wanted)
    else:
        values = (raw >> np.uint32(8)).astype(np.float32)
        values *= np.float32(2.0**-23)
        values -= np.float32(1.0)
        values = values.view(np.complex64) if wanted.kind == "c" else values
        values = values.astype(wanted, copy=False)
    return values.reshape(shape)
