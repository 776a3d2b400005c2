"""A generated project is built by hand, without opkit, and computes on the simulator what its NumPy references say."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from generated_support import build_by_hand, run_session, succeed, varied_project

from opkit.run.arrays import Array, numpy_dtype, random_input, tolerance_of
from opkit.run.case import AttrItem, AttrValue, Case, CaseWriter, OutputItem, TensorItem
from opkit.run.records import read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from opkit.spec import DType, Op, Package

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("varied")]


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> tuple[Path, Package]:
    """The varied package, built in a folder whose name has a space and non-ASCII letters."""
    project = tmp_path_factory.mktemp("generated") / "my ops 算子"
    package = varied_project(project)
    build_by_hand(project, toolkit_home, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug")
    return project, package


def case_of(package: Package, op_type: str, arrays: dict[str, Array], **attrs: AttrValue) -> Case:
    """A case with the expectation of the op's reference."""
    op = op_of(package, op_type)
    assert op.reference is not None
    results = op.reference(*(arrays[port.name] for port in op.inputs), **attrs)
    outputs = results if isinstance(results, tuple) else (results,)
    given = {port.name: _dtype_of(arrays[port.name], port.dtypes) for port in op.inputs}
    dtypes = next(combo.ports for combo in op.dtype_combos() if given.items() <= combo.ports.items())
    return Case(
        op=op_type,
        inputs=tuple(TensorItem(port=port.name, dtype=given[port.name].name, array=arrays[port.name]) for port in op.inputs),
        attrs=tuple(AttrItem(name=name, type=op.attr(name).type.value, value=value) for name, value in attrs.items()),
        outputs=tuple(
            OutputItem(
                port=port.name,
                dtype=dtypes[port.name].name,
                array=np.asarray(output).astype(numpy_dtype(dtypes[port.name].name)),
                tolerance=tolerance_of(dtypes[port.name].name),
            )
            for port, output in zip(op.outputs, outputs, strict=True)
        ),
    )


def op_of(package: Package, op_type: str) -> Op:
    return next(op for op in package.ops if op.type == op_type)


def _dtype_of(array: Array, dtypes: Iterable[DType]) -> DType:
    return next(dtype for dtype in dtypes if numpy_dtype(dtype.name) == array.dtype)


def check(project: Path, folder: Path, *cases: Case) -> list[dict[str, Any]]:
    """Runs cases with --check-only and gives their reports; all must pass."""
    writer = CaseWriter(folder)
    folders = [writer.write(f"case{number}", case) for number, case in enumerate(cases)]
    arguments = [word for case in folders for word in ("--case", str(case))]
    succeed(run_session(project, "varied", "--check-only", "--json", folder / "report.json", *arguments))
    reports: list[dict[str, Any]] = json.loads((folder / "report.json").read_text())["cases"]
    assert all(item["passed"] for report in reports for item in report["precision"])
    return reports


@pytest.mark.case("C7")
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool"])
def test_every_dtype_arrives_unchanged(varied: tuple[Path, Package], tmp_path: Path, dtype: str) -> None:
    project, package = varied
    shapes = [(), (1,), (5,), (2, 3, 4), (0,), (3, 0)]
    cases = [case_of(package, "CopyElements", {"x": random_input("x", dtype, shape, seed=3)}) for shape in shapes]
    reports = check(project, tmp_path / "cases", *cases)
    assert [report["inputs"][0]["shape"] for report in reports] == [list(shape) for shape in shapes]
    # Both memory sets of the one output, each compared element by element.
    assert all([item["set"] for item in report["precision"]] == [0, 1] for report in reports)


@pytest.mark.case("B1")
def test_attrs_reach_the_kernel_as_scalars_of_its_types(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, package = varied
    x = np.arange(-20, 20, dtype=np.int32)
    values: list[dict[str, AttrValue]] = [
        {"alpha": 0.5, "times": 3, "negate": False, "mode": ""},
        {"alpha": -1.5, "times": -2, "negate": True, "mode": 'é "quoted"\n'},
        {"alpha": 0.25, "times": 2**20, "negate": False, "mode": "a b"},
    ]
    check(project, tmp_path / "cases", *(case_of(package, "Affine", {"x": x}, **attrs) for attrs in values))


def test_an_attr_that_does_not_fit_its_parameter_is_an_error(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, package = varied
    case = case_of(package, "Affine", {"x": np.zeros(3, np.float32)}, alpha=1.0, times=2**31, negate=False, mode="")
    done = run_session(project, "varied", "--check-only", "--case", CaseWriter(tmp_path / "cases").write("case", case))
    assert done.returncode == 4
    assert 'times = attr("times") is 2147483648, which does not fit where the kernel reads it' in done.stderr


@pytest.mark.case("B9")
def test_a_required_attr_must_be_given(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, _ = varied
    case = Case(op="Affine", inputs=(TensorItem(port="x", dtype="float32", array=np.zeros(3, np.float32)),))
    done = run_session(project, "varied", "--check-only", "--case", CaseWriter(tmp_path / "cases").write("case", case))
    assert done.returncode == 2
    assert "'times'" in done.stderr


@pytest.mark.case("C2")
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_each_output_has_its_own_dtype(varied: tuple[Path, Package], tmp_path: Path, dtype: str) -> None:
    project, package = varied
    case = case_of(package, "SplitSigns", {"x": random_input("x", dtype, (7, 9), seed=1)})
    (report,) = check(project, tmp_path / "cases", case)
    assert [(item["set"], item["port"]) for item in report["precision"]] == [
        (0, "size"),
        (0, "is_negative"),
        (1, "size"),
        (1, "is_negative"),
    ]


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (2, 100)])
def test_named_dims_tie_the_ports_together(varied: tuple[Path, Package], tmp_path: Path, shape: tuple[int, int]) -> None:
    project, package = varied
    arrays = {"x": random_input("x", "float32", shape, seed=1), "bias": random_input("bias", "float32", shape[1:], seed=1)}
    check(project, tmp_path / "cases", case_of(package, "AddToRows", arrays))


@pytest.mark.case("C7")
def test_an_output_that_is_empty_beside_one_that_is_not(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, package = varied
    arrays = {"x": np.zeros((3, 0), np.float32), "bias": np.zeros(0, np.float32)}
    check(project, tmp_path / "cases", case_of(package, "AddToRows", arrays))


@pytest.mark.parametrize(
    ("x", "bias", "expected"),
    [
        ((2, 3), (4,), 'bias has shape [4], but by its rule "k" dim 0 must be 3'),
        ((2, 3, 4), (4,), 'x has shape [2, 3, 4], but by its rule "n k" it needs 2 dims'),
    ],
)
def test_shapes_that_break_a_rule_are_named(
    varied: tuple[Path, Package], tmp_path: Path, x: tuple[int, ...], bias: tuple[int, ...], expected: str
) -> None:
    project, _ = varied
    inputs = tuple(TensorItem(port=name, dtype="float32", array=np.zeros(shape, np.float32)) for name, shape in (("x", x), ("bias", bias)))
    done = run_session(
        project, "varied", "--check-only", "--case", CaseWriter(tmp_path / "cases").write("case", Case(op="AddToRows", inputs=inputs))
    )
    assert done.returncode == 4
    assert expected in done.stderr


def test_a_case_without_expectations_is_held_to_its_own_first_run(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, _ = varied
    x = np.arange(24, dtype=np.int32).reshape(3, 4, 2)
    case = Case(op="AddPairs", inputs=(TensorItem(port="x", dtype="int32", array=x),))
    (report,) = check(project, tmp_path / "cases", case)
    assert [(item["set"], item["passed"]) for item in report["precision"]] == [(0, True), (1, True)]


def test_a_group_moves_with_its_dims(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, _ = varied
    x = np.arange(24, dtype=np.int32).reshape(3, 2, 2, 2)
    y = x.sum(axis=-1).reshape(2, 2, 3, 1)
    item = OutputItem(port="y", dtype="int32", array=y.astype(np.int32), tolerance=tolerance_of("int32"))
    case = Case(op="AddPairs", inputs=(TensorItem(port="x", dtype="int32", array=x),), outputs=(item,))
    check(project, tmp_path / "cases", case)


def test_wrong_elements_are_counted_and_the_first_five_shown(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, package = varied
    case = case_of(package, "CopyElements", {"x": np.arange(20, dtype=np.float32)})
    case.outputs[0].array[3:10] += 1
    done = run_session(
        project, "varied", "--check-only", "--json", tmp_path / "report.json", "--case", CaseWriter(tmp_path / "cases").write("case", case)
    )
    assert done.returncode == 4
    assert "Precision check FAILED: CopyElements set 0" in done.stdout
    check_ = json.loads((tmp_path / "report.json").read_text())["cases"][0]["precision"][0]
    assert (check_["passed"], check_["mismatches"], check_["max_error"]) == (False, 7, 1.0)
    assert [(item["index"], item["expected"], item["got"]) for item in check_["first"]] == [(i, str(i + 1), str(i)) for i in range(3, 8)]


@pytest.mark.parametrize(
    ("expected", "got", "passes"),
    [
        (np.nan, np.nan, True),
        (1.0, np.nan, False),
        (np.nan, 1.0, False),
        (np.inf, np.inf, True),
        (-np.inf, np.inf, False),
        (1.0, 1.000001, True),
        (1.0, 1.001, False),
        (-0.0, 0.0, True),
    ],
)
def test_special_values_compare_as_numbers_do(
    varied: tuple[Path, Package], tmp_path: Path, expected: float, got: float, passes: bool
) -> None:
    project, _ = varied
    item = OutputItem(port="y", dtype="float32", array=np.array([expected, 2], np.float32), tolerance=tolerance_of("float32"))
    case = Case(op="CopyElements", inputs=(TensorItem(port="x", dtype="float32", array=np.array([got, 2], np.float32)),), outputs=(item,))
    done = run_session(project, "varied", "--check-only", "--case", CaseWriter(tmp_path / "cases").write("case", case))
    assert done.returncode == (0 if passes else 4), done.stdout + done.stderr


def test_a_failed_case_does_not_hide_the_others(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, package = varied
    writer = CaseWriter(tmp_path / "cases")
    bad = case_of(package, "Affine", {"x": np.zeros(3, np.float32)}, alpha=1.0, times=2**31, negate=False, mode="")
    good = case_of(package, "CopyElements", {"x": np.zeros(3, np.float32)})
    arguments: list[str | Path] = ["--case", writer.write("bad", bad), "--case", writer.write("good", good)]
    done = run_session(project, "varied", "--check-only", "--json", tmp_path / "report.json", *arguments)
    assert done.returncode == 4
    reports = json.loads((tmp_path / "report.json").read_text())["cases"]
    assert [(report["op"], "error" in report, len(report["precision"])) for report in reports] == [
        ("Affine", True, 0),
        ("CopyElements", False, 2),
    ]
    assert "Affine" in reports[0]["error"]


def test_timed_runs_are_told_apart_from_checks_and_warm_up(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, _ = varied
    done = succeed(run_session(project, "varied", "--iters", "7", "--warmup", "2", "--repeat", "3", "--json", tmp_path / "report.json"))
    (report,) = json.loads((tmp_path / "report.json").read_text())["cases"]
    # One run for the expectation, one for each memory set, two to warm up: the sixth is the first timed one.
    assert report["timed_runs"] == [[6, 7], [13, 7], [20, 7]]
    assert len(report["samples_us"]) == 3
    assert "compared with each other" in done.stdout
    assert "[Perf] input shape: [3, 5], float32, 60B\n[Perf] iters: 7\n[Perf] Affine: " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--iters", "0"], "--iters must be at least 1, not 0"),
        (["--iters"], "--iters needs a value"),
        (["--itres", "3"], "unknown option '--itres'"),
        (["--shape", "q=3"], "--shape q: Affine has no such input"),
        (["--dtype", "x=int64"], "Affine has no combination with the dtypes of --dtype"),
        (["--dtype", "x=float23"], "'float23' is not a dtype"),
        (["--device", "99"], "there is no device 99"),
        (["--case", "/nowhere"], "/nowhere/case.txt cannot be read"),
    ],
)
def test_a_wrong_command_line_exits_2_and_says_why(varied: tuple[Path, Package], arguments: list[str], expected: str) -> None:
    project, _ = varied
    done = run_session(project, "varied", *arguments)
    assert done.returncode == 2
    assert expected in done.stderr


@pytest.mark.case("A7")
def test_without_its_deliverable_the_program_fails_and_says_so(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, _ = varied
    moved = tmp_path / "other"
    moved.mkdir()
    shutil.copytree(project / "build", moved / "build")
    (moved / "output").mkdir()
    done = run_session(moved, "varied", "--check-only")
    assert done.returncode == 4
    assert "Affine" in done.stderr


@pytest.mark.case("A7")
def test_an_op_that_nobody_registered_is_named_with_those_that_there_are(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, _ = varied
    case = Case(op="Copyelements", inputs=(TensorItem(port="x", dtype="float32", array=np.zeros(3, np.float32)),))
    done = run_session(project, "varied", "--check-only", "--case", CaseWriter(tmp_path / "cases").write("case", case))
    assert done.returncode == 2
    assert "there is no op 'Copyelements' in this package; it has CopyElements, Affine, SplitSigns, AddToRows, AddPairs" in done.stderr


@pytest.mark.case("C7")
@pytest.mark.parametrize(("shape", "is_launched"), [((0,), False), ((4, 0, 8), False), ((4, 1, 8), True)])
def test_nothing_is_launched_for_an_empty_tensor(
    varied: tuple[Path, Package], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], is_launched: bool
) -> None:
    project, package = varied
    monkeypatch.setenv("OPKIT_SIM_TASK_RECORDS", str(tmp_path / "records"))
    check(project, tmp_path / "cases", case_of(package, "CopyElements", {"x": np.zeros(shape, np.float32)}))
    kernels = [record.name for record in read_records(tmp_path / "records") if record.kind == "KERNEL"]
    assert bool(kernels) == is_launched


@pytest.mark.case("D8")
def test_a_kernel_as_other_editors_save_it_is_compiled(varied: tuple[Path, Package], tmp_path: Path) -> None:
    project, package = varied
    shutil.copytree(project / "build", tmp_path / "moved" / "build")
    shutil.copytree(project / "output", tmp_path / "moved" / "output")
    (kernel,) = (tmp_path / "moved").glob("output/op_graph/lib/*/*/copy.asc")
    kernel.write_bytes(b"\xef\xbb\xbf" + kernel.read_bytes().rstrip().replace(b"\n", b"\r\n").replace(b"  ", b"\t"))
    check(tmp_path / "moved", tmp_path / "cases", case_of(package, "CopyElements", {"x": np.arange(5, dtype=np.float32)}))


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda kernel: kernel.unlink(), "is missing"),
        (lambda kernel: kernel.write_text(""), "is empty"),
        (lambda kernel: (kernel.unlink(), kernel.mkdir()), "cannot be read"),
        (lambda kernel: kernel.write_text(kernel.read_text().replace("uint64_t i =", "uint64_t i +")), "copy.asc:3"),
    ],
    ids=["missing", "empty", "folder", "syntax"],
)
def test_a_damaged_kernel_is_named_with_its_whole_path(
    varied: tuple[Path, Package], tmp_path: Path, damage: Callable[[Path], object], expected: str
) -> None:
    project, package = varied
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.copytree(project / "build", moved / "build")
    shutil.copytree(project / "output", moved / "output")
    (kernel,) = moved.glob("output/op_graph/lib/*/*/copy.asc")
    damage(kernel)
    case = case_of(package, "CopyElements", {"x": np.zeros(3, np.float32)})
    done = run_session(moved, "varied", "--check-only", "--case", CaseWriter(tmp_path / "cases").write("case", case))
    assert done.returncode == 4
    assert str(kernel) in done.stderr
    assert expected in done.stderr
