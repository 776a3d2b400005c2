"""Statistics of a benchmark whose repeats are interleaved: what one number stands for many, and how two ops compare."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Speedup", "speedup_of"]


@attrs.frozen(kw_only=True)
class Speedup:
    """How many times faster the op is than its baseline.

    ``median`` is the ratio of the two medians over the repeats, as the ``[Perf] Speedup`` line prints it; ``min`` and ``max`` are the
    extremes of the ratios of the repeats, each with the baseline's repeat that ran next to it. The ratio of the medians always lies between
    them.
    """

    median: float
    min: float
    max: float


def speedup_of(op_us: Sequence[float], baseline_us: Sequence[float]) -> Speedup:
    """Compares two ops by their times for each repeat, in running order; both have the same number of repeats, at least one."""
    ratios = [baseline / op for op, baseline in zip(op_us, baseline_us, strict=True)]
    return Speedup(median=statistics.median(baseline_us) / statistics.median(op_us), min=min(ratios), max=max(ratios))
