"""Arrays and their files: what a session program reads must be exactly what the reference saw."""

from __future__ import annotations

import errno
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from case_support import load

from opkit.run.arrays import Tolerance, numpy_dtype, random_input, save, tolerance_of
from opkit.spec import DTYPES

HELD = sorted(name for name, dtype in DTYPES.items() if dtype.npy)


@pytest.mark.parametrize("dtype", HELD)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_every_dtype_and_rank_survives_its_file(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = random_input("x", dtype, shape, seed=1)
    save(tmp_path / "x.npy", array)
    read = load(tmp_path / "x.npy", dtype)
    assert read.dtype == array.dtype
    assert read.shape == shape
    assert read.tobytes() == array.tobytes()


def test_bfloat16_is_stored_as_its_bits(tmp_path: Path) -> None:
    save(tmp_path / "x.npy", np.array([1.0, -2.0], dtype=ml_dtypes.bfloat16))
    assert np.load(tmp_path / "x.npy").tolist() == [0x3F80, 0xC000]
    assert b"'descr': '<u2'" in (tmp_path / "x.npy").read_bytes()


def test_a_file_is_version_1_and_c_order_even_from_a_transposed_array(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    save(tmp_path / "x.npy", array)
    raw = (tmp_path / "x.npy").read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00"
    assert b"'fortran_order': False" in raw
    assert np.array_equal(load(tmp_path / "x.npy", "float32"), array)


def test_a_big_endian_array_is_stored_little_endian(tmp_path: Path) -> None:
    save(tmp_path / "x.npy", np.array([1, 2], dtype=">i4"))
    assert b"'descr': '<i4'" in (tmp_path / "x.npy").read_bytes()
    assert load(tmp_path / "x.npy", "int32").tolist() == [1, 2]


def test_the_same_seed_gives_the_same_bytes_on_every_machine() -> None:
    # The literals are PCG64's own stream: a NumPy that changed its distributions would still give them.
    assert random_input("x", "int32", (4,), seed=7).tolist() == [-211926, 539849, 448131, 625182]
    assert random_input("x", "float32", (3,), seed=7).tolist() == [-0.49858129024505615, 0.09036493301391602, 0.1471329927444458]


def test_ports_and_seeds_get_different_values() -> None:
    x = random_input("x", "float32", (64,), seed=7)
    assert not np.array_equal(x, random_input("y", "float32", (64,), seed=7))
    assert not np.array_equal(x, random_input("x", "float32", (64,), seed=8))
    assert np.array_equal(x[:33], random_input("x", "float32", (33,), seed=7))


@pytest.mark.parametrize("dtype", HELD)
def test_inputs_are_varied_finite_and_sum_without_overflow(dtype: str) -> None:
    values = random_input("x", dtype, (4096,), seed=3)
    assert values.dtype == DTYPES[dtype].numpy()
    wide = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    assert np.isfinite(wide).all()
    assert len(set(wide.tolist())) > {"bool": 1, "float8_e8m0": 7}.get(dtype, 50)
    assert wide.dtype.kind != "c" or (wide.real != wide.imag).any()
    if values.dtype.kind in "iu":
        limits = np.iinfo(values.dtype)
        assert 2 * wide.min() >= limits.min
        assert 2 * wide.max() <= limits.max


def test_a_dtype_that_no_spec_may_use_is_refused() -> None:
    with pytest.raises(ValueError, match="float23"):
        numpy_dtype("float23")
    with pytest.raises(ValueError, match="NumPy has no complex32"):
        numpy_dtype("complex32")


def test_integers_are_compared_exactly_and_floats_by_about_one_ulp() -> None:
    exact = {name for name in HELD if tolerance_of(name) == Tolerance(rtol=0.0, atol=0.0)}
    assert exact == {*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "bool", "float8_e8m0"}
    for name, ulp in {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float8_e5m2": 2.0**-2, "float8_e4m3fn": 2.0**-3}.items():
        rtol = tolerance_of(name).rtol
        assert ulp < rtol < 1.1 * ulp
    assert 2.0**-52 < tolerance_of("float64").rtol < tolerance_of("float32").rtol == tolerance_of("complex64").rtol
    assert 2.0**-23 < tolerance_of("float32").rtol <= 1e-5


@pytest.mark.parametrize("elements", [1, 1 << 20])
def test_a_full_disk_says_that_it_is_full(elements: int) -> None:
    with pytest.raises(OSError, match="No space left on device") as caught:
        save(Path("/dev/full"), np.zeros(elements, np.int32))
    assert caught.value.errno == errno.ENOSPC
