"""Power: against the test itself on every outcome, closed forms and simulation."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import binom

from spanjury.stats.significance.paired import PairedTest
from spanjury.stats.significance.power import (
    discernible_effect,
    items_needed,
    sign_flip_power,
    simulated_power,
)
from spanjury.stats.significance.sign_flip import sign_flip


def enumerated(items: int, drop: float, rise: float) -> float:
    """Ask the exact test about every number of drops and rises."""
    total = 0.0
    for down, up in product(range(items + 1), repeat=2):
        still = items - down - up
        if still >= 0 and sign_flip([2] * down + [-2] * up + [0] * still).p <= 0.05:
            ways = math.comb(items, down) * math.comb(items - down, up)
            total += ways * drop**down * rise**up * (1 - drop - rise) ** still
    return total


@pytest.mark.parametrize(("drop", "rise"), [(0.5, 0.1), (0.3, 0.0), (0.8, 0.2), (0.2, 0.2)])
def test_power_is_the_chance_of_outcomes_the_exact_test_rejects(drop: float, rise: float) -> None:
    assert sign_flip_power(12, drop=drop, rise=rise) == pytest.approx(enumerated(12, drop, rise))


def test_without_rises_five_drops_are_enough() -> None:
    # 2^-5 = .031 and 2^-4 = .0625: the power is that of five drops or more.
    assert sign_flip_power(50, drop=0.1) == pytest.approx(1 - binom.cdf(4, 50, 0.1))


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.0, 0.5)])
def test_scores_that_never_fall_are_never_found_to(shares: tuple[float, float]) -> None:
    drop, rise = shares
    assert sign_flip_power(40, drop=drop, rise=rise) == pytest.approx(0, abs=1e-12)


@settings(max_examples=50)
@given(st.integers(1, 200), st.floats(0, 0.5), st.floats(0.001, 0.2))
def test_chance_alone_passes_no_more_than_the_level(items: int, share: float, alpha: float) -> None:
    assert sign_flip_power(items, drop=share, rise=share, alpha=alpha) <= alpha * (1 + 1e-9)


def test_a_drop_of_all_items_needs_five() -> None:
    needed = items_needed(drop=1)
    assert needed is not None
    assert needed == (5, 1)


@pytest.mark.parametrize(("drop", "rise"), [(0.1, 0.03), (0.6, 0.3), (0.7, 0.3), (0.05, 0)])
def test_the_items_needed_are_enough_and_stay_enough(drop: float, rise: float) -> None:
    needed = items_needed(drop=drop, rise=rise)
    assert needed is not None
    powers = [
        sign_flip_power(items, drop=drop, rise=rise)
        for items in range(needed.items - 1, 2 * needed.items)
    ]
    assert powers[0] < 0.8
    assert powers[1] == pytest.approx(needed.power)
    assert min(powers[1:]) >= 0.8


def test_a_power_of_less_than_half_may_need_one_item() -> None:
    assert items_needed(drop=1, power=0.5, alpha=0.5) == (1, 1)


def test_no_number_of_items_finds_what_is_not_there() -> None:
    assert items_needed(drop=0.1, rise=0.1, most=100) is None


def test_the_largest_number_allowed_may_be_the_one_needed() -> None:
    needed = items_needed(drop=0.1)
    assert needed is not None
    assert items_needed(drop=0.1, most=needed.items) == needed
    assert items_needed(drop=0.1, most=needed.items - 1) is None


@pytest.mark.parametrize("rise", [0.0, 0.1])
def test_the_discernible_effect_has_the_power_wanted(rise: float) -> None:
    effect = discernible_effect(80, rise=rise, power=0.9)
    assert sign_flip_power(80, drop=effect + rise, rise=rise) == pytest.approx(0.9)


def test_more_items_discern_less() -> None:
    effects = [discernible_effect(items, rise=0.05) for items in (20, 50, 100, 200)]
    assert effects == sorted(effects, reverse=True)


def test_four_items_discern_nothing() -> None:
    assert math.isnan(discernible_effect(4))


def test_a_pilot_of_one_step_has_the_power_of_its_shares() -> None:
    pilot = [1.0] * 10 + [-1.0] * 3 + [0.0] * 87
    power = simulated_power(pilot, items=100, rng=default_rng(1))
    assert power.low < sign_flip_power(100, drop=0.1, rise=0.03) < power.high


def test_a_simulation_asks_the_test_that_is_named() -> None:
    asked = []

    def never(differences: object) -> PairedTest:
        asked.append(np.shape(np.asarray(differences)))
        return PairedTest(0.0, 0.0, 0, 0, 0)

    power = simulated_power([1, math.nan], items=7, rng=default_rng(1), test=never, draws=20)
    assert asked == [(7,)] * 20
    # Of 20 none: the 95 % interval of Clopper and Pearson ends at 1 - .025^(1/20).
    assert power == pytest.approx((0, 0, 1 - 0.025 ** (1 / 20)))


@pytest.mark.parametrize(
    ("items", "drop", "rise", "alpha"),
    [
        (0, 0.1, 0, 0.05),
        (9, -0.1, 0, 0.05),
        (9, 0.6, 0.5, 0.05),
        (9, 0.1, -1, 0.05),
        (9, 0.1, 0, 0),
    ],
)
def test_impossible_exams_are_refused(items: int, drop: float, rise: float, alpha: float) -> None:
    with pytest.raises(ValueError, match="expected"):
        sign_flip_power(items, drop=drop, rise=rise, alpha=alpha)


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a power"):
        items_needed(drop=0.5, power=1)
    with pytest.raises(ValueError, match="expected one item"):
        items_needed(drop=0.5, most=0)
    with pytest.raises(ValueError, match="expected a power"):
        discernible_effect(10, power=0)
    with pytest.raises(ValueError, match="expected shares"):
        discernible_effect(10, rise=2)


@pytest.mark.parametrize(("pilot", "items", "draws"), [([], 5, 5), ([1], 0, 5), ([1], 5, 0)])
def test_an_empty_simulation_is_refused(pilot: list[float], items: int, draws: int) -> None:
    with pytest.raises(ValueError, match="expected items and draws"):
        simulated_power(pilot, items=items, rng=default_rng(1), draws=draws)
