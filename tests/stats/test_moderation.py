"""Moderated errors: by hand, and over simulated systems of few marks each."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, t, ttest_rel

from spanjury.stats.moderation import mark_variance, moderated
from spanjury.stats.powered_estimates import PoweredEstimate
from spanjury.stats.prediction_powered import powered_difference, powered_mean

SYSTEMS, MARKS, DRAWS = 8, 6, 100


def people(*marks: float) -> PoweredEstimate:
    """Return the mean of marks, of a judge that says nothing."""
    return powered_mean(marks, np.zeros(len(marks)), tuning=0.0)


def test_the_usual_variance_is_that_of_all_systems_by_degrees_of_freedom() -> None:
    means = [people(1, 3), people(2, 4, 6), people(5)]
    # Variances 2 and 4 of one and two degrees of freedom; a single mark says nothing.
    assert mark_variance(means, [2, 3, 1]).plain == pytest.approx((1 * 2 + 2 * 4) / 3)


def test_marks_that_are_alike_borrow_the_usual_variance() -> None:
    means = [people(1, 3), people(2, 4, 6), people(5, 5, 5)]
    variance = mark_variance(means, [2, 3, 3])
    estimate = moderated(means[2], variance=variance, size=3)
    usual = (1 * 2 + 2 * 4 + 2 * 0) / 5
    error = math.sqrt(4 * usual / 3 / (2 + 4))
    assert estimate.error == pytest.approx(error)
    assert means[2].error == 0
    # Six degrees of freedom with the prior's, but the marks of all systems have only five.
    assert estimate.high - estimate.value == pytest.approx(t.ppf(0.975, 5) * error)
    assert estimate.effective_marks == pytest.approx(3)
    assert estimate.value == 5


def differences(*rows: tuple[float, ...]) -> list[PoweredEstimate]:
    """Return the differences of all pairs of systems, in marks of the same inputs."""
    return [
        powered_difference(pair, np.zeros((2, len(pair[0]))), tuning=0.0)
        for pair in combinations(rows, 2)
    ]


def test_the_difference_of_the_only_two_systems_is_that_of_a_paired_t_test() -> None:
    rows = (1.0, 5.0, 2.0, 4.0), (4.0, 1.0, 4.0, 2.0)
    (pair,) = differences(*rows)
    variance = mark_variance([pair], [4 / 2], systems=2)
    estimate = moderated(pair, variance=variance, size=4 / 2)
    expected = ttest_rel(*rows)
    assert estimate.p == pytest.approx(expected.pvalue)
    assert estimate.low == pytest.approx(expected.confidence_interval().low)


def test_differences_borrow_the_residual_variance_of_systems_by_inputs() -> None:
    rows = (1.0, 5.0, 2.0, 4.0), (2.0, 5.0, 3.0, 4.0), (1.0, 4.0, 4.0, 4.0)
    pairs = differences(*rows)
    variance = mark_variance(pairs, [4 / 2] * 3, systems=3)
    scores = np.array(rows)
    residuals = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    assert variance.freedom == pytest.approx((3 - 1) * (4 - 1))
    assert variance.plain == pytest.approx((residuals**2).sum() / variance.freedom)

    estimate = moderated(pairs[0], variance=variance, size=4 / 2)
    own = np.var(scores[0] - scores[1], ddof=1)
    error = math.sqrt((3 * own + 4 * 2 * variance.plain) / (3 + 4) / 4)
    assert estimate.error == pytest.approx(error)
    assert estimate.high - estimate.value == pytest.approx(t.ppf(0.975, 6) * error)


def test_a_pair_in_one_cluster_borrows_the_variance_of_others() -> None:
    variance = mark_variance(differences((1.0, 3.0), (5.0, 1.0)), [2 / 2], systems=3)
    (single,) = differences((4.0,), (2.0,))
    assert math.isnan(single.error)
    assert moderated(single, variance=variance, size=1 / 2).error == pytest.approx(
        math.sqrt(variance.plain * 2)
    )


def test_a_variance_is_unknown_without_marks_or_a_usual_variance() -> None:
    unknown = mark_variance([people(5)], [1])
    variance = mark_variance([people(1, 3)], [2])
    assert math.isnan(unknown.plain)
    assert math.isnan(moderated(people(5), variance=unknown, size=1).error)
    assert math.isnan(moderated(people(math.nan), variance=variance, size=0).error)


def test_intervals_of_few_marks_that_are_mostly_alike_hold_the_truth() -> None:
    rng = np.random.default_rng(1)
    bare = held = 0
    for _ in range(DRAWS):
        scores = np.where(rng.random((SYSTEMS, MARKS)) < 0.85, 5.0, 2.0)
        means = [people(*row) for row in scores]
        variance = mark_variance(means, [MARKS] * SYSTEMS)
        better = [moderated(estimate, variance=variance, size=MARKS) for estimate in means]
        bare += sum(estimate.low <= 4.55 <= estimate.high for estimate in means)
        held += sum(estimate.low <= 4.55 <= estimate.high for estimate in better)
    assert bare / (DRAWS * SYSTEMS) < 0.75  # all six are alike in every third system
    assert held / (DRAWS * SYSTEMS) > 0.93


def test_intervals_of_systems_that_vary_alike_hold_the_truth_at_the_stated_rate() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(DRAWS):
        means = [people(*row) for row in rng.normal(size=(SYSTEMS, MARKS))]
        variance = mark_variance(means, [MARKS] * SYSTEMS)
        better = [moderated(estimate, variance=variance, size=MARKS) for estimate in means]
        held += sum(estimate.low <= 0 <= estimate.high for estimate in better)
    # A prior of four degrees of freedom that in truth has forty makes them a little wide.
    assert binomtest(held, DRAWS * SYSTEMS, 0.95, alternative="less").pvalue > 0.01
    assert held / (DRAWS * SYSTEMS) < 0.985
