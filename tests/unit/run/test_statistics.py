"""How two ops compare when their repeats were interleaved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opkit.run.statistics import speedup_of

TIMES = st.floats(1.0, 1e9)


def test_the_median_is_the_ratio_of_the_medians() -> None:
    speedup = speedup_of([100.0, 110.0, 500.0], [300.0, 220.0, 500.0])
    assert speedup.median == 300.0 / 110.0
    assert (speedup.min, speedup.max) == (1.0, 3.0)


def test_one_repeat_is_its_own_extremes() -> None:
    speedup = speedup_of([2.0], [5.0])
    assert (speedup.median, speedup.min, speedup.max) == (2.5, 2.5, 2.5)


@pytest.mark.parametrize(
    ("op", "baseline", "is_noise"),
    [
        ([100.0, 110.0], [111.0, 300.0], False),
        ([100.0, 111.0], [111.0, 300.0], True),
        ([100.0, 900.0, 100.0], [300.0, 300.0, 300.0], True),
        ([300.0, 310.0], [100.0, 200.0], False),
        ([300.0, 190.0], [100.0, 200.0], True),
    ],
    ids=["apart", "touching", "one straggler", "slower", "slower or not"],
)
def test_repeats_that_overlap_tell_no_difference(op: list[float], baseline: list[float], is_noise: bool) -> None:
    assert speedup_of(op, baseline).is_noise == is_noise


@given(st.lists(st.tuples(TIMES, TIMES), min_size=1, max_size=9))
def test_the_median_lies_between_the_extremes(pairs: list[tuple[float, float]]) -> None:
    speedup = speedup_of([op for op, _ in pairs], [baseline for _, baseline in pairs])
    slack = 1e-9 * speedup.median
    assert speedup.min - slack <= speedup.median <= speedup.max + slack


def test_ops_with_different_repeats_are_not_compared() -> None:
    with pytest.raises(ValueError, match="shorter"):
        speedup_of([1.0, 2.0], [1.0])
