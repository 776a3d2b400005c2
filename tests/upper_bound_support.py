"""Two packages whose ops have outputs of which only the kernel knows the shape, and kernels that tell the shape rightly or not."""

from __future__ import annotations

from pathlib import Path

from opkit.codegen import render
from opkit.spec import Package, load_package

ROOT = Path(__file__).resolve().parents[1]

# Writes the coordinates of the true elements of a tensor of rank 1 or 2. WRONG says what it writes in place of its shape.
WHERE_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void where_like(GM_ADDR x, GM_ADDR y, GM_ADDR shape, int64_t length, int64_t row, uint64_t rank) {
  __gm__ const uint8_t *flags = reinterpret_cast<__gm__ const uint8_t *>(x);
  __gm__ int64_t *places = reinterpret_cast<__gm__ int64_t *>(y);
  __gm__ uint64_t *words = reinterpret_cast<__gm__ uint64_t *>(shape);
  uint64_t found = 0;
  for (int64_t i = 0; i < length; ++i) {
    if (flags[i] == 0) {
      continue;
    }
    places[found * rank] = i / row;
    if (rank == 2) {
      places[found * rank + 1] = i % row;
    }
    ++found;
  }
#if WRONG == 0
  words[0] = 2;
  words[1] = found;
  words[2] = rank;
#elif WRONG == 1
  words[0] = 2;
  words[1] = static_cast<uint64_t>(length) + 1;
  words[2] = rank;
#elif WRONG == 2
  words[0] = 3;
  words[1] = found;
  words[2] = rank;
  words[3] = 1;
#elif WRONG == 3
  words[0] = 2;
  words[1] = found;
  words[2] = 7;
#elif WRONG == 4
  words[0] = 2;
  words[1] = found;
#endif
}
"""
WHERE_SPEC = """\
from opkit import Benchmark, Input, Kernel, Op, Output, Package, dim, max_, numel, rank, shape_of, upper_bound

def where(op_type, wrong, most):
    return Op(
        op_type,
        inputs=[Input("x", "bool", shape="n ...")],
        outputs=[Output("y", "int64", shape=upper_bound("found (rank(x))", found=most))],
        kernel=Kernel(
            "kernels/where.asc",
            entry="where_like",
            args=["x", "y", shape_of("y"), numel("x"), max_(numel("x"), 1) // max_(dim("x", 0), 1), rank("x")],
            blocks=1,
            defines={"WRONG": wrong},
        ),
        refresh="none",
        reference=lambda x: __import__("numpy").argwhere(x),
    )

wheres = [
    where(op_type, wrong, numel("x"))
    for wrong, op_type in enumerate(["WhereLike", "WhereBeyond", "WhereOtherRank", "WhereOtherDim", "WhereHalf", "WhereSilent"])
]
DOCUMENTED
package = Package(
    "wheres",
    ops=[*wheres, where("WhereBelow", 0, numel("x") - 4), documented],
    benchmark=Benchmark(wheres[0], shapes={"x": (8,)}),
)
"""

# The lengths of runs of equal elements: two outputs that share a dim, beside one whose shape is known.
RUNS_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void mark(GM_ADDR x, GM_ADDR marks, int64_t length) {
  __gm__ const int32_t *elements = reinterpret_cast<__gm__ const int32_t *>(x);
  for (int64_t i = 0; i < length; ++i) {
    reinterpret_cast<__gm__ uint8_t *>(marks)[i] = i == 0 || elements[i] != elements[i - 1] ? 1 : 0;
  }
}
extern "C" __global__ __aicore__ void collect(GM_ADDR x, GM_ADDR weight, GM_ADDR marks, GM_ADDR values, GM_ADDR lengths, GM_ADDR total,
                                              GM_ADDR values_shape, GM_ADDR lengths_shape, int64_t length, int64_t weight_rank) {
  __gm__ const int32_t *elements = reinterpret_cast<__gm__ const int32_t *>(x);
  __gm__ int64_t *counts = reinterpret_cast<__gm__ int64_t *>(lengths);
  uint64_t runs = 0;
  int64_t sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    if (reinterpret_cast<__gm__ const uint8_t *>(marks)[i] != 0) {
      reinterpret_cast<__gm__ int32_t *>(values)[runs] = elements[i];
      counts[runs++] = 0;
    }
    ++counts[runs - 1];
    sum += weight_rank == 0 ? 1 : reinterpret_cast<__gm__ const int32_t *>(weight)[i];
  }
  *reinterpret_cast<__gm__ int64_t *>(total) = sum;
  reinterpret_cast<__gm__ uint64_t *>(values_shape)[0] = 1;
  reinterpret_cast<__gm__ uint64_t *>(values_shape)[1] = runs;
  reinterpret_cast<__gm__ uint64_t *>(lengths_shape)[0] = 1;
  reinterpret_cast<__gm__ uint64_t *>(lengths_shape)[1] = runs - APART;
}
"""
RUNS_SPEC = """\
from opkit import Input, Kernel, Op, Output, Package, numel, rank, shape_of, upper_bound, workspace

def runs(op_type, apart):
    marks = workspace(numel("x"))
    most = numel("x")
    collected = [
        "x", "weight", marks, "values", "lengths", "total", shape_of("values"), shape_of("lengths"), numel("x"),
        rank("weight"),
    ]
    return Op(
        op_type,
        inputs=[Input("x", "int32", shape="n"), Input("weight", "int32", shape="n", optional=True)],
        outputs=[
            Output("values", "int32", shape=upper_bound("runs", runs=most)),
            Output("total", "int64", shape=""),
            Output("lengths", "int64", shape=upper_bound("runs", runs=numel("x"))),
        ],
        kernel=[
            Kernel("kernels/runs.asc", entry="mark", args=["x", marks, numel("x")], blocks=1, defines={"APART": apart}),
            Kernel("kernels/runs.asc", entry="collect", args=collected, blocks=1, defines={"APART": apart}),
        ],
        refresh="none",
    )

plain = Op(
    "PlainCopy",
    inputs=[Input("x", "int32", shape="n")],
    outputs=[Output("y", "int32", shape="n")],
    kernel=Kernel("kernels/runs.asc", entry="mark", args=["x", "y", numel("x")], blocks=1, defines={"APART": 0}),
)
package = Package("runs", ops=[runs("RunsLike", 0), runs("RunsApart", 1), plain])
"""


def write_wheres(root: Path) -> Package:
    """One kernel, required ports: what most packages have. The op that the docs teach is among them."""
    section = (ROOT / "docs" / "reference" / "spec.md").read_text("utf-8").partition("### A shape that only the kernel knows")[2]
    spec, kernel = (section.partition(f"```{language}\n")[2].partition("```")[0] for language in ("python", "cpp"))
    (root / "kernels").mkdir(parents=True)
    (root / "kernels" / "documented.asc").write_text(f'#include "kernel_operator.h"\n{kernel}')
    for old, new in (("where = ", "documented = "), ('"WhereLike"', '"WhereDocumented"'), ("kernels/where.asc", "kernels/documented.asc")):
        assert spec.count(old) == 1
        spec = spec.replace(old, new)
    return _write(root, "where.asc", WHERE_KERNEL, WHERE_SPEC.replace("DOCUMENTED", spec))


def write_runs(root: Path) -> Package:
    """Several kernels, a workspace, an optional input, and an op whose shapes are all known."""
    return _write(root, "runs.asc", RUNS_KERNEL, RUNS_SPEC)


def _write(root: Path, kernel: str, source: str, spec: str) -> Package:
    (root / "kernels").mkdir(parents=True, exist_ok=True)
    (root / "kernels" / kernel).write_text(source)
    (root / "ops.py").write_text(spec)
    package = load_package(root / "ops.py")
    render(package).write(root)
    return package
