"""Random signs: the p-value of the mean drop, and where the signs come from."""

import math
from itertools import product

import numpy as np
import pytest

from spanjury.stats.significance.permutation import BLOCK, paired_permutation, random_signs


def test_it_approaches_the_count_of_every_choice_of_signs() -> None:
    differences = np.array([3.0, 1, 2, -1, 4, 2, 0, -2, 1, 1])
    sums = [np.dot(signs, differences) for signs in product((-1, 1), repeat=len(differences))]
    exact = np.mean([total >= differences.sum() for total in sums])
    answer = paired_permutation(differences, rng=np.random.default_rng(1), draws=40_000)
    assert answer.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))
    assert answer.statistic == pytest.approx(differences.mean())


def test_p_is_never_below_one_in_the_draws_and_the_data() -> None:
    answer = paired_permutation(np.ones(60), rng=np.random.default_rng(1), draws=999)
    assert answer.p == pytest.approx(1 / 1000)


def test_sums_that_are_equal_but_for_rounding_count_as_equal() -> None:
    # With one difference half of the draws reach it, however it is rounded.
    differences = [0.1, 0.2, -0.3, 0.1 + 0.2 - 0.3 + 0.7]
    answer = paired_permutation(differences, rng=np.random.default_rng(2), draws=20_000)
    sums = [round(np.dot(signs, differences), 9) for signs in product((-1, 1), repeat=4)]
    exact = np.mean([total >= round(sum(differences), 9) for total in sums])
    assert answer.p == pytest.approx(exact, abs=0.02)


def test_the_same_seed_gives_the_same_p() -> None:
    differences = np.random.default_rng(4).normal(0.2, 1, size=50)
    first, second = (
        paired_permutation(differences, rng=np.random.default_rng(6)) for _ in range(2)
    )
    assert first == second


def test_signs_come_in_blocks_that_fit_and_are_fair() -> None:
    blocks = list(random_signs(np.random.default_rng(0), 2500, items=1000))
    assert [len(block) for block in blocks] == [BLOCK // 1000, BLOCK // 1000, 500]
    assert all(set(np.unique(block)) == {-1, 1} for block in blocks)
    assert abs(np.concatenate(blocks).mean()) < 4 / math.sqrt(2_500_000)


def test_no_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 draw, got 0"):
        paired_permutation([1, 2], rng=np.random.default_rng(0), draws=0)
