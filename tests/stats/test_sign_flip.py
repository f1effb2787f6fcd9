"""The exact test, against counting every choice of signs, and the test that is used by default."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from spanjury.stats.combination.discernment import discernment_score
from spanjury.stats.significance.sign_flip import (
    MOST_DIFFERENCES,
    MOST_EXACT,
    paired_test,
    sign_flip,
)
from spanjury.stats.significance.signed_rank import Zeros, signed_rank


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
    assert round(float(discernment_score(answer.log_p)), 2) == 23.14


@pytest.mark.parametrize(
    ("lower", "higher", "d"),
    [(1, 0, 0.23), (3, 0, 0.69), (5, 0, 1.16), (10, 0, 2.31), (10, 3, 1.03)],
)
def test_few_items_one_step_lower_are_what_they_are(lower: int, higher: int, d: float) -> None:
    differences = [1] * lower + [-1] * higher + [0] * (100 - lower - higher)
    assert round(float(discernment_score(sign_flip(differences).log_p)), 2) == d


def test_the_most_differences_still_have_a_p_value() -> None:
    answer = sign_flip([1] * MOST_DIFFERENCES + [0])
    assert answer.log_p == pytest.approx(-MOST_DIFFERENCES * math.log(2), rel=1e-12)


def test_more_differences_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValueError, match="at most 1000 differences, got 1001: use signed_rank"):
        sign_flip([1] * (MOST_DIFFERENCES + 1))


def test_another_way_with_zeros_is_refused() -> None:
    with pytest.raises(ValueError, match="got 'split'"):
        sign_flip([1], zeros="split")  # type: ignore[arg-type]  # the point is that it is wrong


def test_the_default_is_exact_as_long_as_that_is_quick() -> None:
    few = [1, 2, -1] * (MOST_EXACT // 3) + [1, 1, 0, 0, math.nan]
    assert paired_test(few) == sign_flip(few)
    many = [*few, 2]
    assert paired_test(many) == signed_rank(many)


def test_its_size_under_the_null_is_never_above_the_level() -> None:
    rng = np.random.default_rng(8)
    log_p = np.array([sign_flip(row).log_p for row in rng.integers(-2, 3, size=(4000, 12))])
    for level in (0.1, 0.05, 0.01):
        error = math.sqrt(level * (1 - level) / len(log_p))
        assert np.mean(log_p <= math.log(level)) <= level + 3 * error
