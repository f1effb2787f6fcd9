"""Correlations: against scipy, against published ones, and by what must hold of them."""

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

from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import Method, correlation, correlations

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
    assert correlation(first, -second, method=method).value == pytest.approx(
        -coefficient, nan_ok=True
    )


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
