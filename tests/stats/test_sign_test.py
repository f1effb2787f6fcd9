"""The sign test, against the binomial distribution and in its far tail."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from spanjury.stats.significance.sign_test import sign_test


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_it_is_the_binomial_test_of_the_falls(falls: int, rises: int, zeros: int) -> None:
    answer = sign_test([3] * falls + [-1] * rises + [0] * zeros)
    if falls + rises:
        oracle = binomtest(falls, falls + rises, alternative="greater").pvalue
        assert answer.p == pytest.approx(oracle, rel=1e-9)
        assert answer.statistic == falls


def test_five_thousand_falls_keep_their_logarithm() -> None:
    answer = sign_test([1] * 5000)
    assert answer.log_p == pytest.approx(-5000 * math.log(2), rel=1e-12)
    assert answer.p == 0


def test_the_size_of_a_drop_is_no_matter() -> None:
    assert sign_test([1, -1, 1, 1]).log_p == sign_test([9, -0.1, 2, 0.5]).log_p
