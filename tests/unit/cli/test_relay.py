"""What `opkit test` and `opkit bench` make of a session program's lines: each message reaches a person once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opkit.cli import bench, test
from opkit.console import console
from opkit.errors import SessionError

if TYPE_CHECKING:
    from collections.abc import Iterator

FINDING = "kernel add, block 3, add.asc:12: error [GM-OOB] DataCopy: reads 4 bytes past 'x'"
WARNING = "opkit simulator: kernel add, block 0, add.asc:9: warning [UB-ALIGN] DataCopy: 2 bytes"
CALL = f"aclrtSynchronizeStream: error 507035: {FINDING}"
LINES = (WARNING, f"opkit simulator: {FINDING}", f"[ERROR] main.cc:9: {CALL}")


@pytest.fixture(autouse=True)
def _plain_console() -> Iterator[None]:
    console.reset()
    yield
    console.reset()


def test_of_a_tested_program_only_what_no_case_tells_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    relay = test._Relay()
    for line in (*LINES, WARNING):
        relay.error_line(line)
    assert capsys.readouterr().err == ""
    relay.release([CALL])
    assert capsys.readouterr().err.splitlines() == [WARNING]


def test_verbose_shows_the_lines_of_a_tested_program_as_they_come_and_not_again(capsys: pytest.CaptureFixture[str]) -> None:
    console.is_verbose = True
    relay = test._Relay()
    for line in LINES:
        relay.error_line(line)
    assert capsys.readouterr().err.splitlines() == list(LINES)
    relay.release([])
    assert capsys.readouterr().err == ""


def test_an_error_that_ends_a_measured_program_is_not_told_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SessionError):
        _measure_what_stops()
    shown = capsys.readouterr()
    assert shown.out.splitlines() == ["Precision check passed"]
    assert shown.err.splitlines() == [WARNING]


def _measure_what_stops() -> None:
    with bench._relay(steps=1) as relay:
        relay.line("Precision check passed")
        for line in LINES:
            relay.error_line(line)
        msg = "it stopped"
        raise SessionError(msg, because=f"[ERROR] main.cc:9: {CALL}")


def test_the_ratio_of_a_measured_program_is_left_to_the_report_that_knows_what_it_is_worth(capsys: pytest.CaptureFixture[str]) -> None:
    with bench._relay(steps=1) as relay:
        relay.line("[Perf] Without ArgsUpdater: 20.000 us (avg 20.000 us/iter)")
        relay.line("[Perf] Speedup: 1.052 x")
    assert capsys.readouterr().out.splitlines() == ["[Perf] Without ArgsUpdater: 20.000 us (avg 20.000 us/iter)"]


def test_what_a_measured_program_that_ends_well_says_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with bench._relay(steps=1) as relay:
        relay.error_line(WARNING)
    assert capsys.readouterr().err.splitlines() == [WARNING]
