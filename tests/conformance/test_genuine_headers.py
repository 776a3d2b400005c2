"""What opkit generates for a graph's side, compiled against the genuine headers that the torch-npu wheel ships (nox -s conformance)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from real_ops_support import write_real_ops

from opkit.codegen import render
from opkit.spec import load_package

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "args_refresh_add_custom"

VARIED_SPEC = """
from opkit import Attr, Input, Kernel, Op, Output, Package, ceil_div, numel
from opkit.spec import DTYPES

DEFAULTS = {
    "type": "int4", "bytes": b"\\0\\xff", "tensor": (), "list_int": [1], "list_float": [0.5], "list_bool": [True], "list_str": ["a", "b"],
    "list_type": ["float32"], "list_tensor": [], "list_list_int": [[1, 2], []],
}

kernel = Kernel(
    "kernels/scale.asc",
    entry="scale",
    args=["x", "y", numel("x"), "alpha", "steps", "flip"],
    blocks=ceil_div(numel("x"), 256),
    strides=True,
)
scale = Op(
    "ScaleBias2",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("y", "T", shape="...")],
    attrs=[
        Attr("alpha", float), Attr("steps", int, default=-(2**63)), Attr("flip", bool, default=True),
        Attr("mode", str, default='q"uo\\\\te\\n%s ??/ 昇'),
        *(Attr(f"default_{kind}", kind, default=value) for kind, value in DEFAULTS.items()),
        *(Attr(f"required_{kind}", kind) for kind in DEFAULTS),
    ],
    # torch-npu's headers are older than hifloat4.
    dtypes={"T": [name for name in DTYPES if name != "hifloat4"]},
    kernel=kernel,
    refresh="updater",
)
package = Package("scale_bias", ops=[scale])
"""

VARIED_KERNEL = """#include "kernel_operator.h"
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, int64_t n, float alpha, int64_t steps, bool flip) {}
"""

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def genuine_headers() -> Path:
    folder = os.environ.get("OPKIT_GENUINE_HEADERS")
    if folder is None:
        pytest.skip("OPKIT_GENUINE_HEADERS is not set: run `nox -s conformance`")
    include = Path(folder)
    assert (include / "graph" / "operator_reg.h").is_file()
    return include


def compile_proto(header: Path, op_types: list[str], include: Path, abi: int, work: Path) -> subprocess.CompletedProcess[str]:
    """Compiles a program that includes the proto header and makes one op of each type: the classes must be usable, not only parse."""
    program = work / "program.cpp"
    uses = "\n".join(f'  ge::op::{op_type} op_{op_type}("op"); (void)op_{op_type};' for op_type in op_types)
    program.write_text(f'#include "{header}"\nint main() {{\n{uses}\n}}\n')
    return subprocess.run(
        [
            "g++",
            "-std=c++17",
            "-fsyntax-only",
            f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
            "-isystem",
            include,
            "-isystem",
            include / "graph",
            program,
        ],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("abi", [0, 1])
def test_sample_proto_header_compiles_against_genuine_headers(genuine_headers: Path, tmp_path: Path, abi: int) -> None:
    done = compile_proto(SAMPLE / "ge" / "add_custom.h", ["AddRefreshOp", "AddNoRefreshOp"], genuine_headers, abi, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("abi", [0, 1])
def test_proto_header_with_every_attr_type_and_dtype_compiles_against_genuine_headers(
    genuine_headers: Path, tmp_path: Path, abi: int
) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "scale.asc").write_text(VARIED_KERNEL)
    (tmp_path / "ops.py").write_text(VARIED_SPEC)
    files = render(load_package(tmp_path / "ops.py"))
    files.write(tmp_path)
    done = compile_proto(tmp_path / "ge" / "scale_bias.h", ["ScaleBias2"], genuine_headers, abi, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("abi", [0, 1])
def test_prototypes_of_real_operators_compile_against_genuine_headers(genuine_headers: Path, tmp_path: Path, abi: int) -> None:
    package = write_real_ops(tmp_path)
    render(package).write(tmp_path)
    done = compile_proto(tmp_path / "ge" / "real_ops.h", [op.type for op in package.ops], genuine_headers, abi, tmp_path)
    assert done.returncode == 0, done.stderr
