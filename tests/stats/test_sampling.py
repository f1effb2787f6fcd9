"""Stratified samples and the estimates that are made of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp

from spanjury.stats.arrays import FloatArray
from spanjury.stats.estimation import estimated_total
from spanjury.stats.prediction_powered import powered_mean
from spanjury.stats.sampling_design import stratified, weighted_mean

DRAWS = 600
STRATA = np.repeat(["high", "low", "middle"], [20, 100, 280])
VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


def _drawn_of(strata: list[str], **settings: object) -> dict[str, int]:
    sample = stratified(strata, rng=np.random.default_rng(1), **settings)  # type: ignore[arg-type]  # as named below
    kinds, counts = np.unique(np.asarray(strata)[sample.chosen], return_counts=True)
    return dict(zip(kinds.tolist(), counts.tolist(), strict=True))


def test_a_sample_is_in_proportion_to_the_strata() -> None:
    strata = ["a"] * 60 + ["b"] * 30 + ["c"] * 10
    assert _drawn_of(strata, size=20) == {"a": 12, "b": 6, "c": 2}
    # by hand: 9, 4.5 and 1.5; the tie goes to the first
    assert _drawn_of(strata, size=15) == {"a": 9, "b": 5, "c": 1}


def test_a_small_stratum_gets_its_least_and_the_others_the_rest() -> None:
    strata = ["a"] * 60 + ["b"] * 30 + ["c"] * 2
    # by hand: c would have .5 of 23 and gets 2; a and b share 21 as 14 and 7
    assert _drawn_of(strata, size=23, least=3) == {"a": 14, "b": 7, "c": 2}


def test_neyman_draws_more_where_items_differ_more() -> None:
    strata = ["a"] * 80 + ["b"] * 20
    weights = [1.0] * 80 + [4.0] * 20
    assert _drawn_of(strata, size=20, weights=weights) == {"a": 10, "b": 10}
    # by hand: of 60, b would get 30 and has 20
    assert _drawn_of(strata, size=60, weights=weights) == {"a": 40, "b": 20}


def test_strata_without_weight_get_their_least_until_the_others_are_used_up() -> None:
    strata = ["a"] * 10 + ["b"] * 10
    weights = [1.0] * 10 + [0.0] * 10
    assert _drawn_of(strata, size=8, weights=weights) == {"a": 7, "b": 1}
    assert _drawn_of(strata, size=15, weights=weights) == {"a": 10, "b": 5}
    assert _drawn_of(strata, size=8, weights=[0.0] * 20) == {"a": 4, "b": 4}


def test_each_item_is_drawn_as_often_as_its_chance_says() -> None:
    rng = np.random.default_rng(2)
    strata = [2, 1, 1, 1, 2, 3, 3, 3, 3, 3]
    weights = [1, 2, 2, 2, 1, 1, 1, 1, 1, 1]
    samples = [stratified(strata, size=5, rng=rng, weights=weights) for _ in range(DRAWS)]
    counts = np.bincount(np.concatenate([sample.chosen for sample in samples]), minlength=10)
    inclusion = samples[0].inclusion
    assert inclusion.sum() == pytest.approx(5)
    assert inclusion[:3] == pytest.approx([0.5, 2 / 3, 2 / 3])
    for count, chance in zip(counts, inclusion, strict=True):
        assert binomtest(int(count), DRAWS, chance).pvalue > 0.0005


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
    st.integers(1, 3),
    st.floats(0, 1),
    st.integers(0, 1000),
)
def test_every_stratum_has_a_chance(strata: list[int], least: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = np.unique(strata, return_counts=True)[1]
    lowest = int(np.minimum(counts, least).sum())
    size = lowest + round(share * (len(strata) - lowest))
    weights = rng.exponential(size=len(strata)) ** 8
    sample = stratified(strata, size=size, rng=rng, least=least, weights=weights)
    assert sample.chosen.size == np.unique(sample.chosen).size == size
    assert (np.diff(sample.chosen) > 0).all()
    assert ((sample.inclusion > 0) & (sample.inclusion <= 1)).all()
    assert sample.inclusion.sum() == pytest.approx(size)


def test_the_same_generator_draws_the_same_items() -> None:
    first, second = (
        stratified(STRATA, size=30, rng=np.random.default_rng(7)).chosen for _ in range(2)
    )
    assert first.tolist() == second.tolist()


def _population(rng: np.random.Generator) -> FloatArray:
    """Return scores whose means and spreads differ between the strata."""
    means, spreads = np.repeat([[4.0, 0.0, 1.0], [3.0, 0.5, 1.0]], [20, 100, 280], axis=1)
    return np.asarray(means + spreads * rng.normal(size=400))


def test_means_of_stratified_samples_are_unbiased_and_covered() -> None:
    rng = np.random.default_rng(3)
    scores = _population(rng)
    weights = np.repeat([3.0, 0.5, 1.0], [20, 100, 280])
    estimate, plain = [], []
    for _ in range(DRAWS):
        sample = stratified(STRATA, size=60, rng=rng, weights=weights)
        drawn = scores[sample.chosen]
        estimate.append(weighted_mean(drawn, sample.inclusion[sample.chosen]))
        plain.append(drawn.mean())
    values = np.array([estimate.value for estimate in estimate])
    assert ttest_1samp(values, scores.mean()).pvalue > 0.001
    assert abs(np.mean(plain) - scores.mean()) > 0.15
    held = sum(estimate.low <= scores.mean() <= estimate.high for estimate in estimate)
    assert held >= 0.93 * DRAWS


def test_independent_chances_and_clusters_are_covered_at_the_stated_rate() -> None:
    rng = np.random.default_rng(4)
    chances = np.repeat(rng.uniform(0.1, 0.4, 100), 3)
    inputs = np.repeat(np.arange(100), 3)
    held = loose = 0
    for _ in range(DRAWS):
        scores = rng.normal(size=100)[inputs] + 0.5 * rng.normal(size=300)
        drawn = rng.random(100)[inputs] < chances
        estimate = weighted_mean(scores[drawn], chances[drawn], clusters=inputs[drawn])
        held += int(estimate.low <= 0 <= estimate.high)
        alone = weighted_mean(scores[drawn], chances[drawn])
        loose += int(alone.low <= 0 <= alone.high)
    assert 0.92 <= held / DRAWS <= 0.97
    assert loose / DRAWS < 0.85


def test_a_sample_serves_a_prediction_powered_estimate() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(DRAWS):
        scores = _population(rng)
        judged = scores + rng.normal(size=400)
        sample = stratified(STRATA, size=60, rng=rng)
        marks = np.full(400, np.nan)
        marks[sample.chosen] = scores[sample.chosen]
        estimate = powered_mean(marks, judged, weights=1 / sample.inclusion)
        held += int(estimate.low <= 0.9 <= estimate.high)  # .05 * 4 + .25 * 0 + .7 * 1
    assert held >= 0.92 * DRAWS


def test_equal_chances_have_students_interval() -> None:
    values = [1.0, 2.0, 4.0, 5.0]
    estimate = weighted_mean(values, [0.25] * 4, confidence=0.9)
    expected = ttest_1samp(values, 0.0).confidence_interval(0.9)
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))
    assert (estimate.items, estimate.clusters, estimate.effective) == (4, 4, 4.0)


def test_a_missing_value_is_skipped() -> None:
    estimate = weighted_mean([1.0, math.nan, 4.0], [0.5, 0.5, 0.25], clusters=["a", "b", "b"])
    assert estimate.value == pytest.approx(3)
    assert estimate == weighted_mean([1.0, 4.0], [0.5, 0.25])
    assert estimate.effective == pytest.approx(36 / 20)


def test_too_few_values_have_no_interval() -> None:
    none = weighted_mean([math.nan], [0.5])
    assert math.isnan(none.value)
    assert (none.items, none.clusters, none.effective) == (0, 0, 0.0)
    lonely = weighted_mean([2.0, 3.0], [0.5, 0.5], clusters=[1, 1])
    assert (lonely.value, lonely.clusters) == (2.5, 1)
    assert math.isnan(lonely.low)


@pytest.mark.parametrize(
    ("strata", "size", "least", "weights"),
    [
        (["a", "b"], 1, 1, None),
        (["a", "b"], 3, 1, None),
        (["a", "a", "b"], 2, 2, None),
        (["a", "b"], 2, 0, None),
        ([], 0, 1, None),
        ([["a"]], 1, 1, None),
        (["a"], 1, 1, [1.0, 2.0]),
        (["a"], 1, 1, [-1.0]),
        (["a"], 1, 1, [math.nan]),
    ],
)
def test_a_sample_that_cannot_be_is_refused(
    strata: list[str], size: int, least: int, weights: list[float] | None
) -> None:
    with pytest.raises(ValueError, match="expected"):
        stratified(strata, size=size, least=least, weights=weights, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("values", "inclusion", "clusters", "confidence"),
    [
        ([1.0], [0.0], None, 0.95),
        ([1.0], [1.1], None, 0.95),
        ([1.0], [0.5, 0.5], None, 0.95),
        ([math.inf], [0.5], None, 0.95),
        ([1.0], [0.5], ["a", "b"], 0.95),
        ([1.0], [0.5], None, 0.0),
    ],
)
def test_impossible_chances_are_refused(
    values: list[float], inclusion: list[float], clusters: list[str] | None, confidence: float
) -> None:
    with pytest.raises(ValueError, match="expected"):
        weighted_mean(values, inclusion, clusters=clusters, confidence=confidence)


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
