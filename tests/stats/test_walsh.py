"""Walsh averages and their null distribution, against plain enumeration."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.significance.equivalence import rank_tail, walsh_averages

VALUES = st.lists(st.integers(-4, 4), min_size=1, max_size=12)


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
