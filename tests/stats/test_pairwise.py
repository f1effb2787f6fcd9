"""DARR and pairwise accuracies: by their definitions, pair by pair."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.pairwise import darr, pairwise_accuracy, tie_calibrated_accuracy
from spanjury.stats.correlations.system_pairs import soft_pairwise_accuracy, system_accuracy

CELL = st.integers(0, 4).map(float) | st.just(math.nan)


@st.composite
def score_tables(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    systems, inputs = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    count = systems * inputs
    cells = st.lists(CELL, min_size=count, max_size=count)
    human, metric = (np.array(draw(cells)).reshape(systems, inputs) for _ in range(2))
    return human, metric


def accuracy(human: FloatArray, metric: FloatArray, epsilon: float) -> float:
    """Return the mean over inputs of the share of pairs that are ordered or tied alike."""
    shares = []
    for people, scores in zip(human.T, metric.T, strict=True):
        present = np.flatnonzero(~np.isnan(people + scores))
        alike = []
        for i, j in combinations(present, 2):
            gap = scores[i] - scores[j]
            order = 0 if abs(gap) <= epsilon else np.sign(gap)
            alike.append(np.sign(people[i] - people[j]) == order)
        if alike:
            shares.append(np.mean(alike))
    return float(np.mean(shares)) if shares else math.nan


# The table of WMT18 (Ma, Bojar and Graham, 2018): what a metric says of a pair of which people
# say that the second is better counts as concordant only if it says the same.
@pytest.mark.parametrize(("metric", "value"), [([0.1, 0.9], 1), ([0.5, 0.5], -1), ([0.9, 0.1], -1)])
def test_a_pair_counts_in_darr_as_in_the_table_of_wmt(metric: list[float], value: int) -> None:
    scores = np.array(metric)[:, np.newaxis]
    assert darr([[40], [70]], scores).value == value
    assert darr([[70], [40]], scores[::-1]).value == value


def test_darr_counts_pairs_of_one_input_that_people_rated_well_apart() -> None:
    human = [[90, 10], [65, 20], [66, 60]]  # 25, 24 and 1 apart; 10, 50 and 40
    metric = [[0.8, 0.1], [0.2, 0.4], [0.9, 0.3]]
    result = darr(human, metric)
    assert result.value == pytest.approx(1 / 3)
    assert result[1:] == (2, 1, None)
    assert darr(human, metric, threshold=24).value == pytest.approx(0)


@given(score_tables(), st.integers(1, 4))
def test_darr_is_turned_round_by_turning_people_round_but_for_ties(
    both: tuple[FloatArray, FloatArray], threshold: int
) -> None:
    human, metric = both
    untied = metric + np.arange(len(metric))[:, np.newaxis] / 10
    there, back = (darr(sign * human, untied, threshold=threshold) for sign in (1, -1))
    assert there.value == pytest.approx(-back.value, nan_ok=True)
    assert math.isnan(there.value) == (there.reason == "no pairs")


def test_a_difference_that_misses_the_threshold_by_rounding_reaches_it() -> None:
    assert darr([[0.7], [0.6]], [[2], [1]], threshold=0.1).concordant == 1
    assert 0.7 - 0.6 < 0.1


@pytest.mark.parametrize("threshold", [0, -1, math.inf, math.nan])
def test_an_invalid_threshold_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="expected a threshold above 0"):
        darr([[1], [2]], [[1], [2]], threshold=threshold)


def test_differences_that_miss_epsilon_by_rounding_alone_are_ties() -> None:
    human = [[1], [1], [1]]  # all tied
    third = [[0.1 + 0.2], [0.3], [0.3]]
    assert pairwise_accuracy(human, third).value == 1
    assert tie_calibrated_accuracy(human, third) == (1.0, 0.0, 3, None)
    steps = [[0.1], [0.2], [0.3]]  # 0.3 - 0.2 < 0.1 == 0.2 - 0.1
    assert pairwise_accuracy(human, steps, epsilon=0.1).value == pytest.approx(2 / 3)
    assert pairwise_accuracy(human, steps, epsilon=0.3 - 0.2).value == pytest.approx(2 / 3)
    result = tie_calibrated_accuracy([[1], [1], [2]], steps)
    assert result.value == pytest.approx(2 / 3)
    assert result.epsilon == 0
    assert pairwise_accuracy(human, steps, epsilon=0.0999).value == 0
    for scale in (1e-6, 1.0, 1e6):
        scaled = [[scale * cell for cell in row] for row in steps]
        assert pairwise_accuracy(human, scaled, epsilon=scale * 0.1).value == pytest.approx(2 / 3)


def test_means_of_the_same_ratings_in_another_order_are_one_rating() -> None:
    first, second = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    assert first != second
    assert pairwise_accuracy([[first], [second]], [[2], [2]]).value == 1


@given(score_tables(), st.sampled_from([0.0, 1.0, 2.5]))
def test_accuracy_is_the_share_of_pairs_ordered_or_tied_alike(
    both: tuple[FloatArray, FloatArray], epsilon: float
) -> None:
    result = pairwise_accuracy(*both, epsilon=epsilon)
    assert result.value == pytest.approx(accuracy(*both, epsilon), nan_ok=True)
    assert math.isnan(result.value) == (result.reason == "no pairs") == (result.pairs == 0)


@given(score_tables())
def test_the_calibrated_threshold_is_the_best(both: tuple[FloatArray, FloatArray]) -> None:
    result = tie_calibrated_accuracy(*both)
    shares = [accuracy(*both, epsilon) for epsilon in range(5)]
    assert result.value == pytest.approx(max(shares), nan_ok=True)
    if result.reason is None:
        assert result.epsilon == int(np.argmax(np.array(shares) >= max(shares) - 1e-9))
        assert pairwise_accuracy(*both, epsilon=result.epsilon).value == pytest.approx(result.value)


def test_calibration_gives_a_fine_metric_the_ties_of_people() -> None:
    human = [[1], [1], [3], [3]]
    metric = [[0.10], [0.15], [0.90], [0.97]]
    assert pairwise_accuracy(human, metric).value == pytest.approx(4 / 6)
    result = tie_calibrated_accuracy(human, metric)
    assert result.epsilon == pytest.approx(0.07)
    assert result.value == 1


@pytest.mark.parametrize("epsilon", [-0.1, math.inf, math.nan])
def test_an_epsilon_below_0_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="expected an epsilon of 0 or more"):
        pairwise_accuracy([[1], [2]], [[1], [2]], epsilon=epsilon)


def test_system_accuracy_is_over_pairs_of_means() -> None:
    human = [[1.0, 2.0], [2.0, 3.0], [4.0, 4.0], [5.0, math.nan]]  # 1.5, 2.5, 4, 5
    metric = [[1, 1], [0, 0], [2, 4], [2, 9]]  # 1, 0, 3, 2
    result = system_accuracy(human, metric)
    assert result.value == pytest.approx(4 / 6)
    assert result.pairs == 6


def test_a_metric_as_sure_as_people_has_a_soft_accuracy_of_1() -> None:
    human = default_rng(1).normal(size=(5, 30))
    result = soft_pairwise_accuracy(human, 2 * human + 1, rng=default_rng(2))
    assert result.value == pytest.approx(1)
    assert result[1:] == (10, None)


def test_a_metric_as_sure_of_the_contrary_has_a_soft_accuracy_of_0() -> None:
    human = default_rng(1).normal(size=(4, 60)) / 10 + np.arange(4)[:, np.newaxis]
    result = soft_pairwise_accuracy(human, -human, rng=default_rng(2), draws=999)
    assert result.value == pytest.approx(1e-3)  # p are .0005 and .9995


def test_soft_accuracy_of_one_pair_is_by_the_exact_test() -> None:
    # Of the 8 signs of the differences 1, 1, 1 one gives a sum as large; of 2, 2, -1 two do
    # (2 + 2 - 1 and 2 + 2 + 1): by half what is equal, p is 1/16 and 3/16.
    human, metric = [[1, 1, 1], [0, 0, 0]], [[2, 2, 0], [0, 0, 1]]
    result = soft_pairwise_accuracy(human, metric, rng=default_rng(1), draws=40_000)
    assert result.value == pytest.approx(1 - 2 / 16, abs=0.01)


def test_soft_accuracy_knows_no_order_of_systems() -> None:
    human, metric = default_rng(3).integers(0, 3, size=(2, 6, 9)).astype(float)
    there, back = (
        soft_pairwise_accuracy(human[order], metric[order], rng=default_rng(4)).value
        for order in (slice(None), slice(None, None, -1))
    )
    assert there == pytest.approx(back)


def test_soft_accuracy_is_of_pairs_with_scores_of_one_input() -> None:
    nan = math.nan
    human = [[1, 2, nan], [2, 2, nan], [nan, nan, 3]]
    result = soft_pairwise_accuracy(human, human, rng=default_rng(1), draws=9)
    assert result.value == pytest.approx(1)
    assert result[1:] == (1, None)


def test_one_system_makes_no_pairs() -> None:
    assert system_accuracy([[1, 2]], [[1, 2]]).reason == "no pairs"
    result = soft_pairwise_accuracy([[1, 2]], [[1, 2]], rng=default_rng(1))
    assert math.isnan(result.value)
    assert result.reason == "no pairs"


def test_no_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 1 draw"):
        soft_pairwise_accuracy([[1], [2]], [[1], [2]], rng=default_rng(1), draws=0)
