"""Ops that launch kernels in every way that a spec can say, built once and run against their references."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command_support import edited, opkit, opkit_json
from launch_support import write_launches

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("launches"), pytest.mark.usefixtures("toolkit_home")]

BOTH = ["", "Copied"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_launches(tmp_path_factory.mktemp("launches"))


@pytest.fixture(scope="module")
def tested(project: Path) -> subprocess.CompletedProcess[str]:
    # 4: the op for cube cores fails.
    return opkit("test", project, "--json", exit_code=4)


@pytest.fixture(scope="module")
def results(tested: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(tested.stdout)["results"]
    return found


def passed(results: list[dict[str, Any]], op: str) -> list[dict[str, Any]]:
    """The cases of an op, none of which failed."""
    cases = [result for result in results if result["op"] == op and result["why"] is not None and result["status"] != "skipped"]
    assert {result["status"] for result in cases} == {"passed"}, op
    assert all(check["passed"] for result in cases for check in result["checks"])
    return cases


@pytest.mark.parametrize("refresh", BOTH)
def test_a_struct_reaches_the_kernel_by_value(results: list[dict[str, Any]], refresh: str) -> None:
    cases = passed(results, f"ScaleTiled{refresh}")

    assert {(1, 0), (1, 4097), (3, 1365)} <= {tuple(result["shapes"]["x"]) for result in cases}
    assert {result["attrs"]["negate"] for result in cases} == {True, False}
    assert len({result["attrs"]["factor"] for result in cases}) == 2


def test_a_function_of_the_user_s_fills_a_struct(results: list[dict[str, Any]]) -> None:
    cases = passed(results, "WeighTiled")

    assert {(0,), (4097,), (3, 1365), ()} <= {tuple(result["shapes"]["x"]) for result in cases}


def test_a_template_is_compiled_for_the_dtypes_of_each_row(results: list[dict[str, Any]]) -> None:
    cases = passed(results, "ConvertTemplate")

    rows = {(result["dtypes"]["x"], result["dtypes"]["y"]) for result in cases}
    assert rows == {("float32", "float16"), ("float16", "float32"), ("int32", "float32")}


@pytest.mark.parametrize("op", ["DoubleTemplate", "NegateMangled"])
def test_an_entry_with_a_mangled_name_is_launched(results: list[dict[str, Any]], op: str) -> None:
    assert passed(results, op)


@pytest.mark.parametrize("refresh", BOTH)
def test_a_workspace_carries_data_from_a_kernel_to_the_next(results: list[dict[str, Any]], refresh: str) -> None:
    cases = passed(results, f"SubtractSum{refresh}")

    assert {(0,), (4097,), (3, 1365), ()} <= {tuple(result["shapes"]["x"]) for result in cases}


@pytest.mark.parametrize("refresh", BOTH)
def test_an_output_carries_data_from_a_kernel_to_the_next(results: list[dict[str, Any]], refresh: str) -> None:
    cases = passed(results, f"AddLists{refresh}")

    assert {(len(result["shapes"]["x"]), len(result["shapes"]["w"])) for result in cases} == {(1, 1), (3, 3), (17, 17)}
    assert {result["dtypes"]["y"] for result in cases} == {"float32", "int32"}


def test_one_kernel_with_a_workspace_runs_beside_ops_with_two(results: list[dict[str, Any]]) -> None:
    assert passed(results, "SubtractNothing")


def test_each_kernel_s_addresses_follow_those_of_the_model(project: Path, results: list[dict[str, Any]]) -> None:
    refreshed, copied = opkit_json("bench", project)["cases"]

    assert (refreshed["op"], refreshed["refresh"], copied["op"], copied["refresh"]) == (
        "AddLists",
        "updater",
        "AddListsCopied",
        "none",
    )
    for case in (refreshed, copied):
        assert {check["set"] for check in case["precision"]} == {0, 1}
        assert all(check["passed"] for check in case["precision"])


def test_cores_are_those_that_the_kernel_runs_on(results: list[dict[str, Any]]) -> None:
    assert passed(results, "CountCores")
    assert [result["op"] for result in results if result["status"] == "failed"] == ["CountCubes"]


def test_a_kernel_of_cube_cores_is_loaded_and_launched_as_one(tested: subprocess.CompletedProcess[str]) -> None:
    assert "launching count_cubes on 1 blocks" in tested.stderr
    assert "kernel 'count_cubes' is of a type that needs cube cores (aic)" in tested.stderr


def test_a_function_of_another_form_is_an_error_of_the_build_that_says_so(project: Path, results: list[dict[str, Any]]) -> None:
    with edited(project / "ge" / "user" / "tiling.h", "inline bool FillWeights", "inline int FillWeights"):
        told = opkit("build", project, exit_code=5).stderr

    assert "ge/user/tiling.h: user::FillWeights must be bool (const gert::EagerOpExecutionContext &ctx, " in told
