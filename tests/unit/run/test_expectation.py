"""The truth of a case: a reference is called as the spec says, and held to the dtypes and shapes that the spec declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from opkit.errors import MachineError
from opkit.run import Case, ExpectationError, build_case, make_inputs
from opkit.spec import Package

if TYPE_CHECKING:
    from opkit.run.arrays import Array

Load = Callable[[str], Package]

OPS = """
args = ["x", "z", numel("x"), "scale", "axis", "keep"]
kernel = Kernel("kernels/k.asc", entry="scaled", args=args, blocks=ceil_div(numel("x"), 64), strides=True)
op = Op("ScaleOp", inputs=[Input("x", "T", shape="...")], outputs=[Output("z", "T", shape="...")], dtypes={{"T": ["{dtype}"]}},
        attrs=[Attr("scale", "float", default=2.0), Attr("axis", "int", default=0), Attr("keep", "bool", default=False)],
        kernel=kernel, refresh="none")
package = Package("demo", ops=[op], header="demo.h")
"""
ATTRS = {"scale": 2.0, "axis": 0, "keep": False}


def case(load: Load, reference: Callable[..., object] | None, dtype: str = "float32", shape: tuple[int, ...] = (4,)) -> Case:
    op = load(OPS.format(dtype=dtype)).ops[0]
    combo = op.dtype_combos()[0]
    return build_case(op, make_inputs(op, {"x": shape}, combo.ports), combo.ports, ATTRS, reference=reference)


def test_inputs_go_by_position_and_attrs_by_keyword(package_of: Load) -> None:
    seen: dict[str, object] = {}

    def reference(x: Array, *, scale: float, axis: int, keep: bool) -> Array:
        seen.update(scale=scale, axis=axis, keep=keep)
        scaled: Array = x * np.float32(scale)
        return scaled

    made = case(package_of, reference)
    assert seen == ATTRS
    assert np.array_equal(made.outputs[0].array, made.inputs[0].array * np.float32(2))
    assert [(item.name, item.type, item.value) for item in made.attrs] == [
        ("scale", "float", 2.0),
        ("axis", "int", 0),
        ("keep", "bool", False),
    ]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn"])
def test_a_wider_float_is_rounded_to_the_declared_one(package_of: Load, dtype: str) -> None:
    made = case(package_of, lambda x, **_: x.astype(np.float64) / 3, dtype)
    assert str(made.outputs[0].array.dtype) == dtype


def test_a_dtype_that_numpy_lacks_can_t_be_run(package_of: Load) -> None:
    with pytest.raises(MachineError, match="ScaleOp can't be run with complex32 here") as caught:
        case(package_of, None, "complex32")
    assert caught.value.because == "NumPy has no complex32, so nothing can be made or compared for x"


def test_a_float_for_an_integer_is_refused(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match="gives z as float64, the spec says int32"):
        case(package_of, lambda x, **_: x / 2, "int32")


def test_another_shape_is_refused(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match=r"gives z the shape \[\], the spec \[4\]"):
        case(package_of, lambda x, **_: x.sum())


def test_a_wrong_number_of_arrays_is_refused(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match=r"gives 2 arrays, the op has 1 output$") as caught:
        case(package_of, lambda x, **_: (x, x))
    assert caught.value.help == "return a tuple, one array for each output"


def test_a_reference_that_raises_is_told_with_its_own_line(package_of: Load) -> None:
    text = OPS.format(dtype="float32").replace("kernel=kernel,", "kernel=kernel, reference=fails,")
    op = package_of("def fails(x, scale, axis, keep):\n    return [][axis]\n" + text).ops[0]
    combo = op.dtype_combos()[0]
    inputs = make_inputs(op, {"x": (4,)}, combo.ports)
    with pytest.raises(ExpectationError, match="fails for x") as caught:
        build_case(op, inputs, combo.ports, ATTRS, reference=op.reference)
    assert (caught.value.where or "").endswith("return [][axis]")
    with pytest.raises(ExpectationError, match="fails for x") as caught:
        build_case(op, inputs, combo.ports, ATTRS, reference=lambda *_, **__: 1 / 0)
    assert caught.value.where == str(op.where)


def test_an_exception_of_the_reference_shows_the_spec_line(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match=r"fails for x \[4\]") as caught:
        case(package_of, lambda x, **_: x.reshape(3))
    assert "ops.py:" in caught.value.render()
    assert "ValueError" in caught.value.render()
    assert caught.value.exit_code == 2


def test_an_overflow_of_the_reference_is_a_result_and_no_warning(package_of: Load) -> None:
    made = case(package_of, lambda x, **_: x * np.float32(3e38) * np.float32(10))
    assert np.isinf(made.outputs[0].array).any()


def test_the_mean_of_nothing_is_a_result_and_no_warning(package_of: Load) -> None:
    made = case(package_of, lambda x, **_: x + x.mean(axis=1, keepdims=True), shape=(2, 0))
    assert made.outputs[0].array.shape == (2, 0)


def test_an_op_without_reference_has_no_outputs(package_of: Load) -> None:
    assert case(package_of, None).outputs == ()


def test_rank_0_stays_rank_0(package_of: Load) -> None:
    assert case(package_of, lambda x, **_: x * 2, shape=()).outputs[0].array.shape == ()


LISTS = """
def reference(x, bias, y, n):
    seen.append((x, bias, y))
    y += 1
    return {given}, y

seen = []
kernel = Kernel("kernels/k.asc", entry="lists", args=[address_list("x"), "bias", "y", address_list("parts")], blocks=1)
op = Op("ListsOp",
        inputs=[Input("x", "float32", shape="...", dynamic=True), Input("bias", "float32", optional=True),
                Input("y", "float32", shape="...")],
        outputs=[Output("parts", "float32", shape="...", dynamic=attr("n")), Output("y", "float32")],
        attrs=[Attr("n", "int", default=2)], kernel=kernel, refresh="none", reference=reference)
package = Package("demo", ops=[op], header="demo.h")
"""
LISTS_KERNEL = 'extern "C" __global__ __aicore__ void lists(GM_ADDR x, GM_ADDR bias, GM_ADDR y, GM_ADDR parts) {}'


def lists_case(load: Callable[..., Package], given: str = "[x[0]] * n", **shapes: tuple[int, ...]) -> tuple[Case, list[tuple[Any, ...]]]:
    op = load("from opkit import address_list, attr\n" + LISTS.format(given=given), LISTS_KERNEL).ops[0]
    assert op.reference is not None
    combo = op.dtype_combos()[0]
    inputs = make_inputs(op, {"x": ((3,), (3,), (3,)), "y": (3,), **shapes}, combo.ports)
    return build_case(op, inputs, combo.ports, {"n": 2}, reference=op.reference), op.reference.__globals__["seen"]


def test_a_reference_gets_a_list_for_a_dynamic_port_and_none_for_an_absent_one(package_of: Callable[..., Package]) -> None:
    made, ((x, bias, _),) = lists_case(package_of)
    assert bias is None
    assert [array.shape for array in x] == [(3,), (3,), (3,)]
    assert [item.port for item in made.inputs] == ["x", "x", "x", "y"]
    assert len({item.array.tobytes() for item in made.inputs}) == 4
    _, ((_, bias, _),) = lists_case(package_of, bias=(5,))
    assert bias.shape == (5,)


def test_a_reference_gives_a_list_for_a_dynamic_output(package_of: Callable[..., Package]) -> None:
    made, _ = lists_case(package_of)
    assert [item.port for item in made.outputs] == ["parts", "parts", "y"]
    assert made.counts == {"parts": 2}


@pytest.mark.parametrize(("result", "gives"), [("[[x[0]] * n, y]", "a list"), ("y", "1 array"), ("y, y, y", "3 arrays")])
def test_several_outputs_are_given_as_a_tuple(package_of: Callable[..., Package], result: str, gives: str) -> None:
    op = package_of(LISTS.replace("{given}, y", result), LISTS_KERNEL).ops[0]
    combo = op.dtype_combos()[0]
    inputs = make_inputs(op, {"x": ((3,),), "y": (3,)}, combo.ports)
    with pytest.raises(ExpectationError, match=f"gives {gives}, the op has 2 outputs") as caught:
        build_case(op, inputs, combo.ports, {"n": 2}, reference=op.reference)
    assert caught.value.help == "return a tuple, one array for each output"


def test_what_a_reference_changes_in_place_stays_as_it_was_for_the_op(package_of: Callable[..., Package]) -> None:
    made, _ = lists_case(package_of)
    (before,) = (item.array for item in made.inputs if item.port == "y")
    (after,) = (item.array for item in made.outputs if item.port == "y")
    assert np.array_equal(before + 1, after)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x[0]", "the reference of ListsOp gives no list for parts, which is dynamic"),
        ("x", "the reference of ListsOp gives 3 arrays for parts, the case has 2"),
        ("[x[0], x[0][:1]]", "the reference of ListsOp gives parts the shape [1], the spec [3]"),
        ("1 / 0", "the reference of ListsOp fails for x 3*[3], bias absent, y [3]"),
    ],
)
def test_a_list_of_another_kind_is_refused(package_of: Callable[..., Package], given: str, message: str) -> None:
    with pytest.raises(ExpectationError) as error:
        lists_case(package_of, given)
    assert error.value.message == message
