"""Scores as whole numbers from 0 to 100 in steps of 5, as written by a distilled judge.

Source: Kartáč et al. (2025), OpeNLGauge, section 5.2: twenty-one numbers keep more of a
panel's mean than five labels, and are few enough to be learnt.
"""

import math
from typing import Literal

from spanjury.judges.core import Scale

Reading = Literal["stretched", "share"]
"""Meaning of 0: with ``stretched`` the worst label, so that five labels are 0, 25, …, 100; with
``share`` nothing at all, so that they are 20, 40, …, 100. The paper does not say which."""

STEP = 5
"""Distance between adjacent numbers."""

PERCENT = Scale(labels=tuple(str(number) for number in range(101)))
"""The numbers as the labels of a scale, for parsers; a score on it is the number + 1."""

_TOLERANCE = 1e-9  # a mean of floats may miss a half by the last bit


def percent(score: float, *, scale: Scale, reading: Reading = "stretched") -> float:
    """Return a score on `scale` as a number from 0 to 100.

    Examples
    --------
    >>> percent(3.5, scale=Scale()), percent(3.5, scale=Scale(), reading="share")
    (62.5, 70.0)
    """
    if reading == "share":
        return 100 * score / scale.high
    return 100 * (score - scale.low) / (scale.high - scale.low)


def binned(number: float) -> int:
    """Return the multiple of 5 nearest to `number`; halves round up.

    Examples
    --------
    >>> binned(62.5), binned(57.4)
    (65, 55)
    """
    return STEP * math.floor(number / STEP + 0.5 + _TOLERANCE)


def from_percent(number: float, *, scale: Scale, reading: Reading = "stretched") -> float | None:
    """Return the score on `scale` for a `number` from 0 to 100; None if it is off the scale.

    Examples
    --------
    >>> from_percent(65, scale=Scale()), from_percent(10, scale=Scale(), reading="share")
    (3.6, None)
    """
    if reading == "share":
        score = number * scale.high / 100
    else:
        score = scale.low + number * (scale.high - scale.low) / 100
    return score if score in scale else None
