"""A kernel that doesn't compile is told with what the compiler can't know: the op, its dtypes, and where in the project a file lies."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from opkit.errors import CompileError
from opkit.run import compile_error_of, dtypes_shown
from opkit.spec import Package

Load = Callable[[str], Package]

OPS = """
op = Op("AddTwo", inputs=[Input("x", "T", shape="..."), Input("y", "U", shape="...")], outputs=[Output("z", "T", shape="...")],
        dtypes={"T": ["float32", "float16", "int8"], "U": ["float32", "float16", "int32"]}, refresh="updater",
        kernel=Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=1))
package = Package("demo", ops=[op])
"""


def told(package: Package, log: str, columns: tuple[int, ...] = (0,)) -> CompileError:
    op = package.ops[0]
    combos = [op.dtype_combos()[column] for column in columns]
    return compile_error_of(CompileError("a kernel doesn't compile", because=log), op, combos, package.root)


def test_one_dtype_needs_no_name_and_several_have_theirs(package_of: Load) -> None:
    combos = package_of(OPS).ops[0].dtype_combos()
    assert [dtypes_shown(combo) for combo in combos] == ["float32", "float16", "T=int8, U=int32"]


def test_the_op_its_line_and_its_dtypes_are_told(package_of: Load) -> None:
    package = package_of(OPS)
    error = told(package, "k.asc:3: error: oh", (1, 2))
    assert error.number == "OPK0502"
    assert error.message == "a kernel of AddTwo doesn't compile for float16 and T=int8, U=int32"
    assert error.where == str(package.ops[0].where)
    assert error.where.startswith("ops.py:")


def test_a_macro_that_only_opkit_gives_is_told(package_of: Load) -> None:
    package = package_of(OPS)
    op = package.ops[0]
    error = compile_error_of(CompileError("a kernel doesn't compile"), op, op.dtype_combos()[:1], package.root, define="BLOCK_SIZE 32")
    assert error.message == "a kernel of AddTwo doesn't compile for float32 with BLOCK_SIZE 32"


@pytest.mark.parametrize(
    ("log", "placed"),
    [
        ("k.asc:3: error: oh", "kernels/k.asc:3: error: oh"),
        ("k.asc: In function:\nk.asc:3:5: error: k.asc is bad", "k.asc: In function:\nkernels/k.asc:3:5: error: k.asc is bad"),
        ("In file included from k.asc:1:", "In file included from kernels/k.asc:1:"),
        ("/usr/k.asc:3: error", "/usr/k.asc:3: error"),
        ("mask.asc:3: error", "mask.asc:3: error"),
    ],
)
def test_a_file_is_called_as_in_the_project(package_of: Load, log: str, placed: str) -> None:
    assert told(package_of(OPS), log).because == placed


@pytest.mark.parametrize(
    ("headers", "placed"),
    [(["kernels/parts/tile.h"], "kernels/parts/tile.h:2"), (["kernels/a/tile.h", "kernels/b/tile.h"], "tile.h:2")],
    ids=["one of its name", "two of its name"],
)
def test_a_header_of_the_kernel_s_has_its_path_where_only_one_has_its_name(package_of: Load, headers: list[str], placed: str) -> None:
    package = package_of(OPS)
    (op,) = package.ops
    kernel = attrs.evolve(op.kernel, files=(*op.kernel.files, *(package.root / header for header in headers)))
    package = attrs.evolve(package, ops=(attrs.evolve(op, kernels=(kernel,)),))
    assert told(package, "tile.h:2: error: oh").because == f"{placed}: error: oh"
