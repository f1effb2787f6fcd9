"""Effects of drops, against values worked by hand and scipy's ranks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from spanjury.stats.effects import difference_effects, scale_effects

STEPS = st.lists(st.integers(-4, 4), min_size=1, max_size=30)


def test_effects_of_six_drops_are_as_worked_by_hand() -> None:
    # Sizes 1, 1, 2, 3 have the ranks 1.5, 1.5, 3, 4. Falls: 1.5 + 3 + 4; rises: 1.5.
    effects = difference_effects([1, -1, 2, 3, 0, math.nan])
    assert effects.drop_share == pytest.approx(3 / 5)
    assert (effects.used, effects.missing) == (5, 1)
    assert effects.rise_share == pytest.approx(1 / 5)
    assert effects.net_drop == pytest.approx(2 / 5)
    assert effects.rank_biserial == pytest.approx((8.5 - 1.5) / 10)
    assert effects.mean_drop == pytest.approx(1)


def test_scores_that_do_not_move_have_no_rank_correlation() -> None:
    effects = difference_effects([0, 0, 0])
    assert effects.net_drop == 0
    assert math.isnan(effects.rank_biserial)


def test_one_drop_among_zeros_is_a_full_rank_correlation_and_a_small_net_drop() -> None:
    effects = difference_effects([0] * 99 + [1])
    assert effects.net_drop == pytest.approx(0.01)
    assert effects.rank_biserial == 1


@pytest.mark.parametrize("differences", [[], [math.nan, math.nan]])
def test_without_an_item_every_effect_is_undefined(differences: list[float]) -> None:
    effects = difference_effects(differences)
    assert (effects.used, effects.missing) == (0, len(differences))
    assert np.isnan(effects[2:]).all()


@given(STEPS)
def test_the_rank_correlation_is_that_of_scipys_ranks(steps: list[int]) -> None:
    differences = np.array(steps)
    changed = differences[differences != 0]
    ranks = rankdata(np.abs(changed))
    expected = (ranks @ np.sign(changed)) / ranks.sum() if changed.size else math.nan
    assert difference_effects(differences).rank_biserial == pytest.approx(expected, nan_ok=True)


@given(STEPS)
def test_rises_are_drops_with_the_other_sign(steps: list[int]) -> None:
    fallen, risen = difference_effects(steps), difference_effects([-step for step in steps])
    assert risen.drop_share == fallen.rise_share
    for name in ("net_drop", "rank_biserial", "mean_drop"):
        mirrored = -getattr(risen, name)
        assert getattr(fallen, name) == pytest.approx(mirrored, nan_ok=True)


def test_effects_on_a_scale_are_as_worked_by_hand() -> None:
    # With room: 5 -> 3, 4 -> 1, 2 -> 2; they drop by 2 + 3 + 0 of the 4 + 3 + 1 that they can.
    effects = scale_effects([5, 4, 2, 1, 5, 1], [3, 1, 2, 5, math.nan, 1], low=1, high=5)
    assert (effects.used, effects.with_room) == (5, 3)
    assert effects.drop_per_headroom == pytest.approx(5 / 8)
    assert effects.clean_floor == pytest.approx(2 / 5)
    assert effects.clean_ceiling == pytest.approx(1 / 5)
    assert effects.damaged_floor == pytest.approx(2 / 5)
    assert effects.damaged_ceiling == pytest.approx(1 / 5)


def test_scores_that_all_fall_to_the_worst_use_all_their_headroom() -> None:
    assert scale_effects([5, 2, 3], [1, 1, 1], low=1, high=5).drop_per_headroom == 1


def test_clean_scores_at_the_worst_leave_no_headroom() -> None:
    effects = scale_effects([1, 1], [1, 2], low=1, high=5)
    assert effects.with_room == 0
    assert math.isnan(effects.drop_per_headroom)


@pytest.mark.parametrize("differences", [3.0, [[1.0]], [math.inf]])
def test_drops_of_another_shape_or_infinite_are_refused(differences: object) -> None:
    with pytest.raises(ValueError, match="expected"):
        difference_effects(differences)  # type: ignore[arg-type]  # what a careless caller may give


@pytest.mark.parametrize(
    ("clean", "damaged"), [([1, 2], [1]), ([6, 2], [1, 1]), ([2, 2], [1, 0]), ([[1]], [1])]
)
def test_scores_without_a_partner_or_off_the_scale_are_refused(
    clean: list[int], damaged: list[int]
) -> None:
    with pytest.raises(ValueError, match="expected"):
        scale_effects(clean, damaged, low=1, high=5)
