"""Kappa and alpha: published examples, and what must hold of them."""

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from spanjury.stats.raters.agreement import (
    AlphaLevel,
    KappaWeights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)

NAN = math.nan
LEVELS: tuple[AlphaLevel, ...] = get_args(AlphaLevel)
WEIGHTS: tuple[KappaWeights, ...] = get_args(KappaWeights)
MATRIX = st.integers(1, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.integers(1, 4).map(float) | st.just(NAN), min_size=raters, max_size=raters),
        min_size=1,
        max_size=12,
    )
)

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers and
# twelve units, of the last of which there is one value only.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]

# The example of Wikipedia's "Fleiss' kappa": ten units, fourteen raters, five categories.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# Cohen (1968), table 1: how many of 200 patients got which of three diagnoses from two judges.
COHEN = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_example_has_his_alphas(level: AlphaLevel, value: float) -> None:
    agreement = krippendorff_alpha(np.transpose(OBSERVERS), level=level)
    assert agreement.value == pytest.approx(value, abs=5e-4)
    assert agreement[1:] == (11, None)


def test_an_example_of_fleiss_kappa_has_its_value() -> None:
    agreement = fleiss_kappa([np.repeat(np.arange(5), row) for row in FLEISS])
    assert agreement.value == pytest.approx(0.210, abs=5e-4)
    assert agreement[1:] == (10, None)


def test_cohens_example_has_his_kappa() -> None:
    first, second = np.repeat(np.indices((3, 3)).reshape(2, 9), np.ravel(COHEN), axis=1)
    agreement = cohen_kappa(first, second)
    assert agreement.value == pytest.approx(0.492, abs=5e-4)
    assert agreement[1:] == (200, None)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30))
def test_weighted_kappas_have_their_closed_forms(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.float64).T
    spread = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    apart = np.mean(np.abs(first[:, np.newaxis] - second))
    if apart:
        quadratic = cohen_kappa(first, second, weights="quadratic").value
        linear = cohen_kappa(first, second, weights="linear").value
        assert quadratic == pytest.approx(1 - np.mean((first - second) ** 2) / spread)
        assert linear == pytest.approx(1 - np.mean(np.abs(first - second)) / apart)


@pytest.mark.parametrize("weights", WEIGHTS)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20))
def test_kappa_is_symmetric_in_bounds(weights: KappaWeights, pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    there, back = (
        cohen_kappa(*both, weights=weights) for both in ((first, second), (second, first))
    )
    assert there == pytest.approx(back, nan_ok=True)
    assert math.isnan(there.value) == (there.reason is not None)
    assert math.isnan(there.value) or -1 <= there.value <= 1


@pytest.mark.parametrize("level", LEVELS)
@settings(max_examples=40)
@given(MATRIX)
def test_alpha_knows_no_order_of_raters_and_units(
    level: AlphaLevel, matrix: list[list[float]]
) -> None:
    agreement = krippendorff_alpha(matrix, level=level)
    turned = krippendorff_alpha(np.array(matrix)[::-1, ::-1], level=level)
    assert turned == pytest.approx(agreement, nan_ok=True)
    assert math.isnan(agreement.value) == (agreement.reason is not None)
    assert math.isnan(agreement.value) or agreement.value <= 1


@pytest.mark.parametrize(
    ("level", "seen"),
    [("nominal", [0, 4, 3, -2, 7]), ("ordinal", [0, 1, 5, 6, 90]), ("interval", [0, 3, 5, 7, 9])],
)
@settings(max_examples=40)
@given(MATRIX)
def test_alpha_knows_as_much_of_numbers_as_its_level(
    level: AlphaLevel, seen: list[int], matrix: list[list[float]]
) -> None:
    values = np.array(matrix)
    mapped = np.where(np.isnan(values), NAN, np.array(seen)[np.nan_to_num(values).astype(int)])
    expected = krippendorff_alpha(values, level=level).value
    assert krippendorff_alpha(mapped, level=level).value == pytest.approx(expected, nan_ok=True)


def test_alpha_of_many_ratings_by_two_is_nearly_scotts_pi() -> None:
    ratings = default_rng(1).integers(0, 3, size=(500, 2)).astype(float)
    ratings[:200, 1] = ratings[:200, 0]
    shares = np.bincount(ratings.ravel().astype(int)) / ratings.size
    pi = 1 - np.mean(ratings[:, 0] != ratings[:, 1]) / (1 - shares @ shares)
    alpha = krippendorff_alpha(ratings, level="nominal").value
    assert alpha == pytest.approx(1 - (1 - pi) * 999 / 1000)  # [1] of the function
    assert fleiss_kappa(ratings).value == pytest.approx(pi)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_raters_who_say_the_same_of_units_that_differ_agree_wholly(weights: KappaWeights) -> None:
    rating = [1.0, 2.0, 5.0, 2.0, NAN]
    assert cohen_kappa(rating, rating, weights=weights) == (1, 4, None)
    assert fleiss_kappa([[value] * 3 for value in rating[:4]]).value == 1
    assert krippendorff_alpha([[value] * 3 for value in rating]).value == 1


def test_raters_who_always_say_the_same_neither_agree_nor_disagree() -> None:
    for agreement in (
        cohen_kappa([3, 3], [3, 3]),
        fleiss_kappa([[3, 3]]),
        krippendorff_alpha([[3, 3]]),
    ):
        assert math.isnan(agreement.value)
        assert agreement.reason == "all ratings alike"


@pytest.mark.parametrize(
    "ratings", [[[1, NAN], [NAN, 2]], [[NAN, NAN]], np.ones((0, 3)), [[1], [2]]]
)
def test_without_two_ratings_of_a_unit_there_is_no_agreement(ratings: list[list[float]]) -> None:
    for agreement in (krippendorff_alpha(ratings), fleiss_kappa(ratings)):
        assert math.isnan(agreement.value)
        assert agreement[1:] == (0, "no unit with two ratings")


def test_two_raters_without_a_unit_in_common_have_no_agreement() -> None:
    assert cohen_kappa([1, NAN], [NAN, 2]).reason == "no unit with two ratings"


def test_fleiss_kappa_wants_the_same_number_of_ratings_for_every_unit() -> None:
    agreement = fleiss_kappa([[1.0, 2.0, 3.0], [1.0, 2.0, NAN]])
    assert math.isnan(agreement.value)
    assert agreement.reason == "units with other numbers of ratings"
    assert fleiss_kappa([[1.0, 2.0, NAN], [NAN, 2.0, 2.0]]).reason is None


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="expected linear, quadratic or unweighted"):
        cohen_kappa([1, 2], [1, 2], weights="cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected interval, nominal or ordinal"):
        krippendorff_alpha([[1, 2]], level="ratio")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected as many ratings of both"):
        cohen_kappa([1, 2], [1])
    with pytest.raises(ValueError, match=r"expected ratings of shape \(units, raters\)"):
        fleiss_kappa([1, 2])
