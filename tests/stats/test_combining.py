"""Other combinations of p-values: oracles, invariants, and the size of all under the null."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtri
from scipy.stats import combine_pvalues

from spanjury.stats.combination.combining import (
    Combination,
    bonferroni,
    cauchy,
    fisher,
    maximum,
    minimum,
    stouffer,
)
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
)

WAYS = [
    bonferroni,
    cauchy,
    fisher,
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
    maximum,
    minimum,
    stouffer,
]
EVERY = pytest.mark.parametrize("combine", WAYS)
P = st.lists(st.floats(1e-12, 1), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("combine", "size"),
    [
        (harmonic_mean_paper, 0.296),
        (harmonic_mean_wilson, 0.059),
        (harmonic_mean_calibrated, 0.048),
        (bonferroni, 0.049),
        (cauchy, 0.050),
        (fisher, 0.050),
        (stouffer, 0.050),
        (minimum, 1 - 0.95**4),
        (maximum, 0.05**4),
    ],
)
def test_the_size_under_the_null_is_the_known_one(combine: Combination, size: float) -> None:
    # Four independent p-values, 200,000 times: the standard error of .05 is .0005.
    log_p = np.log(1 - np.random.default_rng(20).random((200_000, 4)))
    found = np.mean(combine(log_p) <= math.log(0.05))
    assert found == pytest.approx(size, abs=0.0005 + 3 * math.sqrt(size * (1 - size) / 200_000))


@given(P)
def test_fisher_and_stouffer_say_what_scipy_says(p: list[float]) -> None:
    for combine, method in ((fisher, "fisher"), (stouffer, "stouffer")):
        oracle = combine_pvalues(p, method=method).pvalue  # type: ignore[call-overload]  # a name
        assert math.exp(float(combine(np.log(p)))) == pytest.approx(oracle, rel=1e-6, abs=1e-300)


def test_stouffer_weighs_normal_scores() -> None:
    p, weights = np.array([0.01, 0.2, 0.6]), np.array([0.2, 0.3, 0.5])
    z = (weights * -ndtri(p)).sum() / np.sqrt((weights**2).sum())
    assert float(stouffer(np.log(p), weights=weights)) == pytest.approx(float(log_ndtr(-z)))


@given(st.lists(st.floats(1e-6, 0.99), min_size=1, max_size=6))
def test_cauchy_is_the_tail_of_the_mean_cotangent(p: list[float]) -> None:
    mean = np.mean(np.tan((0.5 - np.array(p)) * np.pi))
    expected = 0.5 - math.atan(mean) / math.pi
    assert math.exp(float(cauchy(np.log(p)))) == pytest.approx(expected, rel=1e-6)


def test_a_p_value_of_one_does_not_outweigh_the_others_by_cauchy() -> None:
    assert math.exp(float(cauchy(np.log([1e-6, 1, 1])))) == pytest.approx(3e-6, rel=0.01)
    assert math.exp(float(cauchy([0.0, 0.0]))) == pytest.approx(0.99)


def test_cauchy_holds_with_a_weight_too_small_to_matter() -> None:
    # 1e-15 / (pi 1e-14) = .03 does not make up for the cotangent of .99 pi, -31.8.
    pvalues = np.log([1e-14, 1])
    combined = cauchy(pvalues, weights=[1e-15, 1 - 1e-15])
    assert float(combined) == pytest.approx(math.log(0.99), abs=1e-4)


def test_bonferroni_divides_by_the_weight() -> None:
    p = np.log([0.01, 0.2])
    assert math.exp(float(bonferroni(p))) == pytest.approx(0.02)
    assert math.exp(float(bonferroni(p, weights=[0.25, 0.75]))) == pytest.approx(0.04)
    assert float(bonferroni(np.log([0.9, 0.8]))) == 0


def test_the_extremes_are_of_what_has_a_weight() -> None:
    assert float(minimum([-3.0, -2, -1], weights=[0, 0.5, 0.5])) == -2
    assert float(maximum([-3.0, -2, -1], weights=[0.5, 0.5, 0])) == -2


@EVERY
def test_each_row_is_combined_by_itself(combine: Combination) -> None:
    rows = np.random.default_rng(1).uniform(-50, 0, size=(2, 5, 3))
    weights = [0.5, 0.2, 0.3]
    whole = combine(rows, weights=weights)
    assert whole.shape == (2, 5)
    assert float(whole[1, 3]) == pytest.approx(float(combine(rows[1, 3], weights=weights)))


@EVERY
def test_what_has_no_weight_is_no_matter_even_if_unknown(combine: Combination) -> None:
    with_unheard = combine([-1.0, math.nan, -3], weights=[0.5, 0, 0.5])
    assert float(with_unheard) == float(combine([-1.0, -3], weights=[0.5, 0.5]))
    assert math.isnan(float(combine([-1.0, math.nan, -3])))


@EVERY
@given(st.permutations([-1.0, -2.5, -0.1, -40]))
def test_the_order_of_aspects_is_no_matter(combine: Combination, log_p: list[float]) -> None:
    assert float(combine(log_p)) == pytest.approx(float(combine([-1.0, -2.5, -0.1, -40])))


@EVERY
def test_p_values_too_small_for_a_float_keep_their_logarithm(combine: Combination) -> None:
    log_p = float(combine([-2000.0, -3000, -2500]))
    assert -8000 < log_p < -1990


@pytest.mark.parametrize("combine", WAYS)
@given(log_p=st.floats(-700, 0))
def test_one_p_value_alone_stays_what_it_is(combine: Combination, log_p: float) -> None:
    if combine is cauchy:
        log_p = min(log_p, math.log(0.99))
    assert float(combine([log_p])) == pytest.approx(log_p, rel=1e-9, abs=1e-9)


@given(P)
def test_none_but_the_product_and_the_scores_is_below_bonferroni_over_the_number(
    p: list[float],
) -> None:
    log_p = np.log(p)
    least = float(bonferroni(log_p)) - math.log(len(p)) - 1e-9
    assert all(
        float(combine(log_p)) >= least
        for combine in (harmonic_mean_wilson, harmonic_mean_calibrated, minimum, maximum)
    )
