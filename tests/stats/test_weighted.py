"""Effects as functions of counts agree with the same effects on repeated items."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spanjury.stats.arrays import FloatArray
from spanjury.stats.effects import difference_effects, scale_effects
from spanjury.stats.weighted import (
    mean_drop,
    net_drop,
    of_items,
    on_sample,
    per_headroom,
    rank_biserial,
    ratio,
)

SCORES = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0, math.nan])
CELLS = arrays(np.float64, (2, 3, 6), elements=SCORES)
COUNTS = arrays(np.float64, (4, 6), elements=st.integers(0, 3).map(float))


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
