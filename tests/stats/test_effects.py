"""Effects: worked by hand, resampled, and as functions of counts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng
from scipy import stats
from scipy.stats import rankdata

from spanjury.stats import resampling as module
from spanjury.stats.arrays import FloatArray
from spanjury.stats.effects import difference_effects, scale_effects
from spanjury.stats.resampling import (
    Resampled,
    bootstrap,
    expanded_tail,
    jackknife,
    percentile_interval,
    two_sided_p,
)
from spanjury.stats.weighted import (
    mean_drop,
    net_drop,
    of_items,
    on_sample,
    per_headroom,
    rank_biserial,
    ratio,
)

STEPS = st.lists(st.integers(-4, 4), min_size=1, max_size=30)
SCORES = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, math.nan])
CELLS = arrays(np.float64, (2, 3, 6), elements=SCORES)
COUNTS = arrays(np.float64, (4, 6), elements=st.integers(0, 3).map(float))


def bounds(resampled: Resampled, *, confidence: float = 0.95) -> tuple[float, float]:
    low, high = percentile_interval(resampled, confidence=confidence)
    return float(low), float(high)


def test_the_interval_of_a_mean_is_scipys_up_to_chance() -> None:
    differences = default_rng(1).choice([-1.0, 0.0, 1.0, 2.0], size=60)
    drawn = percentile_interval(bootstrap(mean_drop(differences), items=60, rng=default_rng(2)))
    scipys = stats.bootstrap(
        (differences,), np.mean, n_resamples=10_000, method="percentile", rng=default_rng(3)
    ).confidence_interval
    assert drawn.low == pytest.approx(scipys.low, abs=0.03)
    assert drawn.high == pytest.approx(scipys.high, abs=0.03)


def test_the_interval_of_two_items_is_that_of_all_four_draws() -> None:
    # Of 0 and 1 the draws 00, 01, 10, 11 are alike likely: means 0, 1/2 (twice) and 1.
    drawn = bootstrap(mean_drop([0.0, 1.0]), items=2, rng=default_rng(1))
    assert drawn.estimate == 0.5
    shares = [np.mean(drawn.draws == mean) for mean in (0, 0.5, 1)]
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.02)  # 4 standard errors
    assert bounds(drawn, confidence=0.1) == (0.5, 0.5)
    assert bounds(drawn) == (0, 1)


def test_the_interval_holds_the_truth_nearly_as_often_as_it_says() -> None:
    rng = default_rng(4)
    samples = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.5, 0.4], size=(500, 100))
    drawn = [
        percentile_interval(bootstrap(net_drop(sample), items=100, rng=rng, draws=400))
        for sample in samples
    ]
    held = np.mean([low <= 0.3 <= high for low, high in drawn])
    assert 0.91 < held < 0.98  # .95 less the percentile method's want; 3 standard errors


def test_cells_of_the_same_drops_have_the_same_draws() -> None:
    differences = default_rng(5).normal(size=20)
    drawn = bootstrap(
        rank_biserial([differences, differences]), items=20, rng=default_rng(6), draws=50
    )
    np.testing.assert_array_equal(drawn.draws[:, 0], drawn.draws[:, 1])


def test_the_same_state_draws_the_same_items_for_every_effect() -> None:
    differences = default_rng(7).normal(size=(2, 20))
    fast, slow = (
        bootstrap(effect, items=20, rng=default_rng(8), draws=30)
        for effect in (
            mean_drop(differences),
            of_items(differences, lambda drawn: drawn.mean(axis=-1)),
        )
    )
    np.testing.assert_allclose(fast.draws, slow.draws)
    np.testing.assert_allclose(fast.estimate, slow.estimate)


def test_draws_in_blocks_have_the_requested_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 64)
    drawn = bootstrap(mean_drop(np.arange(30.0)), items=30, rng=default_rng(1), draws=7)
    assert drawn.draws.shape == (7,)
    assert np.unique(drawn.draws).size > 1


def test_every_draw_draws_as_many_items_as_there_are() -> None:
    drawn = bootstrap(lambda counts: counts, items=9, rng=default_rng(1), draws=40)
    np.testing.assert_array_equal(drawn.draws.sum(axis=1), 9)


def test_an_effect_undefined_in_some_draws_has_the_interval_of_the_others() -> None:
    drawn = bootstrap(mean_drop([2.0, math.nan]), items=2, rng=default_rng(1), draws=100)
    assert 0 < np.isnan(drawn.draws).sum() < 100
    assert bounds(drawn) == (2, 2)


def test_an_effect_undefined_everywhere_has_neither_interval_nor_p() -> None:
    drawn = bootstrap(ratio([math.nan, math.nan]), items=2, rng=default_rng(1), draws=10)
    assert np.isnan([*percentile_interval(drawn), two_sided_p(drawn)]).all()


def test_the_p_value_is_twice_the_smaller_tail_with_one_draw_more() -> None:
    draws = np.array([-1.0, 1, 2, 3, 4, 5, 6, 7, math.nan])
    assert two_sided_p(Resampled(np.array(3.0), draws)) == pytest.approx(2 * 2 / 9)


def test_no_effect_is_denied_as_seldom_as_the_level_says() -> None:
    rng = default_rng(9)
    exams = rng.choice([-1.0, 0.0, 1.0], size=(400, 60))
    p = [two_sided_p(bootstrap(net_drop(e), items=60, rng=rng, draws=400)) for e in exams]
    assert 0.02 < np.mean(np.array(p) <= 0.05) < 0.09  # 3 standard errors about .055


@given(tail=st.floats(0.001, 0.4), items=st.integers(2, 400))
def test_expanded_percentiles_are_those_of_students_quantiles(tail: float, items: int) -> None:
    bound = stats.t.isf(tail, items - 1) * math.sqrt(items / (items - 1))
    assert expanded_tail(tail, items=items) == pytest.approx(stats.norm.sf(bound), rel=1e-6)


@pytest.mark.parametrize(("items", "least"), [(5, 0.90), (8, 0.93), (10, 0.93)])
def test_intervals_of_few_items_cover_nearly_as_often_as_they_say(items: int, least: float) -> None:
    rng = default_rng(3)  # plain percentiles cover 0.84, 0.90 and 0.91
    samples = rng.normal(size=(600, items))
    drawn = (bootstrap(mean_drop(each), items=items, rng=rng, draws=1000) for each in samples)
    covers = [low <= 0 <= high for low, high in map(bounds, drawn)]
    assert least < np.mean(covers) < 0.975


def test_one_item_shows_nothing_about_others() -> None:
    drawn = bootstrap(mean_drop([2.0]), items=1, rng=default_rng(1), draws=10)
    assert drawn.estimate == 2
    assert np.isnan([*percentile_interval(drawn), two_sided_p(drawn)]).all()
    assert np.isnan(jackknife(mean_drop([2.0]), items=1).error)


def test_the_jackknife_has_the_error_of_a_mean() -> None:
    values = default_rng(1).normal(size=20)
    left = jackknife(mean_drop(values), items=20)
    assert left.estimate == pytest.approx(values.mean())
    assert left.error == pytest.approx(values.std(ddof=1) / math.sqrt(20))


@pytest.mark.parametrize(("items", "draws"), [(0, 10), (10, 0)])
def test_nothing_to_draw_is_refused(items: int, draws: int) -> None:
    with pytest.raises(ValueError, match="expected items and draws"):
        bootstrap(mean_drop([1.0]), items=items, rng=default_rng(1), draws=draws)


def test_a_confidence_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a confidence"):
        percentile_interval(Resampled(np.zeros(1), np.zeros((3, 1))), confidence=1)


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


def repeated(values: FloatArray, counts: FloatArray) -> FloatArray:
    return values.repeat(counts.astype(int))


@settings(max_examples=40)
@given(CELLS, CELLS, COUNTS)
def test_an_item_that_counts_twice_is_an_item_twice(
    clean: FloatArray, damaged: FloatArray, counts: FloatArray
) -> None:
    differences = clean - damaged
    effects = [effect(differences)(counts) for effect in (net_drop, rank_biserial, mean_drop)]
    headroom = per_headroom(clean, damaged, low=1)(counts)
    assert headroom.shape == (4, 2, 3)
    for draw, row, column in np.ndindex(4, 2, 3):
        sample = repeated(differences[row, column], counts[draw])
        expected = difference_effects(sample)[4:]
        values = [effect[draw, row, column] for effect in effects]
        assert values == pytest.approx(expected, nan_ok=True)
        before, after = (repeated(scores[row, column], counts[draw]) for scores in (clean, damaged))
        room = scale_effects(before, after, low=1, high=5).drop_per_headroom
        assert headroom[draw, row, column] == pytest.approx(room, nan_ok=True)


@given(CELLS, COUNTS)
def test_any_function_of_drawn_items_is_weighted(values: FloatArray, counts: FloatArray) -> None:
    sums = of_items(values, lambda sample: np.nansum(sample, axis=-1))(counts)
    np.testing.assert_allclose(sums, np.einsum("di,abi->dab", counts, np.nan_to_num(values)))


def test_a_ratio_leaves_out_items_that_lack_one_part() -> None:
    effect = ratio([1, 2, math.nan, 4], [2, math.nan, 3, 4])
    assert on_sample(effect, items=4) == pytest.approx(5 / 6)


def test_a_ratio_to_nothing_is_undefined() -> None:
    assert math.isnan(on_sample(ratio([1, -1], [1, -1]), items=2))


@pytest.mark.parametrize(("above", "below"), [([math.inf], [1]), ([1], [math.inf]), (1, [[2]])])
def test_an_invalid_ratio_is_refused(above: list[float], below: list[float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        ratio(above, below)
