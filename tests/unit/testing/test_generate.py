"""Which cases are made: the edges of the blocks, in shapes that the spec allows, for every dtype and attr."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from opkit.spec import DTYPES, MAX_BLOCKS, GivenShape, Package
from opkit.spec.attr_values import attr_value
from opkit.testing import Plan, plans_of, small_block_of
from opkit.testing.blocks import block_edge, many_rows, row_dim
from opkit.testing.generate import DEFAULT_SIZES, combos_of, plans_elsewhere
from opkit.testing.shapes import shapes_for

Load = Callable[..., Package]

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

BOUNDED_KERNEL = 'extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR shape) {}\n'


def add(
    load: Load, *, blocks: str = 'ceil_div(numel("x"), 1024)', dtypes: str = '["float32"]', shapes: tuple[str, str, str] = ("...",) * 3
) -> Package:
    return load(ADD.format(blocks=blocks, dtypes=dtypes, x=shapes[0], y=shapes[1], z=shapes[2]))


def plans(package: Package) -> list[Plan]:
    return [plan for op in package.ops for plan in plans_of(package, op)]


def shapes_of(found: Iterable[Plan], port: str) -> list[GivenShape]:
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


def test_one_case_stands_for_an_op_that_only_a_dynamic_graph_can_hold(package_of: Load) -> None:
    spec = ADD.format(blocks='ceil_div(numel("z"), 64)', dtypes='["float32"]', x="...", y="...", z="...")
    spec = spec.replace('shape="...")],\n        dtypes', 'shape=upper_bound("found", found=numel("x")))],\n        dtypes')
    spec = spec.replace('"z", numel("x")]', '"z", shape_of("z")]').replace('"updater"', '"none"')
    package = package_of(spec, BOUNDED_KERNEL)
    assert [plan.why for plan in plans(package)] == ["a shape that only the kernel knows"]
    small = small_block_of(package)
    assert (small.package, small.skipped) == (None, ())


@pytest.mark.parametrize("blocks", ["cores()", "8", 'ceil_div(dim("x", 0), 4)', 'numel("x") // 64'])
def test_an_op_without_such_an_expression_gets_the_documented_ladder(package_of: Load, blocks: str) -> None:
    found = plans(add(package_of, blocks=blocks))
    assert shapes_of(found, "x")[: len(DEFAULT_SIZES)] == [(size,) for size in DEFAULT_SIZES]


@pytest.mark.parametrize(
    "blocks", ["cores()", "32", "min_(cores(), 8)", 'min_(ceil_div(numel("x"), 64), 32)', 'max_(1, min_(dim("x", 0), 8))']
)
def test_blocks_that_no_shape_makes_many_have_several_tiles_once(package_of: Load, blocks: str) -> None:
    assert (200_003,) in shapes_of(plans(add(package_of, blocks=blocks)), "x")


@pytest.mark.parametrize("blocks", ["1", 'ceil_div(numel("x"), 64)', 'dim("x", 0)'])
def test_a_single_block_and_blocks_that_follow_a_shape_need_no_such_case(package_of: Load, blocks: str) -> None:
    assert (200_003,) not in shapes_of(plans(add(package_of, blocks=blocks)), "x")


def test_several_tiles_are_left_out_where_an_output_would_be_the_square_of_them(package_of: Load) -> None:
    found = plans(add(package_of, blocks="32", shapes=("n", "n", "n n")))
    assert (200_003,) not in shapes_of(found, "x")


ROWS = """
kernel = Kernel("kernels/k.asc", entry="rows", args=["x", "y", "z", "s"], blocks={blocks}, strides={strides})
op = Op("RowsOp", inputs=[Input("x", "T", shape="{x}"), Input("y", "T", shape="{y}", optional=True)],
        outputs=[Output("z", "T", shape="{x}"), Output("s", "float32", shape="{s}")], attrs=[Attr("eps", "float", default=0.5)],
        dtypes={{"T": {dtypes}}}, kernel=kernel, refresh="none", reference=lambda x, y, eps: (x, x))
package = Package("demo", ops=[op], header="demo.h")
"""
ROWS_KERNEL = 'extern "C" __global__ __aicore__ void rows(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR s) {}'


def rows(
    load: Load,
    *,
    blocks: str = 'dim("x", 0)',
    strides: bool = True,
    dtypes: str = '["float32"]',
    shapes: tuple[str, str, str] = ("n k", "k", "n"),
) -> Package:
    text = ROWS.format(blocks=blocks, strides=strides, dtypes=dtypes, x=shapes[0], y=shapes[1], s=shapes[2])
    return load(text, ROWS_KERNEL)


def test_blocks_that_are_rows_are_none_a_few_and_more_than_a_launch_has(package_of: Load) -> None:
    package = rows(package_of)
    cases = {plan.why: plan for plan in plans(package) if plan.why.startswith("dim(")}
    assert {why: plan.shapes for why, plan in cases.items()} == {
        'dim("x", 0) = 0': {"x": (0, 17), "y": (17,)},
        'dim("x", 0) = 7': {"x": (7, 17), "y": (17,)},
        'dim("x", 0) = 65537, more than a launch has blocks': {"x": (65537, 17), "y": (17,)},
    }
    (op,) = package.ops
    found = [op.kernel.blocks.evaluate(op.scope(plan.shapes, plan.attrs)) for plan in cases.values()]
    # A kernel that strides by anything but the number of blocks leaves out one of the last two rows, or does a wrong one.
    assert found == [0, 7, MAX_BLOCKS + 2]
    # The sizes of the ladder are there as before.
    assert {(1, size) for size in DEFAULT_SIZES} < set(shapes_of(plans(package), "x"))


@pytest.mark.parametrize(
    ("blocks", "x", "shape"),
    [('numel("x")', "...", (65537,)), ('min_(numel("x"), 40000)', "n k", (1, 65537)), ('numel("x") * 2', "n n", (257, 257))],
)
def test_blocks_that_are_elements_are_more_than_a_launch_has(package_of: Load, blocks: str, x: str, shape: tuple[int, ...]) -> None:
    found = plans(add(package_of, blocks=blocks, shapes=(x, x, x)))
    (many,) = [plan for plan in found if plan.why == 'numel("x") = 65537, more than a launch has blocks']
    assert many.shapes["x"] == shape


def test_elements_of_a_kernel_that_doesn_t_stride_aren_t_more_than_a_launch_has(package_of: Load) -> None:
    package = package_of(ADD.format(blocks='numel("x")', dtypes='["float32"]', x="...", y="...", z="...").replace(", strides=True", ""))
    assert (65537,) not in shapes_of(plans(package), "x")
    assert "doesn't stride over blocks" in small_block_of(package).skipped[0].reason


def test_elements_that_an_argument_can_t_count_aren_t_made(package_of: Load) -> None:
    kernel = 'extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint16_t n) {}'
    package = package_of(ADD.format(blocks='numel("x")', dtypes='["float32"]', x="...", y="...", z="..."), kernel)
    assert many_rows(package, package.ops[0]) == "uint16_t n of the kernel can't hold 65537"
    assert (65537,) not in shapes_of(plans(package), "x")


def test_many_rows_are_run_once_for_each_dtype_whatever_else_varies(package_of: Load) -> None:
    found = plans(rows(package_of, dtypes='["float32", "float16", "int8"]'))
    many = [plan for plan in found if plan.shapes["x"] == (65537, 17)]
    assert [plan.combo.ports["x"].name for plan in many] == ["float32", "float16", "int8"]
    assert all("y" in plan.shapes and plan.has_spec_attrs for plan in many)
    assert {"y absent", "eps = 1.25"} < {plan.why for plan in found}


@pytest.mark.parametrize(
    ("blocks", "dim"),
    [
        ('dim("x", 0)', 'dim("x", 0)'),
        ('min_(dim("x", 0), cores())', 'dim("x", 0)'),
        ('max_(1, min_(cores() * 2, dim("x", 1) * 2))', 'dim("x", 1)'),
        ('dim("x", 0) * ceil_div(dim("x", 1), 64)', 'dim("x", 0)'),
        ('min_(dim("x", 0), dim("x", 1))', "None"),
        ('ceil_div(dim("x", 0), 4)', "None"),
        ('min_(numel("x"), 1000)', 'numel("x")'),
        ('ceil_div(numel("x"), 4)', "None"),
        ("8", "None"),
    ],
)
def test_rows_are_found_inside_an_expression(package_of: Load, blocks: str, dim: str) -> None:
    package = rows(package_of, blocks=blocks)
    assert str(row_dim(package.ops[0].kernel.blocks)) == dim
    many = [plan for plan in plans(package) if 65537 in (plan.shapes["x"] or ())]
    assert len(many) == (0 if dim == "None" else 1)


@pytest.mark.parametrize(
    ("shapes", "blocks", "x"),
    [
        (("n k", "k", "n"), 'dim("x", -2)', (65537, 17)),
        (("n k", "k", "n"), 'dim("x", 1)', (17, 65537)),
        (("n k", "k", "n"), 'dim("s", 0)', (65537, 17)),
        (("n", "n", "n"), 'dim("x", 0)', (65537,)),
        (("2 n 4", "n", "n"), 'dim("x", 1)', (2, 65537, 4)),
        (("...", "...", "..."), 'dim("x", 0)', (65537, 17)),
        (("...", "...", "..."), 'dim("x", 2)', (3, 3, 65537, 3)),
        (("...", "...", "..."), 'dim("x", -1)', (17, 65537)),
        (("n *rest 2", "n", "n"), 'dim("x", 1)', (3, 65537, 3, 2)),
        (("n *rest 2", "n", "n"), 'dim("x", -2)', (3, 3, 65537, 2)),
        (("*batch k", "k", "*batch"), 'dim("x", -1)', (17, 65537)),
    ],
)
def test_rows_may_be_any_dim_that_an_input_has(package_of: Load, shapes: tuple[str, str, str], blocks: str, x: tuple[int, ...]) -> None:
    package = rows(package_of, blocks=blocks, shapes=shapes)
    (many,) = [plan for plan in plans(package) if "65537" in plan.why]
    assert many.shapes["x"] == x
    (op,) = package.ops
    assert op.kernel.blocks.evaluate(op.scope(many.shapes, many.attrs)) == MAX_BLOCKS + 2


@pytest.mark.parametrize(("x", "y"), [("None", "None"), ('"*a"', '"*b"'), ('"n k"', '"m k"'), ('"n k"', "None")])
def test_rows_of_what_is_broadcast_are_many_too(package_of: Load, x: str, y: str) -> None:
    text = BROADCAST.format(x=x, y=y).replace('blocks=ceil_div(numel("z"), 64)', 'blocks=dim("z", 0), strides=True')
    package = package_of(text)
    (many,) = [plan for plan in plans(package) if "65537" in plan.why]
    assert package.ops[0].infer_shapes(many.shapes) == {"z": (65537, 17)}


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        (("n n", "n", "n"), f'its tensors would have {4 * (2 * 65537**2 + 2 * 65537):,} bytes with dim("x", 0) = 65537'),
        (("n 1000", "n", "n"), f'its tensors would have {4 * (2 * 1000 + 2) * 65537:,} bytes with dim("x", 0) = 65537'),
        (("8 k", "k", "k"), 'no input makes dim("x", 0) as large as one likes'),
    ],
)
def test_rows_that_can_t_be_many_and_small_have_no_such_case(package_of: Load, shapes: tuple[str, str, str], reason: str) -> None:
    package = rows(package_of, shapes=shapes)
    assert many_rows(package, package.ops[0]) == reason
    assert not [plan for plan in plans(package) if "65537" in plan.why]


def test_a_kernel_that_does_not_stride_has_no_case_with_more_rows_than_a_launch_has_blocks(package_of: Load) -> None:
    package = rows(package_of, strides=False)
    assert many_rows(package, package.ops[0]) is None
    assert not [plan for plan in plans(package) if plan.why.startswith("dim(")]


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


EVERY_ATTR = """
args = ["x", "z", numel("x"), "scale", "axis", "keep"]
attrs = [Attr("scale", "float", default=3e38), Attr("axis", "int", default=2**63 - 1), Attr("keep", "bool")]
attrs += [Attr(kind, kind) for kind in ("type", "bytes", "tensor", "list_int", "list_float", "list_bool", "list_str")]
attrs += [Attr(kind, kind) for kind in ("list_type", "list_list_int")]
op = Op("ScaleOp", inputs=[Input("x", "float32", shape="...")], outputs=[Output("z", "float32", shape="...")], attrs=attrs,
        kernel=Kernel("kernels/k.asc", entry="scaled", args=args, blocks=8), refresh="none")
package = Package("demo", ops=[op])
"""


def test_an_attr_of_each_type_has_a_value_that_its_type_can_hold(package_of: Load) -> None:
    (op,) = package_of(EVERY_ATTR).ops
    found = plans(package_of(EVERY_ATTR))
    assert {plan.why for plan in found if not plan.has_spec_attrs} == {
        "scale = 1.5e+38",
        f"axis = {2**63 - 2}",
        "keep = False",
        "list_int = (2,)",
        "list_float = (1.25,)",
        "list_bool = (False,)",
        "list_list_int = ((2,),)",
    }
    assert found[0].attrs["list_list_int"] == ((1,),)
    for plan in found:
        for attr in op.attrs:
            assert attr_value(attr.type, plan.attrs[attr.name]) == (plan.attrs[attr.name], None)


LISTS = """
op = Op("ListsOp", inputs=[Input("x", "float32", shape="...")], outputs=[Output("z", "float32", shape="...")],
        attrs=[Attr("pads", "list_int", default=[3, 0, -1]), Attr("none", "list_int", default=[]),
               Attr("modes", "list_str", default=["a"]), Attr("rows", "list_list_int", default=[[1, 2], []])],
        kernel=Kernel("kernels/k.asc", entry="cast_to", args=["x", "z", numel("x")], blocks=1),
        reference=lambda x, pads, none, modes, rows: x)
package = Package("demo", ops=[op])
"""


def test_a_list_gets_other_numbers_and_as_many_as_it_has(package_of: Load) -> None:
    """How many there may be, and which texts and dtypes, only the op knows."""
    found = [plan for plan in plans(package_of(LISTS)) if not plan.has_spec_attrs]
    assert {plan.why for plan in found} == {"pads = (4, 1, 0)", "rows = ((2, 3), ())"}
    assert all(plan.attrs["none"] == () and plan.attrs["modes"] == ("a",) for plan in found)


def test_a_required_attr_has_the_benchmarks_value(package_of: Load) -> None:
    benchmark = ', benchmark=Benchmark(op, shapes={"x": (8,)}, attrs={"axis": 7})'
    found = plans(package_of(SCALED.format(benchmark=benchmark)))
    assert found[0].attrs["axis"] == 7


CROSSED = """
kernel = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=1)
op = Op("AddOp", inputs=[Input("x", "T1", shape="..."), Input("y", "T2", shape="...")], outputs=[Output("z", "T3", shape="...")],
        dtypes={{"T1": {first}, "T2": {second}, "T3": Promote("T1", "T2")}}, dtype_mode="product",
        kernel=kernel, reference=lambda x, y: x + y)
package = Package("demo", ops=[op])
"""
CAST = """
op = Op("CastTo", inputs=[Input("x", ["float32", "int32"], shape="...")],
        outputs=[Output("z", from_attr("to", ["float16", "int8"]), shape="...")], attrs=[Attr("to", {type})],
        kernel=Kernel("kernels/k.asc", entry="cast_to", args=["x", "z", numel("x")], blocks=1), reference=lambda x, to: x)
package = Package("demo", ops=[op])
"""


def test_few_crossed_dtypes_are_all_run(package_of: Load) -> None:
    package = package_of(CROSSED.format(first='["float32", "float16"]', second='["float32", "int8", "bool"]'))
    assert {tuple(plan.combo.ports.values()) for plan in plans(package)} == {
        tuple(combo.ports.values()) for combo in package.ops[0].dtype_combos()
    }


def test_of_many_crossed_dtypes_each_port_has_each_of_its_own(package_of: Load) -> None:
    all_of = '["float32", "float16", "int8", "uint8", "int32", "int64", "bool", "bfloat16"]'
    package = package_of(CROSSED.format(first=all_of, second=all_of))
    (op,) = package.ops
    chosen = combos_of(op)
    assert len(chosen) < len(op.dtype_combos()) / 3
    for port in op.ports:
        assert {combo.ports[port.name] for combo in chosen} == set(port.dtypes)


def test_columns_are_all_run(package_of: Load) -> None:
    every = [name for name, dtype in DTYPES.items() if dtype.npy is not None]
    package = add(package_of, dtypes=repr(every))
    assert len({plan.combo.ports["x"] for plan in plans(package)}) == len(every)


@pytest.mark.parametrize(("kind", "values"), [("int", {1, 2}), ('"type"', {"float16", "int8"})])
def test_an_attr_that_decides_a_dtype_says_that_of_the_case(package_of: Load, kind: str, values: set[object]) -> None:
    package = package_of(CAST.format(type=kind))
    (op,) = package.ops
    found = plans(package)
    assert {plan.attrs["to"] for plan in found} == values
    assert all(plan.attrs["to"] == op.attr("to").naming(plan.combo.ports["z"]) for plan in found)


BY_SOC = 'per_soc({"Ascend310P": ["float16", "float32"], "Ascend310": ["int8"], "default": ["float16", "bfloat16", "float32", "int8"]})'


@pytest.mark.parametrize(
    ("soc", "here"),
    [
        ("Ascend310P3", {"float16", "float32"}),
        ("Ascend310B1", {"int8"}),
        ("Ascend910B3", {"float16", "bfloat16", "float32", "int8"}),
        (None, set()),
    ],
)
def test_the_dtypes_of_this_soc_are_run_and_those_of_others_told(package_of: Load, soc: str | None, here: set[str]) -> None:
    package = add(package_of, dtypes=BY_SOC)
    (op,) = package.ops
    assert {plan.combo.ports["x"].name for plan in plans_of(package, op, soc)} == here
    elsewhere = [plan.combo.ports["x"].name for plan in plans_elsewhere(package, op, soc)]
    assert sorted(elsewhere) == sorted({"float16", "bfloat16", "float32", "int8"} - here)


def test_a_soc_that_the_spec_leaves_out_has_no_dtypes(package_of: Load) -> None:
    package = add(package_of, dtypes='per_soc({"Ascend310P": ["float16"]})')
    assert list(plans_of(package, package.ops[0], "Ascend910B3")) == []
    assert [plan.combo.ports["x"].name for plan in plans_elsewhere(package, package.ops[0], "Ascend910B3")] == ["float16"]


def test_dtypes_that_every_soc_has_need_no_soc(package_of: Load) -> None:
    package = add(package_of, dtypes=BY_SOC.replace('"int8"]', '"float32"]', 1))
    assert {plan.combo.ports["x"].name for plan in plans(package)} == {"float32"}
    assert list(plans_elsewhere(add(package_of), add(package_of).ops[0], None)) == []


BROADCAST = """
kernel = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("z")], blocks=ceil_div(numel("z"), 64))
op = Op("AddOp", inputs=[Input("x", "float32", shape={x}), Input("y", "float32", shape={y})],
        outputs=[Output("z", "float32", shape=broadcast("x", "y"))], kernel=kernel, reference=lambda x, y: x + y)
package = Package("demo", ops=[op])
"""


@pytest.mark.parametrize(("x", "y"), [("None", "None"), ('"*a"', '"*b"'), ("None", '"*b"')])
def test_inputs_that_are_broadcast_get_equal_shapes_and_different_ones(package_of: Load, x: str, y: str) -> None:
    found = [(plan.shapes["x"], plan.shapes["y"]) for plan in plans(package_of(BROADCAST.format(x=x, y=y)))]
    assert {((0,), (0,)), ((65,), (65,)), ((), ()), ((64,), ()), ((3, 64), (64,)), ((3, 64), (3, 1)), ((1, 64), (3, 1))} <= set(found)


@pytest.mark.parametrize(("x", "y"), [('"n k"', '"m k"'), ('"..."', '"..."'), ('"n k"', '"*b"'), ('"*a"', '"4"')])
def test_inputs_that_keep_to_patterns_get_shapes_that_can_be_broadcast(package_of: Load, x: str, y: str) -> None:
    package = package_of(BROADCAST.format(x=x, y=y))
    for plan in plans(package):
        assert package.ops[0].infer_shapes(plan.shapes, plan.attrs)


KINDS = """
from opkit import address_list, attr, count
kernel = Kernel("kernels/k.asc", entry="kinds", args=[address_list("x"), "bias", address_list("extra"), "z", count("x")], blocks=1)
op = Op("KindsOp",
        inputs=[Input("bias", "float32", shape="k", optional=True), Input("x", "float32", shape="...", dynamic=True, count_attr="N"),
                Input("extra", "float32", optional=True, dynamic=True)],
        outputs=[Output("z", "float32", shape="...")],
        attrs=[Attr("N", "int"), Attr("keep", "bool", default=False)], kernel=kernel, refresh="none")
package = Package("demo", ops=[op])
"""
KINDS_KERNEL = 'extern "C" __global__ __aicore__ void kinds(GM_ADDR x, GM_ADDR bias, GM_ADDR extra, GM_ADDR z, int64_t n) {}'


def test_optional_inputs_are_absent_once_and_lists_have_one_and_many_tensors(package_of: Load) -> None:
    found = {plan.why: plan for plan in plans(package_of(KINDS, KINDS_KERNEL))}
    assert found["1000 elements"].shapes == {"bias": (3,), "x": ((1000,),) * 3, "extra": ((1000,),) * 3}
    assert set(found["bias absent"].shapes) == {"x", "extra"}
    assert set(found["extra absent"].shapes) == {"bias", "x"}
    lengths = {why: len(found[f"{why} in x and extra"].shapes["x"] or ()) for why in ("1 tensor", "17 tensors")}
    assert lengths == {"1 tensor": 1, "17 tensors": 17}


def test_an_attr_that_counts_tensors_says_how_many_there_are(package_of: Load) -> None:
    found = {plan.why: plan.attrs for plan in plans(package_of(KINDS, KINDS_KERNEL))}
    assert [found[why]["N"] for why in ("0 elements", "1 tensor in x and extra", "17 tensors in x and extra")] == [3, 1, 17]
    # It isn't tried with another value; an attr that counts nothing is.
    assert [why for why in found if why.startswith(("N =", "keep ="))] == ["keep = True"]


def test_an_op_without_inputs_has_one_case(package_of: Load) -> None:
    text = """
kernel = Kernel("kernels/k.asc", entry="kinds", args=["z"], blocks=1)
package = Package("demo", ops=[Op("FillOp", inputs=[], outputs=[Output("z", "float32", shape="8")], kernel=kernel, refresh="none")])
"""
    (plan,) = plans(package_of(text, 'extern "C" __global__ __aicore__ void kinds(GM_ADDR z) {}'))
    assert plan.shapes == {}
