"""A package with ops whose launches GE knows beforehand, beside the same ops with another refresh; their kernels are plain loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "kernels/scaled.asc": """\
#include "kernel_operator.h"

// Arguments of every width, each where a slot of eight bytes begins.
extern "C" __global__ __aicore__ void add_scaled(GM_ADDR x, GM_ADDR y, GM_ADDR z, float alpha, int64_t length, bool negate, double offset) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    const float scaled = static_cast<float>(reinterpret_cast<__gm__ DTYPE_X *>(y)[i]) * alpha;
    const float sum = static_cast<float>(reinterpret_cast<__gm__ DTYPE_X *>(x)[i]) + (negate ? -scaled : scaled);
    reinterpret_cast<__gm__ DTYPE_X *>(z)[i] = static_cast<DTYPE_X>(sum + static_cast<float>(offset));
  }
}
""",
    "kernels/several.asc": """\
#include "kernel_operator.h"

// A partial sum for each block, so that the next kernel finds what this one left.
extern "C" __global__ __aicore__ void sum_parts(GM_ADDR x, GM_ADDR own, GM_ADDR partial, int64_t length) {
  int64_t sum = 0;
  // Memory of its own, which must not be that of the sums.
  reinterpret_cast<__gm__ int64_t *>(own)[AscendC::GetBlockIdx()] = -1;
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    sum += reinterpret_cast<__gm__ int64_t *>(x)[i];
  }
  reinterpret_cast<__gm__ int64_t *>(partial)[AscendC::GetBlockIdx()] = sum;
}

extern "C" __global__ __aicore__ void subtract_sum(GM_ADDR x, GM_ADDR partial, GM_ADDR y, int64_t length, int64_t parts) {
  int64_t sum = 0;
  for (int64_t part = 0; part < parts; ++part) {
    sum += reinterpret_cast<__gm__ int64_t *>(partial)[part];
  }
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ int64_t *>(y)[i] = reinterpret_cast<__gm__ int64_t *>(x)[i] - sum;
  }
}
""",
    "kernels/ports.asc": """\
#include "kernel_operator.h"

namespace ports {
template <typename T>
__global__ __aicore__ void add_bias(__gm__ T *x, __gm__ T *bias, __gm__ T *y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    y[i] = bias == nullptr ? x[i] : static_cast<T>(x[i] + bias[i]);
  }
}
}  // namespace ports

extern "C" __global__ __aicore__ void count_up(GM_ADDR counters, GM_ADDR steps, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ int64_t *>(counters)[i] += reinterpret_cast<__gm__ int64_t *>(steps)[i];
  }
}

extern "C" __global__ __aicore__ void add_count(GM_ADDR tail, GM_ADDR y, int64_t length, int64_t count) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ int64_t *>(y)[i] = reinterpret_cast<__gm__ int64_t *>(tail)[i] + count;
  }
}
""",
}
SPEC = """\
from opkit import Attr, Benchmark, Input, Kernel, Op, Output, Package, attr, ceil_div, count, min_, numel, workspace

scaled = Op(
    "AddScaled",
    inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")],
    outputs=[Output("z", "T", shape="...")],
    attrs=[Attr("alpha", float, default=0.5), Attr("offset", float, default=3.0), Attr("negate", bool, default=False)],
    dtypes={"T": ["float32", "float16", "int32"]},
    kernel=Kernel(
        "kernels/scaled.asc",
        entry="add_scaled",
        args=["x", "y", "z", "alpha", numel("x"), "negate", "offset"],
        blocks=ceil_div(numel("x"), 1024),
        strides=True,
    ),
    refresh="annotated",
    compile="graph",
    reference=lambda x, y, *, alpha, offset, negate: (
        x.astype("float32") + (-1 if negate else 1) * y.astype("float32") * alpha + offset
    ).astype(x.dtype),
)
partial = workspace(8 * min_(numel("x"), 8))
several = Op(
    "SubtractSum",
    inputs=[Input("x", "int64", shape="...")],
    outputs=[Output("y", "int64", shape="...")],
    kernel=[
        Kernel(
            "kernels/several.asc",
            entry="sum_parts",
            args=["x", workspace(64), partial, numel("x")],
            blocks=min_(numel("x"), 8),
        ),
        Kernel(
            "kernels/several.asc",
            entry="subtract_sum",
            args=["x", partial, "y", numel("x"), min_(numel("x"), 8)],
            blocks=ceil_div(numel("x"), 16),
            strides=True,
        ),
    ],
    refresh="annotated",
    compile="graph",
    reference=lambda x: x - x.sum(dtype="int64"),
)
bias = Op(
    "AddBias",
    inputs=[Input("x", "T", shape="..."), Input("bias", "T", shape="...", optional=True)],
    outputs=[Output("y", "T", shape="...")],
    dtypes={"T": ["float32", "int32"]},
    kernel=Kernel("kernels/ports.asc", entry="ports::add_bias<{T}>", args=["x", "bias", "y", numel("x")], blocks=4),
    refresh="annotated",
    compile="graph",
    reference=lambda x, bias: x.copy() if bias is None else x + bias,
)
counters = Op(
    "CountUp",
    inputs=[Input("counters", "int64", shape="n"), Input("steps", "int64", shape="n")],
    outputs=[Output("counters", "int64", shape="n")],
    kernel=Kernel("kernels/ports.asc", entry="count_up", args=["counters", "steps", numel("steps")], blocks=2),
    refresh="annotated",
    compile="graph",
    reference=lambda counters, steps: counters + steps,
)
behind = Op(
    "AddCount",
    inputs=[Input("x", "float32", dynamic=True), Input("tail", "int64", shape="n")],
    outputs=[Output("y", "int64", shape="n")],
    kernel=Kernel("kernels/ports.asc", entry="add_count", args=["tail", "y", numel("tail"), count("x")], blocks=2),
    refresh="annotated",
    compile="graph",
    reference=lambda x, tail: tail + len(x),
)

declared = [scaled, several, bias, counters, behind]
updated = [op.replace(type=f"{op.given['type']}Updated", refresh="updater") for op in declared]
copied = [op.replace(type=f"{op.given['type']}Copied", refresh="none", compile="load") for op in declared]

package = Package(
    "annotated",
    ops=[*declared, *updated, *copied],
    benchmark=Benchmark(scaled, baseline=copied[0], shapes={"x": (64, 1024), "y": (64, 1024)}, iters=5),
)
"""


def write_annotated(root: Path, *, spec: str = SPEC) -> Path:
    """Gives `root`, which then holds the project without its generated files."""
    for name, text in {**FILES, "ops.py": spec}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
