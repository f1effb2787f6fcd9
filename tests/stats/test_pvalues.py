"""Numbers that are refused as p-values or as weights."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from fakes.refusals import refused
from numpy.typing import ArrayLike, NDArray

from spanjury.stats.combination.combining import (
    Combination,
    bonferroni,
    cauchy,
    fisher,
    maximum,
    stouffer,
)
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
)
from spanjury.stats.combination.multiplicity import benjamini_hochberg, holm

WAYS = [
    bonferroni,
    cauchy,
    fisher,
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
    maximum,
    stouffer,
]
EVERY = pytest.mark.parametrize("combine", WAYS)
NOT_LOGARITHMS = ([0.05], [-math.inf], [math.inf, -1])
NOT_WEIGHTS: tuple[ArrayLike, ...] = (
    *([1.0], [0.5, 0.6], [1.5, -0.5], [0, 0], [[0.5, 0.5]], [math.nan, 1], [math.inf, 1], []),
)


@EVERY
def test_what_are_no_logarithms_of_p_values_is_refused(combine: Combination) -> None:
    for log_p in NOT_LOGARITHMS:
        with refused(log_p, match="expected logarithms of p-values"):
            combine(log_p)


@EVERY
def test_of_no_p_values_none_is_made(combine: Combination) -> None:
    cases: tuple[ArrayLike, ...] = ([], -1.0, [[], []])
    for log_p in cases:
        with refused(log_p, match=r"shape \(..., m\), m >= 1"):
            combine(log_p)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_are_no_logarithms_of_p_values_is_not_adjusted(
    adjust: Callable[[ArrayLike], NDArray[np.float64]],
) -> None:
    for log_p in NOT_LOGARITHMS:
        with refused(log_p, match="expected logarithms of p-values"):
            adjust(log_p)
    with pytest.raises(ValueError, match=r"of shape \(n,\)"):
        adjust([[-1.0]])


@EVERY
def test_what_are_no_weights_is_refused(combine: Combination) -> None:
    for weights in NOT_WEIGHTS:
        with refused(weights, match=r"expected 2 weights >= 0 that sum to 1"):
            combine([-1.0, -2.0], weights=weights)


def test_weights_may_be_rounded() -> None:
    thirds = [1 / 3, 1 / 3, 0.3333333334]
    assert math.isfinite(float(harmonic_mean_wilson([-1, -2, -3], weights=thirds)))
