"""Where the extra time of the baseline goes, from task records: copies that GE inserted, waiting around them, and what no record explains.

Every figure is a mean over the runs of the median repeat, the one whose time the ``[Perf]`` lines print (of the two in the middle for an
even number of repeats): so the sources add up to the difference that these lines show. Other runs are left out by their run index.

* ``MEMCPY_ASYNC``: the sum of the durations of a run's copies, the baseline's minus the op's.
* ``Identity scheduling``: the sum of the gaps of a run that lie next to a copy, the baseline's minus the op's. A gap is a task's start
  minus the end of the task before it on the same stream, within one run; the op that can be refreshed has no copy and so no such gap.
* ``unattributed``: the difference of the two ops' measured averages minus the two above. It may be negative, for instance when a cold cache
  makes the op's own kernel slower than the baseline's kernel, and is shown as it is.

A share is told only of a difference that is one: where the repeats of both ops overlap it is within the noise, and where ``unattributed``
is larger than the difference, the two above aren't parts of it (a tiny task waits for the host anyway, with copies or without).
"""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, Literal

import attrs

from opkit.run.statistics import is_noise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from opkit.run.records import TaskRecord

__all__ = ["COPY", "SCHEDULING", "UNATTRIBUTED", "Breakdown", "Source", "TimedRuns", "attribute"]

SourceName = Literal["MEMCPY_ASYNC", "Identity scheduling", "unattributed"]
COPY: SourceName = "MEMCPY_ASYNC"
SCHEDULING: SourceName = "Identity scheduling"
UNATTRIBUTED: SourceName = "unattributed"


@attrs.frozen(kw_only=True)
class TimedRuns:
    """Which executions of a graph were timed: pairs of a first run, counted from 1, and a number of runs, one for each repeat in order."""

    graph_id: int
    spans: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return sum(count for _, count in self.spans)

    def holds(self, run: int) -> bool:
        return any(first <= run < first + count for first, count in self.spans)


@attrs.frozen(kw_only=True)
class Source:
    """One source of extra time. ``count`` and ``us`` are per run; ``share`` is of the extra time, None where no share means anything."""

    source: SourceName
    count: float | None
    us: float
    share: float | None


@attrs.frozen(kw_only=True)
class Breakdown:
    """All sources; either each has a share, and they add up to 1, or none has, and ``why_no_share`` is a sentence that says why."""

    sources: tuple[Source, ...]
    why_no_share: str | None


@attrs.frozen(kw_only=True)
class _PerRun:
    copies: float
    copy_us: float
    gaps: float
    gap_us: float


def attribute(
    records: Sequence[TaskRecord], op: TimedRuns, baseline: TimedRuns, *, op_us: Sequence[float], baseline_us: Sequence[float]
) -> Breakdown | None:
    """Gives the three sources, or None if a run of either median repeat has no record (a device, or a runtime that records nothing).

    ``op_us`` and ``baseline_us`` are what a run took on average in each repeat, as many as each has spans.
    """
    mine = _per_run(records, _median_repeat(op, op_us))
    theirs = _per_run(records, _median_repeat(baseline, baseline_us))
    if mine is None or theirs is None:
        return None
    extra = statistics.median(baseline_us) - statistics.median(op_us)
    copy_us = theirs.copy_us - mine.copy_us
    gap_us = theirs.gap_us - mine.gap_us
    rest_us = extra - copy_us - gap_us
    why_no_share = None
    if extra <= 0:
        why_no_share = "no shares: the baseline isn't slower here, so there is no extra time to share out"
    elif is_noise(op_us, baseline_us):
        why_no_share = "no shares: the repeats of the two ops overlap, so the difference is within the noise of this run"
    elif abs(rest_us) > extra:
        why_no_share = "no shares: what no record explains is larger than the difference itself"

    def source(name: SourceName, count: float | None, us: float) -> Source:
        return Source(source=name, count=count, us=us, share=us / extra if why_no_share is None else None)

    sources = (
        source(COPY, theirs.copies - mine.copies, copy_us),
        source(SCHEDULING, theirs.gaps - mine.gaps, gap_us),
        source(UNATTRIBUTED, None, rest_us),
    )
    return Breakdown(sources=sources, why_no_share=why_no_share)


def _median_repeat(timed: TimedRuns, us: Sequence[float]) -> TimedRuns:
    by_time = [span for _, span in sorted(zip(us, timed.spans, strict=True))]
    return attrs.evolve(timed, spans=tuple(by_time[(len(by_time) - 1) // 2 : len(by_time) // 2 + 1]))


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
