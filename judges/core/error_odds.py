"""The probability of an error in a text, after errors are added to its list or removed."""

from collections.abc import Sequence
from math import exp, fsum, log1p

from spanjury.judges.core.span import ErrorSpan

_WEIGHTS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Factor of a span's probability, by severity."""
_UNGRADED = 3
"""Severity assumed for a span without one."""
_UNSTATED = 0.5
"""Probability assumed for a span without one."""
_MOST = 0.999
"""Upper limit of a span's weight: no span makes a text certainly wrong, no list certainly right."""


def probability_with(
    spans: Sequence[ErrorSpan], *, probability: float, own: Sequence[ErrorSpan]
) -> float:
    """Return the probability of an error in a text with the errors `spans` instead of `own`.

    The odds that the text is right are multiplied, for each error in `spans`, by the probability
    that this error leaves the text right: 1 minus its own probability times a factor for its
    severity. For each error in `own` they are divided by it. Equal lists give the same
    probability, more errors a higher one, and fewer errors a lower one.

    Parameters
    ----------
    probability
        The probability of an error, 0 to 1, for the errors `own`.
    """
    difference = fsum((*map(_log_right, spans), *(-_log_right(span) for span in own)))
    if not difference:
        return probability
    # Odds of 0 or infinity cannot change. So a milder list starts a little below 1, and a graver
    # one a little above 0. The other end needs no bound, which would reverse the order of lists.
    is_graver = difference < 0
    wrong = max(1.0 - _MOST, probability) if is_graver else min(_MOST, probability)
    right = (1.0 - wrong) * exp(difference)
    return wrong / (wrong + right)


def _log_right(span: ErrorSpan) -> float:
    """Return the logarithm of the probability that `span` leaves the text right."""
    likely = _UNSTATED if span.probability is None else span.probability
    severity = _UNGRADED if span.severity is None else span.severity
    return log1p(-min(_MOST, likely * _WEIGHTS[severity - 1]))
