"""Correlations over all outputs, by input, and over systems, against their formulas."""

import math
from typing import get_args

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import kendalltau, pearsonr, spearmanr

from spanjury.stats.correlations.grouping import Level, level_correlation, level_correlations
from spanjury.stats.correlations.score_tables import paired_tables, system_means, tables

LEVELS: tuple[Level, ...] = get_args(Level)

RNG = default_rng(1)
HUMAN = RNG.integers(1, 6, size=(7, 12)).astype(float)
METRIC = HUMAN + RNG.normal(size=(7, 12))


def test_pooled_is_the_correlation_of_all_cells() -> None:
    coefficient = level_correlation(HUMAN, METRIC, level="pooled", method="tau-b")
    assert coefficient.value == pytest.approx(kendalltau(HUMAN, METRIC).statistic)
    assert coefficient[1:] == (84, 1, 0, None)


def test_by_input_is_the_mean_of_the_correlations_over_systems() -> None:
    coefficient = level_correlation(HUMAN, METRIC, level="by-input")
    columns = zip(HUMAN.T, METRIC.T, strict=True)
    assert coefficient.value == pytest.approx(
        np.mean([spearmanr(*pair).statistic for pair in columns])
    )
    assert coefficient[1:] == (84, 12, 0, None)


def test_the_system_level_is_the_correlation_of_means() -> None:
    coefficient = level_correlation(HUMAN, METRIC, level="system", method="pearson")
    assert coefficient.value == pytest.approx(
        pearsonr(HUMAN.mean(axis=1), METRIC.mean(axis=1)).statistic
    )
    assert coefficient[1:] == (84, 1, 0, None)


def test_inputs_without_a_correlation_are_left_out_and_counted() -> None:
    human, metric = HUMAN.copy(), METRIC.copy()
    human[:, 0] = 3  # constant
    metric[:5, 1] = math.nan  # two systems left
    coefficient = level_correlation(human, metric, level="by-input")
    rest = level_correlation(human[:, 2:], metric[:, 2:], level="by-input")
    assert coefficient.value == pytest.approx(rest.value)
    assert coefficient[1:] == (79, 10, 2, None)


def test_means_are_over_outputs_with_both_scores() -> None:
    human, metric = HUMAN.copy(), METRIC.copy()
    human[0, :3], metric[0, 3:6], metric[1] = math.nan, math.nan, math.nan
    means = system_means(human, metric)
    assert means.human[0] == pytest.approx(HUMAN[0, 6:].mean())
    assert means.metric[0] == pytest.approx(METRIC[0, 6:].mean())
    assert math.isnan(means.human[1])
    assert level_correlation(human, metric, level="system").items == 66
    left = [0, 2, 3, 4, 5, 6]
    expected = spearmanr(means.human[left], means.metric[left]).statistic
    assert level_correlation(human, metric, level="system").value == pytest.approx(expected)


@pytest.mark.parametrize("level", LEVELS)
def test_a_metric_that_gives_one_score_has_no_correlation(level: Level) -> None:
    coefficient = level_correlation(HUMAN, np.ones_like(HUMAN), level=level)
    assert math.isnan(coefficient.value)
    assert (coefficient.groups, coefficient.reason) == (0, "constant scores")


@pytest.mark.parametrize(
    ("level", "shape"),
    [
        ("pooled", (1, 2)),
        ("pooled", (0, 3)),
        ("by-input", (2, 9)),
        ("by-input", (9, 0)),
        ("system", (2, 9)),
        ("system", (9, 0)),
    ],
)
def test_too_few_systems_or_outputs_do_not_correlate(level: Level, shape: tuple[int, int]) -> None:
    scores = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
    coefficient = level_correlation(scores, scores, level=level)
    assert math.isnan(coefficient.value)
    assert coefficient.reason == "fewer than 3 items"
    assert coefficient.undefined == (shape[1] if level == "by-input" else 1)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_many_metrics_are_correlated_as_one_by_one(level: Level, missing: float) -> None:
    metrics = default_rng(2).normal(size=(2, 3, 7, 12))
    metrics[default_rng(3).random(metrics.shape) < missing] = math.nan
    coefficient = level_correlations(HUMAN, metrics, level=level)
    for at in np.ndindex(2, 3):
        alone = level_correlation(HUMAN, metrics[at], level=level)
        assert [float(part[at]) for part in coefficient] == pytest.approx(list(alone[:4]))


def test_inputs_that_are_easy_for_all_count_in_the_pooled_correlation_only() -> None:
    easy = np.arange(12.0) * 10
    pooled, by_input = (
        level_correlation(easy + HUMAN, easy - HUMAN, level=level).value
        for level in ("pooled", "by-input")
    )
    assert pooled > 0.9
    assert by_input == pytest.approx(-1)


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="expected by-input, pooled or system, got 'segment'"):
        level_correlation(HUMAN, METRIC, level="segment")  # type: ignore[arg-type]


def test_tables_of_other_systems_or_inputs_are_refused() -> None:
    with pytest.raises(ValueError, match="expected tables of the same systems and inputs"):
        tables(HUMAN, METRIC[:6])
    with pytest.raises(ValueError, match="expected tables of the same systems and inputs"):
        tables(HUMAN[0], METRIC[0])
    with pytest.raises(ValueError, match=r"expected shapes \(systems, inputs\)"):
        paired_tables(HUMAN, METRIC[np.newaxis])
