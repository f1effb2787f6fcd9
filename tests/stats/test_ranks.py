"""Ranks and pairs out of order, against scipy and against a look at every pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from spanjury.stats.arrays import safe_divide
from spanjury.stats.correlations.ranks import midranks, pair_counts, ranks

ROW = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=40)


@given(ROW)
def test_ranks_are_scipys(row: list[float]) -> None:
    counts = ranks(np.array(row))
    assert midranks(np.array(row)).tolist() == rankdata(row).tolist()
    assert (counts.least + 1).tolist() == rankdata(row, method="min").tolist()
    assert counts.distinct == len(set(row))
    assert counts.tied == sum(row.count(value) - 1 for value in row) / 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40))
def test_pairs_are_counted_as_one_by_one(items: list[tuple[int, int]]) -> None:
    first, second = np.array(items, dtype=np.float64).T
    rows, other = np.triu_indices(len(items), k=1)
    moves = first[rows] - first[other], second[rows] - second[other]
    counts = pair_counts(ranks(first), ranks(second))
    assert counts.pairs == rows.size
    assert counts.discordant == np.sum(moves[0] * moves[1] < 0)
    assert counts.tied_first == np.sum(moves[0] == 0)
    assert counts.tied_second == np.sum(moves[1] == 0)
    assert counts.tied_both == np.sum((moves[0] == 0) & (moves[1] == 0))


@pytest.mark.parametrize("items", [7, 8, 9, 16, 1000])
def test_a_row_turned_round_has_every_pair_out_of_order(items: int) -> None:
    there = ranks(np.arange(items, dtype=np.float64))
    back = ranks(-np.arange(items, dtype=np.float64))
    counts = pair_counts(there, back)
    assert counts.discordant == counts.pairs == items * (items - 1) // 2
    assert counts.tied_first == counts.tied_second == counts.tied_both == 0


def test_a_quotient_by_nothing_is_undefined_without_a_warning() -> None:
    np.testing.assert_array_equal(
        safe_divide([[1.0], [0.0]], [2.0, 0.0]), [[0.5, np.nan], [0, np.nan]]
    )
