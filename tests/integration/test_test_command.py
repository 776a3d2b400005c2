"""`opkit test`: what it proves about a right project, and that each way of being wrong is found, named and exits 4."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command_support import copy_of_sample, edited, opkit, opkit_json, replace_in

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tests"), pytest.mark.usefixtures("toolkit_home")]

WITH_TAIL = "const uint32_t count = rest < kTile ? static_cast<uint32_t>(rest) : kTile;"


@pytest.fixture(scope="module")
def three_dtypes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = copy_of_sample(tmp_path_factory.mktemp("test"))
    replace_in(project / "ops.py", '["float32"]', '["float32", "float16", "int32"]')
    return project


def test_every_op_and_dtype_passes_at_the_edges_of_its_blocks_and_beyond_65535(three_dtypes: Path) -> None:
    report = opkit_json("test", three_dtypes)
    assert report["passed"]
    for op in ("AddRefreshOp", "AddNoRefreshOp"):
        for dtype in ("float32", "float16", "int32"):
            results = [result for result in report["results"] if result["op"] == op and result["dtypes"]["x"] == dtype]
            assert {result["status"] for result in results} == {"passed"}
            sizes = {tuple(result["shapes"]["x"]) for result in results}
            assert {(0,), (1,), (1023,), (1024,), (1025,), (3073,), (3, 1024), ()} < sizes
            (many,) = [result for result in results if result["why"] == "more than 65535 blocks of BLOCK_SIZE 32"]
            assert many["shapes"]["x"] == [65536 * 32 + 1]
            assert all({check["set"] for check in result["checks"]} == {0, 1} for result in results)


def test_people_get_a_table(three_dtypes: Path) -> None:
    done = opkit("test", three_dtypes)
    assert re.search(
        r"^AddRefreshOp +float16 +0 1 1023 1024 1025 3073 3x1024 scalar 2097153 \(BLOCK_SIZE 32\) +9 passed$", done.stdout, re.MULTILINE
    ), done.stdout
    assert "Testing 54 cases" in done.stderr
    assert "Testing more than 65535 blocks, in a second build: with small blocks, in build/small-block" in done.stderr
    assert done.stdout.splitlines()[-1] == "54 passed"
    assert list((three_dtypes / "build").glob("opkit-scratch*")) == []
    # The session program runs the ops with small blocks too.
    programs = [path for path in (three_dtypes / "build").rglob("*_session_run") if not path.is_symlink()]
    assert len(list((three_dtypes / "build").rglob("libcust_opapi.so"))) > len(programs) == 1


def test_ctrl_c_exits_130_and_leaves_nothing(three_dtypes: Path) -> None:
    opkit("build", three_dtypes)
    argv = [sys.executable, "-m", "opkit", "test", "-v", str(three_dtypes)]
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    while "Precision check" not in child.stderr.readline():
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert child.returncode == 130
    assert not list((three_dtypes / "build").rglob("opkit-scratch*"))
    running = subprocess.run(["pgrep", "-f", str(three_dtypes)], capture_output=True, text=True, check=False)
    assert running.stdout == ""


def test_a_wrong_operation_fails_every_case_that_has_elements(three_dtypes: Path) -> None:
    with edited(three_dtypes / "kernels" / "add_custom.asc", "AscendC::Add(", "AscendC::Sub("):
        done = opkit("test", three_dtypes, exit_code=4)
    assert re.search(r"^AddRefreshOp +float32 .* 8 of 9 FAILED$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^  output z, memory set 0: \d+ elements differ", done.stdout, re.MULTILINE)
    assert re.search(r"^    \[0\] expected \S+, got \S+$", done.stdout, re.MULTILINE)
    assert len(re.findall("^failed: ", done.stdout, re.MULTILINE)) == 5
    assert "… and 43 more failed: -v shows them in full, --json lists every case" in done.stdout
    assert "error[OPK0403]: 48 of 54 cases failed" in done.stderr


def test_a_kernel_that_forgets_the_tail_fails_only_where_there_is_one(three_dtypes: Path) -> None:
    # A whole tile each time: right for multiples of the tile, past the tensor for the rest.
    with edited(three_dtypes / "kernels" / "add_custom.asc", WITH_TAIL, "(void)rest; const uint32_t count = kTile;"):
        report = opkit_json("test", three_dtypes, exit_code=4)
    results = [result for result in report["results"] if result["op"] == "AddRefreshOp" and result["dtypes"]["x"] == "float32"]
    failed = {tuple(result["shapes"]["x"]) for result in results if result["status"] == "failed"}
    assert failed == {(1,), (1023,), (1025,), (3073,), (), (65536 * 32 + 1,)}
    (short,) = [result for result in results if result["shapes"]["x"] == [1023]]
    assert "add_custom" in short["reason"], short


def test_what_the_simulator_finds_in_a_kernel_is_told_once_for_each_case(three_dtypes: Path) -> None:
    with edited(three_dtypes / "kernels" / "add_custom.asc", WITH_TAIL, "(void)rest; const uint32_t count = kTile;"):
        done = opkit("test", three_dtypes, exit_code=4)
    assert len(re.findall(r"^failed: ", done.stdout, re.MULTILINE)) == 5
    assert done.stdout.count("error [GM-OOB]") == 5, done.stdout
    assert "GM-OOB" not in done.stderr


def test_an_op_that_does_not_stride_says_that_many_blocks_were_not_tested(three_dtypes: Path) -> None:
    with edited(three_dtypes / "ops.py", "    strides=True,", "    strides=False,"):
        done = opkit("test", three_dtypes)
    assert "skipped: AddRefreshOp" in done.stdout
    assert "doesn't stride over blocks" in done.stdout
    assert done.stdout.splitlines()[-1] == "48 passed, 2 skipped"


def test_a_package_without_any_reference_is_not_called_right(three_dtypes: Path) -> None:
    with edited(three_dtypes / "ops.py", "    reference=lambda x, y: x + y,", "    #"):
        done = opkit("test", three_dtypes, exit_code=4)
    assert "9 no reference" in done.stdout
    assert "error[OPK0403]: nothing was compared" in done.stderr


def test_a_baseline_without_a_reference_takes_that_of_the_op_it_is_measured_against(three_dtypes: Path) -> None:
    with edited(three_dtypes / "ops.py", 'refresh="none")', 'refresh="none", reference=None)'):
        report = opkit_json("test", three_dtypes)
    assert {result["status"] for result in report["results"]} == {"passed"}


def test_a_reference_that_raises_shows_its_line_and_exits_2(three_dtypes: Path) -> None:
    with edited(three_dtypes / "ops.py", "reference=lambda x, y: x + y,", "reference=lambda x, y: x.reshape(2, 7),"):
        done = opkit("test", three_dtypes, exit_code=2)
    assert "the reference of AddRefreshOp fails for x [0], y [0]" in done.stderr
    assert "ops.py:" in done.stderr


def test_a_kernel_that_does_not_compile_with_one_dtype_names_it_the_op_and_the_line(three_dtypes: Path) -> None:
    kernel = three_dtypes / "kernels" / "add_custom.asc"
    line = kernel.read_text().splitlines().index("  op.Process();") + 1
    op_line = next(number for number, text in enumerate((three_dtypes / "ops.py").read_text().splitlines(), 1) if " = Op(" in text)
    with edited(kernel, "  op.Process();", '  static_assert(sizeof(DTYPE_X) == 4, "float and int only"); op.Process();'):
        done = opkit("test", three_dtypes, exit_code=5)
    error, other = done.stderr.split("error[OPK0502]: ")[1:]
    assert error.startswith("a kernel of AddRefreshOp doesn't compile for float16\n"), error
    assert f"--> ops.py:{op_line} " in error
    assert re.search(rf"because: kernels/add_custom\.asc:{line}:(\d+:)? error: static assertion failed.*float and int only", error), error
    assert other.startswith("a kernel of AddNoRefreshOp doesn't compile for float16"), other
    # What compiles is tested all the same, and each op is told once.
    assert re.search(r"^AddNoRefreshOp +int32 .* 9 passed$", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^AddRefreshOp +float16 .* 9 of 9 FAILED$", done.stdout, re.MULTILINE), done.stdout
    assert re.findall(r"^failed: .*", done.stdout, re.MULTILINE).count("failed: AddRefreshOp, 9 cases") == 1, done.stdout
    assert done.stdout.splitlines()[-1] == "18 failed, 36 passed"
    assert "cases failed" not in done.stderr


def test_dtypes_of_other_socs_are_skipped_with_the_reason(three_dtypes: Path) -> None:
    by_soc = 'per_soc({"Ascend910B": ["float32", "int32"], "default": ["float32", "float16"]})'
    listed = '["float32", "float16", "int32"]'
    with (
        edited(three_dtypes / "ops.py", listed, by_soc),
        edited(three_dtypes / "ops.py", "from opkit import ", "from opkit import per_soc, "),
    ):
        report = opkit_json("test", three_dtypes)
    statuses = {(result["dtypes"]["x"], result["status"]) for result in report["results"]}
    assert statuses == {("float32", "passed"), ("int32", "passed"), ("float16", "skipped")}
    assert {result["reason"] for result in report["results"]} == {None, "the spec has no such dtypes on Ascend910B3"}


NULL_OPS = """\
from opkit import Input, Kernel, Op, Output, Package, numel

op = Op("AddBias", inputs=[Input("x", "float32", shape="..."), Input("bias", "float32", shape="", optional=True)],
        outputs=[Output("z", "float32", shape="...")], reference=lambda x, bias: x if bias is None else x + bias,
        kernel=Kernel("kernels/add_custom.asc", entry="add_custom", args=["x", "bias", "z", numel("x")], blocks=1))
package = Package("bias", ops=[op])
"""
NULL_KERNEL = """\
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add_custom(__gm__ float *x, __gm__ float *bias, __gm__ float *z, int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    z[i] = x[i] + bias[0];
  }
}
"""


def test_an_absent_input_that_the_kernel_reads_is_named(tmp_path: Path) -> None:
    project = tmp_path / "bias"
    (project / "kernels").mkdir(parents=True)
    (project / "ops.py").write_text(NULL_OPS)
    (project / "kernels" / "add_custom.asc").write_text(NULL_KERNEL)
    done = opkit("test", project, exit_code=4)
    failed = done.stdout[done.stdout.index("failed: AddBias") :]
    assert "(bias absent)" in failed
    assert "memory fault at 0x0: byte 0 of a null address: argument 2, 'bias', is null, as the address of an absent optional" in failed
    # One block: no case with more blocks than a launch has is missing.
    assert done.stdout.splitlines()[-1] == "1 failed, 9 passed"


TWO_OPS = """\
from opkit import Input, Kernel, Op, Output, Package, ceil_div, numel


def op(name, stem, **capabilities):
    kernel = Kernel(f"kernels/{stem}.asc", entry=stem, args=["x", "z", numel("x")], blocks=ceil_div(numel("x"), 64), strides=True)
    inputs, outputs = [Input("x", "T", shape="...")], [Output("z", "T", shape="...")]
    dtypes = {"T": ["float32", "int32"]}
    return Op(name, inputs=inputs, outputs=outputs, dtypes=dtypes, kernel=kernel, reference=lambda x: x, **capabilities)


one = op("CopyOne", "one")
two = op("CopyTwo", "two")
package = Package("two", ops=[one, two])
"""
COPY_KERNEL = """\
#include "kernel_operator.h"
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 64
#endif
extern "C" __global__ __aicore__ void copy(GM_ADDR x, GM_ADDR z, uint64_t n) {
  auto *from = reinterpret_cast<__gm__ DTYPE_X *>(x);
  auto *to = reinterpret_cast<__gm__ DTYPE_Z *>(z);
  const uint64_t step = AscendC::GetBlockNum() * uint64_t{BLOCK_SIZE};
  for (uint64_t first = AscendC::GetBlockIdx() * uint64_t{BLOCK_SIZE}; first < n; first += step) {
    for (uint64_t i = first; i < n && i < first + BLOCK_SIZE; ++i) {
      to[i] = from[i];
    }
  }
}
"""
COPIES = "      to[i] = from[i];"
COPY_LINE = 1 + COPY_KERNEL.splitlines().index(COPIES)


@pytest.fixture(scope="module")
def two_ops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("two")
    (project / "kernels").mkdir()
    (project / "ops.py").write_text(TWO_OPS)
    for stem in ("one", "two"):
        (project / "kernels" / f"{stem}.asc").write_text(COPY_KERNEL.replace(" copy(", f" {stem}("))
    return project


def with_check(stem: str, project: Path) -> AbstractContextManager[None]:
    """A kernel that only compiles with the block size that it gives itself."""
    return edited(project / "kernels" / f"{stem}.asc", COPIES, f'      static_assert(BLOCK_SIZE >= 64, "too small");{COPIES}')


def test_a_kernel_that_does_not_compile_with_a_small_block_fails_that_case_alone(two_ops: Path, tmp_path: Path) -> None:
    """Wherever the project is built, files are called as in the project, not as in the copy that opkit builds."""
    elsewhere = ["--build-dir", str(tmp_path / "build"), "--output", str(tmp_path / "output")]
    for options in ([], elsewhere):
        with with_check("one", two_ops):
            done = opkit("test", two_ops, *options, exit_code=5)
        error = done.stderr[done.stderr.index("error[OPK0502]") :]
        assert error.startswith("error[OPK0502]: a kernel of CopyOne doesn't compile for float32 and int32 with BLOCK_SIZE 32\n"), error
        assert re.search(rf"because: kernels/one\.asc:{COPY_LINE}:(\d+:)? error: static assertion failed.*too small", error), error
        assert "small-block" not in error
        assert "help: let it compile with 32 too; without #ifndef BLOCK_SIZE more than 65535 blocks aren't tested" in error
        assert len(re.findall(r"^CopyOne .* 1 of 9 FAILED$", done.stdout, re.MULTILINE)) == 2, done.stdout
        assert len(re.findall(r"^CopyTwo .* 9 passed$", done.stdout, re.MULTILINE)) == 2, done.stdout


def test_a_kernel_that_the_build_can_not_compile_with_a_small_block_fails_that_case_alone(two_ops: Path) -> None:
    with edited(two_ops / "ops.py", 'op("CopyTwo", "two")', 'op("CopyTwo", "two", compile="prebuilt")'), with_check("two", two_ops):
        done = opkit("test", two_ops, exit_code=5)
    error = done.stderr[done.stderr.index("error[OPK0502]") :]
    assert error.startswith("error[OPK0502]: a kernel of CopyTwo doesn't compile for float32 and int32 with BLOCK_SIZE 32\n"), error
    assert re.search(rf"kernels/two\.asc:{COPY_LINE}:(\d+:)? error: static assertion failed.*too small", error), error
    assert len(re.findall(r"^CopyTwo .* 1 of 9 FAILED$", done.stdout, re.MULTILINE)) == 2, done.stdout
    assert len(re.findall(r"^CopyOne .* 9 passed$", done.stdout, re.MULTILINE)) == 2, done.stdout


def test_a_crash_of_one_op_hides_neither_itself_nor_a_kernel_that_does_not_compile(two_ops: Path) -> None:
    crashing = "      *reinterpret_cast<volatile int *>(8) = 1;"
    with (
        edited(two_ops / "kernels" / "one.asc", COPIES, crashing),
        edited(two_ops / "kernels" / "two.asc", COPIES, f'      static_assert(sizeof(DTYPE_X) != sizeof(float), "oh");{COPIES}'),
    ):
        done = opkit("test", two_ops, "--json", exit_code=5)
    results = json.loads(done.stdout)["results"]
    assert len(results) == 36
    for result in results:
        is_empty = result["shapes"]["x"] == [0]
        if result["op"] == "CopyOne":
            assert result["status"] == ("passed" if is_empty else "failed"), result
            assert is_empty or "signal" in result["reason"], result
        else:
            assert result["reason"].startswith("a kernel of CopyTwo doesn't compile for float32 and int32"), result
    assert done.stderr.count("error[OPK0502]: a kernel of CopyTwo doesn't compile for float32 and int32\n") == 1, done.stderr
    assert done.stderr.count("error[OPK0502]") == 1
    assert "error[OPK0403]: 16 of 36 cases failed" in done.stderr
