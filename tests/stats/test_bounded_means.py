"""Intervals of bounded means, and evidence that a mean has risen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats import RisingMean, bounded_mean


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_the_interval_holds_the_mean_and_stays_in_bounds(values: list[float]) -> None:
    estimate = bounded_mean(values)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


@pytest.mark.parametrize("share", [0.03, 0.5])
def test_the_interval_holds_the_true_mean_as_often_as_it_promises(share: float) -> None:
    rng = np.random.default_rng(0)
    samples = rng.random((200, 150)) < share
    held = [low <= share <= high for _, low, high in map(bounded_mean, samples.astype(float))]
    assert np.mean(held) >= 0.95


def test_more_values_narrow_the_interval() -> None:
    few, many = (bounded_mean([0.0, 1.0] * count) for count in (20, 500))
    assert many.low > few.low
    assert many.high < few.high


def test_values_that_never_occur_are_bounded_without_any_variance() -> None:
    # The exact bound for no success in n trials is 1 - 0.01 ** (1 / n) = 0.0092.
    assert 0.0092 < bounded_mean([0.0] * 500, confidence=0.98).high < 0.011


def test_evidence_reaches_a_number_no_sooner_than_after_so_many_values_on_average() -> None:
    rng = np.random.default_rng(1)
    lengths = []
    for _ in range(60):
        rising, count = RisingMean(0.1), 0
        while rising.evidence < 100:
            rising.add(float(rng.random() < 0.1))
            count += 1
        lengths.append(count)
    assert np.mean(lengths) >= 100


def test_a_real_rise_is_found_soon_after_it_begins() -> None:
    rng = np.random.default_rng(2)
    rising = RisingMean(0.05)
    for value in (rng.random(1_000) < 0.03).astype(float):
        rising.add(value)
    assert rising.evidence < 100_000
    count = 0
    while rising.evidence < 100_000:
        rising.add(float(rng.random() < 0.2))
        count += 1
    assert count < 200
    since, mean = rising.since
    assert count / 2 < since < 2 * count
    assert mean > 0.1


@pytest.mark.parametrize("values", [[], [0.5, 1.1], [[0.5]], [float("nan")]])
def test_other_values_than_bounded_ones_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="values in"):
        bounded_mean(values)


def test_other_levels_bounds_and_values_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        bounded_mean([0.5], confidence=1.0)
    with pytest.raises(ValueError, match="bound"):
        RisingMean(0.0)
    with pytest.raises(ValueError, match="value in"):
        RisingMean(0.5).add(2.0)
    assert RisingMean(0.5).since == (0, 0.0)
