"""`opkit test` on ops that the sample doesn't have: attrs of every type, two outputs, named dims, and all eight dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_support import opkit_json, replace_in

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kinds"), pytest.mark.usefixtures("toolkit_home")]

DTYPES = ("float32", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool")

# A file for each kernel: what changes in one doesn't compile the other again, for each of its dtypes.
FILES = {
    "moves.h": """\
#pragma once
#include "kernel_operator.h"
constexpr uint32_t kTile = 64;

// Moves `count` elements of a tile; the last tile of a tensor is rarely a multiple of 32 bytes.
template <typename T>
__aicore__ inline void Load(AscendC::LocalTensor<T> &to, const AscendC::GlobalTensor<T> &from, uint32_t count) {
  const AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
  const AscendC::DataCopyPadExtParams<T> pad{false, 0, 0, T(0)};
  AscendC::DataCopyPad(to, from, row, pad);
}

template <typename T>
__aicore__ inline void Save(const AscendC::GlobalTensor<T> &to, const AscendC::LocalTensor<T> &from, uint32_t count) {
  const AscendC::DataCopyExtParams row{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
  AscendC::DataCopyPad(to, from, row);
}
""",
    "copy.asc": """\
#include "moves.h"
#ifndef DTYPE_X
#define DTYPE_X float
#endif

// A copy moves the bytes of a bool as those of an integer.
template <typename T>
struct Moved {
  using Type = T;
};
template <>
struct Moved<bool> {
  using Type = uint8_t;
};
using Element = Moved<DTYPE_X>::Type;

extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR z, int64_t length) {
  AscendC::TPipe pipe;
  AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 2> queue;
  pipe.InitBuffer(queue, 2, kTile * sizeof(Element));
  AscendC::GlobalTensor<Element> from;
  AscendC::GlobalTensor<Element> to;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ Element *>(x), static_cast<uint64_t>(length));
  to.SetGlobalBuffer(reinterpret_cast<__gm__ Element *>(z), static_cast<uint64_t>(length));
  const int64_t tiles = (length + kTile - 1) / kTile;
  for (int64_t tile = AscendC::GetBlockIdx(); tile < tiles; tile += AscendC::GetBlockNum()) {
    const int64_t rest = length - tile * kTile;
    const uint32_t count = rest < kTile ? static_cast<uint32_t>(rest) : kTile;
    AscendC::LocalTensor<Element> local = queue.AllocTensor<Element>();
    Load(local, from[tile * kTile], count);
    queue.EnQue(local);
    local = queue.DeQue<Element>();
    Save(to[tile * kTile], local, count);
    queue.FreeTensor(local);
  }
}
""",
    "scale_shift.asc": """\
#include "moves.h"

// scaled = x * scale + shift, negated if asked for; doubled = x + x.
extern "C" __global__ __aicore__ void scale_shift(GM_ADDR x, GM_ADDR scaled, GM_ADDR doubled, int64_t length, float scale, int64_t shift,
                                                             bool negate) {
  AscendC::TPipe pipe;
  AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
  AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
  pipe.InitBuffer(in, 1, kTile * sizeof(float));
  pipe.InitBuffer(out, 1, kTile * sizeof(float));
  AscendC::GlobalTensor<float> from;
  AscendC::GlobalTensor<float> to;
  AscendC::GlobalTensor<float> twice;
  from.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x), static_cast<uint64_t>(length));
  to.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(scaled), static_cast<uint64_t>(length));
  twice.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(doubled), static_cast<uint64_t>(length));
  const int64_t tiles = (length + kTile - 1) / kTile;
  for (int64_t tile = AscendC::GetBlockIdx(); tile < tiles; tile += AscendC::GetBlockNum()) {
    const int64_t rest = length - tile * kTile;
    const uint32_t count = rest < kTile ? static_cast<uint32_t>(rest) : kTile;
    AscendC::LocalTensor<float> local = in.AllocTensor<float>();
    Load(local, from[tile * kTile], count);
    in.EnQue(local);
    local = in.DeQue<float>();
    AscendC::LocalTensor<float> result = out.AllocTensor<float>();
    AscendC::Add(result, local, local, static_cast<int32_t>(count));
    out.EnQue(result);
    result = out.DeQue<float>();
    Save(twice[tile * kTile], result, count);
    out.FreeTensor(result);
    result = out.AllocTensor<float>();
    AscendC::Muls(result, local, scale, static_cast<int32_t>(count));
    AscendC::Adds(result, result, static_cast<float>(shift), static_cast<int32_t>(count));
    if (negate) {
      AscendC::Muls(result, result, -1.0F, static_cast<int32_t>(count));
    }
    in.FreeTensor(local);
    out.EnQue(result);
    result = out.DeQue<float>();
    Save(to[tile * kTile], result, count);
    out.FreeTensor(result);
  }
}
""",
}

OPS = """
import numpy as np
from opkit import Attr, Input, Kernel, Op, Output, Package, ceil_div, numel

blocks = ceil_div(numel("x"), 64)
copy = Op(
    "CopyAll",
    inputs=[Input("x", "T", shape="...")],
    outputs=[Output("z", "T", shape="...")],
    dtypes={"T": ["float32", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool"]},
    kernel=Kernel("kernels/copy.asc", entry="copy", args=["x", "z", numel("x")], blocks=blocks, strides=True),
    refresh="updater",
    reference=lambda x: x,
)


def scale_shift(x, scale, shift, negate, mode):
    scaled = x * np.float32(scale) + np.float32(shift)
    return (-scaled if negate else scaled), x + x


args = ["x", "scaled", "doubled", numel("x"), "scale", "shift", "negate"]
scaling = Op(
    "ScaleShift",
    inputs=[Input("x", "float32", shape="n k")],
    outputs=[Output("scaled", "float32", shape="n k"), Output("doubled", "float32", shape="n k")],
    attrs=[
        Attr("scale", "float", default=0.1),
        Attr("shift", "int"),
        Attr("negate", "bool", default=False),
        Attr("mode", "str", default="a b\\n%"),
    ],
    kernel=Kernel("kernels/scale_shift.asc", entry="scale_shift", args=args, blocks=blocks, strides=True),
    refresh="updater",
    reference=scale_shift,
)
package = Package("kinds", ops=[copy, scaling], header="kinds.h")
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "kernels").mkdir()
    for name, text in FILES.items():
        (folder / "kernels" / name).write_text(text)
    (folder / "ops.py").write_text(OPS)
    return folder


def test_every_dtype_passes_at_every_size(project: Path) -> None:
    report = opkit_json("test", project)
    for dtype in DTYPES:
        results = [result for result in report["results"] if result["op"] == "CopyAll" and result["dtypes"].get("x") == dtype]
        assert {result["status"] for result in results} == {"passed"}, dtype
        assert {(0,), (1,), (63,), (64,), (65,), (193,), ()} < {tuple(result["shapes"]["x"]) for result in results}


def test_attrs_reach_the_kernel_with_their_default_and_another_value(project: Path) -> None:
    report = opkit_json("test", project)
    results = [result for result in report["results"] if result["op"] == "ScaleShift" and result["attrs"]]
    assert {result["status"] for result in results} == {"passed"}
    assert {"scale = 0.45", "shift = 2", "negate = True"} < {result["why"] for result in results}
    assert {check["port"] for result in results for check in result["checks"]} == {"scaled", "doubled"}
    assert [1, 0] in [result["shapes"]["x"] for result in results]


def test_an_attr_that_the_kernel_ignores_is_found(project: Path) -> None:
    replace_in(project / "kernels" / "scale_shift.asc", "static_cast<float>(shift)", "1.0F")
    report = opkit_json("test", project, exit_code=4)
    failed = [result for result in report["results"] if result["status"] == "failed"]
    assert [(result["op"], result["why"]) for result in failed] == [("ScaleShift", "shift = 2")]
    # The kernels have no BLOCK_SIZE: that many blocks were not tested, and the report says so.
    assert {result["op"] for result in report["results"] if result["status"] == "skipped"} == {"CopyAll", "ScaleShift"}
