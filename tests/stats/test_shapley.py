"""Shapley values of games whose values are known."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.shapley import shapley_values, subset_worths

WORTHS = st.integers(1, 4).flatmap(
    lambda players: st.lists(st.floats(-10, 10), min_size=2**players, max_size=2**players)
)


def test_one_left_glove_is_worth_more_than_two_right_ones() -> None:
    # a pair is worth 1: the left glove completes it unless it comes first (2/3 of the orders)
    worths = subset_worths(lambda who: float(0 in who and len(who) > 1), players=3)
    assert shapley_values(worths) == pytest.approx([2 / 3, 1 / 6, 1 / 6])


def test_a_runway_is_paid_by_those_who_need_its_length() -> None:
    # Littlechild and Owen's airport: each stretch is shared by all who use it
    costs = [8.0, 11.0, 13.0, 18.0]
    worths = subset_worths(lambda who: max((costs[i] for i in who), default=0.0), players=4)
    assert shapley_values(worths) == pytest.approx([2, 3, 4, 9])


def test_votes_of_a_council_are_their_power() -> None:
    # Shapley and Shubik: with weights 4, 2, 1, 1 and 5 to win, in 24 orders 18, 2, 2, 2 decide
    weights = np.array([4, 2, 1, 1])
    worths = subset_worths(lambda who: float(weights[list(who)].sum() >= 5), players=4)
    assert shapley_values(worths) == pytest.approx(np.array([18, 2, 2, 2]) / 24)


@given(WORTHS)
def test_it_is_the_mean_over_all_orders_and_sums_to_the_whole(worths: list[float]) -> None:
    players = len(worths).bit_length() - 1
    gains = np.zeros(players)
    orders = list(permutations(range(players)))
    for order in orders:
        mask = 0
        for player in order:
            gains[player] += worths[mask | 1 << player] - worths[mask]
            mask |= 1 << player
    worth_shares = shapley_values(worths)
    assert worth_shares == pytest.approx(gains / len(orders), abs=1e-9)
    assert worth_shares.sum() == pytest.approx(worths[-1] - worths[0], abs=1e-9)


def test_twelve_who_each_add_their_own_get_it() -> None:
    worths = subset_worths(lambda who: 5.0 + sum(who), players=12)
    assert shapley_values(worths) == pytest.approx(np.arange(12))


def test_every_subset_is_asked_for_once_by_its_bits() -> None:
    asked: list[frozenset[int]] = []

    def worth(who: frozenset[int]) -> float:
        asked.append(who)
        return float(sum(2**player for player in who))

    assert subset_worths(worth, players=3).tolist() == list(range(8))
    assert (asked[:3], len(asked)) == ([frozenset(), frozenset({0}), frozenset({1})], 8)


def test_an_undefined_worth_leaves_no_share() -> None:
    assert np.isnan(shapley_values([0.0, math.nan, 1.0, 2.0])).all()


@pytest.mark.parametrize("worths", [[], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [0.0, math.inf]])
def test_an_invalid_game_is_refused(worths: list[float]) -> None:
    with pytest.raises(ValueError, match="worths"):
        shapley_values(worths)


@pytest.mark.parametrize("players", [0, 13])
def test_too_many_players_are_refused(players: int) -> None:
    with pytest.raises(ValueError, match="players"):
        subset_worths(len, players=players)
