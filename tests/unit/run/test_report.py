"""The bench report: JSON with the promised keys, and tables that read the same figures."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import attrs

from opkit.run import BenchReport, Check, Machine, SessionCase, check_lines, render_table
from opkit.run.breakdown import Breakdown, Source, TimedRuns
from opkit.run.session import Mismatch
from opkit.run.statistics import Speedup

if TYPE_CHECKING:
    import pytest

SIMULATOR = Machine(kind="simulator", name="host simulator, x86_64", threads=2)
PASSED = Check(set=0, port="z", passed=True, max_error=0.0, mismatches=0, first=())
FAILED = Check(set=1, port="z", passed=False, max_error=float("nan"), mismatches=7, first=(Mismatch(index=3, expected="1", got="nan"),))


def case(op: str, *samples: float, checks: tuple[Check, ...] = (PASSED,)) -> SessionCase:
    return SessionCase(
        folder="",
        op=op,
        refresh="updater",
        shapes={"x": (4, 8), "y": (4, 8)},
        dtypes={"x": "float32", "y": "float32"},
        samples_us=samples,
        timed=TimedRuns(graph_id=0, spans=()),
        precision=checks,
    )


REPORT = BenchReport(
    machine=SIMULATOR,
    iters=10,
    warmup=5,
    repeats=3,
    cases=(case("AddRefreshOp", 1000.0, 1200.0, 1100.0), case("AddNoRefreshOp", 3000.0, 3300.0, 3600.0)),
    speedup=Speedup(median=3.0, min=2.75, max=3.3, is_noise=False),
    analysis=Breakdown(
        sources=(
            Source(source="MEMCPY_ASYNC", count=3.0, us=200.0, share=0.9),
            Source(source="Identity scheduling", count=3.0, us=30.04, share=0.15),
            Source(source="unattributed", count=None, us=-10.0, share=-0.05),
        ),
        why_no_share=None,
    ),
)


def test_the_json_has_the_promised_keys() -> None:
    document = json.loads(json.dumps(REPORT.to_json(), allow_nan=False))
    assert document["device"] == {"kind": "simulator", "name": "host simulator, x86_64", "threads": 2}
    assert (document["shape"], document["dtype"]) == ([4, 8], "float32")
    assert (document["iters"], document["warmup"], document["repeats"]) == (10, 5, 3)
    first = document["cases"][0]
    assert (first["op"], first["refresh"], first["total_us"], first["avg_us"]) == ("AddRefreshOp", "updater", 1100.0, 110.0)
    assert first["samples_us"] == [1000.0, 1200.0, 1100.0]
    assert first["precision"] == [{"set": 0, "port": "z", "passed": True, "max_error": 0.0, "mismatches": 0, "first": []}]
    assert document["speedup"] == {"median": 3.0, "min": 2.75, "max": 3.3, "is_noise": False}
    assert document["analysis"][0] == {"source": "MEMCPY_ASYNC", "count": 3.0, "us": 200.0, "share": 0.9}


def test_a_nan_error_is_null_in_json() -> None:
    report = attrs.evolve(REPORT, cases=(case("A", 1.0, checks=(FAILED,)),), speedup=None, analysis="nothing was timed")
    document = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert document["cases"][0]["precision"][0]["max_error"] is None
    assert document["speedup"] is None
    assert document["analysis"] is None


def test_a_wrong_result_has_no_times() -> None:
    report = attrs.evolve(REPORT, cases=(case("A", checks=(FAILED,)), case("B")), speedup=None, analysis="nothing was timed")
    first = report.to_json()["cases"][0]
    assert (first["total_us"], first["avg_us"], first["samples_us"]) == (None, None, [])
    assert report.times()[1][0] == ("A", "updater", "", "", "", "FAILED")


def test_one_failed_set_fails_the_report() -> None:
    assert REPORT.passed
    assert not attrs.evolve(REPORT, cases=(case("A", 1.0), case("B", 1.0, checks=(PASSED, FAILED)))).passed


def test_the_times_are_medians_with_their_spread() -> None:
    head, rows = REPORT.times()
    assert head == ("op", "refresh", "avg us", "min", "max", "precision")
    assert rows[0] == ("AddRefreshOp", "updater", "110.0", "100.0", "120.0", "passed")


def test_the_analysis_shows_a_negative_rest_as_it_is() -> None:
    head, rows = REPORT.sources()
    assert head == ("source", "count per run", "us per run", "share")
    assert rows == [
        ("MEMCPY_ASYNC", "3", "200.0", "90.0%"),
        ("Identity scheduling", "3", "30.0", "15.0%"),
        ("unattributed", "", "-10.0", "-5.0%"),
    ]


def test_an_analysis_without_shares_has_no_column_of_them() -> None:
    assert isinstance(REPORT.analysis, Breakdown)
    unshared = tuple(attrs.evolve(source, share=None) for source in REPORT.analysis.sources)
    report = attrs.evolve(REPORT, analysis=Breakdown(sources=unshared, why_no_share="no shares: noise"))
    head, rows = report.sources()
    assert head == ("source", "count per run", "us per run")
    assert rows[0] == ("MEMCPY_ASYNC", "3", "200.0")
    assert report.to_json()["analysis"][2] == {"source": "unattributed", "count": None, "us": -10.0, "share": None}


def test_a_speedup_that_is_noise_is_never_shown_without_that_word() -> None:
    assert REPORT.speedup_line() == "[Perf] Speedup: 3.000 x"
    noisy = attrs.evolve(REPORT, speedup=Speedup(median=1.0521, min=0.9, max=1.2, is_noise=True))
    assert noisy.speedup_line() == (
        "[Perf] Speedup: 1.052 x is noise: the repeats of the two ops overlap, with ratios from 0.900 to 1.200; "
        "larger shapes or more --iters may tell them apart"
    )
    assert attrs.evolve(REPORT, speedup=None).speedup_line() is None


def test_the_label_says_whose_times_they_are() -> None:
    assert SIMULATOR.label == (
        "on: host simulator, x86_64, 2 threads: times and ratio are this computer's; "
        "a device differs, the vendor's sample shows about 1.17x"
    )
    assert attrs.evolve(SIMULATOR, threads=1).label.startswith("on: host simulator, x86_64, 1 thread:")
    assert Machine(kind="device", name="Ascend device 0", threads=None).label == "on: Ascend device 0"


def test_first_mismatches_are_shown_below_their_check() -> None:
    assert check_lines([PASSED, FAILED]) == ["output z, memory set 1: 7 elements differ, largest error nan", "  [3] expected 1, got nan"]


def test_a_log_gets_aligned_lines_without_marks() -> None:
    text = render_table(("op", "us"), [("Add", "1.5"), ("LongName", "12.5")], title="Times")
    assert text.splitlines() == ["Times", "op          us", "Add        1.5", "LongName  12.5"]


def test_a_terminal_gets_a_drawn_table(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    text = render_table(("op", "us"), [("[bold]Add", "1.5")], title="Times")
    assert "[bold]Add" in text
    assert "│" in text
    assert "\x1b" not in text
