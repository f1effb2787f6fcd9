"""Wilcoxon's approximation, against scipy, hand-worked values and the far tail."""

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import log_ndtr
from scipy.stats import wilcoxon

from spanjury.stats.combination.discernment import discernment_score
from spanjury.stats.significance.signed_rank import Zeros, signed_rank


def d_of(log_p: float) -> float:
    return float(discernment_score(log_p))


def steps(lower: int, higher: int) -> list[int]:
    """Of 100 items some are one step lower when damaged, and some one step higher."""
    return [1] * lower + [-1] * higher + [0] * (100 - lower - higher)


def test_a_hundred_different_falls_give_the_known_z() -> None:
    answer = signed_rank(range(1, 101))
    assert answer.p == pytest.approx(2e-18, rel=0.05)
    assert round(answer.statistic, 2) == 8.68
    assert round(d_of(answer.log_p), 2) == 13.61


def test_a_hundred_equal_falls_give_z_ten() -> None:
    answer = signed_rank(np.ones(100))
    assert answer.statistic == pytest.approx(10, rel=1e-12)
    assert round(d_of(answer.log_p), 2) == 17.77


@pytest.mark.parametrize(
    ("lower", "higher", "d"),
    # z is the root of k for k equal falls: sf(1) = .1587, of which the log to base .05 is .61.
    [(1, 0, 0.61), (3, 0, 1.06), (5, 0, 1.46), (10, 0, 2.39), (10, 3, 1.22)],
)
def test_few_items_one_step_lower_already_look_discerned(lower: int, higher: int, d: float) -> None:
    assert round(d_of(signed_rank(steps(lower, higher)).log_p), 2) == d


@pytest.mark.parametrize("correction", [False, True])
@pytest.mark.parametrize("zeros", get_args(Zeros))
@given(differences=st.lists(st.integers(-6, 6), min_size=1, max_size=40))
def test_it_says_what_scipy_says(zeros: Zeros, correction: bool, differences: list[int]) -> None:
    assume(any(differences))
    oracle = wilcoxon(
        differences,
        alternative="greater",
        method="approx",
        zero_method=zeros,
        correction=correction,
    )
    answer = signed_rank(differences, zeros=zeros, correction=correction)
    assert answer.p == pytest.approx(oracle.pvalue, rel=1e-9)


def test_a_p_value_too_small_for_a_float_keeps_its_logarithm() -> None:
    answer = signed_rank(np.ones(10_000))
    assert answer.statistic == pytest.approx(100, rel=1e-12)
    assert answer.p == 0
    # The tail of a normal is about its density over z: -z^2/2 - log(z sqrt(2 pi)).
    assert answer.log_p == pytest.approx(-5000 - math.log(100 * math.sqrt(2 * math.pi)), abs=1e-3)


def test_drops_of_zero_are_treated_as_asked() -> None:
    # Ranks of 1, 2, -3 are 1 2 3 without the zero and 2 3 4 with it: z = 0 / .. and 1 / ..
    assert signed_rank([0, 1, 2, -3]).statistic == 0
    pratt = signed_rank([0, 1, 2, -3], zeros="pratt")
    assert pratt.statistic == pytest.approx(1 / math.sqrt(4 + 9 + 16))
    shared = signed_rank([0, 1, 2, -3], zeros="zsplit")
    assert shared.statistic == pytest.approx(1 / math.sqrt(1 + 4 + 9 + 16))
    assert shared.log_p == pytest.approx(float(log_ndtr(-shared.statistic)))


def test_another_way_with_zeros_is_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="wilcox, pratt or zsplit, got 'drop'"):
        signed_rank([1], zeros="drop")  # type: ignore[arg-type]  # the point is that it is wrong
