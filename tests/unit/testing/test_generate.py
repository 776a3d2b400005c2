"""Which cases are made: the edges of the blocks, in shapes that the spec allows, for every dtype and attr."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from opkit.spec import Package
from opkit.testing import Plan, plans_of
from opkit.testing.generate import DEFAULT_SIZES, block_edge, shapes_for

Load = Callable[[str], Package]

ADD = """
kernel = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks={blocks}, strides=True)
op = Op("AddOp", inputs=[Input("x", "T", shape="{x}"), Input("y", "T", shape="{y}")], outputs=[Output("z", "T", shape="{z}")],
        dtypes={{"T": {dtypes}}}, kernel=kernel, refresh="updater", reference=lambda x, y: x + y)
package = Package("demo", ops=[op], header="demo.h")
"""
SCALED = """
args = ["x", "z", numel("x"), "scale", "axis", "keep"]
kernel = Kernel("kernels/k.asc", entry="scaled", args=args, blocks=ceil_div(numel("x"), 64), strides=True)
op = Op("ScaleOp", inputs=[Input("x", "float32", shape="...")], outputs=[Output("z", "float32", shape="...")],
        attrs=[Attr("scale", "float", default=2.0), Attr("axis", "int"),
               Attr("keep", "bool", default=False), Attr("mode", "str", default="a")],
        kernel=kernel, refresh="none", reference=lambda x, scale, axis, keep, mode: x * np.float32(scale))
package = Package("demo", ops=[op], header="demo.h"{benchmark})
"""


def add(
    load: Load, *, blocks: str = 'ceil_div(numel("x"), 1024)', dtypes: str = '["float32"]', shapes: tuple[str, str, str] = ("...",) * 3
) -> Package:
    return load(ADD.format(blocks=blocks, dtypes=dtypes, x=shapes[0], y=shapes[1], z=shapes[2]))


def plans(package: Package) -> list[Plan]:
    return [plan for op in package.ops for plan in plans_of(package, op)]


def shapes_of(found: Iterable[Plan], port: str) -> list[tuple[int, ...]]:
    return [plan.shapes[port] for plan in found]


def test_sizes_lie_around_the_edges_of_a_block(package_of: Load) -> None:
    found = plans(add(package_of))
    assert shapes_of(found, "x") == [(0,), (1,), (1023,), (1024,), (1025,), (3073,), (3, 1024), ()]
    assert shapes_of(found, "y") == shapes_of(found, "x")


@pytest.mark.parametrize(
    ("blocks", "port", "elements"),
    [
        ('min_(ceil_div(numel("y"), 256), 48)', "y", 256),
        ('max_(1, ceil_div(numel("z"), 8) * 2)', "z", 8),
        ('min_(cores(), ceil_div(numel("x"), 100))', "x", 100),
    ],
)
def test_the_edge_is_found_inside_an_expression(package_of: Load, blocks: str, port: str, elements: int) -> None:
    edge = block_edge(add(package_of, blocks=blocks).ops[0].kernel.blocks)
    assert edge is not None
    assert (edge.port, edge.elements) == (port, elements)


@pytest.mark.parametrize("blocks", ["cores()", "8", 'ceil_div(dim("x", 0), 4)', 'numel("x") // 64'])
def test_an_op_without_such_an_expression_gets_the_documented_ladder(package_of: Load, blocks: str) -> None:
    found = plans(add(package_of, blocks=blocks))
    assert shapes_of(found, "x")[: len(DEFAULT_SIZES)] == [(size,) for size in DEFAULT_SIZES]


def test_a_block_of_one_element_has_fewer_edges(package_of: Load) -> None:
    assert shapes_of(plans(add(package_of, blocks='ceil_div(numel("x"), 1)')), "x") == [(0,), (1,), (2,), (4,), (3, 1), ()]


def test_every_dtype_combination_gets_every_size(package_of: Load) -> None:
    found = plans(add(package_of, dtypes='["float32", "float16", "int32"]'))
    by_dtype = {
        name: [plan.shapes["x"] for plan in found if plan.combo.ports["x"].name == name] for name in ("float32", "float16", "int32")
    }
    assert by_dtype["float32"] == by_dtype["float16"] == by_dtype["int32"]
    assert len(found) == 3 * len(by_dtype["float32"])


def test_the_last_named_dim_takes_the_size(package_of: Load) -> None:
    found = plans(add(package_of, shapes=("n k", "n k", "n k")))
    assert shapes_of(found, "x") == [(1, 0), (1, 1), (1, 1023), (1, 1024), (1, 1025), (1, 3073), (3, 1024)]


def test_fixed_dims_divide_the_size(package_of: Load) -> None:
    found = plans(add(package_of, shapes=("... 4", "... 4", "... 4")))
    assert shapes_of(found, "x")[:6] == [(0, 4), (255, 4), (256, 4), (768, 4), (3, 1024, 4), (4,)]


def test_a_name_that_stands_twice_takes_the_root(package_of: Load) -> None:
    package = add(package_of, shapes=("n n", "n n", "n n"))
    assert shapes_for(package.ops[0], "x", 1023) == {"x": (31, 31), "y": (31, 31)}
    assert shapes_for(package.ops[0], "x", 1024) == {"x": (32, 32), "y": (32, 32)}


def test_other_inputs_follow_what_the_port_binds(package_of: Load) -> None:
    package = add(package_of, blocks='ceil_div(numel("z"), 64)', shapes=("m k", "k n", "m n"))
    shapes = shapes_for(package.ops[0], "z", 65)
    # k is decided by no size: neither 1 nor a power of two.
    assert shapes == {"x": (1, 3), "y": (3, 65)}
    assert package.ops[0].infer_shapes(shapes) == {"z": (1, 65)}


def test_every_planned_shape_is_one_that_the_spec_allows(package_of: Load) -> None:
    for pattern in ("...", "n", "n k", "*batch 4 k", "2 n n", ""):
        package = add(package_of, shapes=(pattern,) * 3)
        for plan in plans(package):
            assert set(plan.op.infer_shapes(plan.shapes)) == {"z"}


def test_each_attr_in_turn_has_one_other_value(package_of: Load) -> None:
    found = plans(package_of(SCALED.format(benchmark="")))
    spec_values = {"scale": 2.0, "axis": 1, "keep": False, "mode": "a"}
    guessed = [plan for plan in found if not plan.has_spec_attrs]
    assert all(plan.attrs == spec_values for plan in found if plan.has_spec_attrs)
    assert [{name: value for name, value in plan.attrs.items() if value != spec_values[name]} for plan in guessed] == [
        {"scale": 4.25},
        {"axis": 2},
        {"keep": True},
    ]
    assert [plan.why for plan in guessed] == ["scale = 4.25", "axis = 2", "keep = True"]


def test_a_required_attr_has_the_benchmarks_value(package_of: Load) -> None:
    benchmark = ', benchmark=Benchmark(op, shapes={"x": (8,)}, attrs={"axis": 7})'
    found = plans(package_of(SCALED.format(benchmark=benchmark)))
    assert found[0].attrs["axis"] == 7
