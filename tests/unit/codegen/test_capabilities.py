"""The code of what an op can do: the classes that GE asks for it, what an op tells GE of its launches, and none of it in other packages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from annotated_support import SPEC, write_annotated

from opkit.codegen import render
from opkit.spec import Package, load_package

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return load_package(write_annotated(tmp_path_factory.mktemp("annotated")) / "ops.py")


def texts(package: Package) -> dict[str, str]:
    return {file.path: file.text for file in render(package)}


@pytest.fixture(scope="module")
def code(annotated: Package) -> str:
    return texts(annotated)["ge/custom_op.cpp"]


@pytest.mark.parametrize(
    "line",
    [
        "class AddScaled : public CustomOp<AddScaledImpl, ShapeInference, AnnotatedLaunch, GraphCompilation> {};",
        "class AddScaledUpdated : public CustomOp<AddScaledImpl, ShapeInference, Execution, AddressRefresh, GraphCompilation> {};",
        "class AddScaledCopied : public CustomOp<AddScaledCopiedImpl, ShapeInference, Execution> {};",
    ],
)
def test_an_op_has_a_base_for_each_thing_that_it_can_do(code: str, line: str) -> None:
    assert line in code


def test_an_op_without_a_kernel_to_compile_asks_what_its_graph_is_for_and_only_it_has_code_for_that(tmp_path: Path, code: str) -> None:
    files = texts(load_package(write_annotated(tmp_path, spec=SPEC.replace('compile="graph"', 'compile="prebuilt"')) / "ops.py"))

    prebuilt = files["ge/custom_op.cpp"]
    assert "class AddScaled : public CustomOp<AddScaledImpl, ShapeInference, AnnotatedLaunch, GraphTarget> {};" in prebuilt
    assert "class AddScaledUpdated : public CustomOp<AddScaledImpl, ShapeInference, Execution, AddressRefresh> {};" in prebuilt
    assert "metadef platform acl_rtc" in files["CMakeLists.txt"]
    assert "GraphTarget" not in code


def test_ops_that_differ_in_refresh_only_share_their_code(code: str) -> None:
    assert "// AddScaled, AddScaledUpdated\n" in code
    assert "struct AddScaledUpdatedImpl" not in code


def test_an_op_tells_what_each_argument_is(code: str) -> None:
    slots = dict(re.findall(r"struct (\w+) : \w+ \{\n(?:  using .*\n)*  static constexpr Slot kSlots\[\] = \{(.*)\};", code))

    assert slots == {
        "AddScaledImpl": "InputSlot(0), InputSlot(1), OutputSlot(0), ValueSlot(4), ValueSlot(8), ValueSlot(1), ValueSlot(8)",
        "SubtractSumLaunch1": "InputSlot(0), WorkspaceSlot(), WorkspaceSlot(), ValueSlot(8)",
        "SubtractSumLaunch2": "InputSlot(0), WorkspaceSlot(), OutputSlot(0), ValueSlot(8), ValueSlot(8)",
        "AddBiasImpl": "InputSlot(0), InputSlot(1), OutputSlot(0), ValueSlot(8)",
        # In place: one address, that of the input.
        "CountUpImpl": "InputSlot(0), InputSlot(1), ValueSlot(8)",
        "AddCountImpl": "InputSlot(1), OutputSlot(0), ValueSlot(8), ValueSlot(8)",
    }


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ('"add_scaled_of_AddScaled_" + std::to_string(row)', '"#define add_scaled add_scaled_of_AddScaled_" + std::to_string(row) + "\\n"'),
        ('"sum_parts_of_SubtractSum_1"', '"#define sum_parts sum_parts_of_SubtractSum_1\\n"'),
        (
            '"ports::add_bias_of_AddBias_" + std::to_string(row) + "<"',
            '"#define add_bias add_bias_of_AddBias_" + std::to_string(row) + "\\n"',
        ),
        ('"count_up_of_CountUp"', '"#define count_up count_up_of_CountUp\\n"'),
        # GE loads the kernels of no model for the others, so theirs keep their names.
        ('"add_scaled"', None),
    ],
)
def test_a_kernel_that_a_model_knows_by_name_has_a_name_of_its_own(code: str, entry: str, line: str | None) -> None:
    """Without that a graph with an op of two dtypes would run one of its two kernels for both."""
    assert entry in code
    if line is not None:
        assert line in code


def test_many_arguments_are_told_one_a_line(annotated: Package, tmp_path: Path) -> None:
    params = ", ".join(f"int64_t n{number}" for number in range(8))
    source = f'extern "C" __global__ __aicore__ void wide(GM_ADDR x, GM_ADDR y, {params}) {{}}\n'
    spec = f"""\
from opkit import *
kernel = Kernel("kernels/wide.asc", entry="wide", args=["x", "y", {", ".join(map(str, range(8)))}], blocks=1)
x, y = Input("x", "int8", shape="n"), Output("y", "int8", shape="n")
package = Package("wide", ops=[Op("Wide", inputs=[x], outputs=[y], kernel=kernel, refresh="annotated", compile="graph")])
"""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "wide.asc").write_text(source)
    (tmp_path / "ops.py").write_text(spec)

    code = texts(load_package(tmp_path / "ops.py"))["ge/custom_op.cpp"]

    assert "  static constexpr Slot kSlots[] = {\n      InputSlot(0),\n      OutputSlot(0),\n      ValueSlot(8),\n" in code


def test_only_a_package_with_such_an_op_has_code_for_it(tmp_path: Path) -> None:
    spec = SPEC.replace('refresh="annotated"', 'refresh="none"')

    files = texts(load_package(write_annotated(tmp_path, spec=spec) / "ops.py"))

    assert "ge/utils/op_annotated.h" not in files
    assert not [path for path, text in files.items() if "Annotated" in text or "kSlots" in text or "_of_AddScaled" in text]
    assert "const gert::EagerOpExecutionContext &ctx" in files["ge/custom_op.cpp"]
    assert "typename Context" not in files["ge/custom_op.cpp"]


def test_a_package_with_nothing_else_loads_no_kernel_itself(tmp_path: Path) -> None:
    spec = SPEC.replace("ops=[*declared, *updated, *copied]", "ops=declared").replace(", baseline=copied[0]", "")

    files = texts(load_package(write_annotated(tmp_path, spec=spec) / "ops.py"))

    assert "ge/utils/op_execute.h" not in files
    assert "ge/utils/rtc_kernel_loader.cpp" not in files
    assert not [path for path, text in files.items() if path.startswith("ge/") and "aclrtLaunchKernel" in text]
