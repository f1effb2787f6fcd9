"""Evidence and probability of a span that is merged of several: those of its members."""

from collections.abc import Iterable

from spanjury.judges.core import ErrorSpan, Evidence


def joined_evidence(spans: Iterable[ErrorSpan]) -> tuple[Evidence, ...]:
    """Return the evidence of all `spans`, each place once."""
    return tuple(dict.fromkeys(evidence for span in spans for evidence in span.evidence))


def highest_probability(spans: Iterable[ErrorSpan]) -> float | None:
    """Return the highest probability that any of `spans` has; None if none has any."""
    return max((span.probability for span in spans if span.probability is not None), default=None)
