"""Intervals of proportions and bounded means, and evidence that a mean has risen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from spanjury.stats import RisingMean, bounded_mean
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


def test_the_bounds_of_none_and_all_are_exact() -> None:
    for clusters in range(2, 40):
        trials = np.full(clusters, 11)
        assert clustered_proportion(np.zeros(clusters), trials).low == 0
        assert clustered_proportion(trials, trials).high == 1


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
