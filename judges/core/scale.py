"""The ordinal scale of a score, and the score that corresponds to a probability of an error."""

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An ordinal scale: labels from worst to best, with the scores 1, 2, …, n.

    Parameters
    ----------
    labels
        At least two distinct labels, worst first. The default is the five-point scale
        of OpeNLGauge (section 4).

    Raises
    ------
    ValueError
        If there are fewer than two labels, or two that differ only in case.

    Examples
    --------
    >>> Scale().value("good")
    4
    >>> Scale().label(3.6)
    'Good'
    """

    labels: tuple[str, ...] = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")

    def __post_init__(self) -> None:
        folded = {label.casefold() for label in self.labels}
        if len(self.labels) < 2 or len(folded) != len(self.labels):  # noqa: PLR2004
            raise ValueError(f"a scale needs two or more distinct labels, got {self.labels!r}")

    @property
    def low(self) -> int:
        """The score of the worst label."""
        return 1

    @property
    def high(self) -> int:
        """The score of the best label."""
        return len(self.labels)

    def value(self, label: str) -> int | None:
        """Return the score of `label`, ignoring case, or None if it is not a label."""
        folded = label.strip().casefold()
        for score, named in enumerate(self.labels, start=1):
            if named.casefold() == folded:
                return score
        return None

    def label(self, score: float) -> str:
        """Return the label nearest to `score`; halves go to the better one."""
        return self.labels[min(self.high, max(self.low, int(score + 0.5))) - 1]

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high


def score_of_probability(probability: float, scale: Scale) -> float:
    """Return the score of a text that has an error with this probability, 0 to 1.

    Examples
    --------
    >>> [score_of_probability(probability, Scale()) for probability in (0, 0.25, 1)]
    [5, 4.0, 1]
    """
    return scale.high - (scale.high - scale.low) * probability


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

    Examples
    --------
    >>> grave = ErrorSpan(text="", explanation="", severity=5, probability=0.5)
    >>> round(probability_with([grave, grave], probability=0.6, own=[grave]), 3)
    0.75
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
