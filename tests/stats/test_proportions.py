"""Proportions of clustered trials: against Wilson's interval, and where clusters hang together."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from spanjury.stats.proportions import clustered_proportion

CLUSTERS = st.lists(
    st.integers(0, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    min_size=2,
    max_size=12,
)


def test_independent_trials_in_many_clusters_have_nearly_wilsons_interval() -> None:
    hits = np.arange(2000) < 300
    rate = clustered_proportion(hits, np.ones(2000))
    wilson = binomtest(300, 2000).proportion_ci(method="wilson")
    assert (rate.value, rate.trials, rate.clusters) == (0.15, 2000, 2000)
    assert rate.low == pytest.approx(wilson.low, abs=2e-4)
    assert rate.high == pytest.approx(wilson.high, abs=2e-4)


def test_trials_that_go_the_same_way_in_a_cluster_count_as_one() -> None:
    hits = (np.arange(100) < 15).astype(float)
    alone = clustered_proportion(hits, np.ones(100))
    tenfold = clustered_proportion(10 * hits, np.full(100, 10))
    assert tenfold.trials == 1000
    assert (tenfold.low, tenfold.high) == pytest.approx((alone.low, alone.high))


def test_clusters_that_are_alike_tell_no_more_than_their_trials() -> None:
    alike = clustered_proportion(np.full(50, 2), np.full(50, 4))
    assert alike.high - 0.5 == pytest.approx(0.5 - alike.low)
    assert 0 < alike.high - alike.low < 0.15


def test_none_of_many_is_bounded_by_the_number_of_clusters() -> None:
    few = clustered_proportion(np.zeros(10), np.full(10, 100))
    many = clustered_proportion(np.zeros(100), np.full(100, 100))
    assert few.value == few.low == many.low == 0
    assert 0.2 < few.high < 0.4
    assert 0.02 < many.high < 0.05


def test_a_single_success_tells_no_more_than_none() -> None:
    none = clustered_proportion(np.zeros(100), np.full(100, 40))
    single = clustered_proportion(np.arange(100) == 7, np.full(100, 40))
    assert 0 < single.low < single.value
    assert single.high == pytest.approx(none.high, rel=0.02)


def test_without_clusters_there_is_no_interval() -> None:
    assert all(map(math.isnan, clustered_proportion([], [])[:3]))
    assert all(map(math.isnan, clustered_proportion([0], [0])[:3]))
    single = clustered_proportion([1, 0], [2, 0])
    assert (single.value, single.clusters) == (0.5, 1)
    assert math.isnan(single.low)


@given(clusters=CLUSTERS)
def test_the_share_lies_in_its_interval(clusters: list[tuple[int, int]]) -> None:
    hits, tries = zip(*clusters, strict=True)
    rate = clustered_proportion(hits, tries)
    if rate.clusters > 1:
        assert 0 <= rate.low <= rate.value + 1e-12
        assert rate.value - 1e-12 <= rate.high <= 1


@pytest.mark.parametrize(
    ("hits", "tries", "confidence"),
    [([2], [1], 0.95), ([-1], [1], 0.95), ([1], [1, 2], 0.95), ([1, 0], [1, 1], 1.0)],
)
def test_bad_counts_are_refused(hits: list[int], tries: list[int], confidence: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        clustered_proportion(hits, tries, confidence=confidence)
