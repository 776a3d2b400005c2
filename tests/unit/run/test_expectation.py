"""The truth of a case: a reference is called as the spec says, and held to the dtypes and shapes that the spec declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

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


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_wider_float_is_rounded_to_the_declared_one(package_of: Load, dtype: str) -> None:
    made = case(package_of, lambda x, **_: x.astype(np.float64) / 3, dtype)
    assert str(made.outputs[0].array.dtype) == dtype


def test_a_float_for_an_integer_is_refused(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match="gives z as float64, the spec says int32"):
        case(package_of, lambda x, **_: x / 2, "int32")


def test_another_shape_is_refused(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match=r"gives z the shape \[\], the spec \[4\]"):
        case(package_of, lambda x, **_: x.sum())


def test_a_wrong_number_of_arrays_is_refused(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match="gives 2 arrays, the op has 1 outputs"):
        case(package_of, lambda x, **_: (x, x))


def test_an_exception_of_the_reference_shows_the_spec_line(package_of: Load) -> None:
    with pytest.raises(ExpectationError, match=r"fails for x \[4\]") as caught:
        case(package_of, lambda x, **_: x.reshape(3))
    assert "ops.py:" in caught.value.render()
    assert "ValueError" in caught.value.render()
    assert caught.value.exit_code == 2


def test_an_overflow_of_the_reference_is_a_result_and_no_warning(package_of: Load) -> None:
    made = case(package_of, lambda x, **_: x * np.float32(3e38) * np.float32(10))
    assert np.isinf(made.outputs[0].array).any()


def test_an_op_without_reference_has_no_outputs(package_of: Load) -> None:
    assert case(package_of, None).outputs == ()


def test_rank_0_stays_rank_0(package_of: Load) -> None:
    assert case(package_of, lambda x, **_: x * 2, shape=()).outputs[0].array.shape == ()
