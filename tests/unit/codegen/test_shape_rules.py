"""The C++ reading of an output's shape gives what the Python reading gives, errors included, and what it can know of unknown dims."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opkit.codegen import render
from opkit.errors import SpecError
from opkit.spec import Op, load_package

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = tuple[int, ...]

KERNEL = 'extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR z) {}\n'
SPEC = """\
from opkit import *
kernel = Kernel("kernels/k.asc", entry="k", args=["x", "y", "z"], blocks=8)
def op(number, shape):
    return Op(f"Shape{number}", inputs=[Input("x", "float32", shape="n k"), Input("y", "float32", shape="*b k")],
              outputs=[Output("z", "float32", shape=shape)], attrs=[Attr("mode", str, default=""), Attr("a", int), Attr("b2", int)],
              kernel=kernel)
package = Package("shapes", ops=[op(number, shape) for number, shape in enumerate(SHAPES)])
"""
# Of x and y; y's last dim is x's.
CASES: list[tuple[Shape, Shape]] = [
    ((2, 3), (3,)),
    ((5, 4), (7, 1, 4)),
    ((0, 1), (2, 1)),
    ((2**62, 6), (2**62, 6)),
    ((1, 3), (4, 5, 3)),
    ((4, 3), (4, 1)),  # breaks the patterns
    ((4,), (4,)),
]
ATTRS = [(3, 2), (0, -1), (2**63 - 1, 7)]
UNKNOWN = -1
UNKNOWN_RANK = -2


def expressions() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["n", "k", "a", "b2", "rank(x)", "rank(y)", "0", "1", "2", "3", str(2**62)])

    def inner(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        infix = st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(lambda parts: "(" + " ".join(parts) + ")")
        calls = st.tuples(st.sampled_from(["ceil_div", "min_", "max_"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        )
        return infix | calls

    return st.recursive(leaves, inner, max_leaves=5).map(lambda text: f"({text})")


def rules() -> st.SearchStrategy[str]:
    """As Python source."""
    dims = st.lists(st.sampled_from(["n", "k", "*b", "3", "a"]) | expressions(), min_size=1, max_size=4)
    return dims.map(lambda items: repr(" ".join(items)))


def test_both_readings_of_a_shape_agree(tmp_path: Path, toolkit_home: Path) -> None:
    """One program infers many shapes; a compiler run for each would take minutes."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "k.asc").write_text(KERNEL)
    ops = _ops(tmp_path)
    assert len(ops) > 60
    unknown = [
        *((x, (UNKNOWN_RANK,)) for x, _ in CASES),
        *(((UNKNOWN, x[-1]), y) for x, y in CASES),
        *((x, (*y[:-1], UNKNOWN)) for x, y in CASES),
    ]
    inferred = _inferred_by_cpp(ops, [*CASES, *unknown], tmp_path, toolkit_home)
    results = set()
    for op, shapes in zip(ops, inferred, strict=True):
        known, partly = shapes[: len(CASES) * len(ATTRS)], shapes[len(CASES) * len(ATTRS) :]
        wanted = [_infer(op, x, y, a, b2) for x, y in CASES for a, b2 in ATTRS]
        results.update(wanted)
        assert known == wanted, op.outputs[0].shape
        for guess, truth in zip(partly, wanted * 3, strict=True):
            assert truth is None or _holds(guess, truth), (op.outputs[0].shape, guess, truth)
    # Neither all errors nor none, and not always the same.
    assert None in results
    assert len(results) > 50


def _ops(root: Path) -> Sequence[Op]:
    found: dict[str, None] = dict.fromkeys(['broadcast("x", "y")', 'broadcast("y", "x", "y")'])

    @settings(max_examples=150, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(rules())
    def collect(rule: str) -> None:
        # A constant that is no dim, or a division by a constant 0, is refused; that has tests of its own.
        (root / "ops.py").write_text(SPEC.replace("SHAPES", f"[{rule}]"))
        try:
            load_package(root / "ops.py")
        except SpecError:
            return
        found[rule] = None

    collect()
    (root / "ops.py").write_text(SPEC.replace("SHAPES", f"[{', '.join(found)}]"))
    return load_package(root / "ops.py").ops


def _infer(op: Op, x: Shape, y: Shape, a: int, b2: int) -> Shape | None:
    try:
        return op.infer_shapes({"x": x, "y": y}, {"a": a, "b2": b2})["z"]
    except SpecError:
        return None


def _holds(guess: Shape | None, truth: Shape) -> bool:
    """Whether what is inferred from unknown dims is what is inferred from known ones, as far as it goes."""
    if guess == (UNKNOWN_RANK,):
        return True
    return guess is not None and len(guess) == len(truth) and all(dim in {UNKNOWN, size} for dim, size in zip(guess, truth, strict=True))


def _inferred_by_cpp(ops: Sequence[Op], cases: Sequence[tuple[Shape, Shape]], folder: Path, toolkit: Path) -> list[list[Shape | None]]:
    """Compiles the rules and calls each, with attrs as GE lays them out."""
    render(load_package(folder / "ops.py")).write(folder)

    def shape(dims: Shape) -> str:
        return f"gert::Shape{{{', '.join(map(str, dims))}}}"

    pairs = ", ".join(f"{{{shape(x)}, {shape(y)}}}" for x, y in cases)
    values = ", ".join(f"{{{a}, {b2}}}" for a, b2 in ATTRS)
    calls = "\n".join(f"  Infer<{op.type}Rules>();" for op in ops)
    (folder / "program.cpp").write_text(f"""\
#include <cstdio>
#include "shapes_rules.h"
using namespace shapes_ops;
struct Attrs {{
  size_t count = 3;
  uint8_t reserved[40] = {{}};
  size_t offsets[3] = {{sizeof(size_t) * 4 + 40, sizeof(size_t) * 5 + 40, sizeof(size_t) * 6 + 40}};
  char mode[8] = "";
  int64_t a = 0;
  int64_t b2 = 0;
}};
struct Case {{
  gert::Shape x;
  gert::Shape y;
}};
template <typename Rules>
void Infer() {{
  for (const Case &each : {{{pairs.replace("{gert", "Case{gert")}}}) {{
    for (const auto &[a, b2] : std::initializer_list<std::pair<int64_t, int64_t>>{{{values}}}) {{
      Attrs attrs;
      attrs.a = a;
      attrs.b2 = b2;
      const gert::Shape *inputs[] = {{&each.x, &each.y}};
      gert::Shape outputs[1];
      if (!Rules::InferShapes({{"Op", "op"}}, inputs, outputs, reinterpret_cast<const gert::RuntimeAttrs *>(&attrs))) {{
        std::printf("none;");
        continue;
      }}
      for (size_t axis = 0; axis < outputs[0].GetDimNum(); ++axis) {{
        std::printf("%lld ", static_cast<long long>(outputs[0].GetDim(axis)));
      }}
      std::printf(";");
    }}
  }}
  std::printf("\\n");
}}
int main() {{
{calls}
}}
""")
    includes: list[str | Path] = ["-I", folder / "ge", "-isystem", toolkit / "include"]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["g++", *flags, *includes, folder / "program.cpp", "-o", folder / "program"], check=True)
    done = subprocess.run([folder / "program"], capture_output=True, text=True, check=True)
    return [
        [None if text == "none" else tuple(map(int, text.split())) for text in line.split(";")[:-1]] for line in done.stdout.splitlines()
    ]
