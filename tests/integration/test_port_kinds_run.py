"""Ops with optional, dynamic and in-place ports, built once and run against their references, with address refresh and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_support import opkit, opkit_json
from generated_support import run_session
from port_kinds_support import write_port_kinds

from opkit.run.case import AttrItem, Case, CaseWriter, TensorItem

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from opkit.run.arrays import Array

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("port_kinds"), pytest.mark.usefixtures("toolkit_home")]

BOTH = ["", "Copied"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_port_kinds(tmp_path_factory.mktemp("port_kinds"))


@pytest.fixture(scope="module")
def results(project: Path, toolkit_home: Path) -> list[dict[str, Any]]:
    report: dict[str, Any] = opkit_json("test", project)
    found: list[dict[str, Any]] = report["results"]
    return found


def passed(results: list[dict[str, Any]], op: str) -> list[dict[str, Any]]:
    """The cases of an op, none of which failed."""
    cases = [result for result in results if result["op"] == op and result["why"] is not None]
    assert {result["status"] for result in cases} == {"passed"}, op
    assert all(check["passed"] for result in cases for check in result["checks"])
    return cases


@pytest.mark.parametrize("refresh", BOTH)
def test_an_absent_optional_input_reaches_the_kernel_as_null(results: list[dict[str, Any]], refresh: str) -> None:
    cases = {result["why"]: result["shapes"] for result in passed(results, f"AddBias{refresh}")}
    assert "bias" not in cases["bias absent"]
    assert all("bias" in shapes for why, shapes in cases.items() if why != "bias absent")


@pytest.mark.case("C4")
@pytest.mark.parametrize("refresh", BOTH)
def test_a_scalar_behind_a_list_of_any_length_is_read_right(results: list[dict[str, Any]], refresh: str) -> None:
    cases = passed(results, f"SumList{refresh}")
    lengths = {result["why"]: (len(result["shapes"]["x"]), result["attrs"]["N"]) for result in cases}
    assert (lengths["1 tensor in x"], lengths["1000 elements"], lengths["17 tensors in x"]) == ((1, 1), (3, 3), (17, 17))
    assert {(0,), (4097,), (3, 1365), ()} <= {tuple(result["shapes"]["x"][0]) for result in cases}


@pytest.mark.parametrize("refresh", BOTH)
def test_an_output_is_its_input_changed_in_place(results: list[dict[str, Any]], refresh: str) -> None:
    cases = passed(results, f"AxpyInPlace{refresh}")
    assert {check["port"] for result in cases for check in result["checks"]} == {"y"}
    assert "alpha = 4.25" in {result["why"] for result in cases}


def test_tensors_of_rank_0_have_outputs_of_their_own_dtypes(results: list[dict[str, Any]]) -> None:
    (case,) = passed(results, "ScalarSum")
    assert case["shapes"] == {"x": [], "y": []}
    assert (case["dtypes"]["sum"], case["dtypes"]["is_less"]) == ("float32", "bool")


@pytest.mark.parametrize("refresh", BOTH)
def test_an_attr_says_how_many_tensors_an_output_is(results: list[dict[str, Any]], refresh: str) -> None:
    cases = passed(results, f"SpreadList{refresh}")
    ports = {result["why"]: {check["port"] for check in result["checks"]} for result in cases}
    assert ports["1000 elements"] == {"parts0", "parts1", "parts2", "total"}
    assert ports["num = 4"] == {"parts0", "parts1", "parts2", "parts3", "total"}


def test_a_list_is_changed_in_place_and_another_may_be_empty(results: list[dict[str, Any]]) -> None:
    cases = {result["why"]: result for result in passed(results, "ScaleAll")}
    assert len({check["port"] for check in cases["17 tensors in x and bonus"]["checks"]}) == 18
    assert "bonus" not in cases["bonus absent"]["shapes"]


def test_each_tensor_of_a_list_may_have_a_dtype_of_its_own(results: list[dict[str, Any]]) -> None:
    cases = passed(results, "CopyMixed")
    assert len({check["port"] for result in cases for check in result["checks"]}) == 17


def test_an_op_needs_no_inputs(results: list[dict[str, Any]]) -> None:
    (case,) = passed(results, "IotaCustom")
    assert case["shapes"] == {}


def test_an_op_without_outputs_has_nothing_to_compare(results: list[dict[str, Any]]) -> None:
    told = [(result["op"], result["status"], result["reason"]) for result in results if result["why"] == "no outputs"]
    reason = "it has no outputs: there is nothing to compare"
    assert told == [("LookAt", "skipped", reason), ("WaitFor", "skipped", reason)]


def test_a_port_has_the_formats_that_its_spec_names(results: list[dict[str, Any]]) -> None:
    assert passed(results, "CopyImages")
    assert passed(results, "CopyPlain")


# ---- graphs that connect something else ----


def run_case(
    project: Path, folder: Path, op: str, inputs: list[tuple[str, Array]], *, counts: Mapping[str, int] | None = None, **attrs: int
) -> tuple[int, str]:
    """The exit and the messages of one case."""
    case = Case(
        op=op,
        inputs=tuple(TensorItem(port=port, dtype=array.dtype.name, array=array) for port, array in inputs),
        attrs=tuple(AttrItem(name=name, type="int", value=value) for name, value in attrs.items()),
        counts=counts or {},
    )
    done = run_session(project, "port_kinds", "--check-only", "--case", CaseWriter(folder).write("case", case))
    return done.returncode, done.stderr


ROW = np.ones(4, np.float32)
SCALE = ("scale", np.float32(2).reshape(()))


@pytest.mark.case("C5")
@pytest.mark.usefixtures("results")
@pytest.mark.parametrize(
    ("inputs", "count", "exit_code", "message"),
    [
        ([("x", ROW)] * 3 + [SCALE], 2, 4, "N=2 but 3 tensors connected to x"),
        ([("x", ROW), ("x", np.ones(5, np.float32)), SCALE], 2, 4, 'x has shape [5], but by its rule "..." these dims must be [4]'),
        ([("x", ROW), ("x", np.ones(4, np.int32)), SCALE], 2, 4, "x has tensors of float32 and of int32, which must be of one dtype"),
        ([SCALE], 0, 2, "the case gives 0 inputs 'x' to SumList"),
        ([("x", ROW), SCALE, SCALE], 1, 2, "the case gives 2 inputs 'scale' to SumList"),
        ([("x", ROW), ("y", ROW), SCALE], 1, 2, "the case gives an input that SumList doesn't have"),
    ],
)
def test_a_list_that_the_op_can_t_take_is_told_by_name_and_number(  # noqa: PLR0917 - each is a column of the table above
    project: Path, tmp_path: Path, inputs: list[tuple[str, Array]], count: int, exit_code: int, message: str
) -> None:
    returned, told = run_case(project, tmp_path, "SumList", inputs, N=count)
    assert returned == exit_code
    assert message in told


@pytest.mark.usefixtures("results")
def test_a_tensor_of_a_dtype_that_its_list_can_t_have_is_named(project: Path, tmp_path: Path) -> None:
    returned, told = run_case(project, tmp_path, "CopyMixed", [("x", ROW), ("x", np.ones(4, np.int64))], counts={"y": 2})
    assert returned == 4
    assert "x has a tensor of int64, the spec allows float32, int32" in told
    returned, told = run_case(project, tmp_path / "longer", "CopyMixed", [("x", ROW)], counts={"y": 2})
    assert returned == 4
    assert "y has more tensors than x, which is 1" in told


@pytest.mark.usefixtures("results")
def test_an_output_that_is_a_list_needs_its_length(project: Path, tmp_path: Path) -> None:
    returned, told = run_case(project, tmp_path, "SpreadList", [("x", np.ones(4, np.int32))])
    assert returned == 2
    assert "the case doesn't say how many outputs 'parts' SpreadList has" in told


@pytest.mark.usefixtures("results")
def test_a_benchmark_gives_the_tensors_of_a_list(project: Path) -> None:
    report = opkit_json("bench", project, "--iters", "2", "--warmup", "1", "--repeat", "1")
    assert [len(case["precision"]) for case in report["cases"]] == [2, 2]
    assert "input x: [3], float32" in opkit("bench", project, "--iters", "2", "--repeat", "1", "--shape", "x=3").stdout
