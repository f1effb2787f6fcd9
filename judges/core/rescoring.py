"""Rescoring: a judge scores an error list that is not its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from spanjury.judges.core.aspect import Aspect
from spanjury.judges.core.ports import Judge
from spanjury.judges.core.report import Report
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.span import ErrorSpan


class RescoringMethod(Enum):
    """Method by which a judge derives a score from an error list."""

    CONTINUED = "continued"
    """The list in its own reply was replaced, and the model continued the reply from there."""
    RESTATED = "restated"
    """The list was sent in a new turn that asks for the score."""
    COMPUTED = "computed"
    """Its score is a function of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """Score that a judge assigns to an error list.

    Parameters
    ----------
    report
        Report whose spans are the list; its reply contains only the text after the list.
    method
        How the score was derived.
    expected
        Mean score over the probabilities of the labels, which shows changes smaller than one
        label; None if the probabilities are unknown.
    """

    report: Report
    method: RescoringMethod
    expected: float | None = None


@runtime_checkable
class Rescorable(Judge, Protocol):
    """A judge that can derive the score from an error list.

    Source: Terentowicz, Lango, Dušek (2025), section 3: changing the explanation shows whether
    the score of an explained judgement follows it.
    """

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score for `spans`, in their order, as if the judge had found them.

        Raises
        ------
        JudgeError, ModelError
            If it cannot.
        """
        ...
