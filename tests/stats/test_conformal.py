"""Conformal thresholds: by hand, with ties, and their promises over many simulated splits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from spanjury.stats.conformal import conformal_threshold, items_for_rate


def test_a_threshold_lies_just_above_the_score_that_may_not_alarm() -> None:
    # by hand: .2 * (9 + 1) = 2, so one of nine may raise an alarm, and the second may not
    threshold = conformal_threshold([0.3, 0.1, 0.9, 0.2, 0.8, 0.4, 0.5, 0.6, 0.7], rate=0.2)
    assert 0.8 < threshold.value < 0.8 + 1e-12
    assert (threshold.items, threshold.alarms) == (9, 1)


def test_equal_scores_raise_fewer_alarms_rather_than_more() -> None:
    scores = [0.0] * 15 + [1.0] * 4
    threshold = conformal_threshold(scores, rate=0.1)
    assert threshold.value > 1.0
    assert (threshold.alarms, threshold.low) == (0, 0.0)
    untied = conformal_threshold(range(19), rate=0.1)
    assert threshold.high == untied.high  # the ties do not make it surer


def test_the_lower_bound_is_clopper_and_pearsons() -> None:
    # R: binom.test(3, 40)$conf.int is 0.01574 to 0.20386
    threshold = conformal_threshold(range(40), rate=0.1)
    assert threshold.low == pytest.approx(0.01574, abs=5e-6)
    assert threshold.alarms == 3
    assert threshold.high == pytest.approx(0.20386, abs=5e-6)


def test_the_threshold_with_confidence_counts_by_the_binomial() -> None:
    # by hand: P(Bin(59, .05) = 0) = .95 ** 59 = .0485, and .95 ** 58 = .0510
    assert conformal_threshold(range(58), rate=0.05, confidence=0.95).value == math.inf
    threshold = conformal_threshold(range(59), rate=0.05, confidence=0.95)
    assert 58 < threshold.value < 59
    assert threshold.alarms == 0


def test_with_one_item_a_cluster_the_threshold_is_the_usual_one() -> None:
    scores = np.random.default_rng(2).normal(size=60)
    for confidence in (None, 0.9):
        usual = conformal_threshold(scores, rate=0.1, confidence=confidence)
        own = conformal_threshold(scores, rate=0.1, confidence=confidence, clusters=range(60))
        assert own == usual


def test_clusters_count_alike_and_a_new_one_counts_as_an_alarm() -> None:
    # By hand: nine clusters, so the mean of their shares and a new one that is 1 is (s + 1) / 10,
    # and s may be 1 at most: both of the first cluster raise an alarm, a third item may not.
    scores = [0.9, 0.8, *(n / 100 for n in range(16))]
    clusters = [0, 0, *(1 + n // 2 for n in range(16))]
    threshold = conformal_threshold(scores, rate=0.2, clusters=clusters)
    assert (threshold.items, threshold.alarms) == (18, 2)
    assert 0.15 < threshold.value < 0.151
    assert threshold.low < 2 / 18 < threshold.high
    assert conformal_threshold(scores, rate=0.09, clusters=clusters) == (math.inf, 18, 0, 0.0, 0.0)
    strict = conformal_threshold(scores, rate=0.1, clusters=clusters)
    assert (strict.alarms, strict.low, strict.high) == (0, 0.0, 0.0)
    assert 0.9 < strict.value < 0.91


def test_one_large_cluster_beside_single_items_counts_once() -> None:
    # By hand: (s + 1) / 11 <= .2 leaves one of ten clusters; of 19 items three could alarm.
    scores = [*(n / 100 for n in range(10)), *(1 + n for n in range(9))]
    threshold = conformal_threshold(scores, rate=0.2, clusters=[0] * 10 + list(range(1, 10)))
    assert (threshold.items, threshold.alarms) == (19, 1)


def test_clusters_without_an_alarm_win_their_bets_as_by_hand() -> None:
    # Each multiplies half of the capital by 1 + .5 * .05 / .95 and half by 1 + .05 / .95: 54 of
    # them make 10.0 = 1 / (1 - .9) of it, and 53 make 9.6.
    assert items_for_rate(0.05, confidence=0.9, clustered=True) == 54


@pytest.mark.parametrize(("rate", "confidence"), [(0.1, None), (0.1, 0.9), (0.05, 0.95)])
def test_the_least_clusters_have_a_threshold(rate: float, confidence: float | None) -> None:
    least = items_for_rate(rate, confidence=confidence, clustered=True)
    for clusters, is_set in ((least - 1, False), (least, True)):
        labels = np.repeat(np.arange(clusters), 3)
        threshold = conformal_threshold(labels, rate=rate, confidence=confidence, clusters=labels)
        assert math.isfinite(threshold.value) is is_set


def test_a_confidence_holds_for_new_clusters_where_items_of_one_are_alike() -> None:
    # Normal scores: half of their variance is between clusters, so that the true rate is known.
    rng = np.random.default_rng(6)
    over = {"clusters": 0, "items": 0}
    for _ in range(300):
        between, within = rng.normal(size=(60, 1)), rng.normal(size=(60, 25))
        scores = ((between + within) / math.sqrt(2)).ravel()
        labels = np.repeat(np.arange(60), 25)
        for name, clusters in (("clusters", labels), ("items", None)):
            threshold = conformal_threshold(scores, rate=0.1, confidence=0.9, clusters=clusters)
            over[name] += norm.sf(threshold.value) > 0.1
    assert over["clusters"] <= 30
    assert over["items"] > 60


def test_too_few_items_raise_no_alarm_at_all() -> None:
    assert conformal_threshold([], rate=0.5) == (math.inf, 0, 0, 0.0, 0.0)


def test_almost_every_item_may_raise_an_alarm() -> None:
    threshold = conformal_threshold([1.0, 2.0], rate=1 - 1e-12)
    assert threshold.high == pytest.approx(0.975**0.5)
    assert threshold.alarms == 1


@pytest.mark.parametrize(
    ("rate", "confidence", "items"),
    [(0.05, None, 19), (0.1, None, 9), (0.3, None, 3), (0.9, None, 1), (0.05, 0.95, 59)],
)
def test_the_least_number_of_items_is_the_first_with_a_threshold(
    rate: float, confidence: float | None, items: int
) -> None:
    assert items_for_rate(rate, confidence=confidence) == items
    few = conformal_threshold(range(items - 1), rate=rate, confidence=confidence)
    enough = conformal_threshold(range(items), rate=rate, confidence=confidence)
    assert math.isinf(few.value)
    assert math.isfinite(enough.value)


@pytest.mark.parametrize("items", [30, 100, 137])
def test_over_many_splits_the_marginal_promise_is_kept(items: int) -> None:
    rng = np.random.default_rng(1)
    splits = rng.exponential(size=(1000, items + 1))
    alarms = sum(bool(row[-1] >= conformal_threshold(row[:-1], rate=0.1).value) for row in splits)
    expected = math.floor(0.1 * (items + 1)) / (items + 1)  # exact where no scores are equal
    low, high = binom.interval(0.999, 1000, expected)
    assert low <= alarms <= high
    assert binomtest(alarms, 1000, 0.1, alternative="greater").pvalue > 0.001


def test_over_many_splits_the_promise_holds_for_scores_of_five_levels() -> None:
    rng = np.random.default_rng(2)
    splits = rng.integers(1, 6, size=(1000, 41))
    threshold = [conformal_threshold(row[:-1], rate=0.25) for row in splits]
    alarms = sum(bool(row[-1] >= at.value) for row, at in zip(splits, threshold, strict=True))
    assert binomtest(alarms, 1000, 0.25, alternative="greater").pvalue > 0.001
    assert alarms > 50


def test_with_confidence_the_rate_of_most_samples_is_below_the_promised() -> None:
    rng = np.random.default_rng(3)
    threshold = [
        conformal_threshold(row, rate=0.1, confidence=0.9) for row in rng.random((1000, 80))
    ]
    rates = np.array([1 - at.value for at in threshold])  # of uniform scores, exactly
    allowed = int((binom.cdf(np.arange(80), 80, 0.1) <= 0.1).sum()) - 1
    broken = binom.cdf(allowed, 80, 0.1)  # exact for scores without ties
    assert broken <= 0.1
    low, high = binom.interval(0.999, 1000, broken)
    assert low <= (rates > 0.1).sum() <= high


def test_the_bounds_hold_the_rate_as_often_as_they_say() -> None:
    rng = np.random.default_rng(4)
    threshold = [conformal_threshold(row, rate=0.2) for row in rng.random((1000, 50))]
    held = sum(at.low <= 1 - at.value <= at.high for at in threshold)
    assert binomtest(held, 1000, 0.95, alternative="less").pvalue > 0.001


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=60), st.floats(0.02, 0.9))
def test_alarms_keep_the_rate_and_the_rate_its_bounds(scores: list[float], rate: float) -> None:
    threshold = conformal_threshold(scores, rate=rate)
    assert threshold.alarms <= rate * (len(scores) + 1)
    assert 0 <= threshold.low <= threshold.high <= 1
    assert conformal_threshold(scores, rate=rate, confidence=0.9).value >= threshold.value


@pytest.mark.parametrize(
    ("scores", "rate", "confidence"),
    [([1.0], 0.0, None), ([1.0], 1.0, None), ([1.0], 0.5, 1.0), ([math.nan], 0.5, None)],
)
def test_a_promise_of_nothing_is_refused(
    scores: list[float], rate: float, confidence: float | None
) -> None:
    with pytest.raises(ValueError, match="expected"):
        conformal_threshold(scores, rate=rate, confidence=confidence)
    with pytest.raises(ValueError, match="expected"):
        conformal_threshold(scores * 2, rate=rate, confidence=confidence, clusters=[0, 0])
    with pytest.raises(ValueError, match="expected"):
        conformal_threshold([[1.0]], rate=0.5)
    if not 0 < rate < 1 or confidence:
        with pytest.raises(ValueError, match="expected"):
            items_for_rate(rate, confidence=confidence)
