"""How an assessment ended. Only `SCORED` comes with a number."""

from enum import StrEnum

__all__ = ["UNANSWERED", "Outcome"]


class Outcome(StrEnum):
    """The closed set of ends that an assessment can come to."""

    SCORED = "scored"
    """There is a score."""
    ABSTAINED = "abstained"
    """The judge does not judge this aspect, or has nothing to judge it by."""
    UNPARSEABLE = "unparseable"
    """There is a reply, but no report can be read from it."""
    TRUNCATED = "truncated"
    """The reply broke off at the token limit, before the score."""
    REFUSED = "refused"
    """The model or its provider declined."""
    TIMED_OUT = "timed_out"
    """No complete reply within the time limit."""
    BACKEND_FAILED = "backend_failed"
    """A server, a network or a judge's own code failed."""


UNANSWERED = frozenset({Outcome.TIMED_OUT, Outcome.BACKEND_FAILED})
"""No model and no judge answered: to ask again pays nothing twice."""
