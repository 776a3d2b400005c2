"""What a bench request comes to for a spec: shapes that follow each other, dtypes by symbol or port, refusals that say what is allowed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opkit.errors import MachineError, OpkitError, UsageError
from opkit.run import BenchRequest, plan_of
from opkit.spec import Package

Load = Callable[[str], Package]

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


def test_a_package_may_measure_one_op_alone(package_of: Load) -> None:
    alone = OPS + 'package = Package("demo", ops=[op], header="d.h", benchmark=Benchmark(op, shapes={"x": (4,), "y": (4,)}))'
    assert [op.type for op in plan_of(package_of(alone), BenchRequest()).ops] == ["AddRefreshOp"]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (BenchRequest(shapes={"w": (4,)}), ["no input w", "x, y"]),
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
