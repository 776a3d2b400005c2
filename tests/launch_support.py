"""A package with an op for each way to launch kernels, whose kernels are plain loops: what the host tells them is what is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "kernels/scale_tiling.h": """\
#pragma once
#include <cstdint>
constexpr int kCorners = 2;
namespace tiled {
// Members of every width, so that each of them shows whether it is where the kernel reads it.
struct ScaleTiling {
  bool negate = false;
  int64_t total;
  uint8_t power;
  int16_t corners[kCorners];
  float scale;
  double offset;
  static constexpr int kVersion = 1;
};
}  // namespace tiled
""",
    "kernels/tiled.asc": """\
#include "kernel_operator.h"
#include "scale_tiling.h"

struct Small {
  uint8_t step;
};

extern "C" __global__ __aicore__ void scale(GM_ADDR x, Small small, tiled::ScaleTiling tiling, GM_ADDR y) {
  const float corners = static_cast<float>(tiling.corners[0] - tiling.corners[1]);
  for (int64_t i = AscendC::GetBlockIdx(); i < tiling.total; i += AscendC::GetBlockNum() * small.step) {
    float value = reinterpret_cast<__gm__ float *>(x)[i] * tiling.scale + static_cast<float>(tiling.offset) + corners;
    for (uint8_t power = 0; power < tiling.power; ++power) {
      value *= 2.0F;
    }
    reinterpret_cast<__gm__ float *>(y)[i] = tiling.negate ? -value : value;
  }
}

struct WeightTiling {
  int64_t length;
  int64_t count;
  int64_t weights[8];
};

extern "C" __global__ __aicore__ void weigh(GM_ADDR x, GM_ADDR y, WeightTiling tiling) {
  for (int64_t i = AscendC::GetBlockIdx(); i < tiling.length; i += AscendC::GetBlockNum()) {
    int64_t sum = 0;
    for (int64_t weight = 0; weight < tiling.count; ++weight) {
      sum += tiling.weights[weight];
    }
    reinterpret_cast<__gm__ int64_t *>(y)[i] = reinterpret_cast<__gm__ int64_t *>(x)[i] * sum;
  }
}
""",
    "kernels/templates.asc": """\
#include "kernel_operator.h"

namespace powers {
namespace inner {
template <typename T, int kFactor>
__aicore__ inline T Times(T value) {
  return value * static_cast<T>(kFactor);
}
}  // namespace inner

// Of any dtype, from one source; the second dtype is that of the result.
template <typename T, typename U, int kFactor = 2>
__global__ __aicore__ void convert(GM_ADDR x, __gm__ U *y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    y[i] = static_cast<U>(inner::Times<float, kFactor>(static_cast<float>(reinterpret_cast<__gm__ T *>(x)[i])));
  }
}

// Its name is mangled too.
__global__ __aicore__ void negate(__gm__ float *x, __gm__ float *y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    y[i] = -x[i];
  }
}
}  // namespace powers
""",
    "kernels/several.asc": """\
#include "kernel_operator.h"

// A partial sum for each block, so that the next kernel finds what this one left.
extern "C" __global__ __aicore__ void sum_parts(GM_ADDR x, GM_ADDR partial, int64_t length) {
  int64_t sum = 0;
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    sum += reinterpret_cast<__gm__ int64_t *>(x)[i];
  }
  reinterpret_cast<__gm__ int64_t *>(partial)[AscendC::GetBlockIdx()] = sum;
}

extern "C" __global__ __aicore__ void subtract_sum(GM_ADDR x, GM_ADDR partial, GM_ADDR own, GM_ADDR y, int64_t length, int64_t parts) {
  int64_t sum = 0;
  for (int64_t part = 0; part < parts; ++part) {
    sum += reinterpret_cast<__gm__ int64_t *>(partial)[part];
  }
  // Memory of its own, which must not be that of the sums.
  reinterpret_cast<__gm__ int64_t *>(own)[AscendC::GetBlockIdx()] = -1;
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ int64_t *>(y)[i] = reinterpret_cast<__gm__ int64_t *>(x)[i] - sum;
  }
}

template <typename T>
__aicore__ inline __gm__ T *Member(GM_ADDR list, int64_t index) {
  __gm__ uint64_t *words = reinterpret_cast<__gm__ uint64_t *>(list);
  return reinterpret_cast<__gm__ T *>(words[words[0] / sizeof(uint64_t) + static_cast<uint64_t>(index)]);
}

template <typename T, bool kIsFirst>
__global__ __aicore__ void add_list(GM_ADDR x, __gm__ T *y, int64_t length, int64_t count) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    T sum = kIsFirst ? T(0) : static_cast<T>(y[i] * T(10));
    for (int64_t member = 0; member < count; ++member) {
      sum += Member<T>(x, member)[i];
    }
    y[i] = sum;
  }
}
""",
    "kernels/cores.asc": """\
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void count_cores(GM_ADDR y, int64_t cores) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  reinterpret_cast<__gm__ int64_t *>(y)[0] = cores;
}

extern "C" __global__ __aicore__ void count_cubes(GM_ADDR y, int64_t cores) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  reinterpret_cast<__gm__ int64_t *>(y)[0] = cores;
}
""",
    "ge/user/tiling.h": """\
#pragma once
#include <cstddef>

#include "../launches_kernel.h"

namespace user {

// As many weights as the list attr has; GE gives the tensors as in Execute.
inline bool FillWeights(const gert::EagerOpExecutionContext &ctx, launches_ops::kernel_structs::WeightTiling &tiling) {
  const gert::Tensor *const x = ctx.GetInputTensor(0);
  const auto *const weights = ctx.GetAttrs()->GetListInt(0);
  if (x == nullptr || weights == nullptr || weights->GetSize() > 8) {
    return false;
  }
  tiling.length = x->GetStorageShape().GetShapeSize();
  tiling.count = static_cast<int64_t>(weights->GetSize());
  for (size_t index = 0; index < weights->GetSize(); ++index) {
    tiling.weights[index] = weights->GetData()[index];
  }
  return true;
}

}  // namespace user
""",
    "ops.py": '''\
"""An op for each way to launch kernels."""

import numpy as np
from opkit import Attr, Benchmark, Input, Kernel, Op, Output, Package, address_list, attr, cores, count, cpp, dim, numel, tiling, workspace


def scale(x, factor, negate):
    y = (x * np.float32(factor) + np.float32(factor) + np.float32(x.shape[0] - x.shape[1])) * np.float32(8)
    return -y if negate else y


scaled = Op(
    "ScaleTiled",
    inputs=[Input("x", "float32", shape="n k")],
    outputs=[Output("y", "float32", shape="n k")],
    attrs=[Attr("factor", float, default=0.5), Attr("negate", bool, default=True)],
    kernel=Kernel(
        "kernels/tiled.asc",
        entry="scale",
        args=[
            "x",
            tiling("Small", step=1),
            tiling(
                "ScaleTiling",
                negate="negate",
                total=numel("x"),
                power=dim("x", 0) // dim("x", 0) + 2,
                corners=[dim("x", 0), dim("x", 1)],
                scale=attr("factor"),
                offset="factor",
            ),
            "y",
        ],
        blocks=numel("x"),
        strides=True,
    ),
    reference=scale,
)
scaled_copied = scaled.replace(type="ScaleTiledCopied", refresh="none")

weighed = Op(
    "WeighTiled",
    inputs=[Input("x", "int64", shape="...")],
    outputs=[Output("y", "int64", shape="...")],
    attrs=[Attr("weights", list[int], default=[1, 2, 4])],
    kernel=Kernel(
        "kernels/tiled.asc",
        entry="weigh",
        args=["x", "y", tiling(cpp("ge/user/tiling.h", "user::FillWeights"))],
        blocks=numel("x"),
        strides=True,
    ),
    reference=lambda x, weights: x * np.int64(sum(weights)),
)

converted = Op(
    "ConvertTemplate",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("y", "U", shape="...")],
    dtypes={"T": ["float32", "float16", "int32"], "U": ["float16", "float32", "float32"]},
    kernel=Kernel(
        "kernels/templates.asc",
        entry="powers::convert<{T}, {U}, 3>",
        args=["x", "y", numel("x")],
        blocks=numel("x"),
        strides=True,
    ),
    reference=lambda x: (x.astype(np.float32) * np.float32(3)).astype(np.float16 if x.dtype == np.float32 else np.float32),
)
doubled = converted.replace(
    type="DoubleTemplate",
    inputs=[Input("x", "float32", shape="...")],
    outputs=[Output("y", "float32", shape="...")],
    dtypes={},
    kernel=converted.given["kernel"].replace(entry="powers::convert<{x}, {y}>"),
    reference=lambda x: x * np.float32(2),
)
negated = doubled.replace(
    type="NegateMangled",
    kernel=converted.given["kernel"].replace(entry="powers::negate"),
    reference=lambda x: -x,
)

partial = workspace(8 * 8)
centered = Op(
    "SubtractSum",
    inputs=[Input("x", "int64", shape="...")],
    outputs=[Output("y", "int64", shape="...")],
    kernel=[
        Kernel("kernels/several.asc", entry="sum_parts", args=["x", partial, numel("x")], blocks=8),
        Kernel(
            "kernels/several.asc",
            entry="subtract_sum",
            args=["x", partial, workspace(4 * 8), "y", numel("x"), 8],
            blocks=4,
        ),
    ],
    reference=lambda x: x - x.sum(),
)
# One kernel with memory of its own, beside ops that launch two.
kept = centered.replace(
    type="SubtractNothing",
    kernel=Kernel(
        "kernels/several.asc", entry="subtract_sum", args=["x", workspace(8), workspace(4 * 8), "y", numel("x"), 0], blocks=4
    ),
    reference=lambda x: x,
)
centered_copied = centered.replace(type="SubtractSumCopied", refresh="none")


def add_lists(x, w):
    return (sum(x[1:], x[0]) * 10 + sum(w[1:], w[0])).astype(x[0].dtype)


def add_list(port, is_first):
    return Kernel(
        "kernels/several.asc",
        entry=f"add_list<{{T}}, {is_first}>",
        args=[address_list(port), "y", numel("y"), count(port)],
        blocks=numel("y"),
        strides=True,
    )


listed = Op(
    "AddLists",
    inputs=[Input("x", "T", shape="...", dynamic=True), Input("w", "T", shape="...", dynamic=True)],
    outputs=[Output("y", "T", shape="...")],
    dtypes={"T": ["float32", "int32"]},
    kernel=[add_list("x", "true"), add_list("w", "false")],
    reference=add_lists,
)
listed_copied = listed.replace(type="AddListsCopied", refresh="none")

vectors = Op(
    "CountCores",
    inputs=[],
    outputs=[Output("y", "int64", shape="1")],
    kernel=Kernel("kernels/cores.asc", entry="count_cores", args=["y", cores()], blocks=1),
    # What the bundled simulator has.
    reference=lambda: np.full(1, 40, dtype=np.int64),
)
# The simulator has no cube cores, and says so.
cubes = Op(
    "CountCubes",
    inputs=[Input("x", "int64", shape="1")],
    outputs=[Output("y", "int64", shape="1")],
    kernel=Kernel("kernels/cores.asc", entry="count_cubes", args=["y", cores()], blocks=1),
)

package = Package(
    "launches",
    ops=[
        scaled, scaled_copied, weighed, converted, doubled, negated, centered, centered_copied, kept, listed, listed_copied, vectors, cubes
    ],
    benchmark=Benchmark(listed, baseline=listed_copied, shapes={"x": [(8, 8)] * 3, "w": [(8, 8)] * 2}, iters=5),
)
''',
}


def write_launches(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder
