"""Paired tests: against scipy, hand-worked values and every choice of signs."""

import math
from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement, product
from typing import get_args

import numpy as np
import pytest
from fakes.refusals import refused
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr
from scipy.stats import binomtest, rankdata, wilcoxon

from spanjury.stats.combination.discernment import discernment_score
from spanjury.stats.significance.equivalence import rank_tail, walsh_averages
from spanjury.stats.significance.paired import PairedStatistic
from spanjury.stats.significance.permutation import BLOCK, random_signs
from spanjury.stats.significance.sign_flip import (
    MOST_DIFFERENCES,
    MOST_EXACT,
    paired_test,
    sign_flip,
)
from spanjury.stats.significance.sign_test import sign_test
from spanjury.stats.significance.signed_rank import Zeros, signed_rank

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
VALUES = st.lists(st.integers(-4, 4), min_size=1, max_size=12)


@EVERY
def test_drops_of_zero_alone_are_p_1_and_flagged(test: PairedStatistic) -> None:
    answer = test([0.0, 0.0, math.nan, -0.0])
    assert (answer.log_p, answer.p, answer.statistic) == (0, 1, 0)
    assert (answer.used, answer.zeros, answer.missing) == (0, 3, 1)


@EVERY
def test_without_a_pair_nothing_is_known(test: PairedStatistic) -> None:
    for differences in ([], [math.nan, math.nan]):
        answer = test(differences)
        assert math.isnan(answer.log_p)
        assert math.isnan(answer.p)
        assert math.isnan(answer.statistic)
        assert answer.missing == len(differences)


@EVERY
def test_missing_pairs_are_left_out_and_counted(test: PairedStatistic) -> None:
    with_gaps, without = test([2, math.nan, 1, 0, -3, math.nan, 4]), test([2, 1, 0, -3, 4])
    assert with_gaps == without._replace(missing=2)
    assert (without.used, without.zeros, without.missing) == (4, 1, 0)


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


def d_of(log_p: float) -> float:
    return float(discernment_score(log_p))


def steps(lower: int, higher: int) -> list[int]:
    """Return 100 differences, clean minus damaged: `lower` of 1, `higher` of -1, the others 0."""
    return [1] * lower + [-1] * higher + [0] * (100 - lower - higher)


def counted(differences: list[int], *, zeros: Zeros = "wilcox") -> float:
    """Return the exact p-value by trying every choice of signs."""
    ranked = [drop for drop in differences if drop or zeros != "wilcox"]
    ranks = [rank for rank, drop in zip(rankdata(np.abs(ranked)), ranked, strict=True) if drop]
    moved = [drop for drop in differences if drop]
    falls = sum(rank for rank, drop in zip(ranks, moved, strict=True) if drop > 0)
    sums = [
        sum(rank for rank, falling in zip(ranks, signs, strict=True) if falling)
        for signs in product((False, True), repeat=len(ranks))
    ]
    return sum(total >= falls for total in sums) / len(sums)


@given(differences=st.lists(st.integers(-4, 4), min_size=1, max_size=9))
@pytest.mark.parametrize("zeros", ["wilcox", "pratt", "zsplit"])
@settings(max_examples=60)
def test_it_counts_every_choice_of_signs(zeros: Zeros, differences: list[int]) -> None:
    assert sign_flip(differences, zeros=zeros).p == pytest.approx(
        counted(differences, zeros=zeros), rel=1e-12
    )


def test_without_ties_it_says_what_scipy_says() -> None:
    differences = np.random.default_rng(5).normal(0.3, 1, size=45)
    oracle = wilcoxon(differences, alternative="greater", method="exact")
    answer = sign_flip(differences)
    assert answer.statistic == oracle.statistic
    assert answer.p == pytest.approx(oracle.pvalue, rel=1e-9)


@pytest.mark.parametrize("differences", [range(1, 101), [1] * 100])
def test_a_hundred_falls_are_one_choice_in_two_to_the_hundred(differences: list[int]) -> None:
    answer = sign_flip(differences)
    assert answer.log_p == pytest.approx(-100 * math.log(2), rel=1e-12)
    assert answer.statistic == 5050
    assert round(d_of(answer.log_p), 2) == 23.14


@pytest.mark.parametrize(
    ("lower", "higher", "d"),
    [(1, 0, 0.23), (3, 0, 0.69), (5, 0, 1.16), (10, 0, 2.31), (10, 3, 1.03)],
)
def test_few_items_one_step_lower_are_what_they_are(lower: int, higher: int, d: float) -> None:
    assert round(d_of(sign_flip(steps(lower, higher)).log_p), 2) == d


def test_the_most_differences_still_have_a_p_value() -> None:
    answer = sign_flip([1] * MOST_DIFFERENCES + [0])
    assert answer.log_p == pytest.approx(-MOST_DIFFERENCES * math.log(2), rel=1e-12)


def test_more_differences_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValueError, match="at most 1000 differences, got 1001: use signed_rank"):
        sign_flip([1] * (MOST_DIFFERENCES + 1))


@pytest.mark.parametrize("test", [sign_flip, signed_rank])
def test_another_way_with_zeros_is_refused_with_the_choices(test: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="wilcox, pratt or zsplit, got 'drop'"):
        test([1], zeros="drop")


def test_the_default_is_exact_as_long_as_that_is_quick() -> None:
    few = [1, 2, -1] * (MOST_EXACT // 3) + [1, 1, 0, 0, math.nan]
    assert paired_test(few) == sign_flip(few)
    many = [*few, 2]
    assert paired_test(many) == signed_rank(many)


@pytest.mark.heavy
def test_its_size_under_the_null_is_never_above_the_level() -> None:
    rng = np.random.default_rng(8)
    log_p = np.array([sign_flip(row).log_p for row in rng.integers(-2, 3, size=(4000, 12))])
    for level in (0.1, 0.05, 0.01):
        error = math.sqrt(level * (1 - level) / len(log_p))
        assert np.mean(log_p <= math.log(level)) <= level + 3 * error


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
    approximate = partial(wilcoxon, alternative="greater", method="approx")
    oracle = approximate(differences, zero_method=zeros, correction=correction)
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


def test_signs_come_in_blocks_that_fit_and_are_fair() -> None:
    blocks = list(random_signs(np.random.default_rng(0), 2500, items=1000))
    assert [len(block) for block in blocks] == [BLOCK // 1000, BLOCK // 1000, 500]
    assert all(set(np.unique(block)) == {-1, 1} for block in blocks)
    assert abs(np.concatenate(blocks).mean()) < 4 / math.sqrt(2_500_000)


def test_no_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 draw, got 0"):
        next(random_signs(np.random.default_rng(0), 0, items=2))


def plain(values: list[int]) -> list[float]:
    return sorted((left + other) / 2 for left, other in combinations_with_replacement(values, 2))


@given(VALUES)
def test_averages_are_those_of_all_pairs(values: list[int]) -> None:
    expected = plain(values)
    averages = walsh_averages(np.array(values, dtype=np.float64))
    assert averages.total == len(expected)
    assert [averages.at(rank) for rank in range(1, averages.total + 1)] == expected
    assert averages.median == np.median(expected)


@given(VALUES, st.integers(-10, 10))
def test_averages_beyond_a_point_are_counted(values: list[int], halves: int) -> None:
    averages = walsh_averages(np.array(values, dtype=np.float64))
    assert averages.above(halves / 2) == sum(mean > halves / 2 for mean in plain(values))


@pytest.mark.parametrize("items", [1, 2, 5, 9])
def test_the_tail_is_that_of_all_signs(items: int) -> None:
    chosen = [sum(ranks) for ranks in product(*((0, rank) for rank in range(1, items + 1)))]
    for total in range(items * (items + 1) // 2 + 2):
        expected = np.mean([reached >= total for reached in chosen])
        assert rank_tail(items)(total) == pytest.approx(expected)


def test_the_normal_tail_goes_on_where_the_exact_one_ends() -> None:
    # Upper points of the statistic of 100 and 101 ranks, at a z of 1.645 each.
    exact, normal = rank_tail(100)(3004), rank_tail(101)(3061)
    assert exact == pytest.approx(0.05, abs=0.001)
    assert normal == pytest.approx(0.05, abs=0.001)
