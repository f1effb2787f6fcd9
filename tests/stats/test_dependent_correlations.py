"""Tests of dependent correlations: published examples, and how often they are wrong."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from spanjury.stats.correlations.dependent_correlations import (
    DependentTest,
    dunn_clark,
    steiger,
    williams,
)

R = st.floats(-0.95, 0.95)


def numbers(test: DependentTest) -> tuple[float, float]:
    return float(test.statistic), float(test.p_two_sided)


# Comparisons by cocor 1.1 (Diedenhofen and Musch, 2015) as printed in the vignette of R's rmcorr
# on comparing correlations (Bakdash and Marusich), of distances that people walked and named.
def test_the_overlapping_correlations_of_rmcorr_differ_as_printed() -> None:
    t = williams(0.8066, 0.2383, between=0.2255, items=177)
    z = steiger(0.8066, 0.2383, between=0.2255, items=177)
    assert t.statistic == pytest.approx(9.3823, abs=1e-3)
    assert z.statistic == pytest.approx(8.5460, abs=1e-3)


def test_the_other_correlations_of_rmcorr_differ_as_printed() -> None:
    across = [0.7355813, 0.7758245, 0.7160551, 0.7575109]
    found = numbers(dunn_clark(0.8065821, 0.7341831, across=across, items=180))
    assert found == pytest.approx((2.0989, 0.0358), abs=5e-5)


# Steiger (1980), page 247: r12 = .4, r13 = .5, r23 = .1 of 103 persons; R's psych prints the
# t of -0.89 and its p of .37 as "Steiger case A".
def test_steigers_own_example_is_as_printed() -> None:
    for test in (williams, steiger):
        found = numbers(test(0.4, 0.5, between=0.1, items=103))
        assert found == pytest.approx((-0.89, 0.37), abs=5e-3)


@pytest.mark.parametrize("shared", [0.2, 0.9])
def test_equal_correlations_differ_as_seldom_as_the_level_says(shared: float) -> None:
    cov = np.array([[1, 0.4, 0.4], [0.4, 1, shared], [0.4, shared, 1]])
    drawn = default_rng(1).multivariate_normal(np.zeros(3), cov, size=(4000, 40))
    r = np.array([np.corrcoef(sample.T) for sample in drawn])
    for test in (williams, steiger):
        found = test(r[:, 0, 1], r[:, 0, 2], between=r[:, 1, 2], items=40)
        assert np.mean(found.p_two_sided <= 0.05) == pytest.approx(0.05, abs=0.011)
        assert np.mean(found.p_greater <= 0.05) == pytest.approx(0.05, abs=0.011)


def test_equal_correlations_of_four_variables_differ_as_seldom() -> None:
    cov = np.full((4, 4), 0.3)
    cov[[0, 1, 2, 3], [1, 0, 3, 2]] = 0.6
    np.fill_diagonal(cov, 1)
    drawn = default_rng(2).multivariate_normal(np.zeros(4), cov, size=(4000, 50))
    r = np.array([np.corrcoef(sample.T) for sample in drawn])
    across = r[:, [0, 0, 1, 1], [2, 3, 2, 3]]
    found = dunn_clark(r[:, 0, 1], r[:, 2, 3], across=across, items=50)
    assert np.mean(found.p_two_sided <= 0.05) == pytest.approx(0.05, abs=0.011)


@given(R, R, R, st.integers(4, 200))
def test_swapped_metrics_differ_the_other_way(
    first: float, second: float, between: float, items: int
) -> None:
    for test in (williams, steiger):
        there = test(first, second, between=between, items=items)
        back = test(second, first, between=between, items=items)
        assert there.statistic == pytest.approx(-back.statistic, nan_ok=True)
        assert there.p_greater == pytest.approx(1 - back.p_greater, nan_ok=True)
        assert there.p_two_sided == pytest.approx(back.p_two_sided, nan_ok=True)
        one_sided = np.minimum(there.p_greater, back.p_greater)
        assert there.p_two_sided == pytest.approx(2 * one_sided, nan_ok=True)


@given(R, R, st.lists(R, min_size=4, max_size=4))
def test_four_variables_have_no_order(first: float, second: float, across: list[float]) -> None:
    r13, r14, r23, r24 = across
    there = dunn_clark(first, second, across=across, items=50)
    back = dunn_clark(second, first, across=[r13, r23, r14, r24], items=50)
    assert there.statistic == pytest.approx(-back.statistic, nan_ok=True)


def test_unrelated_variables_are_compared_as_those_of_two_groups() -> None:
    z = float(dunn_clark(0.5, 0.2, across=[0, 0, 0, 0], items=53).statistic)
    assert z == pytest.approx((math.atanh(0.5) - math.atanh(0.2)) / math.sqrt(2 / 50))


@pytest.mark.parametrize(
    ("first", "second", "between", "items"),
    [
        (0.5, 0.5, 1.0, 50),  # the same metric
        (0.5, 0.4, 0.9, 3),
        (math.nan, 0.4, 0.9, 50),
        (0.5, 0.4, math.nan, 50),
    ],
)
def test_what_cannot_be_tested_is_undefined(
    first: float, second: float, between: float, items: int
) -> None:
    for test in (williams, steiger):
        found = test(first, second, between=between, items=items)
        assert np.isnan([*found]).all()


def test_correlations_that_cannot_be_together_are_undefined() -> None:
    assert np.isnan(williams(0.9, -0.9, between=0.9, items=50).statistic)


def test_a_perfect_correlation_has_no_transform() -> None:
    assert np.isnan(steiger(1.0, 0.5, between=0.5, items=50).statistic)
    assert np.isnan(dunn_clark(0.5, -1.0, across=[0, 0, 0, 0], items=50).statistic)


def test_a_perfect_metric_is_better_by_williams() -> None:
    assert 0 < williams(1.0, 0.5, between=0.5, items=50).p_greater < 1e-6


def test_no_correlation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected correlations in \[-1, 1\], got 1.1"):
        williams(1.1, 0.5, between=0.5, items=50)
    with pytest.raises(ValueError, match="expected four correlations across"):
        dunn_clark(0.1, 0.5, across=[0.5, 0.5], items=50)
