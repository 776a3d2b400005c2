"""The session program on ops that are right, silent and half done: what it says of each, and that it says the same again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from generated_support import build_by_hand, run_session

from opkit.codegen import render
from opkit.run.arrays import Array, tolerance_of
from opkit.run.case import Case, CaseWriter, OutputItem, TensorItem
from opkit.spec import load_package

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("session")]

KERNEL = """\
#include "kernel_operator.h"
// The 64 bits of a size, the high word first.
extern "C" __global__ __aicore__ void words(GM_ADDR x, GM_ADDR y, int64_t size) {
  if (AscendC::GetBlockIdx() == 0) {
    reinterpret_cast<__gm__ int32_t *>(y)[0] = static_cast<int32_t>(size >> 32);
    reinterpret_cast<__gm__ int32_t *>(y)[1] = static_cast<int32_t>(size);
  }
}
extern "C" __global__ __aicore__ void scaled(GM_ADDR x, GM_ADDR y, int64_t length, int64_t factor) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ float *>(y)[i] = reinterpret_cast<__gm__ float *>(x)[i] * static_cast<float>(factor);
  }
}
// Adds to what lies in the output already.
extern "C" __global__ __aicore__ void added_to_rest(GM_ADDR x, GM_ADDR y, int64_t length) {
  for (int64_t i = AscendC::GetBlockIdx(); i < length; i += AscendC::GetBlockNum()) {
    reinterpret_cast<__gm__ int32_t *>(y)[i] += reinterpret_cast<__gm__ int32_t *>(x)[i];
  }
}
"""
SPEC = """\
from opkit import Benchmark, Input, Kernel, Op, Output, Package, numel

FILE = "kernels/k.asc"


def op(name, dtype, entry, *args, out="..."):
    kernel = Kernel(FILE, entry=entry, args=["x", "y", *args], blocks=4, strides=True)
    return Op(name, inputs=[Input("x", dtype, shape="...")], outputs=[Output("y", dtype, shape=out)], kernel=kernel, refresh="updater",
              reference=None)


words = op("WordsOp", "int32", "words", numel("x") * 8589934592 + numel("x"), out="2")
below = op("NegativeWordsOp", "int32", "words", (numel("x") - 4) * 8589934592, out="2")
once = op("OnceOp", "float32", "scaled", numel("x"), 1)
twice = op("TwiceOp", "float32", "scaled", numel("x"), 2)
silent = op("SilentOp", "float32", "scaled", 0, 1)
half = op("HalfOp", "float32", "scaled", numel("x") // 2, 1)
rest = op("RestOp", "int32", "added_to_rest", numel("x"))
package = Package(
    "ops", ops=[words, below, once, twice, silent, half, rest], benchmark=Benchmark(once, baseline=twice, shapes={"x": (6,)})
)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, toolkit_home: Path) -> Path:
    folder = tmp_path_factory.mktemp("ops")
    (folder / "kernels").mkdir()
    (folder / "kernels" / "k.asc").write_text(KERNEL)
    (folder / "ops.py").write_text(SPEC)
    render(load_package(folder / "ops.py")).write(folder)
    build_by_hand(folder, toolkit_home, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug")
    return folder


def case_of(op: str, x: Array, y: Array | None = None) -> Case:
    outputs = () if y is None else (OutputItem(port="y", dtype=y.dtype.name, array=y, tolerance=tolerance_of(y.dtype.name)),)
    return Case(op=op, inputs=(TensorItem(port="x", dtype=x.dtype.name, array=x),), outputs=outputs)


def check(project: Path, folder: Path, *cases: Case, measure: bool = False) -> tuple[int, str, list[dict[str, Any]]]:
    """The exit code, what was printed, and the report of each case."""
    folder.mkdir(exist_ok=True)
    writer = CaseWriter(folder / "cases")
    words = [word for number, case in enumerate(cases) for word in ("--case", str(writer.write(f"case{number}", case)))]
    mode = ["--iters", "1"] if measure else ["--check-only"]
    done = run_session(project, "ops", *mode, "--json", folder / "report.json", *words)
    return done.returncode, done.stdout + done.stderr, json.loads((folder / "report.json").read_text())["cases"]


@pytest.mark.parametrize(
    ("op", "count", "size"), [("WordsOp", 3, 3 * 2**33 + 3), ("NegativeWordsOp", 3, -(2**33)), ("WordsOp", 5, 5 * 2**33 + 5)]
)
def test_a_size_beyond_32_bits_reaches_the_kernel_whole(project: Path, tmp_path: Path, op: str, count: int, size: int) -> None:
    high, low = size >> 32, size & 0xFFFFFFFF
    y = np.array([high, low], np.int64).astype(np.int32)
    exit_code, printed, _ = check(project, tmp_path, case_of(op, np.zeros(count, np.int32), y))
    assert exit_code == 0, printed


@pytest.mark.parametrize("measure", [False, True])
def test_a_case_without_expectation_must_repeat_its_own_first_run(project: Path, tmp_path: Path, *, measure: bool) -> None:
    exit_code, printed, (report,) = check(project, tmp_path, case_of("OnceOp", np.arange(6, dtype=np.float32)), measure=measure)
    assert exit_code == 0, printed
    for memory_set in (0, 1):
        assert f"Precision check passed: OnceOp set {memory_set} output y, max error 0, against the first run of OnceOp\n" in printed
    assert [(item["set"], item["passed"]) for item in report["precision"]] == [(0, True), (1, True)]


@pytest.mark.parametrize(("op", "dtype", "wrong"), [("SilentOp", np.float32, 6), ("HalfOp", np.float32, 3), ("RestOp", np.int32, 6)])
@pytest.mark.parametrize("measure", [False, True])
def test_an_output_that_is_not_written_shows_without_an_expectation_too(
    project: Path, tmp_path: Path, op: str, dtype: type[np.generic], wrong: int, *, measure: bool
) -> None:
    exit_code, printed, (report,) = check(project, tmp_path, case_of(op, np.arange(2, 8).astype(dtype)), measure=measure)
    assert exit_code == 4, printed
    assert f"Precision check FAILED: {op} set 0 output y" in printed
    assert [(item["passed"], item["mismatches"]) for item in report["precision"]] == [(False, wrong), (False, wrong)]


def test_a_case_with_an_expectation_is_not_said_to_be_compared_with_itself(project: Path, tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32)
    _, printed, _ = check(project, tmp_path, case_of("TwiceOp", x, 2 * x))
    assert "Precision check passed: TwiceOp set 0 output y, max error 0\n" in printed


def test_the_same_seed_gives_the_same_inputs_and_results(project: Path) -> None:
    """The benchmark's two ops differ, so that what is printed of their mismatches tells the inputs."""
    arguments = ("--check-only", "--shape", "x=5", "--seed")
    first, again, other = (run_session(project, "ops", *arguments, seed) for seed in ("7", "7", "8"))
    assert first.returncode == 4
    assert "against the first run of OnceOp" in first.stdout
    assert first.stdout.count("  [") == 2 * 5
    assert first.stdout == again.stdout
    assert first.stdout.replace("seed 7", "seed 8") != other.stdout


def test_success_says_no_error_and_a_failure_does(project: Path, tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32)
    # Two graphs with the same op in one process, checked, and once more measured side by side.
    cases = (case_of("OnceOp", x, x), case_of("OnceOp", x[:3], x[:3]))
    for measure in (False, True):
        exit_code, printed, reports = check(project, tmp_path / str(measure), *cases, measure=measure)
        assert exit_code == 0
        assert [report["graph_id"] for report in reports] == [0, 1]
        assert "[ERROR]" not in printed
    done = run_session(project, "ops", "--check-only", "--device", "99")
    assert done.returncode == 2
    assert "[ERROR]" in done.stderr


def test_a_kernel_that_does_not_compile_is_shown_once(project: Path, tmp_path: Path) -> None:
    (kernel,) = project.glob("output/op_graph/lib/linux/*/k.asc")
    text = kernel.read_text()
    kernel.write_text(text.replace("int64_t factor) {", "int64_t factor) { oh_dear;"))
    try:
        exit_code, printed, _ = check(project, tmp_path, case_of("OnceOp", np.zeros(3, np.float32)))
    finally:
        kernel.write_text(text)
    assert exit_code == 4
    assert printed.count("oh_dear' was not declared") == 1, printed
