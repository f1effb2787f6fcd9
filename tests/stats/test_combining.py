"""Combinations of p-values: invariants, and their size under the null."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.combination.combining import Combination
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
)

WAYS = [harmonic_mean_calibrated, harmonic_mean_paper, harmonic_mean_wilson]
EVERY = pytest.mark.parametrize("combine", WAYS)
P = st.lists(st.floats(1e-12, 1), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("combine", "size"),
    [
        (harmonic_mean_paper, 0.296),
        (harmonic_mean_wilson, 0.059),
        (harmonic_mean_calibrated, 0.048),
    ],
)
def test_the_size_under_the_null_is_the_known_one(combine: Combination, size: float) -> None:
    # Four independent p-values, 200,000 times: the standard error of .05 is .0005.
    log_p = np.log(1 - np.random.default_rng(20).random((200_000, 4)))
    rejected = np.mean(combine(log_p) <= math.log(0.05))
    assert rejected == pytest.approx(size, abs=0.0005 + 3 * math.sqrt(size * (1 - size) / 200_000))


@EVERY
def test_each_row_is_combined_by_itself(combine: Combination) -> None:
    rows = np.random.default_rng(1).uniform(-50, 0, size=(2, 5, 3))
    weights = [0.5, 0.2, 0.3]
    whole = combine(rows, weights=weights)
    assert whole.shape == (2, 5)
    assert float(whole[1, 3]) == pytest.approx(float(combine(rows[1, 3], weights=weights)))


@EVERY
def test_values_without_weight_do_not_matter_even_if_unknown(combine: Combination) -> None:
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
    assert float(combine([log_p])) == pytest.approx(log_p, rel=1e-9, abs=1e-9)


@given(P)
def test_no_harmonic_mean_that_is_a_p_value_is_below_the_least_of_them(p: list[float]) -> None:
    log_p = np.log(p)
    least = log_p.min() - 1e-9
    for combine in (harmonic_mean_wilson, harmonic_mean_calibrated):
        assert float(combine(log_p)) >= least
