"""Bands of a scale: the best eighth of it is for texts in which no error was found.

So a score and the errors that are reported never contradict each other: without errors a
score is at least 4.5 on a scale from 1 to 5, and with any it is below.
"""

import math
from collections.abc import Iterable, Sequence

from spanjury.judges.core import ErrorSpan, Scale, fingerprint

_TOP = 1 / 8  # share of the scale
_COSTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)  # of an error by severity
_UNGRADED = 3  # severity of an error without one
_FLOOR = 3  # sentences up to which length does not matter


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
    >>> [round(banded(0.5, load=load, scale=Scale()), 4) for load in (0, 1)]
    [4.75, 2.3125]
    """
    width = scale.high - scale.low
    if not load:
        return scale.high - width * _TOP * (1 - quality)
    # Below the band even where next to nothing weighs on a perfect text.
    most = math.nextafter(scale.high - width * _TOP, scale.low)
    return scale.low + (most - scale.low) * (1 + quality) / 2 / (1 + load)


def costs_signature() -> str:
    """Return a digest of what errors cost and how length excuses them."""
    return fingerprint(repr((_COSTS, _FLOOR)))


def cost(spans: Iterable[ErrorSpan]) -> float:
    """Return the sum of what errors cost: .1, .25, .5, 1 and 2 for a severity of 1 to 5."""
    graded = (_UNGRADED if span.severity is None else span.severity for span in spans)
    return math.fsum(_COSTS[severity] for severity in graded)


def load(spans: Iterable[ErrorSpan], *, sentences: int) -> float:
    """Return how heavily errors weigh on a text of so many sentences.

    It is their cost, in a text of more than three sentences over the root of every third: in
    four times the text the same errors weigh half as much. So an error more never lightens
    the load of a text, and a sentence more does so only a little.
    """
    return cost(spans) / math.sqrt(max(1.0, sentences / _FLOOR))


def gravest(spans: Sequence[ErrorSpan], *, limit: int) -> tuple[ErrorSpan, ...]:
    """Return the gravest `limit` of `spans` in order of place."""
    kept = sorted(spans, key=lambda span: (-(span.severity or 0), span.start or 0))[:limit]
    return tuple(sorted(kept, key=lambda span: (span.start or 0, span.end or 0)))
