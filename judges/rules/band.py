"""Bands of a scale: the best eighth of it is for texts in which no error was found.

So a score and the errors that are reported never contradict each other: without errors a
score is at least 4.5 on a scale from 1 to 5, and with any it is below.
"""

import math
from collections.abc import Iterable

from spanjury.judges.core import ErrorSpan, Scale

_TOP = 1 / 8  # share of the scale
_COSTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)  # of an error by severity
_UNGRADED = 3  # severity of an error without one


def banded(quality: float, *, load: float, scale: Scale) -> float:
    """Return the score of a text.

    Parameters
    ----------
    quality
        What else is known of the text, 0 to 1; it orders texts within a band.
    load
        How heavily errors weigh on it; 0 for none, without an upper limit.

    Examples
    --------
    >>> [banded(0.5, load=load, scale=Scale()) for load in (0, 1)]
    [4.75, 1.875]
    """
    width = scale.high - scale.low
    if not load:
        return scale.high - width * _TOP * (1 - quality)
    # Below the band even where next to nothing weighs on a perfect text.
    most = math.nextafter(scale.high - width * _TOP, scale.low)
    return scale.low + (most - scale.low) * quality / (1 + load)


def cost(spans: Iterable[ErrorSpan]) -> float:
    """Return the sum of what errors cost: .1, .25, .5, 1 and 2 for a severity of 1 to 5."""
    graded = (_UNGRADED if span.severity is None else span.severity for span in spans)
    return math.fsum(_COSTS[severity] for severity in graded)


def load(spans: Iterable[ErrorSpan], *, sentences: int) -> float:
    """Return how heavily errors weigh on a text: their cost over the root of its sentences.

    Of two texts with the same errors the longer is the better one, though not by much: more
    text without errors does not make up for them, and twice the text with twice the errors is
    worse.
    """
    return cost(spans) / math.sqrt(max(1, sentences))
