"""A package with an op for each kind of port, whose kernels are plain loops: what the host tells them is what is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = """\
#include "kernel_operator.h"
#include "kernel_operator_list_tensor_intf.h"

template <typename T>
__aicore__ inline __gm__ T *At(GM_ADDR address) {
  return reinterpret_cast<__gm__ T *>(address);
}

// The address of a tensor in a list, found as ListTensorDesc does.
template <typename T>
__aicore__ inline __gm__ T *Member(GM_ADDR list, int64_t index) {
  __gm__ uint64_t *words = At<uint64_t>(list);
  return reinterpret_cast<__gm__ T *>(words[words[0] / sizeof(uint64_t) + static_cast<uint64_t>(index)]);
}

extern "C" __global__ __aicore__ void add_bias(GM_ADDR x, GM_ADDR bias, GM_ADDR y, int64_t rows, int64_t columns, int64_t bias_length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < rows * columns; i += AscendC::GetBlockNum()) {
    const float added = bias == nullptr ? 0.0F : At<float>(bias)[i % bias_length];
    At<float>(y)[i] = At<float>(x)[i] + added;
  }
}

extern "C" __global__ __aicore__ void sum_list(GM_ADDR x, GM_ADDR scale, GM_ADDR y, int64_t length, int64_t count) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    float sum = 0.0F;
    for (int64_t member = 0; member < count; ++member) {
      sum += Member<float>(x, member)[i];
    }
    At<float>(y)[i] = sum * At<float>(scale)[0];
  }
}

extern "C" __global__ __aicore__ void axpy(GM_ADDR x, GM_ADDR y, int64_t length, float alpha) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    At<float>(y)[i] = At<float>(y)[i] + At<float>(x)[i] * alpha;
  }
}

extern "C" __global__ __aicore__ void scalar_sum(GM_ADDR x, GM_ADDR y, GM_ADDR sum, GM_ADDR is_less) {
  if (AscendC::GetBlockIdx() == 0) {
    At<float>(sum)[0] = At<float>(x)[0] + At<float>(y)[0];
    At<uint8_t>(is_less)[0] = At<float>(x)[0] < At<float>(y)[0] ? 1 : 0;
  }
}

// Each member of `parts` is x and its number; `total` lies behind the list.
extern "C" __global__ __aicore__ void spread(GM_ADDR x, GM_ADDR parts, GM_ADDR total, int64_t length, int64_t count) {
  AscendC::ListTensorDesc list(parts);
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    for (uint32_t member = 0; member < list.GetSize(); ++member) {
      list.GetDataPtr<int32_t>(member)[i] = At<int32_t>(x)[i] + static_cast<int32_t>(member);
    }
    At<int64_t>(total)[i] = static_cast<int64_t>(At<int32_t>(x)[i]) * count;
  }
}

extern "C" __global__ __aicore__ void scale_all(GM_ADDR x, GM_ADDR bonus, GM_ADDR y, int64_t length, int64_t count, int64_t extra) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    for (int64_t member = 0; member < count; ++member) {
      int32_t value = Member<int32_t>(x, member)[i] * 2;
      for (int64_t other = 0; other < extra; ++other) {
        value += Member<int32_t>(bonus, other)[0];
      }
      Member<int32_t>(x, member)[i] = value;
    }
    At<int32_t>(y)[i] = static_cast<int32_t>(count);
  }
}

extern "C" __global__ __aicore__ void iota(GM_ADDR y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    At<int32_t>(y)[i] = static_cast<int32_t>(i);
  }
}

// Words of 32 bits, whatever they are.
extern "C" __global__ __aicore__ void copy_all(GM_ADDR x, GM_ADDR y, int64_t length, int64_t count) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    for (int64_t member = 0; member < count; ++member) {
      Member<uint32_t>(y, member)[i] = Member<uint32_t>(x, member)[i];
    }
  }
}

extern "C" __global__ __aicore__ void look(GM_ADDR x, int64_t length) {}

extern "C" __global__ __aicore__ void wait(int64_t length) {}

extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    At<float>(y)[i] = At<float>(x)[i];
  }
}
"""

OPS = '''\
"""An op for each kind of port."""

import numpy as np
from opkit import Attr, Benchmark, Input, Kernel, Op, Output, Package, address_list, attr, count, dim, numel


def kernel(entry, args, blocks):
    return Kernel("kernels/kinds.asc", entry=entry, args=args, blocks=blocks, strides=True)


def add_bias(x, bias):
    return x if bias is None else x + bias


biased = Op(
    "AddBias",
    inputs=[Input("x", "float32", shape="n k"), Input("bias", "float32", shape="k", optional=True)],
    outputs=[Output("y", "float32", shape="n k")],
    kernel=kernel("add_bias", ["x", "bias", "y", dim("x", 0), dim("x", 1), numel("bias")], numel("x")),
    reference=add_bias,
)
biased_copied = biased.replace(type="AddBiasCopied", refresh="none")


def sum_list(x, scale, N):
    return (sum(x[1:], x[0]) * scale).astype(np.float32)


summed = Op(
    "SumList",
    inputs=[Input("x", "float32", shape="...", dynamic=True, count_attr="N"), Input("scale", "float32", shape="")],
    outputs=[Output("y", "float32", shape="...")],
    attrs=[Attr("N", int)],
    kernel=kernel("sum_list", [address_list("x"), "scale", "y", numel("x"), count("x")], numel("y")),
    reference=sum_list,
)
summed_copied = summed.replace(type="SumListCopied", refresh="none")

axpy = Op(
    "AxpyInPlace",
    signature=[Input("x", "T", shape="..."), Attr("alpha", float, default=2.0), Output("y", "T"), Input("y", "T", shape="...")],
    dtypes={"T": ["float32"]},
    kernel=kernel("axpy", ["x", "y", numel("x"), "alpha"], numel("x")),
    reference=lambda x, y, alpha: y + x * np.float32(alpha),
)
axpy_copied = axpy.replace(type="AxpyInPlaceCopied", refresh="none")

scalars = Op(
    "ScalarSum",
    inputs=[Input("x", "float32", shape=""), Input("y", "float32", shape="")],
    outputs=[Output("sum", "float32", shape=""), Output("is_less", "bool", shape="")],
    kernel=kernel("scalar_sum", ["x", "y", "sum", "is_less"], 1),
    reference=lambda x, y: (x + y, x < y),
)


def spread(x, num):
    return [x + np.int32(i) for i in range(num)], x.astype(np.int64) * num


spreading = Op(
    "SpreadList",
    inputs=[Input("x", "int32", shape="...")],
    outputs=[Output("parts", "int32", shape="...", dynamic=attr("num")), Output("total", "int64", shape="...")],
    attrs=[Attr("num", int, default=3)],
    kernel=kernel("spread", ["x", address_list("parts"), "total", numel("x"), count("parts")], numel("total")),
    reference=spread,
)
spreading_copied = spreading.replace(type="SpreadListCopied", refresh="none")


def scale_all(x, bonus):
    return [2 * each + sum(other.reshape(-1)[0] for other in bonus) for each in x], np.full_like(x[0], len(x))


scaled = Op(
    "ScaleAll",
    inputs=[Input("x", "int32", shape="...", dynamic=True), Input("bonus", "int32", shape="1", optional=True, dynamic=True)],
    outputs=[Output("x", "int32", dynamic=True), Output("y", "int32", shape="...")],
    kernel=kernel("scale_all", [address_list("x"), address_list("bonus"), "y", numel("x"), count("x"), count("bonus")], numel("x")),
    reference=scale_all,
)

mixed = Op(
    "CopyMixed",
    inputs=[Input("x", "T", shape="...", dynamic=True, same_dtype=False)],
    outputs=[Output("y", "T", shape="...", dynamic=True)],
    dtypes={"T": ["float32", "int32"]},
    kernel=kernel("copy_all", [address_list("x"), address_list("y"), numel("x"), count("x")], numel("x")),
    reference=lambda x: list(x),
)

iota = Op(
    "IotaCustom",
    inputs=[],
    outputs=[Output("y", "int32", shape="100")],
    kernel=kernel("iota", ["y", numel("y")], 1),
    reference=lambda: np.arange(100, dtype=np.int32),
)
look = Op(
    "LookAt",
    inputs=[Input("x", "float32", shape="...")],
    outputs=[],
    kernel=kernel("look", ["x", numel("x")], 1),
)
wait = Op("WaitFor", inputs=[], outputs=[], kernel=kernel("wait", [3], 1))
images = Op(
    "CopyImages",
    inputs=[Input("x", "float32", shape="n c h w", formats=("NCHW", "NHWC"))],
    outputs=[Output("y", "float32", shape="n c h w", formats=("NCHW", "NHWC"))],
    kernel=kernel("copy", ["x", "y", numel("x")], numel("x")),
    reference=lambda x: x,
)
plain = images.replace(
    type="CopyPlain", inputs=[Input("x", "float32", shape="...")], outputs=[Output("y", "float32", shape="...")]
)
package = Package(
    "port_kinds",
    ops=[
        biased, biased_copied, summed, summed_copied, axpy, axpy_copied, scalars, spreading, spreading_copied, scaled, mixed, iota,
        look, wait, images, plain,
    ],
    benchmark=Benchmark(
        summed, baseline=summed_copied, shapes={"x": [(8, 4), (8, 4), (8, 4)], "scale": ()}, attrs={"N": 3}, iters=5
    ),
)
'''


def write_port_kinds(folder: Path) -> Path:
    (folder / "kernels").mkdir(parents=True, exist_ok=True)
    (folder / "kernels" / "kinds.asc").write_text(KERNEL)
    (folder / "ops.py").write_text(OPS)
    return folder
