"""What is left of a p-value if every missing pair speaks against the judge."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.significance.sign_flip import sign_flip
from spanjury.stats.significance.sign_test import sign_test
from spanjury.stats.significance.worst_case import worst_case

GAPPY = st.lists(st.none() | st.integers(-4, 4), min_size=1, max_size=14)


def test_missing_pairs_become_the_largest_rise() -> None:
    told = [1, 1, 1, 1, 1, math.nan]
    answer = worst_case(told, worst=-4)
    # Five ranks of 3 and one of 6: 17 of 64 choices reach 15.
    assert answer.p == pytest.approx(17 / 64)
    assert answer.missing == 0


def test_another_test_can_be_asked() -> None:
    told = [1, 1, 1, math.nan]
    assert worst_case(told, worst=-4, test=sign_test) == sign_test([1, 1, 1, -4])


@given(differences=GAPPY, data=st.data())
def test_no_other_scores_would_give_a_larger_p_but_for_ties(
    differences: list[int | None], data: st.DataObject
) -> None:
    filled = [data.draw(st.integers(-4, 4)) if drop is None else drop for drop in differences]
    told = [math.nan if drop is None else drop for drop in differences]
    assert sign_test(filled).p <= worst_case(told, worst=-4, test=sign_test).p + 1e-12
    assert sign_flip(filled).p <= worst_case(told, worst=-4).p * 1.25


@pytest.mark.parametrize("worst", [0.0, 1.0, math.nan, -math.inf])
def test_a_worst_that_is_no_rise_is_refused(worst: float) -> None:
    with pytest.raises(ValueError, match="below zero"):
        worst_case([1, math.nan], worst=worst)
