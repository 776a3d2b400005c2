"""Statistics of a benchmark whose repeats are interleaved: what one number stands for many, and how two ops compare."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Speedup", "is_noise", "speedup_of"]


@attrs.frozen(kw_only=True)
class Speedup:
    """How many times faster the op is than its baseline.

    ``median`` is the ratio of the two medians over the repeats, as the ``[Perf] Speedup`` line prints it; ``min`` and ``max`` are the
    extremes of the ratios of the repeats, each with the baseline's repeat that ran next to it. The ratio of the medians always lies between
    them. Where `is_noise`, nobody can say from these repeats which of the two is the faster one.
    """

    median: float
    min: float
    max: float
    is_noise: bool


def speedup_of(op_us: Sequence[float], baseline_us: Sequence[float]) -> Speedup:
    """Compares two ops by their times for each repeat, in running order; both have the same number of repeats, at least one."""
    ratios = [baseline / op for op, baseline in zip(op_us, baseline_us, strict=True)]
    median = statistics.median(baseline_us) / statistics.median(op_us)
    return Speedup(median=median, min=min(ratios), max=max(ratios), is_noise=is_noise(op_us, baseline_us))


def is_noise(op_us: Sequence[float], baseline_us: Sequence[float]) -> bool:
    """Whether the repeats of the two overlap, so that their difference is within the noise of the run."""
    return min(baseline_us) <= max(op_us) and min(op_us) <= max(baseline_us)
