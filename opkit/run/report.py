"""The result of a benchmark as text for people and as JSON for machines.

JSON (schema 1): ``device`` {kind, name, threads}, ``shape``, ``dtype``, ``iters``, ``warmup``, ``repeats``, ``cases`` [{op, refresh,
total_us, avg_us, samples_us, precision}], ``speedup`` {median, min, max, is_noise} or null for a single op, ``analysis`` [{source, count,
us, share}] or null where no record exists. Times are microseconds; ``total_us`` and ``avg_us`` are medians over the repeats, ``samples_us``
the total of each repeat. The ``us`` of the sources add up to the difference of the two ``avg_us``; each ``share`` is null where that
difference is within the noise, which ``is_noise`` tells of the speedup. A wrong result isn't timed: then ``samples_us`` is empty and the
medians are null.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opkit.run.breakdown import Breakdown
    from opkit.run.machine import Machine
    from opkit.run.session import Check, SessionCase
    from opkit.run.statistics import Speedup

__all__ = ["BenchReport", "check_json", "check_lines"]


@attrs.frozen(kw_only=True)
class BenchReport:
    machine: Machine
    iters: int
    warmup: int
    repeats: int
    cases: tuple[SessionCase, ...]
    speedup: Speedup | None
    analysis: Breakdown | str
    """Why there is none where it is a text."""

    @property
    def passed(self) -> bool:
        return all(case.passed for case in self.cases)

    def to_json(self) -> dict[str, Any]:
        first = self.cases[0]
        port = next(iter(first.shapes), None)
        return {
            "schema": 1,
            "device": self.machine.to_json(),
            "shape": [] if port is None else list(first.shapes[port]),
            "dtype": None if port is None else first.dtypes[port],
            "iters": self.iters,
            "warmup": self.warmup,
            "repeats": self.repeats,
            "cases": [self._case_json(case) for case in self.cases],
            "speedup": None if self.speedup is None else attrs.asdict(self.speedup),
            "analysis": None if isinstance(self.analysis, str) else [attrs.asdict(source) for source in self.analysis.sources],
        }

    def _case_json(self, case: SessionCase) -> dict[str, Any]:
        total = statistics.median(case.samples_us) if case.samples_us else None
        return {
            "op": case.op,
            "refresh": case.refresh,
            "total_us": total,
            "avg_us": None if total is None else total / self.iters,
            "samples_us": list(case.samples_us),
            "precision": [check_json(check) for check in case.precision],
        }

    def speedup_line(self) -> str | None:
        """As the session program prints it; where it is noise the line says so, and can't be quoted without."""
        if self.speedup is None:
            return None
        line = f"[Perf] Speedup: {self.speedup.median:.3f} x"
        if not self.speedup.is_noise:
            return line
        ratios = f"with ratios from {self.speedup.min:.3f} to {self.speedup.max:.3f}"
        return f"{line} is noise: the repeats of the two ops overlap, {ratios}; larger shapes or more --iters may tell them apart"

    def times(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Gives the head and the rows of the table of times."""
        head = ("op", "refresh", "avg us", "min", "max", "precision")
        rows: list[tuple[str, ...]] = []
        for case in self.cases:
            averages = [sample / self.iters for sample in case.samples_us]
            verdict = "passed" if case.passed else "FAILED"
            cells = (statistics.median(averages), min(averages), max(averages)) if averages else ()
            rows.append((case.op, case.refresh, *([f"{cell:.1f}" for cell in cells] or [""] * 3), verdict))
        return head, rows

    def sources(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Gives the head and the rows of the analysis table, without a column of shares where none are told; without records it has no
        rows.
        """
        sources = () if isinstance(self.analysis, str) else self.analysis.sources
        has_shares = all(source.share is not None for source in sources)
        rows: list[tuple[str, ...]] = [
            (
                source.source,
                "" if source.count is None else f"{source.count:g}",
                f"{source.us:.1f}",
                *(f"{share:.1%}" for share in [source.share] if share is not None),
            )
            for source in sources
        ]
        return ("source", "count per run", "us per run", *(["share"] if has_shares else [])), rows


def check_json(check: Check) -> dict[str, Any]:
    return {
        "set": check.set,
        "port": check.port,
        "passed": check.passed,
        "max_error": check.max_error if math.isfinite(check.max_error) else None,
        "mismatches": check.mismatches,
        "first": [attrs.asdict(item) for item in check.first],
    }


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Gives one line for each failed check, and below it its first mismatches."""
    lines = []
    for check in checks:
        if check.passed:
            continue
        lines.append(f"output {check.port}, memory set {check.set}: {check.mismatches} elements differ, largest error {check.max_error:g}")
        lines += [f"  [{item.index}] expected {item.expected}, got {item.got}" for item in check.first]
    return lines
