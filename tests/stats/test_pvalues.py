"""Numbers that are refused as p-values or as weights."""

import math

import pytest
from fakes.refusals import refused
from numpy.typing import ArrayLike

from spanjury.stats.combination.combining import Combination
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
)
from spanjury.stats.combination.multiplicity import holm

WAYS = [harmonic_mean_calibrated, harmonic_mean_paper, harmonic_mean_wilson]
EVERY = pytest.mark.parametrize("combine", WAYS)
NOT_LOGARITHMS = ([0.05], [-math.inf], [math.inf, -1])
NOT_WEIGHTS: tuple[ArrayLike, ...] = (
    *([1.0], [0.5, 0.6], [1.5, -0.5], [0, 0], [[0.5, 0.5]], [math.nan, 1], [math.inf, 1], []),
)


@EVERY
def test_invalid_logarithms_of_p_values_are_refused(combine: Combination) -> None:
    for log_p in NOT_LOGARITHMS:
        with refused(log_p, match="expected logarithms of p-values"):
            combine(log_p)


@EVERY
def test_combining_no_pvalues_raises(combine: Combination) -> None:
    cases: tuple[ArrayLike, ...] = ([], -1.0, [[], []])
    for log_p in cases:
        with refused(log_p, match=r"shape \(..., m\), m >= 1"):
            combine(log_p)


def test_invalid_logarithms_of_p_values_are_not_adjusted() -> None:
    for log_p in NOT_LOGARITHMS:
        with refused(log_p, match="expected logarithms of p-values"):
            holm(log_p)
    with pytest.raises(ValueError, match=r"of shape \(n,\)"):
        holm([[-1.0]])


@EVERY
def test_invalid_weights_are_refused(combine: Combination) -> None:
    for weights in NOT_WEIGHTS:
        with refused(weights, match=r"expected 2 weights >= 0 that sum to 1"):
            combine([-1.0, -2.0], weights=weights)


def test_weights_may_be_rounded() -> None:
    thirds = [1 / 3, 1 / 3, 0.3333333334]
    assert math.isfinite(float(harmonic_mean_wilson([-1, -2, -3], weights=thirds)))
