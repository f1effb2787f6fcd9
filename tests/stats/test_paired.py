"""Missing, equal and unusable differences in every paired test."""

import math
from functools import partial

import pytest
from fakes.refusals import refused
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.significance.paired import PairedStatistic
from spanjury.stats.significance.sign_flip import paired_test, sign_flip
from spanjury.stats.significance.sign_test import sign_test
from spanjury.stats.significance.signed_rank import signed_rank

DETERMINISTIC = [
    signed_rank,
    partial(signed_rank, zeros="pratt"),
    partial(signed_rank, zeros="zsplit"),
    partial(signed_rank, correction=True),
    sign_flip,
    partial(sign_flip, zeros="pratt"),
    sign_test,
    paired_test,
]
EVERY = pytest.mark.parametrize("test", DETERMINISTIC)
DROPS = st.lists(st.integers(-8, 8), min_size=1, max_size=25)


@EVERY
def test_drops_of_zero_alone_are_p_1_and_flagged(test: PairedStatistic) -> None:
    answer = test([0.0, 0.0, math.nan, -0.0])
    assert (answer.log_p, answer.p, answer.statistic) == (0, 1, 0)
    assert (answer.used, answer.zeros, answer.missing) == (0, 3, 1)
    assert answer.nothing_moved


@EVERY
def test_without_a_pair_nothing_is_known(test: PairedStatistic) -> None:
    for differences in ([], [math.nan, math.nan]):
        answer = test(differences)
        assert math.isnan(answer.log_p)
        assert math.isnan(answer.p)
        assert math.isnan(answer.statistic)
        assert answer.missing == len(differences)
        assert not answer.nothing_moved


@EVERY
def test_missing_pairs_are_left_out_and_counted(test: PairedStatistic) -> None:
    with_gaps, without = test([2, math.nan, 1, 0, -3, math.nan, 4]), test([2, 1, 0, -3, 4])
    assert with_gaps == without._replace(missing=2)
    assert (without.used, without.zeros, without.missing) == (4, 1, 0)
    assert not without.nothing_moved


@EVERY
def test_invalid_differences_are_refused(test: PairedStatistic) -> None:
    for differences in ([[1.0, 2.0]], 1.0, [math.inf], [1, -math.inf]):
        with refused(differences, match=r"expected differences of shape \(n,\)"):
            test(differences)


@EVERY
def test_one_item_proves_nothing(test: PairedStatistic) -> None:
    answer = test([3])
    assert answer.used == 1
    assert answer.p > 0.1


@pytest.mark.parametrize("test", DETERMINISTIC)
@given(differences=DROPS, data=st.data())
def test_the_order_of_items_is_no_matter(
    test: PairedStatistic, differences: list[int], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(differences))
    assert test(shuffled).log_p == pytest.approx(test(differences).log_p, abs=1e-12)


@pytest.mark.parametrize("test", DETERMINISTIC)
@given(differences=DROPS)
def test_p_is_a_probability_against_rises(test: PairedStatistic, differences: list[int]) -> None:
    p, opposed = test(differences).p, test([-drop for drop in differences]).p
    assert 0 < p <= 1
    # Both tails hold the data itself, so that they overlap; exactly once if continuous.
    assert p + opposed >= 1 - 1e-12


@pytest.mark.parametrize("test", DETERMINISTIC)
@given(differences=DROPS)
def test_doubling_all_scores_changes_nothing(test: PairedStatistic, differences: list[int]) -> None:
    assert test([2 * drop for drop in differences]).log_p == test(differences).log_p
