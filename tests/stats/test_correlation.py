"""Correlations: against scipy, published figures and their formulas; by level and by weight."""

import gzip
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy import stats
from scipy import stats as scipy_stats
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr

from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.correlations.correlation import Method, correlation, correlations
from spanjury.stats.correlations.grouping import Level, level_correlation, level_correlations
from spanjury.stats.correlations.score_tables import paired_tables, system_means, tables
from spanjury.stats.correlations.weighted_correlation import WeighedMethod, weighted_correlation
from spanjury.stats.ranks import midranks, pair_counts, ranks

METHODS: tuple[Method, ...] = get_args(Method)
# Published as "turn level" by UniEval (Zhong et al., 2022) with its code: Pearson, Spearman and
# Kendall over all 360 responses of Topical-Chat.
UNIEVAL = {
    "naturalness": (0.443666, 0.513986, 0.373973),
    "coherence": (0.595143, 0.612942, 0.465915),
    "engagingness": (0.556510, 0.604739, 0.455941),
    "groundedness": (0.536209, 0.574954, 0.451533),
    "understandability": (0.380038, 0.467807, 0.360741),
}
SCORES = st.integers(-3, 3).map(float) | st.just(math.nan)
ITEMS = st.lists(st.tuples(SCORES, SCORES), max_size=24)
methods = pytest.mark.parametrize("method", METHODS)
LEVELS: tuple[Level, ...] = get_args(Level)
RNG = default_rng(1)
HUMAN = RNG.integers(1, 6, size=(7, 12)).astype(float)
METRIC = HUMAN + RNG.normal(size=(7, 12))
ROW = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=40)
WEIGHTED_SCORES = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4)), min_size=3, max_size=20
)


def oracle(first: FloatArray, second: FloatArray, method: Method) -> float:
    present = ~np.isnan(first + second)
    left, other = first[present], second[present]
    if left.size < 3 or np.ptp(left) == 0 or np.ptp(other) == 0:
        return math.nan
    functions: dict[Method, Callable[[], object]] = {
        "pearson": lambda: stats.pearsonr(left, other).statistic,
        "spearman": lambda: stats.spearmanr(left, other).statistic,
        "tau-b": lambda: stats.kendalltau(left, other).statistic,
        "tau-c": lambda: stats.kendalltau(left, other, variant="c").statistic,
    }
    return float(np.asarray(functions[method]()))


def split(items: list[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
    columns = np.array(items, dtype=np.float64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


@methods
@given(ITEMS)
def test_a_correlation_is_scipys(method: Method, items: list[tuple[float, float]]) -> None:
    first, second = split(items)
    expected = pytest.approx(oracle(first, second, method), abs=1e-12, nan_ok=True)
    assert correlation(first, second, method=method).value == expected


@methods
def test_rows_are_correlated_as_scipy_does_one_by_one(method: Method) -> None:
    for items, missing in itertools.product([3, 8, 9, 100, 1600], [0.0, 0.2]):
        rng = default_rng(items)
        first, second = rng.normal(size=(2, 2, 4, items)).round(1)
        second[rng.random(second.shape) < missing] = math.nan
        coefficient = correlations(first, second, method=method)
        expected = [
            [oracle(*pair, method) for pair in zip(*rows, strict=True)]
            for rows in zip(first, second, strict=True)
        ]
        case = f"{items} items, {missing:.0%} missing"
        np.testing.assert_allclose(coefficient.value, expected, atol=1e-12, err_msg=case)
        there = np.sum(~np.isnan(second), axis=-1)
        np.testing.assert_array_equal(coefficient.items, there, err_msg=case)


@methods
@pytest.mark.parametrize("missing", [[], [0, 7]])
def test_one_row_is_correlated_with_many(method: Method, missing: list[int]) -> None:
    rng = default_rng(1)
    people, metrics = rng.integers(0, 4, size=20).astype(float), rng.normal(size=(2, 3, 20))
    people[missing] = math.nan
    coefficient = correlations(people, metrics, method=method).value
    repeated = correlations(np.tile(people, (2, 3, 1)), metrics, method=method).value
    np.testing.assert_allclose(coefficient, repeated, rtol=1e-12)


@methods
@given(ITEMS)
def test_a_correlation_is_symmetric_and_bounded(
    method: Method, items: list[tuple[float, float]]
) -> None:
    first, second = split(items)
    there = correlation(first, second, method=method)
    assert there == pytest.approx(correlation(second, first, method=method), nan_ok=True)
    assert math.isnan(there.value) == (there.reason is not None)
    assert math.isnan(there.value) or abs(there.value) <= 1


@pytest.mark.parametrize("method", ["spearman", "tau-b", "tau-c"])
@given(ITEMS)
def test_a_rank_correlation_knows_only_the_order(
    method: Method, items: list[tuple[float, float]]
) -> None:
    first, second = split(items)
    coefficient = correlation(first, second, method=method).value
    bent = correlation(np.exp(first), second**3, method=method).value
    assert bent == pytest.approx(coefficient, abs=1e-12, nan_ok=True)
    opposed = correlation(first, -second, method=method).value
    assert opposed == pytest.approx(-coefficient, nan_ok=True)


@given(ITEMS, st.sampled_from([1e-300, 1e-9, 7.0, 1e300]))
def test_pearson_knows_no_units(items: list[tuple[float, float]], unit: float) -> None:
    first, second = split(items)
    coefficient = correlation(first, second, method="pearson").value
    scaled = correlation(unit * first, 3 - second, method="pearson").value
    assert scaled == pytest.approx(-coefficient, abs=1e-9, nan_ok=True)


@methods
def test_scores_in_one_order_agree_wholly(method: Method) -> None:
    items = np.arange(40.0)
    assert correlation(items, items, method=method).value == pytest.approx(1, abs=1e-15)
    assert correlation(items, -items, method=method).value == pytest.approx(-1, abs=1e-15)


@methods
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e17])
def test_a_constant_score_has_no_correlation(method: Method, constant: float) -> None:
    coefficient = correlation([1, 2, 3, math.nan], [constant] * 4, method=method)
    assert math.isnan(coefficient.value)
    assert coefficient[1:] == (3, "constant scores")


def test_scores_that_differ_by_rounding_are_constant() -> None:
    rounded = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2]
    assert correlation(range(4), rounded, method="pearson").reason == "constant scores"


@methods
def test_two_items_have_no_correlation(method: Method) -> None:
    for first, items in ([], 0), ([1, 2], 2), ([1, 2, math.nan], 2), ([math.nan] * 5, 0):
        coefficient = correlation(first, list(range(len(first))), method=method)
        assert math.isnan(coefficient.value), first
        assert coefficient[1:] == (items, "fewer than 3 items"), first


def test_no_rows_have_no_correlations() -> None:
    assert correlations(np.ones((0, 20)), np.arange(20), method="tau-b").value.shape == (0,)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected one of \['pearson', 'spearman', 'tau-b'"):
        correlation([1, 2, 3], [1, 2, 3], method="kendall")  # type: ignore[arg-type]


@pytest.mark.parametrize("second", [[1, 2], [1, 2, math.inf], [[1, 2, 3]]])
def test_other_items_are_refused(second: list[float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        correlation([1, 2, 3], second)


@pytest.mark.shared_data
def test_unievals_scores_agree_with_people_as_published(shared_data: Path) -> None:
    file = shared_data / "scores" / "topicalchat_usr_scores.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for aspect, published in UNIEVAL.items():
        human = [row["scores"][aspect] for row in rows]
        unieval = [row["metric_scores"][f"unieval_{aspect}"] for row in rows]
        coefficient = [correlation(human, unieval, method=method).value for method in METHODS[:3]]
        assert coefficient == pytest.approx(published, abs=5e-4)  # the scores here are rounded


def test_pooled_is_the_correlation_of_all_cells() -> None:
    coefficient = level_correlation(HUMAN, METRIC, level="pooled", method="tau-b")
    assert coefficient.value == pytest.approx(kendalltau(HUMAN, METRIC).statistic)
    assert coefficient[1:] == (84, 1, 0, None)


def test_by_input_is_the_mean_of_the_correlations_over_systems() -> None:
    coefficient = level_correlation(HUMAN, METRIC, level="by-input")
    by_column = [spearmanr(*pair).statistic for pair in zip(HUMAN.T, METRIC.T, strict=True)]
    assert coefficient.value == pytest.approx(np.mean(by_column))
    assert coefficient[1:] == (84, 12, 0, None)


def test_the_system_level_is_the_correlation_of_means() -> None:
    coefficient = level_correlation(HUMAN, METRIC, level="system", method="pearson")
    expected = pearsonr(HUMAN.mean(axis=1), METRIC.mean(axis=1)).statistic
    assert coefficient.value == pytest.approx(expected)
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
    for human, metric in ((HUMAN, METRIC[:6]), (HUMAN[0], METRIC[0])):
        with pytest.raises(ValueError, match="expected tables of the same systems and inputs"):
            tables(human, metric)
    with pytest.raises(ValueError, match=r"expected shapes \(systems, inputs\)"):
        paired_tables(HUMAN, METRIC[np.newaxis])


@given(ROW)
def test_ranks_are_scipys(row: list[float]) -> None:
    counts = ranks(np.array(row))
    assert midranks(np.array(row)).tolist() == rankdata(row).tolist()
    assert (counts.least + 1).tolist() == rankdata(row, method="min").tolist()
    assert counts.distinct == len(set(row))
    assert counts.tied == sum(row.count(value) - 1 for value in row) / 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40))
def test_pairs_are_counted_as_one_by_one(items: list[tuple[int, int]]) -> None:
    first, second = np.array(items, dtype=np.float64).T
    rows, other = np.triu_indices(len(items), k=1)
    moves = first[rows] - first[other], second[rows] - second[other]
    counts = pair_counts(ranks(first), ranks(second))
    assert counts.pairs == rows.size
    assert counts.discordant == np.sum(moves[0] * moves[1] < 0)
    assert counts.tied_first == np.sum(moves[0] == 0)
    assert counts.tied_second == np.sum(moves[1] == 0)
    assert counts.tied_both == np.sum((moves[0] == 0) & (moves[1] == 0))


@pytest.mark.parametrize("items", [7, 8, 9, 16, 1000])
def test_a_row_turned_round_has_every_pair_out_of_order(items: int) -> None:
    there = ranks(np.arange(items, dtype=np.float64))
    back = ranks(-np.arange(items, dtype=np.float64))
    counts = pair_counts(there, back)
    assert counts.discordant == counts.pairs == items * (items - 1) // 2
    assert counts.tied_first == counts.tied_second == counts.tied_both == 0


def test_a_quotient_by_nothing_is_undefined_without_a_warning() -> None:
    np.testing.assert_array_equal(
        safe_divide([[1.0], [0.0]], [2.0, 0.0]), [[0.5, np.nan], [0, np.nan]]
    )


@given(WEIGHTED_SCORES)
def test_a_weight_counts_like_the_item_so_many_times(items: list[tuple[int, int, int]]) -> None:
    first, second, weights = map(np.array, zip(*items, strict=True))
    repeated = [np.repeat(scores, weights) for scores in (first, second)]
    for method in ("pearson", "spearman"):
        ours = weighted_correlation(first, second, weights=weights, method=method)
        if np.ptp(first) and np.ptp(second):
            theirs = getattr(scipy_stats, f"{method}r")(*repeated).statistic
            assert ours == pytest.approx(theirs, abs=1e-9)
        else:
            assert np.isnan(ours)


def test_weights_of_many_draws_give_a_value_each() -> None:
    first, second = [1, 2, 3, 4], [1, 3, 2, 4]
    weights = [[1, 1, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 1]]
    coefficient = weighted_correlation(first, second, weights=weights)
    assert coefficient[:3] == pytest.approx([0.8, 1.0, -1.0])  # 1 - 6 * 2 / (4 * 15); 1, 3, 4; 3, 2
    assert np.isnan(coefficient[3])


def test_no_items_have_no_correlation() -> None:
    for method in ("pearson", "spearman"):
        assert np.isnan(weighted_correlation([], [], weights=[], method=method))


def test_weights_by_the_chance_of_items_estimate_the_correlation_of_all() -> None:
    rng = default_rng(1)
    quality = rng.normal(size=600)
    first, second = quality + rng.normal(size=600), quality + rng.normal(size=600)
    chance = np.where(np.abs(first) < 1.5, 0.1, 0.8)  # extremes are sought out
    whole = weighted_correlation(first, second, weights=np.ones(600))
    drawn = [rng.random(600) < chance for _ in range(300)]
    plain, weighed = (
        np.mean([weighted_correlation(first[d], second[d], weights=by[d]) for d in drawn])
        for by in (np.ones(600), 1 / chance)
    )
    assert abs(weighed - whole) < 0.01
    assert plain - whole > 0.05


@pytest.mark.parametrize(
    ("first", "second", "weights", "method"),
    [
        ([1, 2], [1, 2, 3], [1, 1], "spearman"),
        ([1, 2], [1, 2], [1, 1, 1], "spearman"),
        ([1, np.nan], [1, 2], [1, 1], "spearman"),
        ([1, 2], [1, 2], [1, -1], "pearson"),
    ],
)
def test_invalid_weighted_input_is_refused(
    first: list[float], second: list[float], weights: list[float], method: WeighedMethod
) -> None:
    with pytest.raises(ValueError, match="expected"):
        weighted_correlation(first, second, weights=weights, method=method)
