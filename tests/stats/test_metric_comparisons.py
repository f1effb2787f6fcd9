"""Bootstrap and permutation of correlations: calibrated, paired, and alike for alike metrics."""

import math
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
from spanjury.stats.correlations.resampled_correlations import (
    Over,
    correlation_difference,
    resampled_correlations,
)
from spanjury.stats.resampling import percentile_interval

LEVELS: tuple[Level, ...] = get_args(Level)
METHODS: tuple[Method, ...] = get_args(Method)
levels = pytest.mark.parametrize("level", LEVELS)


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
