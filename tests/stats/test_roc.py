"""The ROC curve: against hand counts, scipy's rank sums, and what a threshold can catch."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from spanjury.stats.resampling import bootstrap
from spanjury.stats.roc import auroc, auroc_effect, caught_effect, caught_share

NAN = math.nan
ITEMS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=30)


def test_a_tie_counts_half() -> None:
    # Pairs of positive and other: (3, 2), (3, 1), (2, 2), (2, 1).
    assert auroc([3, 2, 2, 1], [1, 1, 0, 0]) == 3.5 / 4


def test_a_constant_score_tells_nothing_apart() -> None:
    assert auroc([1, 1, 1], [1, 0, 0]) == 0.5


def test_items_without_a_score_or_of_unknown_sort_are_skipped() -> None:
    assert auroc([3, NAN, 1, 9, 2], [1, 1, 0, NAN, 0]) == 1


@pytest.mark.parametrize("positive", [[1, 1], [0, 0], [NAN, NAN]])
def test_one_sort_of_items_alone_has_no_figure(positive: list[float]) -> None:
    assert math.isnan(auroc([1, 2], positive))
    assert math.isnan(caught_share([1, 2], positive, false_alarms=0.5))


@given(ITEMS)
def test_the_area_is_that_of_the_rank_sum_test(items: list[tuple[int, int]]) -> None:
    scores, positive = np.array(items, dtype=np.float64).T
    above, below = scores[positive == 1], scores[positive == 0]
    if above.size and below.size:
        expected = mannwhitneyu(above, below).statistic / (above.size * below.size)
        assert auroc(scores, positive) == pytest.approx(expected)


@given(ITEMS, st.floats(0, 1))
def test_the_catch_rate_is_the_best_over_all_thresholds(
    items: list[tuple[int, int]], allowed: float
) -> None:
    scores, positive = np.array(items, dtype=np.float64).T
    above, below = scores[positive == 1], scores[positive == 0]
    if not (above.size and below.size):
        return
    shares = [
        float((above >= threshold).mean())
        for threshold in [*scores, math.inf]
        if (below >= threshold).mean() <= allowed + 1e-12
    ]
    assert caught_share(scores, positive, false_alarms=allowed) == max(shares)


def test_nothing_is_caught_where_the_best_score_is_a_false_alarm() -> None:
    assert caught_share([4, 3, 2], [0, 1, 1], false_alarms=0.5) == 0
    assert caught_share([4, 3, 2], [0, 1, 1], false_alarms=1) == 1


def test_draws_count_items_as_often_as_they_were_drawn() -> None:
    scores, positive = np.array([4.0, 3, 2, 1]), np.array([1.0, 0, 1, 0])
    counts = np.array([[1.0, 1, 1, 1], [2, 1, 1, 0], [0, 1, 1, 0]])
    assert auroc_effect(scores, positive)(counts) == pytest.approx([0.75, 2 / 3, 0])
    caught = caught_effect(scores, positive, false_alarms=0.2)(counts)
    assert caught == pytest.approx([0.5, 2 / 3, 0])
    drawn = bootstrap(auroc_effect(scores, positive), items=4, rng=np.random.default_rng(1))
    assert drawn.estimate == 0.75


def test_no_items_have_no_figure() -> None:
    assert math.isnan(auroc([], []))
    assert math.isnan(caught_share([], [], false_alarms=0.1))


@pytest.mark.parametrize(
    ("scores", "positive"), [([1, 2], [1]), ([1, 2], [1, 2]), ([[1]], [[1]]), ([math.inf], [1])]
)
def test_a_wrong_array_is_refused(scores: object, positive: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        auroc(scores, positive)  # type: ignore[arg-type]  # the point is that they are wrong


def test_a_share_beyond_all_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected a share in \[0, 1\]"):
        caught_share([1], [1], false_alarms=1.5)
