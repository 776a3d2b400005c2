"""Dtypes on SoCs whose kernels have no type for them: refused where a kernel names the type, and left alone where none does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spec_support import ADD_KERNEL

from opkit.spec.dtypes import DTYPES
from opkit.spec.soc_types import KNOWN_ABSENT
from opkit.spec.socs import families_of

if TYPE_CHECKING:
    from spec_support import SpecFolder

NAMES_X = ADD_KERNEL.replace("{\n}", "{\n  AscendC::GlobalTensor<DTYPE_X> tensor;\n}")
MOVES_BYTES = ADD_KERNEL.replace("{\n}", "{\n  AscendC::GlobalTensor<uint16_t> tensor;  // not DTYPE_X: bfloat16_t isn't everywhere\n}")


def by_soc(soc: str, *dtypes: str) -> str:
    return f'{{"T": per_soc({{"{soc}": {list(dtypes)}, "default": ["float32"]}})}}'


@pytest.mark.case("G8")
def test_a_dtype_that_no_kernel_of_a_soc_has_a_type_for_is_refused(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", NAMES_X)

    error = folder.add_mistake(dtypes=by_soc("Ascend310P", "float16", "bfloat16"))

    assert (error.number, error.exit_code) == ("OPK0226", 2)
    assert error.message == "x, y, z of AddCustom may be bfloat16 on Ascend310P, where no kernel can name bfloat16_t"
    assert error.because == "Ascend C has no such type on the NPU architecture 2002, and kernels/add.asc says DTYPE_X"
    assert error.help is not None
    assert error.help.startswith('leave bfloat16 out for "Ascend310P"')
    assert error.where is not None
    assert error.where.startswith("ops.py:")


@pytest.mark.case("G8")
@pytest.mark.parametrize(
    ("soc", "dtype"),
    [
        ("Ascend910B", "bfloat16"),
        ("Ascend910_93", "bfloat16"),
        ("Ascend950PR", "hifloat8"),
        ("Ascend310P", "float16"),
        # Elsewhere the type is another name of uint8_t.
        ("Ascend310P", "float8_e5m2"),
        # The vendor's list and headers contradict each other.
        ("Ascend310B", "bfloat16"),
        # Nothing is known, or it isn't known of all that the name stands for.
        ("Ascend310", "bfloat16"),
        ("Ascend910", "bfloat16"),
        ("KirinX90", "bfloat16"),
        ("default", "bfloat16"),
    ],
)
def test_a_dtype_that_a_soc_may_have_is_taken(folder: SpecFolder, soc: str, dtype: str) -> None:
    folder.write("kernels/add.asc", NAMES_X)

    assert folder.add(dtypes=f'{{"T": per_soc({{"{soc}": "{dtype}"}})}}').warnings == ()


@pytest.mark.parametrize(
    ("soc", "dtype", "architecture"),
    [
        ("Ascend310P3", "bfloat16", 2002),
        ("Ascend910A", "bfloat16", 1001),
        ("Ascend910Pro", "bfloat16", 1001),
        ("Ascend910B", "hifloat8", 2201),
        ("Ascend910_9392", "complex32", 2201),
        ("Ascend310B", "complex64", 3002),
    ],
)
def test_every_name_that_stands_for_such_socs_alone_is_refused(folder: SpecFolder, soc: str, dtype: str, architecture: int) -> None:
    folder.write("kernels/add.asc", NAMES_X)

    error = folder.add_mistake(dtypes=by_soc(soc, dtype))

    assert error.number == "OPK0226"
    assert f"the NPU architecture {architecture}," in str(error.because)


@pytest.mark.parametrize(
    "kernel",
    [
        MOVES_BYTES,
        "#if __NPU_ARCH__ == 2002\nusing T = uint16_t;\n#else\nusing T = DTYPE_X;\n#endif\n" + ADD_KERNEL,
        "#if __CCE_AICORE__ != 220\nusing T = uint16_t;\n#else\nusing T = DTYPE_X;\n#endif\n" + ADD_KERNEL,
        "#define bfloat16_t int16_t\n" + NAMES_X,
        "using bfloat16_t = uint16_t;\n" + NAMES_X,
    ],
    ids=["it only moves bytes", "it tells architectures apart", "and as it was done before", "it makes the name", "and as a type"],
)
def test_a_kernel_that_gets_along_without_the_type_is_taken(folder: SpecFolder, kernel: str) -> None:
    folder.write("kernels/add.asc", kernel)

    assert folder.add_op(dtypes=by_soc("Ascend310P", "bfloat16")).soc_rows["Ascend310P"] == (True, False)


def test_a_define_of_the_spec_makes_the_name_too(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", NAMES_X)

    assert folder.add(dtypes=by_soc("Ascend310P", "bfloat16"), launch={"defines": '{"bfloat16_t": "uint16_t"}'})


@pytest.mark.parametrize("text", ["AscendC::GlobalTensor<DTYPE_Z> tensor;", "bfloat16_t element;"], ids=["macro", "type"])
def test_a_header_beside_the_kernel_counts_as_the_kernel(folder: SpecFolder, text: str) -> None:
    folder.write("kernels/add.asc", '#include "tile.h"\n' + MOVES_BYTES)
    folder.write("kernels/tile.h", text)

    error = folder.add_mistake(dtypes=by_soc("Ascend310P", "bfloat16"))

    assert f"kernels/add.asc says {'DTYPE_Z' if 'DTYPE' in text else 'bfloat16_t'}" in str(error.because)


@pytest.mark.parametrize("entry", ["add<{T}>", "add<bfloat16_t>"])
def test_an_entry_that_is_named_with_the_type_names_it(folder: SpecFolder, entry: str) -> None:
    text = "template <typename T>\n__global__ __aicore__ void add(__gm__ T *x, __gm__ T *y, __gm__ T *z, int64_t length)\n{\n}\n"
    folder.write("kernels/add.asc", text)

    error = folder.add_mistake(dtypes='{"T": per_soc({"Ascend310P": "bfloat16"})}', launch={"entry": f'"{entry}"'})

    assert str(error.because).endswith(f"and the entry {entry!r} is named with it")


def test_a_port_of_that_dtype_on_every_soc_is_refused_where_another_symbol_names_the_soc(folder: SpecFolder) -> None:
    folder.write("kernels/add.asc", NAMES_X.replace("DTYPE_X", "DTYPE_Y"))

    error = folder.add_mistake(
        inputs='[Input("x", "T", shape="..."), Input("y", "bfloat16", shape="...")]', dtypes=by_soc("Ascend310P", "float16")
    )

    assert error.message.startswith("y of AddCustom may be bfloat16 on Ascend310P")


def test_each_type_is_one_that_a_dtype_has_and_each_soc_one_that_exists() -> None:
    kernel_types = {dtype.kernel_type for dtype in DTYPES.values()}

    for name, rows in KNOWN_ABSENT.items():
        assert name in kernel_types
        for families in rows.values():
            assert all(families_of(family, ()) == (family,) for family in families)
