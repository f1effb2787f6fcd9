"""Correlations of items that stand for several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy import stats as scipy_stats

from spanjury.stats.correlations.weighted_correlation import WeighedMethod, weighted_correlation

SCORES = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4)), min_size=3, max_size=20
)


@given(SCORES)
def test_a_weight_counts_like_the_item_so_many_times(items: list[tuple[int, int, int]]) -> None:
    first, second, weights = map(np.array, zip(*items, strict=True))
    repeated = [np.repeat(scores, weights) for scores in (first, second)]
    for method in ("pearson", "spearman"):
        ours = weighted_correlation(first, second, weights=weights, method=method)
        if np.ptp(first) and np.ptp(second):
            theirs = getattr(scipy_stats, f"{method}r")(*repeated).statistic
            assert ours == pytest.approx(theirs, abs=1e-9)
        else:
            assert np.isnan(ours)


def test_weights_of_many_draws_give_a_value_each() -> None:
    first, second = [1, 2, 3, 4], [1, 3, 2, 4]
    weights = [[1, 1, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 1]]
    coefficient = weighted_correlation(first, second, weights=weights)
    assert coefficient[:3] == pytest.approx([0.8, 1.0, -1.0])  # 1 - 6 * 2 / (4 * 15); 1, 3, 4; 3, 2
    assert np.isnan(coefficient[3])


def test_no_items_have_no_correlation() -> None:
    for method in ("pearson", "spearman"):
        assert np.isnan(weighted_correlation([], [], weights=[], method=method))


def test_weights_by_the_chance_of_items_estimate_the_correlation_of_all() -> None:
    rng = default_rng(1)
    quality = rng.normal(size=600)
    first, second = quality + rng.normal(size=600), quality + rng.normal(size=600)
    chance = np.where(np.abs(first) < 1.5, 0.1, 0.8)  # extremes are sought out
    whole = weighted_correlation(first, second, weights=np.ones(600))
    drawn = [rng.random(600) < chance for _ in range(300)]
    plain, weighed = (
        np.mean([weighted_correlation(first[d], second[d], weights=by[d]) for d in drawn])
        for by in (np.ones(600), 1 / chance)
    )
    assert abs(weighed - whole) < 0.01
    assert plain - whole > 0.05


@pytest.mark.parametrize(
    ("first", "second", "weights", "method"),
    [
        ([1, 2], [1, 2, 3], [1, 1], "spearman"),
        ([1, 2], [1, 2], [1, 1, 1], "spearman"),
        ([1, np.nan], [1, 2], [1, 1], "spearman"),
        ([1, 2], [1, 2], [1, -1], "pearson"),
    ],
)
def test_invalid_weighted_input_is_refused(
    first: list[float], second: list[float], weights: list[float], method: WeighedMethod
) -> None:
    with pytest.raises(ValueError, match="expected"):
        weighted_correlation(first, second, weights=weights, method=method)
