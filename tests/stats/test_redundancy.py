"""Redundancy of raters: against partial correlations by residuals, and simulated families."""

import math

import numpy as np
import pytest
from numpy.random import Generator
from scipy.stats import pearsonr, rankdata, spearmanr

from spanjury.stats.arrays import FloatArray
from spanjury.stats.redundancy import rater_redundancy
from spanjury.stats.resampling import bootstrap

DRAWS = 200


def _residual(scores: FloatArray, given: FloatArray) -> FloatArray:
    """Return ranks of scores less what a line through the ranks of others explains."""
    ranks, others = rankdata(scores), rankdata(given)
    slope, level = np.polynomial.Polynomial.fit(others, ranks, 1).convert().coef[::-1]
    return np.asarray(ranks - slope * others - level)


def _family(rng: Generator, *, items: int, shared: float) -> tuple[FloatArray, FloatArray]:
    """Return people and four raters, of whom the first two share a part of their errors."""
    quality = rng.normal(size=items)
    errors = rng.normal(size=(4, items))
    common = rng.normal(size=items)
    errors[:2] = math.sqrt(shared) * common + math.sqrt(1 - shared) * errors[:2]
    return quality, quality + errors


def test_it_is_the_correlation_of_what_people_leave_of_the_ranks() -> None:
    rng = np.random.default_rng(1)
    people = rng.integers(1, 6, 50).astype(float)
    raters = people + rng.integers(-2, 3, (3, 50))
    redundancy = rater_redundancy(people, raters, rng=rng, draws=1)
    for first, other in ((0, 1), (0, 2), (1, 2)):
        left = [_residual(raters[rater], people) for rater in (first, other)]
        expected = pearsonr(*left).statistic
        assert redundancy.partial[first, other] == pytest.approx(expected)
        assert redundancy.partial[other, first] == redundancy.partial[first, other]
    assert redundancy.partial.diagonal().tolist() == [1, 1, 1]
    assert (redundancy.items == 50).all()


def test_a_draw_is_ranked_afresh() -> None:
    rng = np.random.default_rng(2)
    people, raters = _family(rng, items=30, shared=0.5)
    state = np.random.default_rng(3)
    redundancy = rater_redundancy(people, raters[:2], rng=state, draws=1)
    items = np.random.default_rng(3).integers(30, size=30)  # the draw that the bootstrap makes
    first, second, third = (
        spearmanr(left[items], other[items]).statistic
        for left, other in ((people, raters[0]), (people, raters[1]), (raters[0], raters[1]))
    )
    expected = (third - first * second) / math.sqrt((1 - first**2) * (1 - second**2))
    assert redundancy.low[0, 1] == pytest.approx(expected)


def test_raters_of_a_family_are_found_and_strangers_are_not() -> None:
    rng = np.random.default_rng(4)
    people, raters = _family(rng, items=400, shared=0.8)
    redundancy = rater_redundancy(people, raters, rng=rng, draws=DRAWS)
    assert redundancy.low[0, 1] > 0.65
    assert redundancy.high[0, 1] < 0.9
    apart = redundancy.partial[np.triu_indices(4, k=1)][1:]
    assert np.abs(apart).max() < 0.15
    mean = redundancy.partial[np.triu_indices(4, k=1)].mean()
    assert redundancy.effective == pytest.approx(4 / (1 + 3 * mean))
    assert redundancy.effective_low < redundancy.effective < redundancy.effective_high


def test_raters_that_say_the_same_count_as_one() -> None:
    rng = np.random.default_rng(5)
    people, raters = _family(rng, items=40, shared=0.0)
    redundancy = rater_redundancy(people, [raters[0]] * 3, rng=rng, draws=DRAWS)
    assert redundancy.partial == pytest.approx(1)
    assert (redundancy.effective, redundancy.effective_high) == pytest.approx((1, 1))


def test_intervals_hold_what_is_so_in_the_long_run() -> None:
    rng = np.random.default_rng(6)
    held = 0
    for _ in range(100):
        people, raters = _family(rng, items=80, shared=0.0)
        redundancy = rater_redundancy(people, raters[:2], rng=rng, draws=100)
        held += int(redundancy.low[0, 1] <= 0.02 <= redundancy.high[0, 1])
    assert 85 <= held <= 100


def test_clusters_that_hang_together_widen_the_interval() -> None:
    rng = np.random.default_rng(7)
    people, raters = _family(rng, items=40, shared=0.5)
    inputs = np.tile(np.arange(40), 5)
    marks, scores = np.tile(people, 5), np.tile(raters, 5)  # each input five times over
    alone = rater_redundancy(people, raters, rng=np.random.default_rng(1), draws=DRAWS)
    tied = rater_redundancy(
        marks, scores, clusters=inputs, rng=np.random.default_rng(1), draws=DRAWS
    )
    loose = rater_redundancy(marks, scores, rng=np.random.default_rng(1), draws=DRAWS)
    assert tied.partial == pytest.approx(alone.partial)
    assert tied.low == pytest.approx(alone.low)
    width = [np.ptp([redundancy.low[0, 1], redundancy.high[0, 1]]) for redundancy in (tied, loose)]
    assert width[1] < 0.7 * width[0]


def test_a_missing_score_costs_its_pairs_only() -> None:
    rng = np.random.default_rng(8)
    people, raters = _family(rng, items=30, shared=0.5)
    whole = rater_redundancy(people, raters, rng=np.random.default_rng(1), draws=20)
    raters[3, :10] = math.nan
    redundancy = rater_redundancy(people, raters, rng=np.random.default_rng(1), draws=20)
    assert redundancy.partial[:3, :3] == pytest.approx(whole.partial[:3, :3])
    assert redundancy.items[3].tolist() == [20, 20, 20, 20]
    assert redundancy.items[0].tolist() == [30, 30, 30, 20]


def test_an_unknowable_value_is_nan() -> None:
    rng = np.random.default_rng(9)
    for people, raters in (
        ([1, 2, 3], [[1, 3, 2], [2, 1, 3]]),
        ([1, 2, 3, 4], [[1, 1, 1, 1], [1, 2, 4, 3]]),
        ([1, 2, 3, 4], [[1, 2, 3, 4], [1, 2, 4, 3]]),
        ([math.nan] * 4, [[1, 2, 3, 4], [1, 2, 4, 3]]),
        ([], [[], []]),
    ):
        redundancy = rater_redundancy(people, raters, rng=rng, draws=10)
        assert np.isnan(
            [redundancy.partial[0, 1], redundancy.low[0, 1], redundancy.effective]
        ).all()


def test_two_that_always_contradict_each_other_have_no_number() -> None:
    people = np.tile([1.0, 2.0], 8)
    first = np.repeat([0.0, 1.0], 8)  # not correlated with people
    redundancy = rater_redundancy(people, [first, -first], rng=np.random.default_rng(1), draws=1)
    assert redundancy.partial[0, 1] == pytest.approx(-1)
    assert math.isnan(redundancy.effective)


def test_the_generator_is_used_as_by_the_bootstrap() -> None:
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    rater_redundancy([1, 2, 3, 4, 5], [[1, 3, 2, 4, 5], [2, 1, 3, 5, 4]], rng=rng, draws=7)
    bootstrap(lambda counts: counts.sum(axis=1), items=5, rng=other, draws=7)
    assert rng.integers(1 << 30) == other.integers(1 << 30)


@pytest.mark.parametrize(
    ("people", "raters", "clusters"),
    [
        ([1, 2], [[1, 2]], None),
        ([1, 2], [1, 2], None),
        ([1], [[1, 2], [1, 2]], None),
        ([[1]], [[1], [2]], None),
        ([1, 2], [[1, 2], [1, math.inf]], None),
        ([1, 2], [[1, 2], [1, 2]], ["a"]),
    ],
)
def test_wrong_shapes_are_refused(
    people: list[float], raters: list[list[float]], clusters: list[str] | None
) -> None:
    with pytest.raises(ValueError, match="expected"):
        rater_redundancy(people, raters, clusters=clusters, rng=np.random.default_rng(1))
