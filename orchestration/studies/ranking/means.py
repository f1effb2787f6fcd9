"""Means of judges' scores over inputs, differences in pairs, and how many inputs these take."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from spanjury.stats.arrays import FloatArray
from spanjury.stats.sampling_design import weighted_mean

POWER = 0.8
"""The chance that two systems are shown to differ, if they do as they seem to."""
CONFIDENCE = 0.95
_STEPS = 20
"""Until the number of inputs stays."""


class JudgedMean(NamedTuple):
    """A mean of judges' scores or of differences between them, with its 95 % interval."""

    value: float
    low: float
    high: float
    error: float
    p: float
    """Two-sided, that it is 0."""
    inputs: int
    """Inputs with a value."""


def judged_mean(values: FloatArray, inputs: NDArray[np.intp]) -> JudgedMean:
    """Return the mean of values, some of which may be NaN, over inputs like these.

    Texts for one input hang together: several of them make no second input.
    """
    scored = ~np.isnan(values)
    mean = weighted_mean(
        values[scored],
        np.ones(np.count_nonzero(scored)),
        clusters=inputs[scored],
        confidence=CONFIDENCE,
    )
    return JudgedMean(
        mean.value,
        mean.low,
        mean.high,
        mean.error,
        _p(mean.value, mean.error, mean.clusters),
        mean.clusters,
    )


def _p(value: float, error: float, inputs: int) -> float:
    if math.isnan(error):
        return math.nan
    student = 2 * float(stdtr(inputs - 1, -abs(value) / error)) if error else float(value == 0)
    return max(student, least_p(inputs))


def least_p(inputs: int) -> float:
    """Return the least p-value that flipped signs of so many inputs can show.

    Student's falls to 0 where few inputs happen to agree.
    """
    return 2.0 ** min(0, 1 - inputs)


def more_inputs(difference: JudgedMean, *, confidence: float = CONFIDENCE) -> float:
    """Return how many more inputs show the difference with a power of 80 %, if it stays.

    Infinite where there is none; NaN where its error is unknown.
    """
    if math.isnan(difference.error):
        return math.nan
    if difference.value == 0:
        return math.inf
    share = difference.inputs * (difference.error / difference.value) ** 2
    power = float(ndtri(POWER))
    needed = share * (float(ndtri((1 + confidence) / 2)) + power) ** 2
    for _ in range(_STEPS):  # Student's reach falls as inputs grow in number
        freedom = max(1.0, needed - 1)
        needed = share * (float(stdtrit(freedom, (1 + confidence) / 2)) + power) ** 2
    least = inputs_to_show(confidence=confidence)
    return max(0.0, math.ceil(max(needed, least)) - difference.inputs)


def inputs_to_show(*, confidence: float) -> int:
    """Return how many inputs can show anything at all, by `least_p`."""
    return 1 + math.ceil(-math.log2(1 - confidence))
