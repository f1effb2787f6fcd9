"""Prediction-powered estimates: by hand, against PPI++, and over many simulated samples."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from numpy.random import Generator
from scipy.stats import binomtest, ttest_1samp

from spanjury.stats.arrays import FloatArray
from spanjury.stats.powered_estimates import PoweredEstimate
from spanjury.stats.prediction_powered import (
    marks_needed,
    powered_difference,
    powered_mean,
    powered_tuning,
)

DRAWS = 1000


class Coverage(NamedTuple):
    held: int
    estimates: FloatArray
    plain: FloatArray
    narrower: float
    """Mean width over that of people alone."""


def _coverage(estimates: list[PoweredEstimate], *, truth: float) -> Coverage:
    estimate = np.array([(e.low, e.high, e.plain_low, e.plain_high) for e in estimates]).T
    return Coverage(
        int(((estimate[0] <= truth) & (truth <= estimate[1])).sum()),
        np.array([e.value for e in estimates]),
        np.array([e.plain for e in estimates]),
        float((estimate[1] - estimate[0]).mean() / (estimate[3] - estimate[2]).mean()),
    )


def _covers(coverage: Coverage) -> bool:
    return bool(0.94 <= coverage.held / len(coverage.estimates) <= 0.97)


def _unbiased(coverage: Coverage, *, truth: float) -> bool:
    return bool(ttest_1samp(coverage.estimates, truth).pvalue > 0.001)


def _judge(scores: FloatArray, *, agreement: float, rng: Generator) -> FloatArray:
    noise = rng.normal(size=scores.shape)
    return 7 + 3 * (agreement * scores + math.sqrt(1 - agreement**2) * noise)


def _marked(scores: FloatArray, *, marks: int, rng: Generator) -> FloatArray:
    chosen = rng.permutation(scores.size) < marks
    return np.where(chosen, scores, np.nan)


@pytest.mark.heavy
@pytest.mark.parametrize(("agreement", "most"), [(0.9, 0.6), (0.7, 0.85), (0.0, 1.06)])
def test_intervals_hold_the_mean_and_a_better_judge_narrows_them(
    agreement: float, most: float
) -> None:
    rng = np.random.default_rng(1)
    estimate = []
    for _ in range(DRAWS):
        scores = rng.normal(size=400)
        judged = _judge(scores, agreement=agreement, rng=rng)
        estimate.append(powered_mean(_marked(scores, marks=30, rng=rng), judged))
    coverage = _coverage(estimate, truth=0.0)
    assert binomtest(coverage.held, DRAWS, 0.95).pvalue > 0.001
    assert _unbiased(coverage, truth=0.0)
    assert coverage.narrower < most
    assert coverage.estimates.std() / coverage.plain.std() < most


def test_items_of_a_cluster_hang_together_in_the_interval() -> None:
    rng = np.random.default_rng(2)
    inputs = np.repeat(np.arange(100), 4)
    estimate, careless = [], []
    for _ in range(DRAWS):
        scores = rng.normal(size=100)[inputs] + rng.normal(size=400)
        judged = _judge(scores, agreement=0.7, rng=rng)
        marks = np.where((rng.permutation(100) < 30)[inputs], scores, np.nan)
        estimate.append(powered_mean(marks, judged, clusters=inputs))
        careless.append(powered_mean(marks, judged))
    coverage = _coverage(estimate, truth=0.0)
    assert _covers(coverage)
    assert coverage.narrower < 0.95
    assert _coverage(careless, truth=0.0).held < 0.91 * DRAWS


@pytest.mark.heavy
def test_unequal_chances_of_a_mark_are_made_up_for_by_weights() -> None:
    rng = np.random.default_rng(3)
    estimate, careless = [], []
    for _ in range(DRAWS):
        scores = rng.normal(size=400)
        judged = _judge(scores, agreement=0.7, rng=rng)
        chances = np.where(judged < 7, 0.25, 0.1)
        marks = np.where(rng.random(400) < chances, scores, np.nan)
        estimate.append(powered_mean(marks, judged, weights=1 / chances))
        careless.append(powered_mean(marks, judged))
    coverage = _coverage(estimate, truth=0.0)
    assert binomtest(coverage.held, DRAWS, 0.95).pvalue > 0.001
    assert _unbiased(coverage, truth=0.0)
    assert coverage.narrower < 0.9
    assert abs(np.mean([e.plain for e in careless])) > 0.1


def test_a_judge_that_leans_to_one_system_leaves_the_difference_unbiased() -> None:
    rng = np.random.default_rng(4)
    estimate = []
    for _ in range(DRAWS):
        inputs = rng.normal(size=300)
        scores = np.array([[0.5], [0.0]]) + inputs + rng.normal(size=(2, 300))
        judged = _judge(scores, agreement=0.8, rng=rng) + np.array([[-2.0], [2.0]])
        marks = np.where(rng.permutation(300) < 40, scores, np.nan)
        estimate.append(powered_difference(marks, judged))
    coverage = _coverage(estimate, truth=0.5)
    assert binomtest(coverage.held, DRAWS, 0.95).pvalue > 0.001
    assert _unbiased(coverage, truth=0.5)
    assert coverage.narrower < 0.9


def test_systems_may_be_marked_on_other_inputs() -> None:
    rng = np.random.default_rng(5)
    estimate = []
    for _ in range(DRAWS):
        scores = np.array([[0.5], [0.0]]) + rng.normal(size=(2, 200))
        marks = np.stack([_marked(scores[0], marks=20, rng=rng), scores[1]])
        marks[1, 60:] = np.nan
        estimate.append(powered_difference(marks, _judge(scores, agreement=0.8, rng=rng)))
    coverage = _coverage(estimate, truth=0.5)
    assert coverage.held >= 0.94 * DRAWS
    assert _unbiased(coverage, truth=0.5)
    assert (estimate[0].marked, estimate[0].items, estimate[0].clusters) == (80, 400, 20)


def test_the_plain_case_is_that_of_ppi_plus_plus() -> None:
    # [2] of powered_mean, eq. 4 and section 6: with n marked and N others,
    # slope / (1 + n / N) * mean(f of others) + mean(y - slope / (1 + n / N) * f of marked)
    rng = np.random.default_rng(6)
    scores = rng.normal(3, 1, size=2000)
    judged = _judge(scores, agreement=0.8, rng=rng)
    marked, others = np.s_[:200], np.s_[200:]
    estimate = powered_mean(np.where(np.arange(2000) < 200, scores, np.nan), judged)
    slope = np.cov(scores[marked], judged[marked])[0, 1] / judged[marked].var()
    theirs = estimate.tuning * 1800 / 2000
    assert theirs == pytest.approx(slope / (1 + 200 / 1800), rel=0.02)
    rest = scores[marked] - theirs * judged[marked]
    assert estimate.value == pytest.approx(theirs * judged[others].mean() + rest.mean())
    variance = theirs**2 * judged[others].var() / 1800 + rest.var() / 200
    assert estimate.error == pytest.approx(math.sqrt(variance), rel=0.02)


def test_a_judge_that_always_says_the_same_leaves_people_alone() -> None:
    marks = [1.0, 2.0, 4.0, 5.0, math.nan, math.nan]
    estimate = powered_mean(marks, [3.0] * 6)
    expected = ttest_1samp(marks[:4], 0.0)
    interval = expected.confidence_interval(0.95)
    assert (estimate.value, estimate.tuning, estimate.effective_marks) == (3.0, 0.0, 4.0)
    assert (estimate.low, estimate.high) == pytest.approx((interval.low, interval.high))
    assert (estimate.plain_low, estimate.plain_high) == (estimate.low, estimate.high)
    assert estimate.p == pytest.approx(expected.pvalue)
    assert estimate.floor == 0.0


def test_the_judge_is_not_used_if_all_texts_are_marked() -> None:
    estimate = powered_mean([1.0, 2.0, 4.0], [0.1, 0.2, 0.3])
    assert (estimate.value, estimate.tuning) == pytest.approx((7 / 3, 0.0))


def test_a_difference_of_pairs_is_the_mean_of_their_differences() -> None:
    rng = np.random.default_rng(7)
    scores, judged = rng.normal(size=(2, 60)), rng.normal(size=(2, 60))
    marks = np.where(np.arange(60) < 20, scores, np.nan)
    pairs = powered_difference(marks, judged)
    alone = powered_mean(marks[0] - marks[1], judged[0] - judged[1])
    assert pairs[:9] == pytest.approx(alone[:9])
    assert (pairs.marked, alone.marked) == (40, 20)
    assert pairs.effective_marks == pytest.approx(2 * alone.effective_marks)


def test_an_item_without_a_judgement_is_skipped() -> None:
    marks, judged = [1.0, 2.0, 4.0, 9.0, math.nan], [1.0, 2.0, 3.0, math.nan, 2.0]
    assert powered_mean(marks, judged) == powered_mean(
        marks[:3] + marks[4:], judged[:3] + judged[4:]
    )


def test_weights_are_seen_in_proportion_only() -> None:
    marks, judged = [1.0, 2.0, 4.0, math.nan, math.nan], [1.0, 2.0, 2.0, 3.0, 2.0]
    weights = np.array([1.0, 2.0, 3.0, math.nan, 0.0])
    estimate = powered_mean(marks, judged, weights=weights)
    assert estimate == pytest.approx(powered_mean(marks, judged, weights=8 * weights))
    assert estimate.plain == pytest.approx(17 / 6)


@pytest.mark.parametrize(
    ("marks", "plain"), [([math.nan, math.nan], math.nan), ([4.0, math.nan], 4.0)]
)
def test_too_few_marks_have_no_interval(marks: list[float], plain: float) -> None:
    estimate = powered_mean(marks, [1.0, 2.0])
    assert estimate.plain == pytest.approx(plain, nan_ok=True)
    assert all(map(math.isnan, (estimate.low, estimate.plain_high, estimate.error, estimate.p)))
    assert math.isnan(marks_needed(estimate))


def test_a_perfect_agreement_of_marks_leaves_no_error() -> None:
    none = powered_difference([[3.0, 3.0], [3.0, 3.0]], [[1.0, 2.0], [2.0, 1.0]])
    assert (none.value, none.error, none.p, none.effective_marks) == (0.0, 0.0, 1.0, 4.0)
    sure = powered_difference([[3.0, 3.0], [2.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]])
    assert (sure.value, sure.p, marks_needed(sure)) == (1.0, 0.0, 0.0)
    assert marks_needed(none) == math.inf


def test_marks_needed_are_those_that_the_root_of_their_number_asks_for() -> None:
    # by hand: error .5 with 25 marks is .25 with 100, whose interval of 95 % reaches .496
    pilot = _pilot(value=0.5, error=0.5, floor=0.0)
    assert marks_needed(pilot) == pytest.approx(98 - 25 + 1, abs=2)
    assert marks_needed(pilot, power=0.8) > 1.9 * marks_needed(pilot)


def test_no_number_of_marks_is_enough_with_too_few_items() -> None:
    assert marks_needed(_pilot(value=0.5, error=0.5, floor=0.3)) == math.inf
    assert marks_needed(_pilot(value=0.0, error=0.5, floor=0.0)) == math.inf
    assert marks_needed(_pilot(value=2.0, error=0.5, floor=0.3)) == 0.0


def test_so_many_more_marks_do_exclude_zero_about_every_other_time() -> None:
    rng = np.random.default_rng(8)
    needed = marks_needed(_pilot(value=0.4, error=0.2, floor=0.0))
    assert needed == pytest.approx(1, abs=1)
    more = 25 + int(needed)
    estimate = [
        powered_mean(_marked(rng.normal(0.4, 1, 300), marks=more, rng=rng), np.zeros(300)).p
        for _ in range(400)
    ]
    assert 0.4 < np.mean(np.array(estimate) < 0.05) < 0.6


def _pilot(*, value: float, error: float, floor: float) -> PoweredEstimate:
    blank = powered_mean([math.nan], [1.0])
    return blank._replace(
        value=value, error=error, floor=floor, tuning=0.0, marked=25, items=1000, clusters=25
    )


@pytest.mark.parametrize(
    ("weights", "clusters", "confidence"),
    [
        ([1.0], None, 0.95),
        ([0.0, 1.0], None, 0.95),
        ([math.inf, 1.0], None, 0.95),
        (None, ["a"], 0.95),
        (None, None, 1.0),
    ],
)
def test_an_invalid_sample_is_refused(
    weights: list[float] | None, clusters: list[str] | None, confidence: float
) -> None:
    with pytest.raises(ValueError, match="expected"):
        powered_mean(
            [1.0, 2.0], [1.0, 2.0], weights=weights, clusters=clusters, confidence=confidence
        )


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        powered_mean([1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="one axis"):
        powered_mean([[1.0]], [[1.0]])
    for rows in ([1.0, 2.0], [[1.0]], [[1.0]] * 3):
        with pytest.raises(ValueError, match=r"\(2, inputs\)"):
            powered_difference(rows, rows)
    with pytest.raises(ValueError, match="confidence"):
        marks_needed(powered_mean([1.0], [1.0]), confidence=0.0)
    with pytest.raises(ValueError, match="power"):
        marks_needed(powered_mean([1.0], [1.0]), power=1.0)


def test_a_system_without_marks_has_no_difference() -> None:
    marks = [[1.0, 2.0, 3.0, 5.0], [math.nan] * 4]
    estimate = powered_difference(marks, [[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 1.0]])
    assert (estimate.marked, estimate.clusters) == (4, 0)
    assert all(
        map(math.isnan, (estimate.value, estimate.low, estimate.plain, estimate.tuning, estimate.p))
    )
    assert math.isnan(marks_needed(estimate))
    empty = powered_mean([], [])
    assert math.isnan(empty.value)
    assert math.isnan(empty.plain)


def test_one_tuning_for_several_systems_is_the_slope_within_them() -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(6, 400)) + np.arange(6)[:, np.newaxis]
    judged = 2 * scores - 5 * np.arange(6)[:, np.newaxis]  # leans against the better ones
    people = np.where(rng.random(scores.shape) < 0.1, scores, np.nan)
    tuning = powered_tuning(people, judged)
    # Of a judge without noise it is the scale; a slope over all systems would be below 0.
    assert tuning == pytest.approx(0.5, abs=0.02)
    estimate = powered_mean(people[5], judged[5], tuning=tuning)
    assert estimate.value == pytest.approx(5, abs=0.15)
    assert estimate.tuning == tuning
    assert estimate.effective_marks > 5 * estimate.marked


def test_a_tuning_that_is_given_costs_no_degree_of_freedom() -> None:
    marks = [1.0, 2.0, 4.0, *[math.nan] * 9]
    given = powered_mean(marks, [1.0, 2.0, 4.0] * 4, tuning=0.0)
    assert (given.value, given.low, given.high) == (given.plain, given.plain_low, given.plain_high)
    assert given.effective_marks == pytest.approx(3)
    assert given.error == given.plain_error


def test_a_tuning_of_several_systems_takes_two_axes() -> None:
    with pytest.raises(ValueError, match="systems, inputs"):
        powered_tuning([1.0], [1.0])
