"""The spec of design.md, verbatim: it is a contract and works as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from opkit.spec import Numel, PortAddress, Refresh, Scope

if TYPE_CHECKING:
    from spec_support import SpecFolder

DESIGN_EXAMPLE = '''\
"""ops.py: the operators of this package."""
from opkit import Attr, Benchmark, Input, Kernel, Op, Output, Package, ceil_div, numel

kernel = Kernel(
    "kernels/add_custom.asc",
    entry="add_custom",
    args=["x", "y", "z", numel("x")],        # launch order: ports, attrs, size expressions; types and offsets come from the kernel's own signature
    blocks=ceil_div(numel("x"), 1024),
    strides=True,                            # the kernel strides over blocks, so the launch may be clamped; without it, too many blocks is an error
)

add_refresh = Op(
    "AddRefreshOp",
    inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")],
    outputs=[Output("z", "T", shape="...")],
    dtypes={"T": ["float32"]},
    kernel=kernel,
    refresh="updater",                       # "updater" (ArgsUpdater), "annotated" (AnnotatedArgsOp) or "none"
    reference=lambda x, y: x + y,            # NumPy: the truth for opkit test and opkit bench
)
add_no_refresh = add_refresh.replace(type="AddNoRefreshOp", refresh="none")

package = Package(
    "args_refresh_add_custom",
    ops=[add_refresh, add_no_refresh],
    header="add_custom.h",
    benchmark=Benchmark(add_refresh, baseline=add_no_refresh, shapes={"x": (4096, 4096), "y": (4096, 4096)}, iters=100),
)
'''  # noqa: E501 - design.md's own lines, kept verbatim

KERNEL = """\
#include "kernel_operator.h"
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 1024
#endif
extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t length)
{
}
"""


def test_the_design_example_gives_two_ops_that_differ_in_type_and_refresh(folder: SpecFolder) -> None:
    folder.write("kernels/add_custom.asc", KERNEL)
    package = folder.load(DESIGN_EXAMPLE)
    refreshed, plain = package.ops

    assert (package.name, package.header, package.stem) == ("args_refresh_add_custom", "add_custom.h", "add_custom")
    assert [(op.type, op.stem, op.refresh) for op in package.ops] == [
        ("AddRefreshOp", "add_refresh_op", Refresh.UPDATER),
        ("AddNoRefreshOp", "add_no_refresh_op", Refresh.NONE),
    ]
    assert refreshed.kernel == plain.kernel
    assert (refreshed.inputs, refreshed.outputs, refreshed.dtypes) == (plain.inputs, plain.outputs, plain.dtypes)
    assert refreshed.where.line == 12
    assert plain.where.line == 21


def test_the_design_example_launches_what_its_kernel_takes(folder: SpecFolder) -> None:
    folder.write("kernels/add_custom.asc", KERNEL)
    op = folder.load(DESIGN_EXAMPLE).ops[0]

    assert op.kernel.entry == "add_custom"
    assert op.kernel.relative == "kernels/add_custom.asc"
    assert [(arg.param.name, arg.param.offset, arg.value) for arg in op.kernel.args] == [
        ("x", 0, PortAddress("x")),
        ("y", 8, PortAddress("y")),
        ("z", 16, PortAddress("z")),
        ("length", 24, Numel("x")),
    ]
    assert op.kernel.signature.args_bytes == 32
    assert op.kernel.strides
    assert op.kernel.blocks.evaluate(Scope(shapes={"x": (4096, 4096)})) == 16384
    assert op.kernel.blocks.evaluate(Scope(shapes={"x": (1025,)})) == 2


def test_the_design_example_is_measured_with_its_own_shapes(folder: SpecFolder) -> None:
    folder.write("kernels/add_custom.asc", KERNEL)
    package = folder.load(DESIGN_EXAMPLE)

    assert package.benchmark is not None
    assert package.benchmark.op is package.ops[0]
    assert package.benchmark.baseline is package.ops[1]
    assert package.benchmark.shapes == {"x": (4096, 4096), "y": (4096, 4096)}
    assert package.benchmark.iters == 100
    assert package.ops[0].infer_shapes(package.benchmark.shapes) == {"z": (4096, 4096)}


def test_the_reference_of_the_design_example_is_the_callable_itself(folder: SpecFolder) -> None:
    folder.write("kernels/add_custom.asc", KERNEL)
    package = folder.load(DESIGN_EXAMPLE)

    assert package.ops[0].reference is package.ops[1].reference
    assert package.ops[0].reference is not None
    assert list(package.ops[0].reference(np.array([1.0, 2.0]), np.array([3.0, 4.0]))) == [4.0, 6.0]
