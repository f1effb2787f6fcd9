"""Monotone fits of probabilities, and the expected calibration error."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.calibration_error import (
    calibration_error,
    calibration_error_effect,
    error_by_chance,
)
from spanjury.stats.monotone import centred_fit, decreasing_fit, decreasing_steps, increasing_fit
from spanjury.stats.resampling import bootstrap
from spanjury.stats.weighted import on_sample

NUMBERS = st.floats(-100, 100)
POINTS = st.lists(st.tuples(st.integers(0, 6), NUMBERS), min_size=1, max_size=30)
ITEMS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1)), min_size=1, max_size=40)


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


def test_the_error_is_the_mean_gap_of_the_bins() -> None:
    # Bins of two: means .15, .5, .9; shares 0, 1/2, 1; gaps .15, 0, .1.
    stated = [0.1, 0.2, 0.5, 0.5, 0.8, 1.0]
    assert calibration_error(stated, [0, 0, 1, 0, 1, 1], bins=3) == pytest.approx(0.25 / 3)


def test_bins_hold_as_many_items_whatever_their_probabilities() -> None:
    # Nine of ten probabilities lie below .1: bins of equal width would make one of them.
    stated = [0.01 * rank for rank in range(9)] + [1.0]
    right = [0] * 5 + [1] * 4 + [1]
    # Five bins: means .005, .025, .045, .065, .54; shares 0, 0, .5, 1, 1.
    gaps = [0.005, 0.025, 0.455, 0.935, 0.46]
    assert calibration_error(stated, right, bins=5) == pytest.approx(sum(gaps) / 5)


def test_one_probability_for_all_is_compared_with_the_share_of_all() -> None:
    assert calibration_error([0.3] * 5, [1, 0, 0, 0, 0]) == pytest.approx(0.1)


def test_the_balanced_error_does_not_depend_on_how_many_items_have_the_property() -> None:
    stated = [0.2, 0.6, 0.6, 0.9]
    once = calibration_error(stated, [0, 0, 1, 1], balanced=True)
    often = calibration_error([*stated, 0.6, 0.9], [0, 0, 1, 1, 1, 1], balanced=True)
    assert often == pytest.approx(once)
    plain = calibration_error(stated, [0, 0, 1, 1])
    assert plain == pytest.approx(once)
    assert calibration_error([*stated, 0.6, 0.9], [0, 0, 1, 1, 1, 1]) != pytest.approx(plain)


def test_without_items_of_both_sorts_there_is_no_balanced_error() -> None:
    assert math.isnan(calibration_error([0.2, 0.4], [0, 0], balanced=True))
    assert calibration_error([0.2, 0.4], [0, 0]) == pytest.approx(0.3)
    assert math.isnan(calibration_error([], []))
    assert math.isnan(calibration_error([math.nan], [1]))


@pytest.mark.parametrize(("stated", "bins"), [([1.2], 10), ([-0.1], 10), ([0.5], 0)])
def test_an_invalid_probability_raises(stated: list[float], bins: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        calibration_error(stated, [1], bins=bins)


@given(ITEMS, st.randoms())
def test_the_order_of_items_does_not_matter(items: list[tuple[int, int]], random: object) -> None:
    shuffled = sorted(items, key=lambda _: random.random())  # type: ignore[attr-defined]  # Hypothesis's
    first, second = (
        calibration_error([level / 10 for level, _ in pairs], [sort for _, sort in pairs])
        for pairs in (items, shuffled)
    )
    assert first == pytest.approx(second)
    assert 0 <= first <= 1


def test_without_ties_the_error_is_that_of_equal_parts_of_the_sorted_items() -> None:
    rng = np.random.default_rng(7)
    stated = rng.permutation(np.linspace(0.01, 0.99, 100))
    right = rng.random(100) < stated
    parts = np.array_split(np.argsort(stated), 10)
    gaps = [abs(stated[part].mean() - right[part].mean()) for part in parts]
    assert calibration_error(stated, right) == pytest.approx(np.mean(gaps))


def test_ties_share_a_bin_where_equal_parts_would_depend_on_the_order() -> None:
    stated = [0.1, 0.5, 0.5, 0.9]
    # Cut in two, {.1, .5} and {.5, .9}: gaps .2 and .2 or .3 and .3, by which .5 comes first.
    # Both .5 are in the upper bin, with its middle: gaps .1 and |1.9 / 3 - 2 / 3|.
    for right in ([0, 1, 0, 1], [0, 0, 1, 1]):
        expected = (0.1 + abs(1.9 - 2)) / 4
        assert calibration_error(stated, right, bins=2) == pytest.approx(expected)


def test_chance_gives_the_error_of_a_sample_whose_probabilities_are_right() -> None:
    rng = np.random.default_rng(5)
    stated = rng.uniform(size=300)
    drawn = [calibration_error(stated, rng.random(300) < stated) for _ in range(400)]
    expected = on_sample(error_by_chance(stated, np.zeros(300)), items=300)
    assert np.mean(drawn) == pytest.approx(float(expected), rel=0.03)


def test_draws_count_items_as_often_as_they_are_drawn() -> None:
    stated, right = [0.1, 0.5, 0.9], [0, 1, 1]
    effect = calibration_error_effect(stated, right, bins=2)
    twice = effect(np.array([[2.0, 0.0, 1.0]]))
    assert float(twice[0]) == pytest.approx(calibration_error([0.1, 0.1, 0.9], [0, 0, 1], bins=2))
    assert bootstrap(effect, items=3, rng=np.random.default_rng(1), draws=50).draws.shape == (50,)
