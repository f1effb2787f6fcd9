import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.monotone import centred_fit, decreasing_fit, decreasing_steps, increasing_fit

NUMBERS = st.floats(-100, 100)
POINTS = st.lists(st.tuples(st.integers(0, 6), NUMBERS), min_size=1, max_size=30)


def test_violators_are_pooled_by_their_weight() -> None:
    # by hand: 3 at 1, twice, and 6 at 2 are in the wrong order, so (2 * 3 + 6) / 3 at both
    fit = decreasing_fit([1, 1, 2, 3], [4, 2, 6, 1])
    assert fit.values.tolist() == pytest.approx([4, 4, 1])
    assert fit.knots.tolist() == [1, 2, 3]


@given(POINTS)
def test_a_fit_never_rises_and_keeps_the_mean(points: list[tuple[int, float]]) -> None:
    x, y = zip(*points, strict=True)
    fit = decreasing_fit(x, y)
    assert all(before >= after for before, after in pairwise(fit.values))
    fitted = [fit.values[fit.knots.tolist().index(knot)] for knot in x]
    assert math.fsum(fitted) == pytest.approx(math.fsum(y), abs=1e-6)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=10, unique=True))
def test_a_falling_curve_is_left_unchanged(values: list[int]) -> None:
    falls = sorted(values, reverse=True)
    assert decreasing_fit(range(len(falls)), falls).values.tolist() == falls


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), NUMBERS), min_size=1, max_size=20))
def test_no_step_is_negative_and_the_mean_is_kept(rows: list[tuple[int, int, float]]) -> None:
    x = np.array([row[:2] for row in rows])
    y = np.array([row[2] for row in rows])
    fit = decreasing_steps(x, y)
    assert (fit.steps >= 0).all()
    assert np.mean(fit.best - x @ fit.steps) == pytest.approx(y.mean(), abs=1e-6)


def test_a_column_that_would_raise_gets_no_step() -> None:
    fit = decreasing_steps([[0, 0], [1, 0], [0, 1], [1, 1]], [3, 2, 4, 3])
    assert fit.steps == pytest.approx([1, 0])
    assert fit.best == pytest.approx(3.5)


@pytest.mark.parametrize(
    ("x", "y", "problem"),
    [
        ([], [], "dimensions"),
        ([1], [1, 2], "as many"),
        ([1], [math.nan], "finite y"),
        ([math.inf], [1], "finite x"),
        ([[1]], [1], "dimensions"),
    ],
)
def test_bad_numbers_are_refused(x: list[float], y: list[float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        decreasing_fit(x, y)


def test_a_rising_fit_pools_by_the_weights_it_is_given() -> None:
    # by hand: 6 with weight 1 stands before 3 with weight 2, so (6 + 2 * 3) / 3 at both
    fit = increasing_fit([1, 2, 3], [6, 3, 9], weights=[1, 2, 1])
    assert fit.values.tolist() == pytest.approx([4, 4, 9])
    assert fit.knots.tolist() == [1, 2, 3]


def test_a_centred_fit_stands_at_the_weighted_centre_of_each_flat_stretch() -> None:
    # by hand: the stretch of 4 has its centre at (1 * 1 + 2 * 2) / 3
    fit = centred_fit([1, 2, 3], [6, 3, 9], weights=[1, 2, 1])
    assert fit.knots.tolist() == pytest.approx([5 / 3, 3])
    assert fit.values.tolist() == pytest.approx([4, 9])


@given(POINTS)
def test_a_centred_fit_rises_strictly(points: list[tuple[int, float]]) -> None:
    fit = centred_fit(*zip(*points, strict=True))
    assert all(before < after for before, after in pairwise(fit.knots))
    assert all(before < after for before, after in pairwise(fit.values))


@pytest.mark.parametrize("weights", [[1, 0], [1, -1], [1, math.nan]])
def test_a_weight_is_a_number_above_0(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        increasing_fit([1, 2], [1, 2], weights=weights)
