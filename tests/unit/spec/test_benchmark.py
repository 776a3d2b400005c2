"""A Benchmark: it measures ops of the package, with shapes and attr values that they can be launched with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from spec_support import SpecFolder, add_spec

if TYPE_CHECKING:
    from opkit.spec import Package

BASELINE = 'base = op.replace(type="AddBase", refresh="none")'
SHAPES = '{"x": (8, 4), "y": (8, 4)}'


def spec(benchmark: str, *, ops: str = "[op, base]", base: str = BASELINE, launch: dict[str, str] | None = None, **changes: str) -> str:
    head = add_spec(launch=launch, **changes).splitlines()[:-1]
    return "\n".join([*head, base, f'package = Package("my_ops", ops={ops}, benchmark=Benchmark({benchmark}))', ""])


def test_a_benchmark_holds_the_package_s_own_ops(folder: SpecFolder) -> None:
    package = folder.load(spec(f"op, baseline=base, shapes={SHAPES}, iters=7"))

    assert package.benchmark is not None
    assert package.benchmark.op is package.ops[0]
    assert package.benchmark.baseline is package.ops[1]
    assert (package.benchmark.shapes, package.benchmark.iters) == ({"x": (8, 4), "y": (8, 4)}, 7)


def test_a_benchmark_of_one_op_has_no_baseline_and_100_iterations(folder: SpecFolder) -> None:
    package = folder.load(spec('op, shapes={"x": [8], "y": [8]}'))

    assert package.benchmark is not None
    assert (package.benchmark.baseline, package.benchmark.iters, package.benchmark.shapes["x"]) == (None, 100, (8,))


def test_a_package_needs_no_benchmark(folder: SpecFolder) -> None:
    assert folder.add().benchmark is None


def with_attrs(folder: SpecFolder, attrs: str) -> Package:
    return folder.load(spec(f"op, shapes={SHAPES}, attrs={attrs}", attrs='[Attr("k", int), Attr("alpha", float, default=0.5)]'))


def test_the_attrs_of_a_benchmark_are_those_given_and_the_defaults_of_the_others(folder: SpecFolder) -> None:
    benchmark = with_attrs(folder, '{"k": 3}').benchmark

    assert benchmark is not None
    assert benchmark.attrs == {"k": 3, "alpha": 0.5}


@pytest.mark.parametrize(
    ("benchmark", "message"),
    [
        (f"op.replace(type='Other'), shapes={SHAPES}", "the benchmark's op 'Other' isn't among the package's ops"),
        (f"op, baseline=op.replace(type='Other'), shapes={SHAPES}", "the benchmark's baseline 'Other' isn't among the package's ops"),
        (f"'AddCustom', shapes={SHAPES}", "the benchmark's op 'AddCustom' isn't among the package's ops"),
        (f"op, baseline=op, shapes={SHAPES}", "'AddCustom' is compared with itself"),
        (f"op, shapes={SHAPES}, iters=0", "iters is 0, not 1 to 1000000000"),
        (f"op, shapes={SHAPES}, iters=2.5", "iters is 2.5, not 1 to 1000000000"),
        ("op", "the benchmark has no shapes"),
        ("op, shapes=(8, 4)", "shapes is (8, 4), not a dict"),
        ('op, shapes={"x": (8, 4)}', "the benchmark gives no shape for input 'y'"),
        ('op, shapes={"x": (8,), "y": (8,), "w": (8,)}', "shapes has 'w', and the op has no such input"),
        ('op, shapes={"x": (8,), "y": (8,), "z": (8,)}', "shapes has 'z', and the op has no such input"),
        ('op, shapes={"x": (8, -1), "y": (8, 4)}', "the shape of 'x' is (8, -1), not a tuple of sizes"),
        ('op, shapes={"x": "8, 4", "y": (8, 4)}', "the shape of 'x' is '8, 4', not a tuple of sizes"),
        ('op, shapes={"x": 8, "y": (8, 4)}', "the shape of 'x' is 8, not a tuple of sizes"),
        ('op, shapes={"x": (8, 4), "y": (4, 8)}', "AddCustom can't take [4, 8] as input 'y'"),
        (f"op, shapes={SHAPES}, attrs={{'k': 3}}", "attrs has 'k', and the op has no such attr"),
        (f"op, shapes={SHAPES}, iter=3", "Benchmark takes no 'iter'"),
    ],
)
def test_a_benchmark_that_can_t_be_run_says_why(folder: SpecFolder, benchmark: str, message: str) -> None:
    error = folder.mistake(spec(benchmark))

    assert error.message == message
    assert error.number in {"OPK0280", "OPK0206"}


def test_a_wrong_rank_is_told_with_the_pattern(folder: SpecFolder) -> None:
    error = folder.mistake(
        spec(
            'op, shapes={"x": (8,), "y": (8, 4)}',
            inputs='[Input("x", "T", shape="n k"), Input("y", "T", shape="n k")]',
            outputs='[Output("z", "T", shape="n k")]',
        )
    )

    assert (error.number, error.because) == ("OPK0280", "the rank is 1, and the pattern 'n k' has 2")


def test_a_required_attr_needs_a_value(folder: SpecFolder) -> None:
    error = folder.mistake(spec(f"op, shapes={SHAPES}", attrs='[Attr("k", int)]'))

    assert (error.number, error.message) == ("OPK0280", "the benchmark gives no value for attr 'k'")
    assert error.help == 'write attrs={"k": …} in the Benchmark'


def test_an_attr_value_of_another_type_is_refused(folder: SpecFolder) -> None:
    error = folder.mistake(spec(f"op, shapes={SHAPES}, attrs={{'k': 1.5}}", attrs='[Attr("k", int)]'))

    assert (error.message, error.because) == ("attr 'k' is 1.5, and its type is int", "an int is a whole number")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ('inputs=[Input("x", "T", shape="..."), Input("y", "int8", shape="...")]', "inputs"),
        ('inputs=[Input("y", "T", shape="..."), Input("x", "T", shape="...")]', "inputs"),
        ('outputs=[Output("z", "int8", shape="...")]', "outputs"),
        ('attrs=[Attr("k", int, default=1)]', "attrs"),
    ],
)
def test_a_baseline_has_to_take_the_same_tensors(folder: SpecFolder, change: str, what: str) -> None:
    base = f'base = op.replace(type="AddBase", {change})'
    error = folder.mistake(spec(f"op, baseline=base, shapes={SHAPES}", base=base))

    assert error.number == "OPK0280"
    assert error.message == f"'AddCustom' and its baseline 'AddBase' differ in their {what}, so they can't be given the same tensors"


def test_shapes_that_need_more_blocks_than_a_launch_has_want_a_kernel_that_strides(folder: SpecFolder) -> None:
    text = spec('op, shapes={"x": (8192, 8193), "y": (8192, 8193)}')
    error = folder.mistake(text)

    assert (error.number, error.message) == ("OPK0258", "the benchmark's shapes need 65544 blocks")
    assert error.help == "a kernel that strides over blocks may be clamped: strides=True"

    folder.load(text.replace("blocks=", "strides=True, blocks="))


def test_shapes_that_overflow_an_argument_are_refused(folder: SpecFolder) -> None:
    folder.kernel("GM_ADDR x, GM_ADDR y, GM_ADDR z, uint16_t n")
    error = folder.mistake(spec('op, shapes={"x": (65536,), "y": (65536,)}'))

    assert (error.message, error.because) == ('the benchmark\'s shapes make `numel("x")` 65536', "uint16_t n holds 0 to 65535")


def test_shapes_whose_elements_overflow_int64_are_refused(folder: SpecFolder) -> None:
    error = folder.mistake(spec('op, shapes={"x": (2**40, 2**40), "y": (2**40, 2**40)}', launch={"strides": "True"}))

    assert error.number == "OPK0280"
    assert "doesn't fit in int64" in (error.because or "")


def test_an_empty_shape_can_be_measured(folder: SpecFolder) -> None:
    package = folder.load(spec('op, shapes={"x": (0, 4), "y": (0, 4)}'))

    assert package.benchmark is not None
    assert package.ops[0].infer_shapes(package.benchmark.shapes) == {"z": (0, 4)}


# ---- ports of other kinds ----

LISTED = {"args": '[address_list("x"), "y", "z", numel("x")]', "blocks": 'ceil_div(numel("x") * count("x"), 1024)'}
LIST_INPUTS = '[Input("x", "T", shape="...", dynamic=True), Input("y", "T", shape="...", optional=True)]'


def test_the_shapes_of_a_list_are_a_list_and_an_absent_input_has_none(folder: SpecFolder) -> None:
    package = folder.load(spec('op, shapes={"x": [(8, 4), (8, 4)]}', launch=LISTED, inputs=LIST_INPUTS))

    assert package.benchmark is not None
    assert package.benchmark.shapes == {"x": ((8, 4), (8, 4))}


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ('{"x": (8, 4)}', "the shapes of 'x' are (8, 4), not a list of tuples of sizes"),
        ('{"x": [(8, 4), (8, -1)]}', "the shapes of 'x' are [(8, 4), (8, -1)], not a list of tuples of sizes"),
        ('{"x": []}', "AddCustom gets no shape for input 'x'"),
        ('{"x": [(8, 4), (8, 5)]}', "AddCustom can't take [8, 5] as input 'x'"),
        ('{"y": (8, 4)}', "the benchmark gives no shape for input 'x'"),
        ('{"x": [(1 << 20,)] * 70, "y": (1 << 20,)}', "the benchmark's shapes need 71680 blocks"),
    ],
)
def test_shapes_that_a_list_can_t_have_are_refused(folder: SpecFolder, shapes: str, message: str) -> None:
    error = folder.mistake(spec(f"op, shapes={shapes}", launch=LISTED, inputs=LIST_INPUTS, base="", ops="[op]"))

    assert error.message == message


def test_shapes_that_neither_op_can_take_are_one_mistake(folder: SpecFolder) -> None:
    error = folder.mistake(
        spec('op, baseline=base, shapes={"x": (8, 4), "y": (4, 8)}', base='base = op.replace(type="AddBase")'),
    )

    assert error.message == "AddCustom can't take [4, 8] as input 'y'"


def test_shapes_that_only_the_baseline_can_t_take_are_told(folder: SpecFolder) -> None:
    base = 'base = op.replace(type="AddBase", inputs=[Input("x", "T", shape="n n"), Input("y", "T", shape="n n")])'
    error = folder.mistake(spec('op, baseline=base, shapes={"x": (8, 4), "y": (8, 4)}', base=base, outputs='[Output("z", "T", shape="")]'))

    assert error.message == "AddBase can't take [8, 4] as input 'x'"
