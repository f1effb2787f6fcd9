"""Panels of raters: by size, without a seat, by Shapley values and by redundancy."""

import gzip
import json
import math
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator, default_rng
from scipy.stats import pearsonr, rankdata, spearmanr

from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.correlations.grouping import level_correlation
from spanjury.stats.raters.agreement import cohen_kappa, krippendorff_alpha
from spanjury.stats.raters.ensembles import ensemble_curve, leave_one_out
from spanjury.stats.redundancy import rater_redundancy
from spanjury.stats.resampling import bootstrap
from spanjury.stats.shapley import shapley_values, subset_worths

JUDGES = ("gemma-2-27b", "nemotron-70b", "mistral-large-2", "qwen-2.5-72b")
CNN_DM = 235  # rows; the others are of XSum
UNREAD = 5.0  # what the two labels say that are missing: "**Excellent**", in bold letters
WORTHS = st.integers(1, 4).flatmap(
    lambda players: st.lists(st.floats(-10, 10), min_size=2**players, max_size=2**players)
)
DRAWS = 200


@pytest.fixture
def seats() -> FloatArray:
    rng = default_rng(1)
    return rng.integers(1, 6, size=(4, 6, 10)) + rng.normal(size=(6, 10))


@pytest.fixture
def human(seats: FloatArray) -> FloatArray:
    scores: FloatArray = seats.mean(axis=0) + default_rng(2).normal(size=(6, 10))
    return scores


def test_a_size_has_the_mean_of_all_its_panels(human: FloatArray, seats: FloatArray) -> None:
    curve = ensemble_curve(human, seats, level="by-input", rng=default_rng(1))
    for column, size in enumerate(curve.sizes):
        values = [
            level_correlation(human, seats[list(panel)].mean(axis=0), level="by-input").value
            for panel in combinations(range(4), size)
        ]
        assert curve.panels[column] == len(values)
        assert curve.mean[column] == pytest.approx(np.mean(values))
        assert curve.least[column] == pytest.approx(min(values))
        assert curve.greatest[column] == pytest.approx(max(values))
    assert (curve.sizes.tolist(), curve.undefined.tolist()) == ([1, 2, 3, 4], [0, 0, 0, 0])


def test_a_seat_gains_what_the_panel_loses_without_it(human: FloatArray, seats: FloatArray) -> None:
    ensembles = leave_one_out(human, seats, level="pooled")
    rest = level_correlation(human, seats[1:].mean(axis=0), level="pooled").value
    curve = ensemble_curve(human, seats, level="pooled", rng=default_rng(1))
    assert ensembles.without[0] == pytest.approx(rest)
    assert ensembles.whole == pytest.approx(curve.mean[3])
    assert np.mean(ensembles.without) == pytest.approx(curve.mean[2])
    np.testing.assert_allclose(ensembles.gain, ensembles.whole - ensembles.without)


def test_sizes_with_too_many_panels_are_sampled(human: FloatArray, seats: FloatArray) -> None:
    many = np.concatenate([seats, seats + default_rng(3).normal(size=seats.shape)])
    whole, sampled, again = (
        ensemble_curve(human, many, level="pooled", rng=default_rng(4), most=most)
        for most in (70, 40, 40)
    )
    assert whole.panels.tolist() == [8, 28, 56, 70, 56, 28, 8, 1]
    assert sampled.panels.tolist() == [8, 28, 40, 40, 40, 28, 8, 1]
    np.testing.assert_allclose(sampled.mean, whole.mean, atol=0.02)
    np.testing.assert_array_equal(sampled.mean, again.mean)


def test_a_panel_hears_the_seats_that_gave_a_score(human: FloatArray, seats: FloatArray) -> None:
    seats[0, :, :4] = math.nan
    curve = leave_one_out(human, seats, level="pooled")
    means = np.concatenate([seats[1:, :, :4].mean(axis=0), seats[:, :, 4:].mean(axis=0)], axis=1)
    assert curve.whole == pytest.approx(level_correlation(human, means, level="pooled").value)


def test_panels_without_a_correlation_are_counted(human: FloatArray, seats: FloatArray) -> None:
    seats[0], seats[1] = 3, math.nan
    curve = ensemble_curve(human, seats, level="pooled", rng=default_rng(1))
    assert curve.undefined.tolist() == [2, 1, 0, 0]  # alone, and together
    alone = [level_correlation(human, seats[seat], level="pooled").value for seat in (2, 3)]
    assert curve.mean[0] == pytest.approx(np.mean(alone))


def test_a_size_without_any_correlation_is_undefined(human: FloatArray) -> None:
    curve = ensemble_curve(human, np.ones((1, 6, 10)), level="pooled", rng=default_rng(1))
    assert np.isnan([curve.mean, curve.least, curve.greatest]).all()
    single = leave_one_out(human, human[np.newaxis], level="pooled")
    assert single.whole == pytest.approx(1)
    assert np.isnan([single.without, single.gain]).all()


def test_an_invalid_panel_is_refused(human: FloatArray, seats: FloatArray) -> None:
    for people, panel in ((human, seats[0]), (human, seats[:0]), (seats, seats)):
        with pytest.raises(ValueError, match="expected one table and one per seat"):
            leave_one_out(people, panel, level="pooled")
    with pytest.raises(ValueError, match="expected at least 1 panel"):
        ensemble_curve(human, seats, level="pooled", rng=default_rng(1), most=0)


class Judged:
    """People's scores of 474 summaries, shape ``(474,)``, and four judges', ``(4, 474)``.

    The figures below are known of labels of which none is missing. Two of Nemotron's are in
    the collected data, but not in its replies, which end in "**Excellent**".
    """

    def __init__(self, path: Path) -> None:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        labels = [[row["scores"].get(judge) for row in rows] for judge in JUDGES]
        read = np.array(labels, dtype=np.float64)
        self.unread = int(np.isnan(read).sum())
        self.seats = np.where(np.isnan(read), UNREAD, read)
        self.human = np.array([row["human"] for row in rows])


@pytest.fixture(scope="module")
def judged(shared_data: Path) -> Judged:
    return Judged(shared_data / "judgements" / "qags_four_judges.jsonl.gz")


@pytest.mark.shared_data
def test_two_labels_of_the_four_judges_are_missing(judged: Judged) -> None:
    assert judged.unread == 2


@pytest.mark.shared_data
def test_the_four_judges_correlate_as_known_over_all_rows(judged: Judged) -> None:
    gemma, nemotron, mistral, qwen = judged.seats
    assert correlation(gemma, nemotron).value == pytest.approx(0.738, abs=5e-4)
    assert correlation(mistral, qwen).value == pytest.approx(0.847, abs=5e-4)


@pytest.mark.shared_data
def test_the_four_judges_agree_as_known_over_all_rows(judged: Judged) -> None:
    _, nemotron, _, qwen = judged.seats
    # The published kappa is .518; of all conventions the unweighted one comes nearest, .5173.
    assert cohen_kappa(nemotron, qwen).value == pytest.approx(0.518, abs=8e-4)
    for level, value in (("ordinal", 0.735), ("interval", 0.697), ("nominal", 0.417)):
        curve = krippendorff_alpha(judged.seats.T, level=level)  # type: ignore[arg-type]
        assert curve.value == pytest.approx(value, abs=5e-4)


@pytest.mark.shared_data
def test_larger_panels_of_the_four_agree_more_with_people_as_known(judged: Judged) -> None:
    # Spearman in each half of the data, the mean of both: no halves, .566 for one judge.
    human, seats = judged.human[np.newaxis], judged.seats[:, np.newaxis]
    curves = [
        ensemble_curve(human[:, half], seats[..., half], level="pooled", rng=default_rng(1)).mean
        for half in (slice(CNN_DM), slice(CNN_DM, None))
    ]
    mean = np.mean(curves, axis=0)
    np.testing.assert_allclose(mean, [0.622, 0.659, 0.670, 0.676], atol=5e-4)


def test_one_left_glove_is_worth_more_than_two_right_ones() -> None:
    # a pair is worth 1: the left glove completes it unless it comes first (2/3 of the orders)
    worths = subset_worths(lambda who: float(0 in who and len(who) > 1), players=3)
    assert shapley_values(worths) == pytest.approx([2 / 3, 1 / 6, 1 / 6])


def test_a_runway_is_paid_by_those_who_need_its_length() -> None:
    # Littlechild and Owen's airport: each stretch is shared by all who use it
    costs = [8.0, 11.0, 13.0, 18.0]
    worths = subset_worths(lambda who: max((costs[i] for i in who), default=0.0), players=4)
    assert shapley_values(worths) == pytest.approx([2, 3, 4, 9])


def test_votes_of_a_council_are_their_power() -> None:
    # Shapley and Shubik: with weights 4, 2, 1, 1 and 5 to win, in 24 orders 18, 2, 2, 2 decide
    weights = np.array([4, 2, 1, 1])
    worths = subset_worths(lambda who: float(weights[list(who)].sum() >= 5), players=4)
    assert shapley_values(worths) == pytest.approx(np.array([18, 2, 2, 2]) / 24)


@given(WORTHS)
def test_it_is_the_mean_over_all_orders_and_sums_to_the_whole(worths: list[float]) -> None:
    players = len(worths).bit_length() - 1
    gains = np.zeros(players)
    orders = list(permutations(range(players)))
    for order in orders:
        mask = 0
        for player in order:
            gains[player] += worths[mask | 1 << player] - worths[mask]
            mask |= 1 << player
    worth_shares = shapley_values(worths)
    assert worth_shares == pytest.approx(gains / len(orders), abs=1e-9)
    assert worth_shares.sum() == pytest.approx(worths[-1] - worths[0], abs=1e-9)


def test_twelve_who_each_add_their_own_get_it() -> None:
    worths = subset_worths(lambda who: 5.0 + sum(who), players=12)
    assert shapley_values(worths) == pytest.approx(np.arange(12))


def test_every_subset_is_asked_for_once_by_its_bits() -> None:
    asked: list[frozenset[int]] = []

    def worth(who: frozenset[int]) -> float:
        asked.append(who)
        return float(sum(2**player for player in who))

    assert subset_worths(worth, players=3).tolist() == list(range(8))
    assert (asked[:3], len(asked)) == ([frozenset(), frozenset({0}), frozenset({1})], 8)


def test_an_undefined_worth_leaves_no_share() -> None:
    assert np.isnan(shapley_values([0.0, math.nan, 1.0, 2.0])).all()


@pytest.mark.parametrize("worths", [[], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [0.0, math.inf]])
def test_an_invalid_game_is_refused(worths: list[float]) -> None:
    with pytest.raises(ValueError, match="worths"):
        shapley_values(worths)


@pytest.mark.parametrize("players", [0, 13])
def test_too_many_players_are_refused(players: int) -> None:
    with pytest.raises(ValueError, match="players"):
        subset_worths(len, players=players)


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
