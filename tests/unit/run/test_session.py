"""The session program as a child: its command line, its report as values, and what each way of ending means. The programs here are small
scripts.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import pytest

from opkit.errors import CompileError, DeviceError, OpkitError, SessionError, UsageError
from opkit.run.session import SessionRequest, is_told, read_report, run_session

if TYPE_CHECKING:
    from pathlib import Path

REPORT: dict[str, Any] = {
    "schema": 1,
    "device": {"id": 0},
    "iters": 10,
    "warmup": 5,
    "repeats": 2,
    "cases": [
        {
            "case": "/c/0",
            "op": "AddRefreshOp",
            "refresh": "updater",
            "inputs": [{"port": "x", "shape": [4, 8], "dtype": "float32"}, {"port": "y", "shape": [], "dtype": "float32"}],
            "samples_us": [100.5, 99],
            "graph_id": 3,
            "timed_runs": [[7, 10], [17, 10]],
            "precision": [
                {"set": 0, "port": "z", "passed": True, "max_error": 0.0, "mismatches": 0, "first": []},
                {
                    "set": 1,
                    "port": "z",
                    "passed": False,
                    "max_error": None,
                    "mismatches": 2,
                    "first": [{"index": 5, "expected": "1.5", "got": "nan"}],
                },
            ],
        }
    ],
}


def program(folder: Path, body: str) -> Path:
    script = folder / "demo_session_run"
    script.write_text("#!/bin/sh\n" + body)
    script.chmod(0o755)
    return script


class Heard:
    def __init__(self) -> None:
        self.out: list[str] = []
        self.err: list[str] = []

    def line(self, text: str) -> None:
        self.out.append(text)

    def error_line(self, text: str) -> None:
        self.err.append(text)


def ran(folder: Path, body: str) -> tuple[list[str], list[str]]:
    request = SessionRequest(program=program(folder, body), report=folder / "report.json")
    heard = Heard()
    run_session(request, os.environ, heard)
    return heard.out, heard.err


def test_only_chosen_options_are_passed(tmp_path: Path) -> None:
    plain = SessionRequest(program=tmp_path / "p", report=tmp_path / "r")
    assert plain.argv()[1:] == ["--json", str(tmp_path / "r")]
    full = SessionRequest(
        program=tmp_path / "p",
        report=tmp_path / "r",
        cases=(tmp_path / "a", tmp_path / "b"),
        iters=7,
        warmup=0,
        repeat=3,
        device=1,
        is_check_only=True,
    )
    words = " ".join(full.argv()[3:])
    assert words == f"--case {tmp_path}/a --case {tmp_path}/b --iters 7 --warmup 0 --repeat 3 --device 1 --check-only"


def test_without_cases_shapes_and_dtypes_are_passed(tmp_path: Path) -> None:
    own = SessionRequest(program=tmp_path / "p", report=tmp_path / "r", shapes={"x": (4, 8), "y": ()}, dtypes={"T": "float16"})
    assert own.argv()[3:] == ["--shape", "x=4,8", "--shape", "y=scalar", "--dtype", "T=float16"]


def test_a_report_becomes_values(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(json.dumps(REPORT))
    report = read_report(file)
    assert (report.iters, report.warmup, report.repeats) == (10, 5, 2)
    (case,) = report.cases
    assert case.shapes == {"x": (4, 8), "y": ()}
    assert case.samples_us == (100.5, 99.0)
    assert case.timed.count == 20
    assert [run for run in range(30) if case.timed.holds(run)] == list(range(7, 27))
    assert not case.passed
    assert math.isnan(case.precision[1].max_error)
    assert case.precision[1].first[0].got == "nan"


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", pytest.param("[" * 100_000, id="nested"), '{"iters": 1, "warmup": 1, "repeats": 1, "cases": [{}]}']
)
def test_a_file_that_is_no_report_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_text(text)
    with pytest.raises(SessionError) as caught:
        read_report(file)
    assert str(file) in caught.value.render()


def test_lines_are_relayed_as_they_come_and_a_wrong_result_is_still_a_report(tmp_path: Path) -> None:
    (tmp_path / "made.json").write_text(json.dumps(REPORT))
    out, err = ran(tmp_path, f"echo one; echo two >&2; cp '{tmp_path}/made.json' \"$2\"; exit 4")
    assert (out, err) == (["one"], ["two"])


def test_a_report_of_an_earlier_run_is_never_taken_for_this_one(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(REPORT))
    with pytest.raises(SessionError):
        ran(tmp_path, "exit 4")


@pytest.mark.parametrize(
    ("body", "kind", "code", "words"),
    [
        ("echo 'aclrtSynchronizeStream failed: 507015' >&2; exit 4", SessionError, 4, "507015"),
        ("echo '--iters must be 1 or more' >&2; exit 2", UsageError, 2, "--iters must be 1 or more"),
        ("echo '[ERROR] main.cc:1: there is no device 7, only 1 from 0 on' >&2; exit 2", DeviceError, 3, "only 1 from 0 on"),
        ("kill -SEGV $$", SessionError, 4, "signal 11"),
        ("exit 1", SessionError, 4, "it printed nothing and exited with 1"),
    ],
)
def test_each_ending_without_a_report_is_its_own_error(tmp_path: Path, body: str, kind: type[OpkitError], code: int, words: str) -> None:
    with pytest.raises(kind) as caught:
        ran(tmp_path, body)
    assert caught.value.exit_code == code
    assert words in caught.value.render()


FINDING = "kernel add (node add_0), block 3, add.asc:12: error [GM-OOB] DataCopy: reads 4 bytes past 'x'"


def test_what_a_failed_call_repeats_is_told_once(tmp_path: Path) -> None:
    body = (
        f"""echo "opkit simulator: {FINDING}" >&2; echo "[ERROR] main.cc:9: aclrtSynchronizeStream: error 507035: {FINDING}" >&2; exit 4"""
    )
    with pytest.raises(SessionError) as caught:
        ran(tmp_path, body)
    assert caught.value.because == f"[ERROR] main.cc:9: aclrtSynchronizeStream: error 507035: {FINDING}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"opkit simulator: {FINDING}", True),
        (f"[ERROR] /p/main.cc:9: /p/build/0001-add: aclrtSynchronizeStream: error 507035: {FINDING}", True),
        ("opkit simulator: kernel add, block 0, add.asc:12: warning [UB-ALIGN] DataCopy: 2 bytes", False),
        ("[ERROR] GE: GEFinalize failed", False),
        ("", True),
    ],
)
def test_a_line_that_a_case_s_error_holds_is_told(line: str, told: bool) -> None:
    assert is_told(line, ["other", f"aclrtSynchronizeStream: error 507035: {FINDING}"]) == told


def test_the_first_kernel_that_does_not_compile_ends_the_program_and_shows_the_compilers_lines_once(tmp_path: Path) -> None:
    diagnosis = "add_custom.asc:12: error: expected ';'\\n   12 |   op.Process()"
    body = f"printf '[ERROR] add_custom.asc does not compile:\\n{diagnosis}\\n{diagnosis}\\n[ERROR] next\\n' >&2; sleep 60".replace(
        "';'", "a semicolon"
    )
    with pytest.raises(CompileError) as caught:
        ran(tmp_path, body)
    assert caught.value.exit_code == 5
    assert caught.value.because == "add_custom.asc:12: error: expected a semicolon\n   12 |   op.Process()"


def test_a_kernel_that_does_not_compile_is_told_even_if_nothing_follows(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="a kernel doesn't compile"):
        ran(tmp_path, "echo 'k.asc does not compile' >&2; echo 'k.asc:1: error: x' >&2; exit 4")


def test_a_case_that_a_failed_call_ended_has_not_passed(tmp_path: Path) -> None:
    ended = {**REPORT["cases"][0], "precision": [], "samples_us": [], "timed_runs": [], "error": "aclrtSynchronizeStream: 507035"}
    file = tmp_path / "report.json"
    file.write_text(json.dumps({**REPORT, "cases": [ended]}))
    (case,) = read_report(file).cases
    assert not case.passed
    assert case.error == "aclrtSynchronizeStream: 507035"
