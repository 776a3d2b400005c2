"""Ops whose dtypes and shapes follow rules, and one with a workspace, built once and run against their NumPy references."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_support import ROOT, edited, opkit, opkit_json
from generated_support import run_session, shell, succeed
from rules_support import RULES_INFER, write_rules

from opkit.codegen import render
from opkit.run.arrays import tolerance_of
from opkit.run.case import AttrItem, Case, CaseWriter, OutputItem, TensorItem
from opkit.spec import load_package

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("rules"), pytest.mark.usefixtures("toolkit_home")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rules(tmp_path_factory.mktemp("rules"))


@pytest.fixture(scope="module")
def results(project: Path) -> list[dict[str, Any]]:
    """Of every case of every op that has a reference."""
    found: list[dict[str, Any]] = opkit_json("test", project)["results"]
    return [result for result in found if result["status"] != "skipped"]


def of(results: list[dict[str, Any]], op: str) -> list[dict[str, Any]]:
    found = [result for result in results if result["op"] == op]
    assert found
    assert {result["status"] for result in found} == {"passed"}
    return found


def test_inputs_are_broadcast(results: list[dict[str, Any]]) -> None:
    shapes = [(tuple(result["shapes"]["x"]), tuple(result["shapes"]["y"])) for result in of(results, "AddMatrices")]
    assert {((3, 1365), (3, 1365)), ((3, 1365), (3, 1)), ((1, 1365), (3, 1)), ((1, 0), (1, 1))} <= set(shapes)
    shapes = [(tuple(result["shapes"]["x"]), tuple(result["shapes"]["y"])) for result in of(results, "AddSuffix")]
    assert {((), ()), ((4097,), ()), ((3, 1365), ())} <= set(shapes)


@pytest.mark.case("C12")
def test_crossed_dtypes_promote(results: list[dict[str, Any]]) -> None:
    assert {tuple(result["dtypes"].values()) for result in of(results, "AddPromoted")} == {
        ("int32", "int8", "int32"),
        ("int32", "float32", "float32"),
        ("float16", "int8", "float16"),
        ("float16", "float32", "float32"),
    }


@pytest.mark.parametrize("op", ["CastByNumber", "CastByType"])
def test_an_attr_decides_the_dtype_of_an_output(results: list[dict[str, Any]], op: str) -> None:
    found = {(result["dtypes"]["x"], result["attrs"]["to"], result["dtypes"]["y"]) for result in of(results, op)}
    named = {"float32": 0, "int32": 3} if op == "CastByNumber" else {"float32": "float32", "int32": "int32"}
    assert found == {(x, named[y], y) for x in named for y in named}


def test_a_dim_is_an_attr(results: list[dict[str, Any]]) -> None:
    assert {result["attrs"]["bins"] for result in of(results, "CountUp")} == {70, 71}


def test_a_dim_is_computed(results: list[dict[str, Any]]) -> None:
    columns = {result["shapes"]["x"][1] for result in of(results, "AddColumnPairs")}
    assert {0, 1, 31, 32} < columns


def test_a_workspace_holds_what_a_kernel_computes_on_its_way(results: list[dict[str, Any]]) -> None:
    assert {0, 1, 4097} < {result["shapes"]["x"][0] for result in of(results, "SumInTwoPasses") if result["shapes"]["x"]}


def test_a_function_of_the_user_s_infers_a_shape(results: list[dict[str, Any]], project: Path) -> None:
    assert {result["attrs"]["pad"] for result in of(results, "PadBoth")} == {2, 3}
    assert (project / "ge/user/infer.h").read_text() == RULES_INFER


def run(project: Path, folder: Path, case: Case) -> str:
    """Gives what the session program says of a case; it must succeed if the case has an expectation."""
    done = run_session(project, "rules", "--case", CaseWriter(folder).write("case", case))
    assert (done.returncode == 0) == bool(case.outputs), done.stdout + done.stderr
    return done.stdout + done.stderr


def tensor(port: str, array: np.ndarray[Any, Any]) -> TensorItem:
    return TensorItem(port=port, dtype=array.dtype.name, array=array)


def expected(port: str, array: np.ndarray[Any, Any]) -> OutputItem:
    return OutputItem(port=port, dtype=array.dtype.name, array=array, tolerance=tolerance_of(array.dtype.name))


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.usefixtures("results")
def test_the_graph_decides_a_dtype_that_the_inputs_leave_open(project: Path, tmp_path: Path, dtype: str) -> None:
    x = np.linspace(-9, 9, 100, dtype="float32")
    case = Case(op="CastByGraph", inputs=(tensor("x", x),), dtypes={"y": dtype}, outputs=(expected("y", x.astype(dtype)),))
    run(project, tmp_path, case)


@pytest.mark.usefixtures("results")
def test_a_soc_s_own_dtype_runs_there_and_another_soc_s_doesn_t(project: Path, tmp_path: Path) -> None:
    x = np.arange(8, dtype="int8")
    run(project, tmp_path / "own", Case(op="CopyBySoc", inputs=(tensor("x", x),), outputs=(expected("y", x),)))
    told = run(project, tmp_path / "other", Case(op="CopyBySoc", inputs=(tensor("x", x.astype("float16")),)))
    assert "the spec has no kernel for x float16 on the SoC 'Ascend910B3'" in told


@pytest.mark.case("B8")
@pytest.mark.usefixtures("results")
def test_what_isn_t_declared_is_refused_with_the_request_and_the_table(project: Path, tmp_path: Path) -> None:
    x = np.zeros(8, dtype="float32")
    told = run(project, tmp_path / "inputs", Case(op="AddPromoted", inputs=(tensor("x", x), tensor("y", x))))
    assert "no kernel for x float32, y float32; the spec has (x, y -> z): (int32, int8 -> int32) (int32, float32 -> float32)" in told
    to = AttrItem(name="to", type="int", value=2)
    told = run(project, tmp_path / "attr", Case(op="CastByNumber", inputs=(tensor("x", x),), attrs=(to,)))
    assert "no kernel for x float32 -> y int8; the spec has (x -> y): (float32 -> float32) (float32 -> int32)" in told


@pytest.mark.usefixtures("results")
def test_shapes_without_an_inference_are_refused(project: Path, tmp_path: Path) -> None:
    x, y = np.zeros((2, 3), dtype="float32"), np.zeros((4, 3), dtype="float32")
    told = run(project, tmp_path / "broadcast", Case(op="AddMatrices", inputs=(tensor("x", x), tensor("y", y))))
    assert "the shapes [2, 3] and [4, 3] can't be broadcast to one for z" in told
    attr = AttrItem(name="bins", type="int", value=-1)
    mode = AttrItem(name="mode", type="str", value="up")
    told = run(project, tmp_path / "bins", Case(op="CountUp", inputs=(tensor("x", x),), attrs=(mode, attr)))
    assert "y can't have the dim bins, which is -1" in told
    told = run(project, tmp_path / "pad", Case(op="PadBoth", inputs=(tensor("x", x),), attrs=(AttrItem(name="pad", type="int", value=1),)))
    assert "x has shape [2, 3], but by its rule" in told


@pytest.mark.usefixtures("results")
def test_a_function_of_another_signature_is_told_in_one_sentence(project: Path) -> None:
    with (
        edited(project / "ge/user/infer.h", "gert::Shape &shape)", "const gert::Shape &shape)"),
        edited(project / "ge/user/infer.h", "  shape.AppendDim", "  (void)shape;\n  return true;\n  gert::Shape other;\n  other.AppendDim"),
    ):
        told = opkit("build", project, exit_code=5).stderr
    assert "ge/user/infer.h: mine::InferPad must be bool (const gert::InferShapeContext &ctx, gert::Shape &shape)" in told


def test_the_shape_rule_of_the_docs_compiles(tmp_path: Path, toolkit_home: Path) -> None:
    text = (ROOT / "docs/reference/spec.md").read_text().split("### A shape rule of your own")[1]
    header, op = (re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)[0] for language in ("cpp", "python"))
    kernel = 'extern "C" __global__ __aicore__ void pad_both(GM_ADDR x, GM_ADDR y, int64_t pad, int64_t x_length, int64_t length) {}\n'
    spec = f'import numpy as np\nfrom opkit import *\n{op}package = Package("my_ops", ops=[pad])\n'
    for name, content in {"ge/user/infer.h": header, "kernels/pad.asc": kernel, "ops.py": spec}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    render(load_package(tmp_path / "ops.py")).write(tmp_path)
    succeed(shell("g++", "-std=c++17", "-fsyntax-only", "-isystem", toolkit_home / "include", tmp_path / "ge/custom_op.cpp"))
