"""`opkit bench` on the shipped sample: the figures, the checks and the analysis of a real run, and what each kind of failure looks like."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command_support import copy_of_sample, edited, opkit, opkit_json

from opkit.build import Project, held
from opkit.run import BenchRequest, Host, measure, plan_of
from opkit.spec import load_package
from opkit.toolkit import discover, process_environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("sample"), pytest.mark.usefixtures("toolkit_home")]

SMALL = ("--shape", "x=256,256", "--iters", "20", "--repeat", "2")
PERF = [
    r"\[Perf\] input shape: \[256, 256\], float32, 256KB",
    r"\[Perf\] iters: 20",
    r"\[Perf\] With    ArgsUpdater: [\d.]+ us \(avg [\d.]+ us/iter\)",
    r"\[Perf\] Without ArgsUpdater: [\d.]+ us \(avg [\d.]+ us/iter\)",
    r"\[Perf\] Speedup: [\d.]+ x( is noise: .*)?",
]


def test_the_figures_the_checks_and_the_analysis_are_printed(sample: Path, tmp_path: Path) -> None:
    done = opkit("bench", sample, *SMALL, cwd=tmp_path)
    lines = done.stdout.splitlines()
    found = [next((number for number, line in enumerate(lines) if re.fullmatch(pattern, line)), None) for pattern in PERF]
    assert None not in found, done.stdout
    assert found == sorted(number for number in found if number is not None)
    for op in ("AddRefreshOp", "AddNoRefreshOp"):
        for memory_set in (0, 1):
            assert any(line.startswith(f"Precision check passed: {op} set {memory_set}") for line in lines), done.stdout
    threads = len(os.sched_getaffinity(0))
    assert any(line.startswith(f"on: host simulator, {os.uname().machine}, {threads} thread") for line in lines)
    assert "a device differs, the vendor's sample shows about 1.17x" in done.stdout
    table = lines[lines.index("Where the extra time goes, mean per run:") :]
    # On a busy machine the baseline of so small a run can be the quicker one; then there is no extra time to share, and a sentence says so.
    has_shares = table[1].endswith("share")
    assert has_shares or table[5].startswith("no shares: "), table
    share = r" +-?[\d.]+%" if has_shares else ""
    assert re.fullmatch(r"MEMCPY_ASYNC +3 +[\d.]+" + share, table[2]), table
    assert re.fullmatch(r"Identity scheduling +3 +[\d.]+" + share, table[3]), table
    assert re.fullmatch(r"unattributed +-?[\d.]+" + share, table[4]), table
    # Nothing of a run stays: not where the user stands, not in the build folder.
    assert list(tmp_path.iterdir()) == []
    assert list((sample / "build").glob("opkit-scratch*")) == []


def test_the_json_is_all_of_stdout_and_its_sources_add_up(sample: Path) -> None:
    report = opkit_json("bench", sample, *SMALL)
    assert report["device"]["kind"] == "simulator"
    assert (report["shape"], report["dtype"], report["iters"], report["repeats"]) == ([256, 256], "float32", 20, 2)
    refreshed, copied = report["cases"]
    assert (refreshed["op"], refreshed["refresh"], copied["op"], copied["refresh"]) == ("AddRefreshOp", "updater", "AddNoRefreshOp", "none")
    for case in report["cases"]:
        assert len(case["samples_us"]) == 2
        assert case["avg_us"] == pytest.approx(case["total_us"] / 20)
        assert {check["set"] for check in case["precision"]} == {0, 1}
        assert all(check["passed"] for check in case["precision"])
    assert report["speedup"]["min"] <= report["speedup"]["median"] <= report["speedup"]["max"]
    extra = copied["avg_us"] - refreshed["avg_us"]
    assert sum(source["us"] for source in report["analysis"]) == pytest.approx(extra)
    assert [source["count"] for source in report["analysis"]] == [3, 3, None]


def test_an_absent_device_is_a_fault_of_the_machine(sample: Path) -> None:
    done = opkit("bench", sample, *SMALL, "--device", "99", exit_code=3)
    assert "error[OPK0305]: no such device" in done.stderr
    assert "there is no device 99" in done.stderr


def test_tensors_that_no_memory_holds_are_one_error_with_their_size(sample: Path) -> None:
    done = opkit("bench", sample, "--shape", "x=4294967296,4294967296", exit_code=3)
    assert "the tensors of AddRefreshOp don't fit into this computer's memory" in done.stderr
    assert "221,360,928,884,514,619,392 bytes" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_that_refuses_the_cases_is_one_error_and_leaves_nothing(sample: Path) -> None:
    opkit("build", sample)
    # A limit of the size of a file stands for a full disk: writing a case fails half-way.
    script = f'ulimit -f 200; exec "{sys.executable}" -m opkit bench "$1" --shape x=512,512'
    done = subprocess.run(["bash", "-c", script, "bash", str(sample)], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "error[OPK0304]: cannot write" in done.stderr
    assert "opkit-scratch" in done.stderr
    assert not (sample / "build" / "opkit-scratch").exists()


def test_warm_up_runs_come_before_the_timed_ones(sample: Path) -> None:
    package = load_package(sample / "ops.py")
    environ = process_environment()
    host = Host(toolkit=discover(environ), environ=environ)
    first_timed = {}
    with held(Project.find(sample), host.toolkit, environ) as built:
        for warmup in (0, 7):
            request = BenchRequest(iters=3, warmup=warmup, repeat=1, shapes={"x": (8,)})
            report = measure(package, built, host, plan_of(package, request), _Silent())
            assert report.warmup == warmup
            first_timed[warmup] = [case.timed.spans[0][0] for case in report.cases]
    assert [late - early for early, late in zip(first_timed[0], first_timed[7], strict=True)] == [7, 7]


class _Silent:
    def line(self, text: str) -> None:
        pass

    def error_line(self, text: str) -> None:
        pass


def test_a_terminal_gets_a_table_of_times(sample: Path) -> None:
    main, side = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "opkit", "bench", sample, *SMALL],
        stderr=side,
        stdout=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        text=True,
        check=True,
    )
    os.close(side)
    os.close(main)
    assert "│" in done.stdout
    assert "avg us" in done.stdout
    assert "[Perf] Speedup" in done.stdout
    # The bar shows the repeats; its lines don't tear the rest.
    assert "[Perf] repeat" not in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_end_from_outside_ends_the_session_program_and_leaves_nothing(sample: Path, number: int) -> None:
    argv = [sys.executable, "-m", "opkit", "bench", str(sample), "--shape", "x=256,256", "--iters", "1000000"]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    while "Precision check" not in child.stdout.readline():
        assert child.poll() is None
    work = list((sample / "build").glob("opkit-scratch*"))
    assert len(work) == 1
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == 128 + number
    assert not work[0].exists()
    # The session program had its files open below that folder: nothing of it runs any more.
    running = subprocess.run(["pgrep", "-f", str(work[0])], capture_output=True, text=True, check=False)
    assert running.stdout == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--shape", "x"], "x=4096,4096"),
        (["--shape", "x=4,a"], "x=scalar for a tensor of rank 0"),
        (["--shape", "w=4"], "no input w"),
        (["--shape", "x=4", "--shape", "y=5"], "can't take [5] as input 'y'"),
        (["--shape", "x=0"], "an empty tensor launches no kernel, so there is nothing to compare"),
        (["--dtype", "T="], "T=float16"),
        (["--dtype", "float16"], "help: --dtype T=float32"),
        (["--dtype", "T=int8"], "doesn't take T=int8"),
        (["--iters", "0"], "--iters"),
    ],
)
def test_options_that_can_not_be_exit_2_before_anything_is_built(tmp_path: Path, options: list[str], words: str) -> None:
    project = copy_of_sample(tmp_path)
    done = opkit("bench", project, *options, exit_code=2)
    assert words in done.stderr
    assert not (project / "build").exists()


def test_a_wrong_result_exits_4_and_shows_the_first_elements(sample: Path) -> None:
    with edited(sample / "kernels" / "add_custom.asc", "AscendC::Add(", "AscendC::Sub("):
        done = opkit("bench", sample, *SMALL, exit_code=4)
        document = opkit_json("bench", sample, *SMALL, exit_code=4)
    assert "Precision check FAILED: AddRefreshOp set 0" in done.stdout
    assert "error[OPK0403]: a result is wrong" in done.stderr
    assert re.search(r"\[0\] expected \S+, got \S+", done.stderr)
    # The time of a wrong result says nothing.
    assert "[Perf]" not in done.stdout
    assert document["speedup"] is None
    for case in document["cases"]:
        assert case["avg_us"] is None
        assert not any(check["passed"] for check in case["precision"])


def test_a_nan_where_a_number_is_expected_is_a_wrong_result(sample: Path) -> None:
    nan = "AscendC::Sub(x, x, x, static_cast<int32_t>(count)); AscendC::Div(x, x, x, static_cast<int32_t>(count)); AscendC::Add("
    with edited(sample / "kernels" / "add_custom.asc", "AscendC::Add(", nan):
        done = opkit("bench", sample, *SMALL, exit_code=4)
    assert re.search(r"\[0\] expected \S+, got -?nan", done.stdout)


def test_a_kernel_that_reads_past_its_tensor_exits_4_and_shows_what_the_simulator_saw(sample: Path) -> None:
    tail = "rest < kTile ? static_cast<uint32_t>(rest) : kTile"
    with edited(sample / "kernels" / "add_custom.asc", tail, "rest < 0 ? 0U : kTile"):
        done = opkit("bench", sample, "--shape", "x=1000", "--iters", "3", exit_code=4)
    error = done.stderr[done.stderr.index("error[OPK0404]") :]
    assert done.stderr.count("error [GM-OOB]") == 1, done.stderr
    assert "GM-OOB" in error
    assert re.search(r"add_custom\.asc:\d+", error), error


def test_a_kernel_with_a_mistake_shows_its_own_line_and_exits_5(sample: Path) -> None:
    kernel = sample / "kernels" / "add_custom.asc"
    line = kernel.read_text().splitlines().index("  op.Process();") + 1
    with edited(kernel, "  op.Process();", "  op.Process()"):
        done = opkit("bench", sample, *SMALL, exit_code=5)
    error = done.stderr[done.stderr.index("error[OPK0502]") :]
    assert error.startswith("error[OPK0502]: a kernel of AddRefreshOp doesn't compile for float32\n"), error
    assert re.search(rf"because: kernels/add_custom\.asc:{line}:(\d+:)? error: expected .;.", error), error
    assert "op.Process()" in error


@pytest.mark.parametrize("has_reference", [True, False])
def test_a_kernel_of_the_baseline_s_with_a_mistake_names_the_baseline(sample: Path, *, has_reference: bool) -> None:
    other = sample / "kernels" / "other.asc"
    text = (sample / "kernels" / "add_custom.asc").read_text()
    line = text.splitlines().index("  op.Process();") + 1
    other.write_text(text.replace("  op.Process();", "  op.Process()").replace("add_custom(", "add_other("))
    kernel = 'kernel=Kernel("kernels/other.asc", entry="add_other", args=["x", "y", "z", numel("x")], blocks=1, strides=True)'
    spec = sample / "ops.py"
    reference = "    reference=lambda x, y: x + y,"
    with (
        edited(spec, '"AddNoRefreshOp", refresh="none")', f'"AddNoRefreshOp", refresh="none", {kernel})'),
        edited(spec, reference, reference if has_reference else "    #"),
    ):
        done = opkit("bench", sample, *SMALL, exit_code=5)
    error = done.stderr[done.stderr.index("error[OPK0502]") :]
    assert error.startswith("error[OPK0502]: a kernel of AddNoRefreshOp doesn't compile for float32\n"), error
    assert re.search(rf"because: kernels/other\.asc:{line}:(\d+:)? error: expected .;.", error), error


def test_the_first_dtypes_that_the_soc_has_are_measured(sample: Path) -> None:
    """By the session program alone too, which knows nothing of opkit."""
    spec = sample / "ops.py"
    with (
        edited(spec, '["float32"]', 'per_soc({"Ascend310P": ["float16"], "default": ["float32"]})'),
        edited(spec, "from opkit import ", "from opkit import per_soc, "),
    ):
        assert "[Perf] input shape: [256, 256], float32, 256KB" in opkit("bench", sample, *SMALL).stdout
        program: list[str | Path] = [
            sample / "build" / "args_refresh_add_custom_session_run",
            "--shape",
            "x=256,256",
            "--shape",
            "y=256,256",
            "--iters",
            "1",
        ]
        assert "[Perf] input shape: [256, 256], float32, 256KB" in opkit("run", "--project", sample, "--", *program).stdout
        told = opkit("run", "--project", sample, "--", *program, "--dtype", "T=float16", exit_code=2).stderr
        assert "AddRefreshOp has no combination with the dtypes of --dtype on the SoC 'Ascend910B3'" in told
        told = opkit("bench", sample, *SMALL, "--dtype", "T=float16", exit_code=2).stderr
        assert "AddRefreshOp doesn't take T=float16" in told


def test_ops_without_a_reference_are_compared_with_each_other(sample: Path) -> None:
    with edited(sample / "ops.py", "    reference=lambda x, y: x + y,", "    #"):
        done = opkit("bench", sample, *SMALL)
    assert "compared with each other, not with a reference" in done.stdout
    assert "[Perf] Speedup" in done.stdout


def test_a_spec_without_a_benchmark_says_how_to_add_one(sample: Path) -> None:
    with edited(sample / "ops.py", "    benchmark=Benchmark(", "    #"):
        done = opkit("bench", sample, exit_code=2)
    assert "has no benchmark" in done.stderr
