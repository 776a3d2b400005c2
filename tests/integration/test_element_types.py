"""The session program's element types: each is read as NumPy reads it, made within its range, and compared by NumPy's rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from command_support import opkit_json
from generated_support import run_program

from opkit.codegen import render
from opkit.run.arrays import numpy_dtype
from opkit.spec import DTYPES, load_package

if TYPE_CHECKING:
    from pathlib import Path

HELD = [name for name, dtype in DTYPES.items() if dtype.npy]

# It moves bytes: what a device has for complex numbers and for floats of 8 bits, the simulator lacks.
KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void copy_bytes(GM_ADDR x, GM_ADDR y, uint64_t elements) {
  for (uint64_t i = AscendC::GetBlockIdx(); i < elements * BYTES; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ uint8_t *>(y)[i] = reinterpret_cast<__gm__ uint8_t *>(x)[i] ^ FLIP;
  }
}
"""
SPEC = f"""\
from opkit import Input, Kernel, Op, Output, Package, numel
from opkit.spec import DTYPES


def copies(name, flip):
    kernel = Kernel(
        "kernels/copy.asc", entry="copy_bytes", args=["x", "y", numel("x")], blocks=8, strides=True,
        defines={{"BYTES": DTYPES[name].bytes, "FLIP": flip}},
    )
    type = ("Flip" if flip else "Copy") + "".join(word.capitalize() for word in name.split("_"))
    return Op(
        type, inputs=[Input("x", name, shape="...")], outputs=[Output("y", name, shape="...")], kernel=kernel,
        reference=lambda x: x,
    )


HELD = {HELD!r}
package = Package(
    "elements", ops=[copies(name, flip) for name in HELD for flip in (0, 1) if name != "bool" or not flip] + [
        Op("PassInt4", inputs=[Input("x", "int4", shape="...")], outputs=[Output("y", "int4", shape="...")],
           kernel=Kernel("kernels/copy.asc", entry="copy_bytes", args=["x", "y", numel("x")], blocks=8, defines={{"BYTES": 1, "FLIP": 0}}),
           reference=lambda x: x),
    ],
)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("elements")
    (root / "kernels").mkdir()
    (root / "kernels" / "copy.asc").write_text(KERNEL)
    (root / "ops.py").write_text(SPEC)
    render(load_package(root / "ops.py")).write(root)
    return root


ELEMENTS = '#include <cstdio>\n#include "../session_run/elements.h"\nusing namespace elements_ops;\n'


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "float8_e8m0"])
def test_a_float_of_8_bits_reads_as_numpy_reads_it(project: Path, toolkit_home: Path, tmp_path: Path, name: str) -> None:
    loop = "int main() {\n  for (unsigned bits = 0; bits < 256; ++bits) {\n    const auto byte = static_cast<uint8_t>(bits);\n"
    loop += f'    std::printf("%a\\n", ToDouble(ge::{DTYPES[name].ge_enum}, &byte));\n  }}\n}}\n'
    lines = run_program(project, toolkit_home, tmp_path, ELEMENTS + loop).splitlines()
    expected = np.arange(256, dtype=np.uint8).view(numpy_dtype(name)).astype(np.float64)
    np.testing.assert_array_equal([float.fromhex(line) for line in lines], expected)


LIMITS = {
    "int8": (-50, 50),
    "uint8": (0, 100),
    "bool": (0, 1),
    "int16": (-(10**4), 10**4),
    "uint16": (0, 2 * 10**4),
    "int32": (-(10**6), 10**6),
    "uint32": (0, 10**6),
    "int64": (-(10**6), 10**6),
    "uint64": (0, 10**6),
    "float8_e8m0": (2**-7, 1),
    "complex64": (0, 2**0.5),
    "complex128": (0, 2**0.5),
}


def test_fixed_seed_values_lie_in_the_range_of_each_type(project: Path, toolkit_home: Path, tmp_path: Path) -> None:
    loop = "int main() {\n  for (const ElementType &type : kElementTypes) {\n"
    loop += "    const Bytes data = RandomBytes(type, 1000 * type.bytes, 7, 3);\n"
    loop += "    for (size_t at = 0; at < data.size(); at += type.bytes) {\n"
    loop += '      std::printf("%s %.17g\\n", type.name, ToDouble(type.dtype, &data[at]));\n    }\n  }\n}\n'
    values: dict[str, list[float]] = {}
    for line in run_program(project, toolkit_home, tmp_path, ELEMENTS + loop).splitlines():
        name, value = line.split()
        values.setdefault(name, []).append(float(value))
    assert sorted(values) == sorted(HELD)
    for name, found in values.items():
        low, high = LIMITS.get(name, (-1, 1))
        assert low <= min(found) < max(found) <= high, name
        assert len(set(found)) > {"bool": 1, "float8_e8m0": 7, "float8_e5m2": 7, "float8_e4m3fn": 14}.get(name, 50), name


COMPLEX = [0, 1, 1 + 1e-6j, 1 + 1e-3j, 1j, 3 - 4j, 3 - 4.00001j, -0.0, complex("nan"), complex("nan+1j"), complex("inf"), complex("inf+1j")]


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers_are_compared_as_numpy_compares_them(project: Path, toolkit_home: Path, tmp_path: Path, name: str) -> None:
    part = "float" if name == "complex64" else "double"
    numbers = np.array(COMPLEX, dtype=name)
    parts = ", ".join(f"{{{value.real!r}, {value.imag!r}}}" for value in map(complex, numbers))
    parts = parts.replace("nan", "NAN").replace("inf", "INFINITY")
    body = f"int main() {{\n  const {part} numbers[][2] = {{{parts}}};\n"
    body += f'  const ElementType &type = *FindElementType("{name}");\n'
    body += "  for (const auto &wanted : numbers) {\n    for (const auto &found : numbers) {\n"
    body += "      const auto bytes = [&](const auto &number) { return Bytes(reinterpret_cast<const uint8_t *>(number), "
    body += "reinterpret_cast<const uint8_t *>(number + 2)); };\n"
    body += '      std::printf("%d", Compare(type, bytes(wanted), bytes(found), 1e-5, 1e-8).mismatches == 0);\n    }\n  }\n}\n'
    printed = run_program(project, toolkit_home, tmp_path, ELEMENTS + body)
    expected = [np.isclose(found, wanted, rtol=1e-5, atol=1e-8, equal_nan=True) for wanted in numbers for found in numbers]
    assert printed == "".join(str(int(same)) for same in expected)


@pytest.mark.slow
@pytest.mark.usefixtures("toolkit_home")
def test_every_type_that_numpy_has_is_run_and_compared(project: Path) -> None:
    results = opkit_json("test", project, exit_code=4)["results"]
    verdicts: dict[str, set[str]] = {}
    for result in results:
        if 0 not in result["shapes"].get("x", [0]):
            verdicts.setdefault(result["op"], set()).add(result["status"])
    for name in HELD:
        op = "".join(word.capitalize() for word in name.split("_"))
        assert verdicts[f"Copy{op}"] == {"passed"}, name
        # One unit in the last place is wrong where the comparison is exact, and the low bits of a wide float are not.
        assert name == "bool" or DTYPES[name].rtol or verdicts[f"Flip{op}"] == {"failed"}, name
    (reason,) = {result["reason"] for result in results if result["op"] == "PassInt4" and result["shapes"]}
    assert reason == "PassInt4 can't be run with int4 here: NumPy has no int4, so nothing can be made or compared for x"
