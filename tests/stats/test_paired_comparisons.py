"""Paired comparisons: another program's numbers, cases worked out by hand, and simulations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.arrays import FloatArray
from spanjury.stats.paired_comparisons import (
    bradley_terry,
    bradley_terry_effect,
    bradley_terry_scores,
)
from spanjury.stats.resampling import bootstrap, percentile_interval

LIKELIHOOD = 1e-9
"""A prior that is as good as none."""
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
# Games of the American League in 1987, home team by home team: won and lost against each other
# team; the data set `baseball` of the R package BradleyTerry2, from Agresti (2002), p. 438.
GAMES = (
    ((4, 3), (4, 2), (4, 3), (6, 1), (4, 2), (6, 0)),
    ((3, 3), (4, 2), (4, 3), (6, 0), (6, 1), (4, 3)),
    ((2, 5), (4, 3), (2, 4), (4, 3), (4, 2), (6, 0)),
    ((3, 3), (5, 1), (2, 5), (4, 3), (4, 2), (6, 1)),
    ((5, 1), (2, 5), (3, 3), (4, 2), (5, 2), (6, 0)),
    ((2, 5), (3, 3), (3, 4), (4, 3), (4, 2), (2, 4)),
    ((2, 5), (1, 5), (1, 6), (2, 4), (1, 6), (3, 4)),
)


def games() -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Return who played at home against whom, whether they won, and how often."""
    items, points, weights = [], [], []
    for home, results in enumerate(GAMES):
        others = [team for team in range(len(TEAMS)) if team != home]
        for away, (won, lost) in zip(others, results, strict=True):
            items += [(home, away)] * 2
            points += [1, 0]
            weights += [won, lost]
    return items, points, weights


@pytest.mark.parametrize(
    ("shown_first", "abilities", "at_home"),
    [  # R: summary(BTm(...)) in the vignette of BradleyTerry2, without and with `at.home`
        (None, [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0], math.nan),
        (1, [1.6196, 1.4754, 1.3271, 1.2813, 1.1438, 0.7047, 0], 0.3023),
    ],
)
def test_strengths_are_those_of_another_program(
    shown_first: int | None, abilities: list[float], at_home: float
) -> None:
    items, points, weights = games()
    order = None if shown_first is None else [shown_first] * len(points)
    fit = bradley_terry(items, points, shown_first=order, weights=weights, prior=LIKELIHOOD)
    assert fit.strengths - fit.strengths[-1] == pytest.approx(abilities, abs=1e-4)
    assert fit.position == pytest.approx(at_home, abs=1e-4, nan_ok=True)
    assert math.isnan(fit.tie)


def test_two_items_with_ties_are_fitted_exactly() -> None:
    # 5 wins, 2 losses and 3 ties are fitted by themselves: the odds of a win are 5 to 2, and
    # Davidson's parameter is 3 over the root of 5 times 2.
    fit = bradley_terry([[0, 1]] * 10, [1] * 5 + [0] * 2 + [0.5] * 3, prior=LIKELIHOOD)
    assert fit.strengths[0] - fit.strengths[1] == pytest.approx(math.log(5 / 2), abs=1e-5)
    assert fit.tie == pytest.approx(math.log(3 / math.sqrt(10)), abs=1e-5)
    assert fit.shares == pytest.approx([0.65, 0.35], abs=1e-5)
    assert math.isnan(fit.position)


def test_a_judge_that_always_prefers_the_first_finds_equals() -> None:
    items = [[0, 1], [0, 1], [1, 2], [1, 2], [0, 2], [0, 2]]
    fit = bradley_terry(items, [1, 0] * 3, shown_first=[1, -1] * 3)
    assert fit.strengths == pytest.approx([0, 0, 0], abs=1e-6)
    assert fit.position > 2


def test_an_item_that_always_wins_has_a_finite_strength() -> None:
    fit = bradley_terry([[0, 1]] * 5, [1] * 5)
    assert 0.9 < fit.shares[0] < 1
    # Half a win and half a loss against an average item, beside five wins.
    assert bradley_terry([[0, 1]] * 5, [1] * 5, prior=5).shares[0] < fit.shares[0]


def test_what_is_skipped_or_weighs_nothing_changes_nothing() -> None:
    items, points = [[0, 1], [1, 2], [0, 2]], [1, 0, 0.5]
    plain = bradley_terry(items, points)
    more = bradley_terry([*items, [0, 1], [2, 1]], [*points, math.nan, 1], weights=[1, 1, 1, 1, 0])
    assert more.strengths == pytest.approx(plain.strengths)
    twice = bradley_terry(items * 2, points * 2)
    weighed = bradley_terry(items, points, weights=[2, 2, 2])
    assert weighed.strengths == pytest.approx(twice.strengths)


def simulated(rng: np.random.Generator, *, comparisons: int) -> tuple[FloatArray, ...]:
    """Draw comparisons of four items whose log-strengths are 1 apart, with ties and a bias."""
    items = np.array([rng.choice(4, 2, replace=False) for _ in range(comparisons)])
    order = rng.choice([-1.0, 1.0], comparisons)
    first = -items[:, 0] + 0.4 * order
    second = -items[:, 1] - 0.4 * order
    weights = np.exp([first, second, (first + second) / 2])
    chances = (weights / weights.sum(axis=0)).T
    outcome = np.array([rng.choice([1.0, 0.0, 0.5], p=chance) for chance in chances])
    return items, outcome, order


def test_strengths_ties_and_position_are_recovered() -> None:
    items, points, order = simulated(np.random.default_rng(4), comparisons=6000)
    fit = bradley_terry(items, points, shown_first=order)
    assert fit.strengths == pytest.approx([1.5, 0.5, -0.5, -1.5], abs=0.15)
    assert fit.position == pytest.approx(0.8, abs=0.15)
    assert fit.tie == pytest.approx(0, abs=0.15)
    biased = bradley_terry(items, points)
    assert math.isnan(biased.position)


@given(st.integers(0, 50))
def test_items_in_another_order_keep_their_strengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    items, points, order = simulated(rng, comparisons=40)
    items = np.concatenate([items, [[0, 1], [2, 3]]])
    points, order = np.append(points, [0.5, 1]), np.append(order, [0, 0])
    fit = bradley_terry(items, points, shown_first=order)
    renamed = np.array([2, 0, 3, 1])
    again = bradley_terry(renamed[items], points, shown_first=order)
    assert again.strengths[renamed] == pytest.approx(fit.strengths, abs=1e-6)
    turned = bradley_terry(items[:, ::-1], 1 - points, shown_first=-order)
    assert turned.strengths == pytest.approx(fit.strengths, abs=1e-6)
    assert turned.position == pytest.approx(fit.position, abs=1e-6)
    assert fit.shares.mean() == pytest.approx(0.5)
    assert fit.strengths.sum() == pytest.approx(0, abs=1e-9)


def test_an_interval_over_clusters_holds_the_strength_and_is_wider_than_over_comparisons() -> None:
    rng = np.random.default_rng(2)
    items, points, order = (np.repeat(part, 3, axis=0) for part in simulated(rng, comparisons=200))
    clusters = np.repeat(np.arange(200), 3)
    effects = (
        bradley_terry_effect(items, points, shown_first=order, clusters=labels)
        for labels in (clusters, None)
    )
    by_cluster, alone = (
        percentile_interval(bootstrap(effect, items=count, rng=rng, draws=300))
        for effect, count in zip(effects, (200, 600), strict=True)
    )
    assert by_cluster.low[0] < 1.5 < by_cluster.high[0]
    assert by_cluster.low[-1] < 0.8 < by_cluster.high[-1]
    widths = [interval.high - interval.low for interval in (by_cluster, alone)]
    assert (widths[0] > widths[1]).all()


def test_the_sample_as_it_is_gives_the_fit() -> None:
    items, points, order = simulated(np.random.default_rng(3), comparisons=50)
    fit = bradley_terry(items, points, shown_first=order)
    effect = bradley_terry_effect(items, points, shown_first=order)
    whole = effect(np.ones((2, 50)))
    assert whole.shape == (2, 9)
    assert whole[1] == pytest.approx([*fit.strengths, *fit.shares, fit.position])


def clones() -> tuple[list[tuple[int, int]], list[float], list[int]]:
    """Return 0 that beats 1 in 12 sources, and 2 that does in 4 of them, and ties with 0."""
    rows = [((0, 1), 1.0, source) for source in range(12)]
    rows += [((2, 1), 1.0, source) for source in range(4)]
    rows += [((0, 2), 0.5, source) for source in range(4)]
    items, points, sources = zip(*rows, strict=True)
    return list(items), list(points), list(sources)


def test_the_prior_draws_an_item_with_few_comparisons_no_nearer_to_the_others() -> None:
    items, points, sources = clones()
    fit = bradley_terry(items, points)
    assert fit.strengths[0] == pytest.approx(fit.strengths[2], abs=1e-9)
    scores = bradley_terry_scores(items, points, pair=(0, 2), clusters=sources)
    assert scores.sum() == pytest.approx(0, abs=1e-9)


def test_the_mean_strength_of_a_group_that_never_met_another_is_0() -> None:
    fit = bradley_terry([[0, 1]] * 5 + [[2, 3]] * 9, [1] * 5 + [1] * 8 + [0])
    assert fit.strengths[:2].sum() == pytest.approx(0, abs=1e-9)
    assert fit.strengths[2:].sum() == pytest.approx(0, abs=1e-9)


def test_scores_of_two_items_are_their_points_less_a_half() -> None:
    items, points = [[0, 1]] * 3 + [[1, 0]], [1, 0, 1, 1]
    scores = bradley_terry_scores(items, points, pair=(0, 1))
    assert scores == pytest.approx([0.5, -0.5, 0.5, -0.5])
    assert bradley_terry_scores(items, points, pair=(1, 0)) == pytest.approx(-scores)


def test_scores_of_equal_items_are_0_on_average_however_unequal_the_others() -> None:
    rng = np.random.default_rng(1)
    totals = []
    for _ in range(60):
        won = rng.random(50) < 0.9
        items = [[0, 1]] * 40 + [[2, 1]] * 10
        scores = bradley_terry_scores(items, won.astype(float), pair=(0, 2))
        totals.append(scores.sum() / np.sqrt((scores**2).sum()))
    assert abs(np.mean(totals)) < 0.35
    assert 0.6 < np.std(totals) < 1.3


@pytest.mark.parametrize("pair", [(0, 0), (0, 2)])
def test_scores_need_two_of_the_items(pair: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="two of 2 items"):
        bradley_terry_scores([[0, 1]], [1], pair=pair)


@pytest.mark.parametrize(
    ("items", "points", "options", "problem"),
    [
        ([[0, 1]], [1, 0], {}, "pairs and points"),
        ([0, 1], [1, 0], {}, "pairs and points"),
        ([[0, 1]], [0.7], {}, "points of 0, 0.5, 1"),
        ([[0, 2]], [1], {}, "different items from 0"),
        ([[0, 0], [0, 1]], [1, 1], {}, "different items from 0"),
        ([[0, 1]], [math.nan], {}, "a comparison or more"),
        ([[0, 1]], [1], {"weights": [0]}, "a comparison or more"),
        ([[0, 1]], [1], {"weights": [-1]}, "a weight of 0 or more"),
        ([[0, 1]], [1], {"weights": [1, 1]}, "a weight of 0 or more"),
        ([[0, 1]], [1], {"shown_first": [2]}, "1, -1 or 0"),
        ([[0, 1]], [1], {"shown_first": [1, 1]}, "1, -1 or 0"),
        ([[0, 1]], [1], {"prior": 0}, "prior above 0"),
    ],
)
def test_what_is_no_comparison_is_refused(
    items: list[list[int]], points: list[float], options: dict[str, object], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        bradley_terry(items, points, **options)  # type: ignore[arg-type]  # set by each case
