"""The analysis of the extra time: each source by its definition, from records whose sums are known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from opkit.run.benchmark import _analysis
from opkit.run.breakdown import Breakdown, Source, TimedRuns, attribute
from opkit.run.records import RecordError, TaskRecord, read_records
from opkit.run.session import SessionCase, SessionReport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REFRESHED, COPIED = 0, 1


def run_of(graph: int, run: int, *tasks: tuple[str, int, int], stream: str = "s") -> Iterator[TaskRecord]:
    for kind, start_us, end_us in tasks:
        yield TaskRecord(
            kind=kind, name="n", graph_id=graph, run=run, stream=stream, start_ns=start_us * 1000, end_ns=end_us * 1000, bytes=64
        )


def sample(runs: int = 4) -> list[TaskRecord]:
    """Each run of the refreshed graph: one kernel of 100 us. Each run of the other: copies of 30, 30, 40 us around it, gaps of 2, 3 and 5
    us.
    """
    records: list[TaskRecord] = []
    for run in range(runs):
        records += run_of(REFRESHED, run, ("ARGS_H2D", 1000 * run, 1000 * run + 1), ("KERNEL", 1000 * run + 10, 1000 * run + 110))
        at = 1000 * run
        copied = (("MEMCPY_ASYNC", 0, 30), ("MEMCPY_ASYNC", 32, 62), ("KERNEL", 65, 165), ("MEMCPY_ASYNC", 170, 210))
        records += run_of(COPIED, run, *((kind, at + start, at + end) for kind, start, end in copied))
    return records


def spans(graph: int, *pairs: tuple[int, int]) -> TimedRuns:
    return TimedRuns(graph_id=graph, spans=pairs)


def broken_down(records: list[TaskRecord], op: TimedRuns, baseline: TimedRuns, op_us: list[float], baseline_us: list[float]) -> Breakdown:
    breakdown = attribute(records, op, baseline, op_us=op_us, baseline_us=baseline_us)
    assert breakdown is not None
    return breakdown


def analysed(records: list[TaskRecord], op: TimedRuns, baseline: TimedRuns, op_avg: float, baseline_avg: float) -> dict[str, Source]:
    """With every repeat as fast as the others."""
    breakdown = broken_down(records, op, baseline, [op_avg] * len(op.spans), [baseline_avg] * len(baseline.spans))
    return {source.source: source for source in breakdown.sources}


def test_copies_gaps_and_the_rest_add_up_to_the_extra_time() -> None:
    sources = analysed(sample(), spans(REFRESHED, (1, 3)), spans(COPIED, (1, 3)), 110.0, 230.0)
    assert (sources["MEMCPY_ASYNC"].count, sources["MEMCPY_ASYNC"].us) == (3, 100)
    assert (sources["Identity scheduling"].count, sources["Identity scheduling"].us) == (3, 10)
    assert (sources["unattributed"].count, sources["unattributed"].us) == (None, 10)
    assert [source.share for source in sources.values()] == pytest.approx([100 / 120, 10 / 120, 10 / 120])


def test_the_gap_between_two_kernels_of_one_op_is_not_scheduling_of_an_identity() -> None:
    records = [*run_of(REFRESHED, 0, ("KERNEL", 0, 10), ("KERNEL", 50, 60))]
    records += run_of(COPIED, 0, ("MEMCPY_ASYNC", 0, 10), ("KERNEL", 11, 21), ("KERNEL", 61, 71))
    sources = analysed(records, spans(REFRESHED, (0, 1)), spans(COPIED, (0, 1)), 60.0, 71.0)
    assert (sources["Identity scheduling"].count, sources["Identity scheduling"].us) == (1, 1)


def test_what_no_record_explains_may_be_negative_and_is_shown_so() -> None:
    sources = analysed(sample(), spans(REFRESHED, (0, 4)), spans(COPIED, (0, 4)), 150.0, 240.0)
    assert sources["unattributed"].us == pytest.approx(-20)
    assert sources["unattributed"].share == pytest.approx(-20 / 90)


def test_the_sources_are_of_the_repeat_that_the_perf_lines_print() -> None:
    records = [record for record in sample(3) if record.graph_id == REFRESHED]
    # Three repeats of one run: copies of 10, 500 and 40 us; the slowest is no repeat that the median shows.
    for run, copied in enumerate((10, 500, 40)):
        records += run_of(COPIED, run, ("MEMCPY_ASYNC", 0, copied), ("KERNEL", copied + 1, copied + 101))
    three = ((0, 1), (1, 1), (2, 1))
    breakdown = broken_down(records, spans(REFRESHED, *three), spans(COPIED, *three), [110.0, 112.0, 111.0], [122.0, 640.0, 153.0])
    assert [source.us for source in breakdown.sources] == [40, 1, 1]
    assert sum(source.share or 0 for source in breakdown.sources) == pytest.approx(1)


def test_of_an_even_number_of_repeats_the_two_in_the_middle_are_meant() -> None:
    records = list(run_of(REFRESHED, 0, ("KERNEL", 0, 10)))
    for run, copied in enumerate((10, 500, 40, 20)):
        records += run_of(COPIED, run, ("MEMCPY_ASYNC", 0, copied))
    four = spans(COPIED, (0, 1), (1, 1), (2, 1), (3, 1))
    breakdown = broken_down(records, spans(REFRESHED, (0, 1)), four, [10.0], [20.0, 510.0, 50.0, 30.0])
    assert [source.us for source in breakdown.sources] == [30, 0, 0]


@pytest.mark.parametrize(
    ("op_us", "baseline_us", "words"),
    [
        ([300.0, 300.0], [240.0, 240.0], "the baseline isn't slower"),
        ([100.0, 190.0], [180.0, 240.0], "within the noise"),
        # The copies and the gaps take 110 us.
        ([110.0, 110.0], [150.0, 150.0], "larger than the difference itself"),
    ],
)
def test_a_difference_that_is_none_has_no_shares_and_a_sentence_why(op_us: list[float], baseline_us: list[float], words: str) -> None:
    two = ((0, 2), (2, 2))
    breakdown = broken_down(sample(), spans(REFRESHED, *two), spans(COPIED, *two), op_us, baseline_us)
    assert {source.share for source in breakdown.sources} == {None}
    assert words in (breakdown.why_no_share or "")
    # The times are as they are.
    assert breakdown.sources[0].us == 100


def test_warm_up_runs_are_left_out_by_their_index() -> None:
    records = sample()
    # A warm-up run with a copy a thousand times as long must not be seen.
    records += run_of(COPIED, 9, ("MEMCPY_ASYNC", 0, 30_000))
    sources = analysed(records, spans(REFRESHED, (1, 1), (3, 1)), spans(COPIED, (0, 1), (3, 1)), 110.0, 230.0)
    assert sources["MEMCPY_ASYNC"].us == 100


def test_tasks_of_two_streams_are_not_neighbours() -> None:
    records = [*run_of(REFRESHED, 0, ("KERNEL", 0, 10)), *run_of(COPIED, 0, ("KERNEL", 0, 10))]
    records += run_of(COPIED, 0, ("MEMCPY_ASYNC", 5, 9), stream="other")
    sources = analysed(records, spans(REFRESHED, (0, 1)), spans(COPIED, (0, 1)), 10.0, 20.0)
    assert sources["Identity scheduling"].count == 0


@pytest.mark.parametrize("op", [spans(REFRESHED, (0, 5)), spans(7, (0, 1)), spans(REFRESHED)])
def test_a_timed_run_without_records_means_no_analysis(op: TimedRuns) -> None:
    assert attribute(sample(), op, spans(COPIED, (0, 4)), op_us=[1.0] * len(op.spans), baseline_us=[2.0]) is None


def test_records_are_read_as_the_runtime_writes_them(tmp_path: Path) -> None:
    fields = {
        "kind": "MEMCPY_ASYNC",
        "name": "identity_0_add_MemLayoutConflict_0",
        "op": "Identity",
        "graph_id": 1,
        "run": 12,
        "stream": 3,
        "enqueue_ns": 90,
        "start_ns": 100,
        "end_ns": 2600,
        "bytes": 64,
        "blocks": 0,
    }
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps(fields) + "\n\n")
    (record,) = read_records(file)
    assert (record.kind, record.graph_id, record.run, record.stream) == ("MEMCPY_ASYNC", 1, 12, "3")
    assert (record.start_ns, record.end_ns) == (100, 2600)


def test_a_device_writes_no_records(tmp_path: Path) -> None:
    assert read_records(tmp_path / "absent.jsonl") == ()


@pytest.mark.parametrize(
    "line", ["{", "[]", "{}", pytest.param("[" * 100_000, id="nested"), '{"kind": "KERNEL"}', '{"kind": 1, "name": 2, "graph_id": null}']
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("\n" + line + "\n")
    with pytest.raises(RecordError, match=r"records\.jsonl:2: not a task record"):
        read_records(file)


def test_records_that_a_full_disk_cut_off_mean_no_analysis_and_a_sentence_why(tmp_path: Path) -> None:
    case = SessionCase(
        folder="", op="A", refresh="none", shapes={}, dtypes={}, samples_us=(1.0,), timed=spans(COPIED, (0, 1)), precision=()
    )
    session = SessionReport(iters=1, warmup=0, repeats=1, cases=(case, case))
    records = tmp_path / "tasks.jsonl"
    assert "nothing was launched, or it is no host simulator" in str(_analysis(records, session, case, case))
    records.write_text('{"kind": "KERNEL", "na')
    reason = _analysis(records, session, case, case)
    assert isinstance(reason, str)
    assert "can't be read" in reason
    assert "tasks.jsonl:1" in reason
