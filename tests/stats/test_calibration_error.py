"""The expected calibration error: against sums by hand, and against what chance alone gives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.calibration_error import (
    calibration_error,
    calibration_error_effect,
    error_by_chance,
)
from spanjury.stats.resampling import bootstrap
from spanjury.stats.weighted import on_sample

ITEMS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 1)), min_size=1, max_size=40)


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
