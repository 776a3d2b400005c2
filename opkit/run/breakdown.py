"""Where the extra time of the baseline goes, from task records: copies that GE inserted, waiting around them, and what no record explains.

Every figure is a mean per run over the timed runs of all repeats; warm-up and check runs are left out by their run index.

* ``MEMCPY_ASYNC``: the sum of the durations of a run's copies, the baseline's minus the op's.
* ``Identity scheduling``: the sum of the gaps of a run that lie next to a copy, the baseline's minus the op's. A gap is a task's start
  minus the end of the task before it on the same stream, within one run; the op that can be refreshed has no copy and so no such gap.
* ``unattributed``: the difference of the two ops' measured averages minus the two above. It may be negative, for instance when a cold cache
  makes the op's own kernel slower than the baseline's kernel, and is shown as it is.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, Literal

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from opkit.run.records import TaskRecord

__all__ = ["COPY", "SCHEDULING", "UNATTRIBUTED", "Source", "TimedRuns", "attribute"]

SourceName = Literal["MEMCPY_ASYNC", "Identity scheduling", "unattributed"]
COPY: SourceName = "MEMCPY_ASYNC"
SCHEDULING: SourceName = "Identity scheduling"
UNATTRIBUTED: SourceName = "unattributed"


@attrs.frozen(kw_only=True)
class TimedRuns:
    """Which executions of a graph were timed: pairs of a first run, counted from 1, and a number of runs, one for each repeat."""

    graph_id: int
    spans: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return sum(count for _, count in self.spans)

    def holds(self, run: int) -> bool:
        return any(first <= run < first + count for first, count in self.spans)


@attrs.frozen(kw_only=True)
class Source:
    """One source of extra time. ``count`` and ``us`` are per run; ``share`` is of the extra time, None where the baseline isn't slower."""

    source: SourceName
    count: float | None
    us: float
    share: float | None


@attrs.frozen(kw_only=True)
class _PerRun:
    copies: float
    copy_us: float
    gaps: float
    gap_us: float


def attribute(
    records: Sequence[TaskRecord], op: TimedRuns, baseline: TimedRuns, *, op_avg_us: float, baseline_avg_us: float
) -> tuple[Source, ...] | None:
    """Gives the three sources, or None if a timed run of either graph has no record (a device, or a runtime that records nothing)."""
    mine = _per_run(records, op)
    theirs = _per_run(records, baseline)
    if mine is None or theirs is None:
        return None
    extra = baseline_avg_us - op_avg_us
    copy_us = theirs.copy_us - mine.copy_us
    gap_us = theirs.gap_us - mine.gap_us

    def source(name: SourceName, count: float | None, us: float) -> Source:
        return Source(source=name, count=count, us=us, share=us / extra if extra > 0 else None)

    return (
        source(COPY, theirs.copies - mine.copies, copy_us),
        source(SCHEDULING, theirs.gaps - mine.gaps, gap_us),
        source(UNATTRIBUTED, None, extra - copy_us - gap_us),
    )


def _per_run(records: Iterable[TaskRecord], timed: TimedRuns) -> _PerRun | None:
    lanes: dict[tuple[int, str], list[TaskRecord]] = defaultdict(list)
    for record in records:
        if record.graph_id == timed.graph_id and timed.holds(record.run):
            lanes[record.run, record.stream].append(record)
    if timed.count == 0 or len({run for run, _ in lanes}) != timed.count:
        return None
    copies = gaps = 0
    copy_ns = gap_ns = 0
    for tasks in lanes.values():
        tasks.sort(key=lambda task: task.start_ns)
        durations = [task.end_ns - task.start_ns for task in tasks if task.kind == COPY]
        copies += len(durations)
        copy_ns += sum(durations)
        waits = [later.start_ns - earlier.end_ns for earlier, later in itertools.pairwise(tasks) if COPY in {earlier.kind, later.kind}]
        gaps += len(waits)
        gap_ns += sum(waits)
    runs = timed.count
    return _PerRun(copies=copies / runs, copy_us=copy_ns / runs / 1000, gaps=gaps / runs, gap_us=gap_ns / runs / 1000)
