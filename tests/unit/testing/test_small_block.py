"""The variant with a small block: what it changes, and why an op may have none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opkit.spec import MAX_BLOCKS, Number, Package
from opkit.testing.blocks import block_edge
from opkit.testing.small_block import small_block_of

Load = Callable[..., Package]

OPS = """
def op(name, **kernel):
    k = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], **kernel)
    return Op(name, inputs=[Input("x", "float32", shape="..."), Input("y", "float32", shape="...")],
              outputs=[Output("z", "float32", shape="...")], kernel=k, refresh="none", reference=lambda x, y: x + y)
{body}
"""
TWO = """
able = op("AbleOp", blocks=min_(ceil_div(numel("x"), 1024), 1024), strides=True)
other = op("OtherOp", blocks=ceil_div(numel("x"), 1024))
package = Package("demo", ops=[able, other], header="demo.h", benchmark=Benchmark(able, baseline=other, shapes={"x": (8,), "y": (8,)}))
"""


def test_the_define_and_the_divisor_change_together(package_of: Load) -> None:
    package = package_of(OPS.format(body=TWO))
    variant = small_block_of(package)
    assert variant.package is not None
    (op,) = variant.package.ops
    assert op.kernel.defines == {"BLOCK_SIZE": 32}
    edge = block_edge(op.kernel.blocks)
    assert edge is not None
    assert (edge.port, edge.elements) == ("x", 32)
    assert variant.package.benchmark is None
    # The real package is as it was.
    assert package.ops[0].kernel.defines == {}
    assert block_edge(package.ops[0].kernel.blocks).elements == 1024  # type: ignore[union-attr]


def test_its_elements_are_more_blocks_than_a_launch_takes_with_a_part_of_one(package_of: Load) -> None:
    package = package_of(OPS.format(body=TWO))
    case = small_block_of(package).cases["AbleOp"]
    ((elements,),) = package.ops[0].inputs[0].shapes_in(case.shapes["x"])
    assert elements // 32 > MAX_BLOCKS
    assert elements % 32 == 1
    # Its spec launches 1024 at most, and each strides over many.
    assert case.why == "more than 65535 tiles of BLOCK_SIZE 32"


SHAPED = """
k = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=ceil_div(numel("x"), 1024), strides=True)
op = Op("AbleOp", inputs=[Input("x", "float32", shape="{x}"), Input("y", "float32", shape="{y}")],
        outputs=[Output("z", "float32", shape="{x}")], kernel=k, refresh="none", reference=lambda x, y: x + y)
package = Package("demo", ops=[op], header="demo.h")
"""


@pytest.mark.parametrize(
    ("pattern", "shape"),
    [("...", (2_097_153,)), ("n n", (1449, 1449)), ("n 100", (20_972, 100)), ("100 n n 3", (100, 84, 84, 3)), ("n k", (1, 2_097_153))],
)
def test_a_shape_that_can_t_have_the_size_has_more_never_fewer_blocks(package_of: Load, pattern: str, shape: tuple[int, ...]) -> None:
    variant = small_block_of(package_of(SHAPED.format(x=pattern, y=pattern)))
    case = variant.cases["AbleOp"]
    assert case.shapes["x"] == shape
    assert case.why == "more than 65535 blocks of BLOCK_SIZE 32"
    assert variant.package is not None
    (op,) = variant.package.ops
    assert op.kernel.blocks.evaluate(op.scope(case.shapes, {})) > MAX_BLOCKS


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ("100", "100", "x can have 100 elements only, 4 blocks of 32"),
        ("n 0", "n 0", "x can have 0 elements only, 0 blocks of 32"),
        ("n", "n n", "its shapes would make a tensor of 4398050705409 elements"),
    ],
)
def test_a_shape_that_can_t_be_as_many_blocks_is_skipped_with_its_reason(package_of: Load, x: str, y: str, reason: str) -> None:
    variant = small_block_of(package_of(SHAPED.format(x=x, y=y)))
    assert variant.package is None
    assert [item.reason for item in variant.skipped] == [reason]


def test_an_op_that_does_not_stride_is_skipped_with_its_reason(package_of: Load) -> None:
    (skipped,) = small_block_of(package_of(OPS.format(body=TWO))).skipped
    assert skipped.op == "OtherOp"
    assert "strides=True" in skipped.reason


@pytest.mark.parametrize(
    ("kernel", "blocks", "reason"),
    [
        (
            'extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint64_t n) {}',
            1024,
            "gives BLOCK_SIZE no number",
        ),
        (None, 512, "ceil_div(numel(port), 1024)"),
    ],
)
def test_a_kernel_whose_block_can_not_be_made_small_is_skipped(package_of: Load, kernel: str | None, blocks: int, reason: str) -> None:
    body = f'package = Package("demo", ops=[op("AbleOp", blocks=ceil_div(numel("x"), {blocks}), strides=True)], header="demo.h")'
    package = package_of(OPS.format(body=body)) if kernel is None else package_of(OPS.format(body=body), kernel)
    variant = small_block_of(package)
    assert variant.package is None
    assert reason in variant.skipped[0].reason


ROWS = """
def kernel(blocks, strides=True):
    return Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=blocks, strides=strides)
op = Op("RowsOp", inputs=[Input("x", "float32", shape="{x}"), Input("y", "float32", shape="{x}")],
        outputs=[Output("z", "float32", shape="{x}")], refresh="none", reference=lambda x, y: x + y, {kernel})
package = Package("demo", ops=[op], header="demo.h")
"""


def test_an_op_with_a_block_a_row_needs_no_variant_and_is_not_skipped(package_of: Load) -> None:
    variant = small_block_of(package_of(ROWS.format(x="n k", kernel='kernel=kernel(dim("x", 0))')))
    assert variant.package is None
    assert variant.skipped == ()


@pytest.mark.parametrize(
    ("x", "text", "reason"),
    [
        ("n n", 'kernel=kernel(dim("x", 0))', "its tensors would have"),
        ("8 k", 'kernel=kernel(dim("x", 0))', 'no input makes dim("x", 0) as large as one likes'),
        ("n k", 'kernel=kernel(dim("x", 0), strides=False)', "doesn't stride over blocks"),
        ("n k", 'kernel=[kernel(dim("x", 0)), kernel(dim("x", 0), strides=False)]', "doesn't stride over blocks"),
        ("n k", 'kernel=[kernel(1, strides=False), kernel(numel("x") // 2)]', "add_custom: blocks would have to hold"),
        ("n k", 'kernel=[kernel(dim("x", 0)), kernel(ceil_div(numel("x"), 512))]', "dim(port, axis), the same in every kernel"),
        ("8 4", 'kernel=kernel(numel("x"))', 'no input makes numel("x") as large as one likes'),
        ("n k", 'kernel=kernel(numel("x"), strides=False)', "doesn't stride over blocks"),
        ("n k", 'kernel=kernel(numel("x") // 2)', "or ceil_div(numel(port), N) where N is the kernel's BLOCK_SIZE"),
    ],
)
def test_rows_that_are_not_many_in_every_kernel_are_skipped_with_a_reason(package_of: Load, x: str, text: str, reason: str) -> None:
    (skipped,) = small_block_of(package_of(ROWS.format(x=x, kernel=text))).skipped
    assert reason in skipped.reason


@pytest.mark.parametrize("blocks", ["32", "cores()", 'min_(ceil_div(numel("x"), 1024), 32)', 'max_(1, min_(numel("x"), cores()))'])
def test_an_op_that_no_shape_gives_so_many_blocks_is_not_skipped(package_of: Load, blocks: str) -> None:
    assert small_block_of(package_of(ROWS.format(x="n k", kernel=f"kernel=kernel({blocks}, strides=False)"))).skipped == ()


def test_only_the_literal_that_is_the_block_size_changes(package_of: Load) -> None:
    body = 'package = Package("demo", ops=[op("AbleOp", blocks=min_(ceil_div(numel("x"), 1024), 2048), strides=True)], header="demo.h")'
    variant = small_block_of(package_of(OPS.format(body=body)))
    assert variant.package is not None
    assert variant.package.ops[0].kernel.blocks.right == Number(2048)  # type: ignore[attr-defined]
