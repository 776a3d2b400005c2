"""A package whose ops are compiled at each time that a spec can name: some travel in saved models, and the kernels are plain loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opkit.codegen import render
from opkit.spec import load_package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from opkit.spec import Package

# Each kernel in a file of its own time, and one file for all times.
FILES = {
    "kernels/add.asc": """\
#include "kernel_operator.h"
#include "add_math.h"

extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    const DTYPE_X sum = Sum(reinterpret_cast<__gm__ DTYPE_X *>(x)[i], reinterpret_cast<__gm__ DTYPE_Y *>(y)[i]);
    reinterpret_cast<__gm__ DTYPE_Z *>(z)[i] = sum;
  }
}
""",
    "kernels/add_math.h": """\
#pragma once
template <typename T>
__aicore__ inline T Sum(T x, T y) {
  return static_cast<T>(x + y);
}
""",
    "kernels/scale.asc": """\
#include "kernel_operator.h"

namespace scaling {
template <typename T, int kFactor>
__global__ __aicore__ void scale(GM_ADDR x, __gm__ T *y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    y[i] = static_cast<T>(reinterpret_cast<__gm__ T *>(x)[i] * static_cast<T>(kFactor));
  }
}
}  // namespace scaling
""",
    "kernels/several.asc": """\
#include "kernel_operator.h"

// A partial sum for each block, so that the next kernel finds what this one left.
extern "C" __global__ __aicore__ void sum_parts(GM_ADDR x, GM_ADDR partial, int64_t length) {
  DTYPE_X sum = 0;
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    sum += reinterpret_cast<__gm__ DTYPE_X *>(x)[i];
  }
  reinterpret_cast<__gm__ DTYPE_X *>(partial)[AscendC::GetBlockIdx()] = sum;
}

extern "C" __global__ __aicore__ void subtract_sum(GM_ADDR x, GM_ADDR partial, GM_ADDR y, int64_t length, int64_t parts) {
  DTYPE_X sum = 0;
  for (int64_t part = 0; part < parts; ++part) {
    sum += reinterpret_cast<__gm__ DTYPE_X *>(partial)[part];
  }
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ DTYPE_X *>(y)[i] = reinterpret_cast<__gm__ DTYPE_X *>(x)[i] - sum;
  }
}
""",
    "kernels/cast.asc": """\
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void cast_to(GM_ADDR x, GM_ADDR bias, GM_ADDR y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    const float value = static_cast<float>(reinterpret_cast<__gm__ DTYPE_X *>(x)[i]);
    reinterpret_cast<__gm__ DTYPE_Y *>(y)[i] =
        static_cast<DTYPE_Y>(bias == nullptr ? value : value + static_cast<float>(reinterpret_cast<__gm__ DTYPE_BIAS *>(bias)[i]));
  }
}
""",
}
SPEC = """\
import numpy as np
from opkit import *

NUMBERS = {1: "float16", 3: "int32"}

add = Op(
    "AddAtLoad",
    inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")],
    outputs=[Output("z", "T", shape="...")],
    dtypes={"T": ["float32", "int32", "float16"]},
    kernel=Kernel("kernels/add.asc", entry="add", args=["x", "y", "z", numel("x")], blocks=8),
    refresh="updater",
    reference=lambda x, y: x + y,
)
scale = Op(
    "ScaleInGraph",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("y", "T", shape="...")],
    dtypes={"T": ["float32", "int32"]},
    kernel=Kernel("kernels/scale.asc", entry="scaling::scale<{T}, 3>", args=["x", "y", numel("x")], blocks=8),
    refresh="updater",
    compile="graph",
    portable=True,
    reference=lambda x: 3 * x,
)
partial = workspace(64 * 8)
subtract = Op(
    "SubtractInGraph",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("y", "T", shape="...")],
    dtypes={"T": ["int64", "int32"]},
    kernel=[
        Kernel("kernels/several.asc", entry="sum_parts", args=["x", partial, numel("x")], blocks=64),
        Kernel("kernels/several.asc", entry="subtract_sum", args=["x", partial, "y", numel("x"), 64], blocks=8),
    ],
    refresh="updater",
    compile="graph",
    reference=lambda x: x - x.sum(dtype=x.dtype),
)
cast = Op(
    "CastInGraph",
    inputs=[
        Input("x", "T", shape="..."),
        Input("bias", "float32", shape="...", optional=True),
    ],
    outputs=[Output("y", from_attr("to", ["float16", "int32"]), shape="...")],
    attrs=[Attr("to", int, default=3)],
    dtypes={"T": per_soc({"Ascend910B": ["float32", "int32"], "Ascend310P": ["float16"], "default": ["float32"]})},
    kernel=Kernel("kernels/cast.asc", entry="cast_to", args=["x", "bias", "y", numel("x")], blocks=8),
    compile="graph",
    reference=lambda x, bias, *, to: (x if bias is None else x.astype("float32") + bias).astype(NUMBERS[to]),
)

package = Package(
    "compiled",
    ops=[
        add,
        add.replace(type="AddInGraph", compile="graph"),
        add.replace(type="AddInBuild", compile="prebuilt"),
        add.replace(type="AddInBuildPortable", compile="prebuilt", portable=True, refresh="none"),
        scale,
        scale.replace(type="ScaleInBuild", compile="prebuilt"),
        subtract,
        subtract.replace(type="SubtractInBuild", compile="prebuilt", refresh="none"),
        cast,
        cast.replace(type="CastInBuild", compile="prebuilt"),
    ],
)
"""


def write_compiled(root: Path, *, ops: str | None = None, spec: Callable[[str], str] = str) -> Path:
    """Writes the package, or one of some of its ops, below `root`, without generated files."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    head, tail = SPEC.split("\npackage = ")
    text = SPEC if ops is None else f'{head}\npackage = Package("compiled", ops=[{ops}])\n'
    assert tail
    (root / "ops.py").write_text(spec(text))
    return root


def compiled_project(root: Path, *, ops: str | None = None) -> Package:
    """As above, with the generated files."""
    package = load_package(write_compiled(root, ops=ops) / "ops.py")
    render(package).write(root)
    return package
