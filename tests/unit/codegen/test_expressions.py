"""The C++ reading of a size expression gives what the Python reading gives, errors included."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opkit.codegen import render
from opkit.codegen.expressions import BlockStatements
from opkit.errors import SpecError
from opkit.spec import AttrValue, Binary, BinaryOp, Dim, Expr, Number, Numel, Op, Rank, Scope, load_package

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[3]
SPEC = """\
from opkit import *
kernel = Kernel("kernels/add.asc", entry="add", args=["x", "z", numel("x")], blocks=8)
op = Op(
    "AddCustom",
    inputs=[Input("x", "float32", shape="...")],
    outputs=[Output("z", "float32", shape="...")],
    attrs=[Attr("k", "int"), Attr("flag", "bool", default=True)],
    kernel=kernel,
    refresh="updater",
)
package = Package("sizes", ops=[op])
"""
KERNEL = 'extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR z, int64_t length) {}\n'
SHAPES = [(), (0,), (5,), (2, 3), (2**31, 2**31), (2**32, 2**32), (2**32, 2**32, 0), (7, 1, 3)]
NUMBERS = st.one_of(st.integers(-3, 8), st.sampled_from([2**63 - 1, -(2**63), 2**31, 2**62]))


@pytest.fixture(scope="module")
def op(tmp_path_factory: pytest.TempPathFactory) -> Op:
    root = tmp_path_factory.mktemp("sizes")
    (root / "kernels").mkdir()
    (root / "kernels" / "add.asc").write_text(KERNEL)
    (root / "ops.py").write_text(SPEC)
    return load_package(root / "ops.py").ops[0]


def expressions() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(
        NUMBERS.map(Number),
        st.just(Numel("x")),
        st.integers(-3, 2).map(lambda axis: Dim("x", axis)),
        st.just(Rank("x")),
        st.sampled_from(["k", "flag"]).map(AttrValue),
    )
    return st.recursive(
        leaves, lambda inner: st.tuples(st.sampled_from(BinaryOp), inner, inner).map(lambda parts: Binary(*parts)), max_leaves=6
    )


def test_both_readings_of_a_size_agree(op: Op, tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> None:
    """One program evaluates many trees over many shapes; a compiler run for each would take minutes."""
    found: list[Expr] = []

    @settings(max_examples=150, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(expressions())
    def collect(expr: Expr) -> None:
        found.append(expr)

    collect()
    assert len(found) > 100
    values = _evaluate_in_cpp(op, found, tmp_path_factory.mktemp("program"), toolkit_home)
    wanted = [[_evaluate(expr, shape, k) for shape in SHAPES for k in (3, -1)] for expr in found]
    for expr, cpp, python in zip(found, values, wanted, strict=True):
        assert cpp == python, str(expr)
    # Neither all errors nor none.
    assert {None} < {value for row in wanted for value in row}


def _evaluate(expr: Expr, shape: tuple[int, ...], k: int) -> int | None:
    try:
        return expr.evaluate(Scope(shapes={"x": shape, "z": shape}, attrs={"k": k, "flag": True}))
    except SpecError:
        return None


def _evaluate_in_cpp(op: Op, exprs: Sequence[Expr], folder: Path, toolkit: Path) -> list[list[int | None]]:
    """Compiles the C++ reading of each tree against the generated size.h, with shapes and attrs in place of a context."""
    package = load_package(op.where.file)
    helpers = Binary(BinaryOp.ADD, Dim("x", 0), Rank("x"))
    for kind in BinaryOp:
        helpers = Binary(kind, helpers, Numel("x"))
    whole = attrs.evolve(package, ops=(attrs.evolve(op, kernels=(attrs.evolve(op.kernel, blocks=helpers),)),))
    render(whole).write(folder)
    functions = []
    for number, expr in enumerate(exprs):
        statements = BlockStatements.of(op, attrs.evolve(op.kernel, blocks=expr)).statements
        size = next(line for line in statements if line.startswith("const Size size = "))
        parameters = "const gert::Shape &x_shape, const int64_t *k_attr, const bool *flag_attr"
        functions.append(f"Size Tree{number}({parameters}) {{\n  {size}\n  return size;\n}}\n")
    shapes = ", ".join("gert::Shape{" + ", ".join(map(str, shape)) + "}" for shape in SHAPES)
    calls = ", ".join(f"Tree{number}" for number in range(len(exprs)))
    (folder / "program.cpp").write_text(
        '#include <cstdio>\n#include "utils/size.h"\n'
        "using namespace sizes_ops;\nnamespace {\n" + "".join(functions) + "}\n"
        "int main() {\n  const bool flag = true;\n"
        f"  for (auto tree : {{{calls}}}) {{\n    for (const gert::Shape &shape : {{{shapes}}}) {{\n      for (int64_t k : {{3, -1}}) {{\n"
        "        const Size size = tree(shape, &k, &flag);\n"
        '        size.IsValid() ? std::printf("%lld ", static_cast<long long>(size.Value())) : std::printf("none ");\n'
        '      }\n    }\n    std::printf("\\n");\n  }\n}\n'
    )
    includes: list[str | Path] = ["-I", folder / "ge", "-isystem", toolkit / "include"]
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["g++", *flags, *includes, folder / "program.cpp", "-o", folder / "program"], check=True)
    done = subprocess.run([folder / "program"], capture_output=True, text=True, check=True)
    return [[None if word == "none" else int(word) for word in line.split()] for line in done.stdout.splitlines()]
