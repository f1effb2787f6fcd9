"""Discernment scores, and what is made of many."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.stats.combination.discernment import (
    discernment_score,
    level_balanced,
    linear_pool,
    target_contrast,
)


def test_one_is_significant_and_zero_is_nothing() -> None:
    scores = discernment_score(np.log([[0.05, 1.0], [0.05**3, 0.5]]))
    assert scores.tolist() == [
        [pytest.approx(1), 0],
        [pytest.approx(3), pytest.approx(math.log(2) / math.log(20))],
    ]
    assert math.copysign(1, scores[0, 1]) == 1
    assert math.isnan(float(discernment_score(math.nan)))


def test_a_p_value_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="expected logarithms"):
        discernment_score([0.1])


def test_levels_count_alike_however_many_perturbations_they_have() -> None:
    balanced = level_balanced([2.0, 4, 1, 5, 3], levels=["c", "c", "w", "s", "w"])
    assert balanced.by_level == (("c", 3), ("w", 2), ("s", 5))
    assert balanced.average == pytest.approx(10 / 3)
    assert (balanced.minimum, balanced.missing) == (1, 0)


def test_perturbations_and_levels_without_a_score_are_left_out_and_counted() -> None:
    balanced = level_balanced([2.0, math.nan, math.nan], levels=["c", "c", "s"])
    assert (balanced.average, balanced.minimum, balanced.missing) == (2, 2, 2)
    assert balanced.by_level[0] == ("c", 2)
    assert math.isnan(balanced.by_level[1][1])


def test_the_average_of_unknown_values_is_unknown() -> None:
    balanced = level_balanced([math.nan], levels=["c"])
    assert math.isnan(balanced.average)
    assert math.isnan(balanced.minimum)
    assert balanced.missing == 1


@given(st.lists(st.floats(0, 30), min_size=1, max_size=20))
def test_the_average_over_one_level_is_the_mean(scores: list[float]) -> None:
    balanced = level_balanced(scores, levels=["word"] * len(scores))
    assert balanced.average == pytest.approx(float(np.mean(scores)))
    assert balanced.minimum <= balanced.average + 1e-9


def test_in_the_linear_pool_a_tenth_counts_a_tenth() -> None:
    scores = [[9.0, 1.0], [0.0, 2.0], [math.nan, 3.0]]
    pooled = linear_pool(scores, weights=[0.1, 0.9])
    assert pooled[:2].tolist() == pytest.approx([1.8, 1.8])
    assert math.isnan(pooled[2])
    assert linear_pool(scores, weights=[0, 1]).tolist() == [1, 2, 3]


def test_the_contrast_is_of_targeted_and_other_aspects() -> None:
    contrast = target_contrast(
        [[4.0, 2.0, 1.0, 0.0], [1.0] * 4], targeted=[True, True, False, False]
    )
    assert contrast.tolist() == [2.5, 0]
    assert math.isnan(float(target_contrast([1.0, math.nan], targeted=[True, False])))


@pytest.mark.parametrize("targeted", [[True, True], [False, False]])
def test_without_targeted_or_other_aspects_there_is_no_contrast(targeted: list[bool]) -> None:
    assert math.isnan(float(target_contrast([1.0, 2.0], targeted=targeted)))


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 truth values"):
        target_contrast([1.0, 2.0], targeted=[True])
    with pytest.raises(ValueError, match="2 truth values"):
        target_contrast([1.0, 2.0], targeted=[1, 0])
    with pytest.raises(ValueError, match="a level for each score"):
        level_balanced([1.0, 2.0], levels=["word"])
    with pytest.raises(ValueError, match="expected scores"):
        level_balanced([], levels=[])
    with pytest.raises(ValueError, match="expected scores"):
        linear_pool(1.0, weights=[1])
    with pytest.raises(ValueError, match="2 weights"):
        linear_pool([1.0, 2.0], weights=[1])
