"""Totals from samples, against a worked example and against the truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.estimation import estimated_total

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def test_the_interval_is_students_narrowed_by_the_share_that_was_drawn() -> None:
    # Mean 5, variance 14/3; the 97.5 % point of Student's t with 3 degrees is 3.182446.
    estimate = estimated_total([3, 5, 4, 8], population=20)
    assert estimate.total == 100
    reach = 20 * 3.182446 * math.sqrt(14 / 3 / 4) * math.sqrt(1 - 4 / 20)
    assert estimate.high - estimate.total == pytest.approx(reach, rel=1e-5)
    assert estimate.total - estimate.low == pytest.approx(reach, rel=1e-5)


def test_a_whole_population_leaves_nothing_to_guess() -> None:
    assert estimated_total([1, 2], population=2) == (3, 3, 3)


def test_one_value_tells_no_spread() -> None:
    estimate = estimated_total([2.0], population=5)
    assert estimate.total == 10
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    population = rng.normal(10, 3, size=400)
    held = 0
    for _ in range(2000):
        low, high = estimated_total(rng.choice(population, 20, replace=False), population=400)[1:]
        held += low <= population.sum() <= high
    assert 0.935 < held / 2000 < 0.965


@given(VALUES, st.integers(0, 100))
def test_the_total_lies_within_its_interval(values: list[float], more: int) -> None:
    estimate = estimated_total(values, population=len(values) + more)
    assert estimate.low <= estimate.total <= estimate.high


@pytest.mark.parametrize(
    ("sample", "population", "confidence"),
    [([], 3, 0.9), ([1, 2], 1, 0.9), ([math.nan], 3, 0.9), ([[1]], 3, 0.9), ([1], 3, 1.0)],
)
def test_a_bad_sample_is_refused(sample: list[float], population: int, confidence: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        estimated_total(sample, population=population, confidence=confidence)
