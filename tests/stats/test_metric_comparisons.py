"""Comparisons of metrics: pairwise accuracies, and tests of the difference of two correlations."""

import math
from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import kendalltau

from spanjury.stats.arrays import FloatArray
from spanjury.stats.combination.multiplicity import holm
from spanjury.stats.correlations import rank_signs
from spanjury.stats.correlations import resampled_correlations as module
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, level_correlation
from spanjury.stats.correlations.metric_permutation import compared_metrics, perm_both
from spanjury.stats.correlations.pairwise import darr, pairwise_accuracy, tie_calibrated_accuracy
from spanjury.stats.correlations.resampled_correlations import (
    Over,
    correlation_difference,
    correlation_estimate,
    resampled_correlations,
)
from spanjury.stats.correlations.system_pairs import soft_pairwise_accuracy, system_accuracy
from spanjury.stats.resampling import Resampled, percentile_interval

LEVELS: tuple[Level, ...] = get_args(Level)
METHODS: tuple[Method, ...] = get_args(Method)
levels = pytest.mark.parametrize("level", LEVELS)
CELL = st.integers(0, 4).map(float) | st.just(math.nan)


def scored(seed: int, *, noise: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
    """Return people's scores of 8 systems on 20 inputs, and metrics, each with its own noise."""
    rng = default_rng(seed)
    quality = rng.normal(size=(8, 20)) + rng.normal(size=(8, 1))
    human = np.round(3 + quality + rng.normal(size=quality.shape) / 2)
    metrics = [quality + much * rng.normal(size=quality.shape) for much in noise]
    return human, np.array(metrics)


@levels
def test_one_metric_may_be_resampled_or_many(level: Level) -> None:
    human, metrics = scored(1, noise=(0.5, 1.0))
    both = resampled_correlations(human, metrics, level=level, rng=default_rng(2), draws=30)
    alone = resampled_correlations(human, metrics[1], level=level, rng=default_rng(2), draws=30)
    np.testing.assert_allclose(both.draws[:, 1], alone.draws)
    assert alone.estimate == level_correlation(human, metrics[1], level=level).value
    assert alone.draws.shape == (30,)


@pytest.mark.parametrize(
    ("over", "rows", "columns"), [("inputs", 1, 20), ("systems", 8, 1), ("both", 8, 20)]
)
def test_only_the_requested_axis_is_resampled(over: Over, rows: int, columns: int) -> None:
    # With the same scores in every row, or column, draws over these change nothing.
    human = np.broadcast_to(default_rng(1).normal(size=(rows, columns)), (8, 20))
    metric = np.broadcast_to(default_rng(2).normal(size=(rows, columns)), (8, 20))
    others: dict[Over, list[Over]] = {"inputs": ["systems"], "systems": ["inputs"], "both": []}
    for fixed in others[over]:
        result = resampled_correlations(
            human, metric, level="pooled", rng=default_rng(3), over=fixed, draws=20
        )
        np.testing.assert_allclose(result.draws, result.estimate)
    result = resampled_correlations(
        human, metric, level="pooled", rng=default_rng(3), over=over, draws=20
    )
    assert np.ptp(result.draws) > 0.05


def test_draws_made_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    human, metrics = scored(1, noise=(0.5, 1.0))
    monkeypatch.setattr(module, "BLOCK", 1000)
    result = resampled_correlations(
        human, metrics, level="system", rng=default_rng(2), over="inputs", draws=11
    )
    assert result.draws.shape == (11, 2)
    assert np.unique(result.draws[:, 0]).size > 3
    assert perm_both(human, metrics, level="system", rng=default_rng(2), draws=11).draws == 11


def test_the_interval_of_independent_outputs_holds_the_truth_as_often_as_it_says() -> None:
    rng, held = default_rng(5), 0
    for _ in range(200):
        quality = rng.normal(size=(1, 60))
        human, metric = quality + rng.normal(size=(2, 1, 60))
        result = resampled_correlations(
            human, metric, level="pooled", rng=rng, method="pearson", over="inputs", draws=200
        )
        low, high = percentile_interval(result)
        held += bool(low <= 0.5 <= high)
    assert 0.87 < held / 200 < 0.99


@levels
def test_a_better_metric_differs_from_a_worse_one(level: Level) -> None:
    human, metrics = scored(3, noise=(0.3, 12.0))
    result = correlation_difference(human, metrics, level=level, rng=default_rng(1), draws=199)
    alone = [level_correlation(human, metric, level=level).value for metric in metrics]
    assert result.difference == pytest.approx(alone[0] - alone[1])
    assert 0 < result.low < result.difference < result.high
    assert result.p <= 0.02
    assert perm_both(human, metrics, level=level, rng=default_rng(1), draws=199).p_greater < 0.05


@levels
@pytest.mark.parametrize("method", METHODS)
def test_a_metric_does_not_differ_from_its_copy(level: Level, method: Method) -> None:
    human, metrics = scored(4, noise=(1.0,))
    copies = np.stack([metrics[0], 7 * metrics[0] - 3])
    result = perm_both(human, copies, level=level, rng=default_rng(1), method=method, draws=50)
    assert result == pytest.approx((0, 1, 1, 50), abs=1e-12)
    resampled = correlation_difference(
        human, copies, level=level, rng=default_rng(1), method=method, draws=50
    )
    assert resampled == pytest.approx((0, 0, 0, 1), abs=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 99), st.sampled_from(LEVELS))
def test_swapped_metrics_differ_the_other_way(seed: int, level: Level) -> None:
    human, metrics = scored(seed, noise=(0.8, 1.0))
    there, back = (
        perm_both(human, pair, level=level, rng=default_rng(seed), draws=60)
        for pair in (metrics, metrics[::-1])
    )
    assert there.difference == pytest.approx(-back.difference)
    assert there.p_two_sided == pytest.approx(back.p_two_sided)
    assert there.p_greater + back.p_greater >= 1


def test_metrics_alike_good_differ_as_seldom_as_the_level_says() -> None:
    p = [
        perm_both(
            *scored(seed, noise=(1.0, 1.0)), level="pooled", rng=default_rng(seed), draws=99
        ).p_two_sided
        for seed in range(150)
    ]
    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=0.073)  # 3 standard errors


def test_the_permutation_of_three_outputs_is_that_of_all_swaps() -> None:
    human = np.array([[1.0], [2.0], [3.0]])
    metrics = np.array([[[1.0], [2.0], [3.0]], [[1.0], [3.0], [2.0]]])
    standard = (metrics - 2) / math.sqrt(2 / 3)
    differences = []
    for swap in np.ndindex(2, 2, 2):
        chosen = np.array(swap)
        taus = [
            kendalltau(human[:, 0], np.where(chosen == side, *standard[:, :, 0])).statistic
            for side in (0, 1)
        ]
        differences.append(taus[0] - taus[1])
    observed = differences[0]
    exact = np.mean(np.array(differences) >= observed - 1e-9)
    result = perm_both(
        human, metrics, level="pooled", rng=default_rng(1), method="tau-b", draws=8000
    )
    assert result.difference == pytest.approx(observed)
    assert result.p_greater == pytest.approx(exact, abs=0.02)


def test_outputs_that_one_metric_missed_count_for_neither() -> None:
    human, metrics = scored(6, noise=(0.5, 1.0))
    holed = metrics.copy()
    holed[0, :, :5], human[:, 5] = math.nan, math.nan
    pair, other = (
        perm_both(
            human[:, start:], scores[..., start:], level="pooled", rng=default_rng(1), draws=9
        )
        for start, scores in ((6, metrics), (0, holed))
    )
    assert pair.difference == pytest.approx(other.difference)
    alone = correlation_difference(human, holed, level="pooled", rng=default_rng(1), draws=9)
    assert alone.difference == pytest.approx(pair.difference)


def test_a_constant_metric_has_no_difference() -> None:
    human, metrics = scored(1, noise=(0.5, 1.0))
    metrics[1] = 2
    result = perm_both(human, metrics, level="pooled", rng=default_rng(1), draws=9)
    assert np.isnan(result[:3]).all()
    assert result.draws == 9
    missing = perm_both(human, metrics * math.nan, level="pooled", rng=default_rng(1), draws=9)
    assert np.isnan(missing[:3]).all()
    assert missing.draws == 0
    resampled = correlation_difference(human, metrics, level="pooled", rng=default_rng(1), draws=9)
    assert np.isnan([*resampled]).all()


def test_all_pairs_of_metrics_are_compared_and_adjusted() -> None:
    human, metrics = scored(2, noise=(0.2, 1.0, 4.0))
    result = compared_metrics(human, metrics, level="pooled", rng=default_rng(1), draws=99)
    rng = default_rng(1)
    alone = perm_both(human, metrics[[0, 1]], level="pooled", rng=rng, draws=99)
    assert result.difference[0, 1] == -result.difference[1, 0] == alone.difference
    assert result.p[0, 1] == result.p[1, 0] == alone.p_two_sided
    upper = np.triu_indices(3, k=1)
    np.testing.assert_allclose(result.adjusted[upper], np.exp(holm(np.log(result.p[upper]))))
    for part in result:
        assert np.isnan(np.diag(part)).all()


def test_one_metric_has_no_pairs() -> None:
    human, metrics = scored(2, noise=(0.2,))
    assert compared_metrics(human, metrics, level="pooled", rng=default_rng(1)).p.shape == (1, 1)


@pytest.mark.parametrize("shape", [(3, 8, 20), (8, 20), (1, 2, 8, 20)])
def test_other_than_two_metrics_are_refused(shape: tuple[int, ...]) -> None:
    for compare in (perm_both, correlation_difference):
        with pytest.raises(ValueError, match="expected two tables of metrics"):
            compare(np.ones((8, 20)), np.ones(shape), level="pooled", rng=default_rng(1))


def test_values_that_cannot_be_drawn_are_refused() -> None:
    human, metrics = scored(2, noise=(0.2, 0.4))
    with pytest.raises(ValueError, match="expected at least 1 draw"):
        perm_both(human, metrics, level="pooled", rng=default_rng(1), draws=0)
    with pytest.raises(ValueError, match="expected over to be both, inputs or systems"):
        resampled_correlations(
            human,
            metrics,
            level="pooled",
            rng=default_rng(1),
            over="rows",  # type: ignore[arg-type]
        )
    with pytest.raises(ValueError, match="expected tables of metrics"):
        compared_metrics(human, metrics[0], level="pooled", rng=default_rng(1))
    with pytest.raises(ValueError, match="expected people's scores"):
        perm_both(metrics, metrics, level="pooled", rng=default_rng(1))


def test_no_outputs_have_no_correlation_in_any_draw() -> None:
    nothing = np.ones((4, 0))
    result = resampled_correlations(nothing, nothing, level="pooled", rng=default_rng(1), draws=3)
    assert np.isnan(result.draws).all()


def test_ranks_by_signs_equal_those_by_sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = default_rng(5)
    human = rng.integers(1, 4, (6, 9)).astype(float)
    pair = rng.integers(1, 4, (2, 6, 9)).astype(float)
    human[0, :2] = pair[1, 3:, 4] = math.nan

    def results() -> list[FloatArray]:
        drawn = resampled_correlations(human, pair, level="by-input", rng=default_rng(2), draws=40)
        swapped = perm_both(human, pair, level="by-input", rng=default_rng(3), draws=40)
        return [drawn.estimate, drawn.draws, np.array(swapped.p_two_sided)]

    by_signs = results()
    monkeypatch.setattr(rank_signs, "_MOST_SYSTEMS", 0)
    for fast, sorted_ in zip(by_signs, results(), strict=True):
        np.testing.assert_allclose(fast, sorted_, rtol=0, atol=1e-12)


@st.composite
def score_tables(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    systems, inputs = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    count = systems * inputs
    cells = st.lists(CELL, min_size=count, max_size=count)
    human, metric = (np.array(draw(cells)).reshape(systems, inputs) for _ in range(2))
    return human, metric


def accuracy(human: FloatArray, metric: FloatArray, epsilon: float) -> float:
    """Return the mean over inputs of the share of pairs that are ordered or tied alike."""
    shares = []
    for people, scores in zip(human.T, metric.T, strict=True):
        present = np.flatnonzero(~np.isnan(people + scores))
        alike = []
        for i, j in combinations(present, 2):
            gap = scores[i] - scores[j]
            order = 0 if abs(gap) <= epsilon else np.sign(gap)
            alike.append(np.sign(people[i] - people[j]) == order)
        if alike:
            shares.append(np.mean(alike))
    return float(np.mean(shares)) if shares else math.nan


# The table of WMT18 (Ma, Bojar and Graham, 2018): what a metric says of a pair of which people
# say that the second is better counts as concordant only if it says the same.
@pytest.mark.parametrize(("metric", "value"), [([0.1, 0.9], 1), ([0.5, 0.5], -1), ([0.9, 0.1], -1)])
def test_a_pair_counts_in_darr_as_in_the_table_of_wmt(metric: list[float], value: int) -> None:
    scores = np.array(metric)[:, np.newaxis]
    assert darr([[40], [70]], scores).value == value
    assert darr([[70], [40]], scores[::-1]).value == value


def test_darr_counts_pairs_of_one_input_that_people_rated_well_apart() -> None:
    human = [[90, 10], [65, 20], [66, 60]]  # 25, 24 and 1 apart; 10, 50 and 40
    metric = [[0.8, 0.1], [0.2, 0.4], [0.9, 0.3]]
    result = darr(human, metric)
    assert result.value == pytest.approx(1 / 3)
    assert result[1:] == (2, 1, None)
    assert darr(human, metric, threshold=24).value == pytest.approx(0)


@given(score_tables(), st.integers(1, 4))
def test_darr_is_turned_round_by_turning_people_round_but_for_ties(
    both: tuple[FloatArray, FloatArray], threshold: int
) -> None:
    human, metric = both
    untied = metric + np.arange(len(metric))[:, np.newaxis] / 10
    there, back = (darr(sign * human, untied, threshold=threshold) for sign in (1, -1))
    assert there.value == pytest.approx(-back.value, nan_ok=True)
    assert math.isnan(there.value) == (there.reason == "no pairs")


def test_a_difference_that_misses_the_threshold_by_rounding_reaches_it() -> None:
    assert darr([[0.7], [0.6]], [[2], [1]], threshold=0.1).concordant == 1
    assert 0.7 - 0.6 < 0.1


@pytest.mark.parametrize("threshold", [0, -1, math.inf, math.nan])
def test_an_invalid_threshold_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match="expected a threshold above 0"):
        darr([[1], [2]], [[1], [2]], threshold=threshold)


def test_differences_that_miss_epsilon_by_rounding_alone_are_ties() -> None:
    human = [[1], [1], [1]]  # all tied
    third = [[0.1 + 0.2], [0.3], [0.3]]
    assert pairwise_accuracy(human, third).value == 1
    assert tie_calibrated_accuracy(human, third) == (1.0, 0.0, 3, None)
    steps = [[0.1], [0.2], [0.3]]  # 0.3 - 0.2 < 0.1 == 0.2 - 0.1
    assert pairwise_accuracy(human, steps, epsilon=0.1).value == pytest.approx(2 / 3)
    assert pairwise_accuracy(human, steps, epsilon=0.3 - 0.2).value == pytest.approx(2 / 3)
    result = tie_calibrated_accuracy([[1], [1], [2]], steps)
    assert result.value == pytest.approx(2 / 3)
    assert result.epsilon == 0
    assert pairwise_accuracy(human, steps, epsilon=0.0999).value == 0
    for scale in (1e-6, 1.0, 1e6):
        scaled = [[scale * cell for cell in row] for row in steps]
        assert pairwise_accuracy(human, scaled, epsilon=scale * 0.1).value == pytest.approx(2 / 3)


def test_means_of_the_same_ratings_in_another_order_are_one_rating() -> None:
    first, second = (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3
    assert first != second
    assert pairwise_accuracy([[first], [second]], [[2], [2]]).value == 1


@given(score_tables(), st.sampled_from([0.0, 1.0, 2.5]))
def test_accuracy_is_the_share_of_pairs_ordered_or_tied_alike(
    both: tuple[FloatArray, FloatArray], epsilon: float
) -> None:
    result = pairwise_accuracy(*both, epsilon=epsilon)
    assert result.value == pytest.approx(accuracy(*both, epsilon), nan_ok=True)
    assert math.isnan(result.value) == (result.reason == "no pairs") == (result.pairs == 0)


@given(score_tables())
def test_the_calibrated_threshold_is_the_best(both: tuple[FloatArray, FloatArray]) -> None:
    result = tie_calibrated_accuracy(*both)
    shares = [accuracy(*both, epsilon) for epsilon in range(5)]
    assert result.value == pytest.approx(max(shares), nan_ok=True)
    if result.reason is None:
        assert result.epsilon == int(np.argmax(np.array(shares) >= max(shares) - 1e-9))
        assert pairwise_accuracy(*both, epsilon=result.epsilon).value == pytest.approx(result.value)


def test_calibration_gives_a_fine_metric_the_ties_of_people() -> None:
    human = [[1], [1], [3], [3]]
    metric = [[0.10], [0.15], [0.90], [0.97]]
    assert pairwise_accuracy(human, metric).value == pytest.approx(4 / 6)
    result = tie_calibrated_accuracy(human, metric)
    assert result.epsilon == pytest.approx(0.07)
    assert result.value == 1


@pytest.mark.parametrize("epsilon", [-0.1, math.inf, math.nan])
def test_an_epsilon_below_0_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="expected an epsilon of 0 or more"):
        pairwise_accuracy([[1], [2]], [[1], [2]], epsilon=epsilon)


def test_system_accuracy_is_over_pairs_of_means() -> None:
    human = [[1.0, 2.0], [2.0, 3.0], [4.0, 4.0], [5.0, math.nan]]  # 1.5, 2.5, 4, 5
    metric = [[1, 1], [0, 0], [2, 4], [2, 9]]  # 1, 0, 3, 2
    result = system_accuracy(human, metric)
    assert result.value == pytest.approx(4 / 6)
    assert result.pairs == 6


def test_a_metric_as_sure_as_people_has_a_soft_accuracy_of_1() -> None:
    human = default_rng(1).normal(size=(5, 30))
    result = soft_pairwise_accuracy(human, 2 * human + 1, rng=default_rng(2))
    assert result.value == pytest.approx(1)
    assert result[1:] == (10, None)


def test_a_metric_as_sure_of_the_contrary_has_a_soft_accuracy_of_0() -> None:
    human = default_rng(1).normal(size=(4, 60)) / 10 + np.arange(4)[:, np.newaxis]
    result = soft_pairwise_accuracy(human, -human, rng=default_rng(2), draws=999)
    assert result.value == pytest.approx(1e-3)  # p are .0005 and .9995


def test_soft_accuracy_of_one_pair_is_by_the_exact_test() -> None:
    # Of the 8 signs of the differences 1, 1, 1 one gives a sum as large; of 2, 2, -1 two do
    # (2 + 2 - 1 and 2 + 2 + 1): by half what is equal, p is 1/16 and 3/16.
    human, metric = [[1, 1, 1], [0, 0, 0]], [[2, 2, 0], [0, 0, 1]]
    result = soft_pairwise_accuracy(human, metric, rng=default_rng(1), draws=40_000)
    assert result.value == pytest.approx(1 - 2 / 16, abs=0.01)


def test_soft_accuracy_knows_no_order_of_systems() -> None:
    human, metric = default_rng(3).integers(0, 3, size=(2, 6, 9)).astype(float)
    there, back = (
        soft_pairwise_accuracy(human[order], metric[order], rng=default_rng(4)).value
        for order in (slice(None), slice(None, None, -1))
    )
    assert there == pytest.approx(back)


def test_soft_accuracy_is_of_pairs_with_scores_of_one_input() -> None:
    nan = math.nan
    human = [[1, 2, nan], [2, 2, nan], [nan, nan, 3]]
    result = soft_pairwise_accuracy(human, human, rng=default_rng(1), draws=9)
    assert result.value == pytest.approx(1)
    assert result[1:] == (1, None)


def test_one_system_makes_no_pairs() -> None:
    assert system_accuracy([[1, 2]], [[1, 2]]).reason == "no pairs"
    result = soft_pairwise_accuracy([[1, 2]], [[1, 2]], rng=default_rng(1))
    assert math.isnan(result.value)
    assert result.reason == "no pairs"


def test_no_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 1 draw"):
        soft_pairwise_accuracy([[1], [2]], [[1], [2]], rng=default_rng(1), draws=0)


@pytest.mark.parametrize(
    ("inputs", "low"), [(4, 1 - 2 * (1 - 0.025 ** (1 / 4))), (20, 1 - 2 * (1 - 0.025 ** (1 / 20)))]
)
def test_a_correlation_equal_in_all_inputs_is_bounded_by_the_share_that_may_differ(
    inputs: int, low: float
) -> None:
    # P(no input differs | share p of inputs differ) = (1 - p) ** inputs = 0.025.
    human = np.broadcast_to([[1.0], [2.0], [3.0]], (3, inputs))
    drawn = resampled_correlations(
        human, human, level="by-input", rng=default_rng(1), over="inputs", draws=50
    )
    estimate = correlation_estimate(drawn, groups=inputs)
    assert estimate == pytest.approx((1.0, low, 1.0))
    turned = resampled_correlations(
        human, -human, level="by-input", rng=default_rng(1), over="inputs", draws=50
    )
    assert correlation_estimate(turned, groups=inputs) == pytest.approx((-1.0, -1.0, -low))


def test_a_single_correlation_equal_in_every_draw_has_no_interval() -> None:
    estimate = correlation_estimate(Resampled(np.array(0.5), np.full(50, 0.5)), groups=1)
    assert estimate.value == 0.5
    assert np.isnan([estimate.low, estimate.high]).all()


@pytest.mark.parametrize(
    ("items", "low"),
    [
        (8, 2 * 0.025 ** (1 / 4) - 1),
        (9, 2 * 0.025 ** (1 / 4) - 1),
        (20, 2 * 0.025 ** (1 / 10) - 1),
    ],
)
def test_a_perfect_correlation_is_bounded_by_the_pairs_that_may_be_out_of_order(
    items: int, low: float
) -> None:
    # P(items // 2 separate pairs are in order | share p is not) = (1 - p) ** (items // 2) = 0.025.
    drawn = Resampled(np.array(1.0), np.ones(50))
    assert correlation_estimate(drawn, groups=1, items=items) == pytest.approx(
        (1.0, low, 1.0), abs=1e-5
    )
    opposite = Resampled(np.array(-1.0), -np.ones(50))
    turned = correlation_estimate(opposite, groups=1, items=items)
    assert turned == pytest.approx((-1.0, -1.0, -low), abs=1e-5)
    lower = Resampled(np.array(0.5), np.full(50, 0.5))
    assert np.isnan(correlation_estimate(lower, groups=1, items=items).low)


def test_a_correlation_that_varies_has_the_interval_of_its_draws() -> None:
    human, metrics = scored(1, noise=(0.5,))
    drawn = resampled_correlations(
        human, metrics[0], level="by-input", rng=default_rng(2), draws=100
    )
    _, *bounds = correlation_estimate(drawn, groups=20)
    assert bounds == [*percentile_interval(drawn)]
    undefined = Resampled(np.array(np.nan), np.full(50, np.nan))
    assert np.isnan(correlation_estimate(undefined, groups=4)).all()
