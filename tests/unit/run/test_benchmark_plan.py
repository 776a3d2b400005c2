"""What a bench request comes to for a spec: shapes that follow each other, dtypes by symbol or port, refusals that say what is allowed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opkit.errors import MachineError, OpkitError, UsageError
from opkit.run import BenchRequest, plan_of
from opkit.spec import Package

Load = Callable[..., Package]

OPS = """
kernel = Kernel("kernels/k.asc", entry="add_custom", args=["x", "y", "z", numel("x")], blocks=ceil_div(numel("x"), 1024), strides=True)
op = Op("AddRefreshOp", inputs=[Input("x", "T", shape="..."), Input("y", "T", shape="...")], outputs=[Output("z", "T", shape="...")],
        dtypes={"T": ["float32", "float16"]}, kernel=kernel, refresh="updater", reference=lambda x, y: x + y)
base = op.replace(type="AddNoRefreshOp", refresh="none")
"""
MEASURED = (
    OPS
    + 'package = Package("demo", ops=[op, base], header="d.h", benchmark=Benchmark(op, baseline=base, shapes={"x": (4, 8), "y": (4, 8)}))'
)

BOUNDED_KERNEL = 'extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR shape) {}\n'


def test_the_spec_decides_what_is_left_open(package_of: Load) -> None:
    plan = plan_of(package_of(MEASURED), BenchRequest())
    assert plan.shapes == {"x": (4, 8), "y": (4, 8)}
    assert plan.combo.ports["x"].name == "float32"
    assert [op.type for op in plan.ops] == ["AddRefreshOp", "AddNoRefreshOp"]


def test_an_input_of_the_same_shape_follows(package_of: Load) -> None:
    assert plan_of(package_of(MEASURED), BenchRequest(shapes={"x": (5,)})).shapes == {"x": (5,), "y": (5,)}


def test_a_symbol_or_a_port_chooses_the_dtypes(package_of: Load) -> None:
    for name, spelling in (("T", "float16"), ("x", "fp16"), ("z", "half")):
        assert plan_of(package_of(MEASURED), BenchRequest(dtypes={name: spelling})).combo.ports["y"].name == "float16"


def test_two_ops_share_one_truth_whichever_of_them_has_it(package_of: Load) -> None:
    plan = plan_of(
        package_of(
            MEASURED.replace('refresh="updater", reference=lambda x, y: x + y)', 'refresh="updater")').replace(
                'refresh="none")', 'refresh="none", reference=lambda x, y: x - y)'
            )
        ),
        BenchRequest(),
    )
    assert plan.reference is not None
    assert plan.reference(5, 3) == 2
    neither = plan_of(package_of(MEASURED.replace(", reference=lambda x, y: x + y)", ")")), BenchRequest())
    assert neither.reference is None


def test_an_op_that_only_a_dynamic_graph_can_hold_is_refused(package_of: Load) -> None:
    bounded = MEASURED.replace('Output("z", "T", shape="...")', 'Output("z", "T", shape=upper_bound("found", found=numel("x")))')
    bounded = bounded.replace('"z", numel("x")]', '"z", shape_of("z")]').replace('"updater"', '"none"')
    with pytest.raises(UsageError) as caught:
        plan_of(package_of(bounded, BOUNDED_KERNEL), BenchRequest())
    assert caught.value.message == "AddRefreshOp can't be measured here"
    assert (caught.value.where or "").startswith("ops.py:"), caught.value.where
    assert caught.value.because == "only the kernel knows the shape of z: that needs GE's dynamic executor, and the simulator has none"


def test_a_package_may_measure_one_op_alone(package_of: Load) -> None:
    alone = OPS + 'package = Package("demo", ops=[op], header="d.h", benchmark=Benchmark(op, shapes={"x": (4,), "y": (4,)}))'
    assert [op.type for op in plan_of(package_of(alone), BenchRequest()).ops] == ["AddRefreshOp"]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (BenchRequest(shapes={"w": (4,)}), ["no input w", "x, y"]),
        (BenchRequest(shapes={"z": (4,)}), ["no input z", "its inputs are x, y; the shape of an output follows from theirs"]),
        (BenchRequest(shapes={"X": (4,)}), ["no input X", "did you mean 'x'?"]),
        (BenchRequest(shapes={"x": (4,), "y": (5,)}), ["can't take [5] as input 'y'"]),
        (BenchRequest(dtypes={"T": "float23"}), ["no such dtype: float23", "T=float32; T=float16"]),
        (
            BenchRequest(dtypes={"": "fp16"}),
            ["--dtype fp16 doesn't say for which symbol or port", "T=float32; T=float16", "--dtype T=float16"],
        ),
        (BenchRequest(dtypes={"": "int32"}), ["--dtype int32 doesn't say", "T=float32; T=float16", "--dtype T=float32"]),
        (BenchRequest(shapes={"x": (0,)}), ["has nothing to compute", "z is [0]: an empty tensor launches no kernel"]),
        (BenchRequest(shapes={"x": (4, 0, 7)}), ["z is [4, 0, 7]"]),
        (BenchRequest(dtypes={"U": "float32"}), ["no dtype symbol or port U", "T, x, y, z"]),
        (BenchRequest(dtypes={"T": "int32"}), ["doesn't take T=int32", "T=float32; T=float16"]),
    ],
)
def test_what_the_op_can_not_have_is_refused(package_of: Load, request_: BenchRequest, words: list[str]) -> None:
    with pytest.raises(OpkitError) as caught:
        plan_of(package_of(MEASURED), request_)
    assert caught.value.exit_code == 2
    assert all(word in caught.value.render() for word in words)


def test_a_spec_without_a_benchmark_says_how_to_add_one(package_of: Load) -> None:
    with pytest.raises(UsageError, match="no benchmark") as caught:
        plan_of(package_of(OPS + 'package = Package("demo", ops=[op], header="d.h")'), BenchRequest())
    assert "benchmark=Benchmark(" in caught.value.render()


@pytest.mark.parametrize(
    ("shape", "size"),
    [((4294967296, 4294967296), 3 * 4 * 2**64), ((1000000, 10000000), 3 * 4 * 10**13)],
    ids=["past 64 bits", "past the memory"],
)
def test_tensors_that_no_memory_holds_are_refused_with_their_size(package_of: Load, shape: tuple[int, ...], size: int) -> None:
    with pytest.raises(MachineError) as caught:
        plan_of(package_of(MEASURED), BenchRequest(shapes={"x": shape}))
    assert f"x={list(shape)}, y={list(shape)} come to {size:,} bytes" in (caught.value.because or "")


SCALED = """
op = Op("ScaleBy", inputs=[Input("x", "T", shape="..."), Input("scale", "float32", shape="")], outputs=[Output("z", "T", shape="...")],
        dtypes={"T": ["float32", "float16"]}, refresh="updater",
        kernel=Kernel("kernels/k.asc", entry="add_custom", args=["x", "scale", "z", numel("x")], blocks=1))
package = Package("demo", ops=[op], benchmark=Benchmark(op, shapes={"x": (4, 8), "scale": ()}))
"""


def test_a_tensor_of_rank_0_keeps_or_gets_its_shape(package_of: Load) -> None:
    package = package_of(SCALED)
    assert plan_of(package, BenchRequest(shapes={"x": (5,)})).shapes == {"x": (5,), "scale": ()}
    assert plan_of(package, BenchRequest(shapes={"scale": ()})).shapes == {"x": (4, 8), "scale": ()}
    with pytest.raises(OpkitError, match="can't take"):
        plan_of(package, BenchRequest(shapes={"scale": (1,)}))


def test_the_dtypes_that_a_port_of_its_own_can_have_are_told(package_of: Load) -> None:
    assert plan_of(package_of(SCALED), BenchRequest(dtypes={"scale": "float32"})).combo.symbols["T"].name == "float32"
    with pytest.raises(UsageError) as caught:
        plan_of(package_of(SCALED), BenchRequest(dtypes={"scale": "float16"}))
    assert caught.value.message == "ScaleBy doesn't take scale=float16"
    assert caught.value.because == "the spec allows T=float32, scale=float32; T=float16, scale=float32"
    with pytest.raises(UsageError) as caught:
        plan_of(package_of(SCALED), BenchRequest(dtypes={"scal": "float16"}))
    assert (caught.value.because, caught.value.help) == ("it has T, x, scale, z", "did you mean 'scale'?")


BY_SOC = MEASURED.replace('["float32", "float16"]', 'per_soc({"Ascend310P": ["float16"], "default": ["float32", "int32"]})')


@pytest.mark.parametrize(("soc", "dtype"), [("Ascend310P3", "float16"), ("Ascend910B3", "float32"), (None, "float16")])
def test_the_first_dtypes_that_the_soc_has_are_measured(package_of: Load, soc: str | None, dtype: str) -> None:
    assert plan_of(package_of(BY_SOC), BenchRequest(), soc).combo.symbols["T"].name == dtype


def test_a_dtype_of_another_soc_is_refused_with_what_this_one_has(package_of: Load) -> None:
    with pytest.raises(UsageError) as caught:
        plan_of(package_of(BY_SOC), BenchRequest(dtypes={"T": "float16"}), "Ascend910B3")
    assert caught.value.message == "AddRefreshOp doesn't take T=float16"
    assert caught.value.because == "the spec allows T=float32; T=int32 on Ascend910B3"


def test_a_soc_without_dtypes_can_not_be_measured_on(package_of: Load) -> None:
    nowhere = MEASURED.replace('["float32", "float16"]', 'per_soc({"Ascend310P": ["float16"]})')
    with pytest.raises(UsageError, match="AddRefreshOp and AddNoRefreshOp can't be measured on Ascend910B3") as caught:
        plan_of(package_of(nowhere), BenchRequest(), "Ascend910B3")
    assert caught.value.because == "the spec has no dtypes there that both have"


def test_what_only_one_of_both_ops_has_on_a_soc_is_not_measured(package_of: Load) -> None:
    """The baseline has the same dtypes, and on this SoC fewer."""
    fewer = 'per_soc({"Ascend310P": ["float32", "float16"], "default": ["float16"]})'
    package = package_of(MEASURED.replace('refresh="none")', f'refresh="none", dtypes={{"T": {fewer}}})'))
    assert plan_of(package, BenchRequest(), "Ascend310P3").combo.symbols["T"].name == "float32"
    assert plan_of(package, BenchRequest(), "Ascend910B3").combo.symbols["T"].name == "float16"
