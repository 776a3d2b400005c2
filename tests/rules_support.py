"""A package whose dtypes and shapes follow rules, each of them, and one op with a workspace: to be rendered, compiled and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Plain loops: what is tested is what the host infers and tells the kernel, so the kernel should be easy to believe.
RULES_KERNEL = """\
#include "kernel_operator.h"
#define AT(type, address, index) (reinterpret_cast<__gm__ type *>(address)[index])

extern "C" __global__ __aicore__ void add_broadcast(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t x_rows, int64_t x_columns, int64_t y_rows,
                                                    int64_t y_columns, int64_t rows, int64_t columns) {
  for (int64_t i = AscendC::GetBlockIdx(); i < rows * columns; i += AscendC::GetBlockNum()) {
    const int64_t row = i / columns;
    const int64_t column = i % columns;
    const int64_t in_x = row % x_rows * x_columns + column % x_columns;
    const int64_t in_y = row % y_rows * y_columns + column % y_columns;
    AT(float, z, i) = AT(float, x, in_x) + AT(float, y, in_y);
  }
}

// Any rank, where the smaller input has the last dims of the other or one element.
extern "C" __global__ __aicore__ void add_repeated(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t x_length, int64_t y_length, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    AT(float, z, i) = AT(float, x, i % x_length) + AT(float, y, i % y_length);
  }
}

extern "C" __global__ __aicore__ void count_up(GM_ADDR x, GM_ADDR y, int64_t x_length, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    AT(int32_t, y, i) = static_cast<int32_t>(i * x_length);
  }
}

extern "C" __global__ __aicore__ void add_pairs(GM_ADDR x, GM_ADDR y, int64_t columns, int64_t pairs, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    const int64_t first = i / pairs * columns + i % pairs * 2;
    AT(float, y, i) = AT(float, x, first) + AT(float, x, first + 1);
  }
}

// First the sum of each tile, then the sum of these.
extern "C" __global__ __aicore__ void sum_twice(GM_ADDR x, GM_ADDR y, GM_ADDR partial, int64_t length) {
  const int64_t tiles = (length + 63) / 64;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    int64_t sum = 0;
    for (int64_t i = tile * 64; i < length && i < (tile + 1) * 64; ++i) {
      sum += AT(int32_t, x, i);
    }
    AT(int64_t, partial, tile) = sum;
  }
  int64_t sum = 0;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    sum += AT(int64_t, partial, tile);
  }
  AT(int64_t, y, 0) = sum;
}

extern "C" __global__ __aicore__ void pad_both(GM_ADDR x, GM_ADDR y, int64_t pad, int64_t x_length, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    AT(float, y, i) = i >= pad && i - pad < x_length ? AT(float, x, i - pad) : 0.0F;
  }
}
"""
PROMOTED_KERNEL = """\
#include "kernel_operator.h"
#define AT(type, address, index) (reinterpret_cast<__gm__ type *>(address)[index])

extern "C" __global__ __aicore__ void add_promoted(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    const float sum = static_cast<float>(AT(DTYPE_X, x, i)) + static_cast<float>(AT(DTYPE_Y, y, i));
    AT(DTYPE_Z, z, i) = static_cast<DTYPE_Z>(sum);
  }
}
"""
CAST_KERNEL = """\
#include "kernel_operator.h"
#define AT(type, address, index) (reinterpret_cast<__gm__ type *>(address)[index])

extern "C" __global__ __aicore__ void cast_to(GM_ADDR x, GM_ADDR y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    AT(DTYPE_Y, y, i) = static_cast<DTYPE_Y>(AT(DTYPE_X, x, i));
  }
}
"""
RULES_INFER = """\
#ifndef RULES_USER_INFER_H_
#define RULES_USER_INFER_H_

#include "exe_graph/runtime/infer_shape_context.h"

namespace mine {

inline bool InferPad(const gert::InferShapeContext &ctx, gert::Shape &shape) {
  const gert::Shape *const x = ctx.GetInputShape(0);
  const gert::RuntimeAttrs *const attrs = ctx.GetAttrs();
  const int64_t *const pad = attrs == nullptr ? nullptr : attrs->GetInt(0);
  if (x == nullptr || pad == nullptr || x->GetDimNum() != 1) {
    return false;
  }
  shape.AppendDim(x->GetDim(0) < 0 ? -1 : x->GetDim(0) + 2 * *pad);
  return true;
}

}  // namespace mine

#endif  // RULES_USER_INFER_H_
"""
RULES_SPEC = """\
import numpy as np
from opkit import *

NUMBERS = {0: "float32", 3: "int32", 2: "int8"}


def kernel(entry, *args, blocks=8, **more):
    file = {"add_promoted": "promoted", "cast_to": "cast"}.get(entry, "rules")
    return Kernel(f"kernels/{file}.asc", entry=entry, args=list(args), blocks=blocks, **more)


def unary(type, dtype, out, launch, reference, *, shape="...", attrs=(), **more):
    return Op(type, inputs=[Input("x", dtype, shape=shape)], outputs=[out], attrs=list(attrs), kernel=launch, reference=reference, **more)


def add(x, y):
    return x + y


matrices = Op(
    "AddMatrices",
    inputs=[Input("x", "float32", shape="n k"), Input("y", "float32", shape="m j")],
    outputs=[Output("z", "float32", shape=broadcast("x", "y"))],
    kernel=kernel(
        "add_broadcast", "x", "y", "z", dim("x", 0), dim("x", 1), dim("y", 0), dim("y", 1), dim("z", 0), dim("z", 1)
    ),
    reference=add,
)
suffix = Op(
    "AddSuffix",
    inputs=[Input("x", "float32", shape="..."), Input("y", "float32", shape="")],
    outputs=[Output("z", "float32", shape=broadcast("x", "y"))],
    kernel=kernel("add_repeated", "x", "y", "z", numel("x"), numel("y"), numel("z")),
    reference=add,
)
promoted = Op(
    "AddPromoted",
    inputs=[Input("x", "T1", shape="..."), Input("y", "T2", shape="...")],
    outputs=[Output("z", "T3", shape="...")],
    dtypes={"T1": ["int32", "float16"], "T2": ["int8", "float32"], "T3": Promote("T1", "T2")},
    dtype_mode="product",
    kernel=kernel("add_promoted", "x", "y", "z", numel("z")),
    reference=add,
)
by_number = unary(
    "CastByNumber",
    ["float32", "int32"],
    Output("y", from_attr("to", ["float32", "int32"]), shape="..."),
    kernel("cast_to", "x", "y", numel("x")),
    lambda x, to: x.astype(NUMBERS[to]),
    attrs=[Attr("to", int, default=3)],
)
by_type = unary(
    "CastByType",
    "T",
    Output("y", "U", shape="..."),
    kernel("cast_to", "x", "y", numel("x")),
    lambda x, scale, to: x.astype(to),
    attrs=[Attr("scale", "float", default=1.5), Attr("to", "type")],
    dtypes={"T": ["float32", "int32"], "U": from_attr("to", ["float32", "int32"])},
)
by_graph = unary(
    "CastByGraph",
    "T",
    Output("y", "U", shape="..."),
    kernel("cast_to", "x", "y", numel("x")),
    None,
    dtypes={"T": ["float32", "float32", "int32"], "U": ["float32", "int32", "int32"]},
)
by_soc = unary(
    "CopyBySoc",
    "T",
    Output("y", "T", shape="..."),
    kernel("cast_to", "x", "y", numel("x")),
    lambda x: x,
    dtypes={"T": per_soc({"Ascend910B": ["float32", "int8"], "Ascend310P": ["float32", "float16"], "default": ["float32"]})},
)
bins = unary(
    "CountUp",
    "float32",
    Output("y", "int32", shape="bins"),
    kernel("count_up", "x", "y", numel("x"), numel("y")),
    lambda x, mode, bins: np.arange(bins, dtype="int32") * np.int32(x.size),
    attrs=[Attr("mode", "str", default="up"), Attr("bins", int, default=70)],
)
pairs = unary(
    "AddColumnPairs",
    "float32",
    Output("y", "float32", shape="n (k // 2)"),
    kernel("add_pairs", "x", "y", dim("x", 1), dim("y", 1), numel("y")),
    lambda x: x[:, 0 : x.shape[1] // 2 * 2 : 2] + x[:, 1::2],
    shape="n k",
)
total = unary(
    "SumInTwoPasses",
    "int32",
    Output("y", "int64", shape=""),
    kernel("sum_twice", "x", "y", workspace(ceil_div(numel("x"), 64) * 8), numel("x"), blocks=1),
    lambda x: np.asarray(x.sum(dtype="int64")),
)
pad = unary(
    "PadBoth",
    "float32",
    Output("y", "float32", shape=cpp("ge/user/infer.h", "mine::InferPad")),
    kernel("pad_both", "x", "y", "pad", numel("x"), numel("y")),
    lambda x, pad: np.pad(x, pad),
    shape="n",
    attrs=[Attr("pad", int, default=2)],
)
package = Package(
    "rules",
    ops=[matrices, suffix, promoted, by_number, by_type, by_graph, by_soc, bins, pairs, total, pad],
    benchmark=Benchmark(by_soc, shapes={"x": (64,)}),
)
"""
RULES_FILES = {
    "kernels/rules.asc": RULES_KERNEL,
    "kernels/promoted.asc": PROMOTED_KERNEL,
    "kernels/cast.asc": CAST_KERNEL,
    "ge/user/infer.h": RULES_INFER,
    "ops.py": RULES_SPEC,
}

# The same rules in a package that has lists of tensors, which the generated code handles in another way.
LIST_KERNEL = """\
extern "C" __global__ __aicore__ void join(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR p, GM_ADDR own) {}
"""
LIST_OP = """
joined = Op(
    "JoinLists",
    inputs=[
        Input("x", "T", dynamic=True, shape="*b k"),
        Input("w", "T", optional=True),
        Input("v", "float32"),
        Input("u", "float32", shape="*c"),
    ],
    outputs=[
        Output("y", "U", shape="*b (k * 2)"),
        Output("z", from_attr("to", ["int8", "float32"]), shape=broadcast("v", "u")),
        Output("p", "T", shape=cpp("ge/user/infer.h", "mine::InferPad")),
    ],
    attrs=[Attr("pad", int), Attr("to", "type")],
    dtypes={"T": ["float32", "float32", "float16"], "U": ["float32", "float16", "float16"]},
    kernel=Kernel("kernels/join.asc", entry="join", args=[address_list("x"), "y", "z", "p", workspace(64)], blocks=1),
)
package = Package("rules", ops=[*package.given["ops"], joined])
"""


def write_rules(root: Path, *, has_lists: bool = False) -> Path:
    """Gives `root`, which then holds the project without its generated files."""
    lists = {"kernels/join.asc": LIST_KERNEL, "ops.py": RULES_SPEC + LIST_OP} if has_lists else {}
    for name, text in {**RULES_FILES, **lists}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
