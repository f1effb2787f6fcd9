"""Rescoring: a judge goes on from an error list that is not its own."""

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
    """Way in which a judge came from an error list to a score."""

    CONTINUED = "continued"
    """Its own reply, the list in it changed, was continued word for word from there."""
    RESTATED = "restated"
    """It was given the list in a new turn and asked for the score that follows."""
    COMPUTED = "computed"
    """Its score is a function of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """Score that a judge gives to an error list.

    Parameters
    ----------
    report
        With the list as it was given for its spans; of the reply, only what came after it.
    method
        How the score came about.
    expected
        Mean of the score over the probabilities of its labels, which shows what moves below
        one label; None where they are not known.
    """

    report: Report
    method: RescoringMethod
    expected: float | None = None


@runtime_checkable
class Rescorable(Judge, Protocol):
    """A judge that can say which score follows from an error list.

    Source: Terentowicz, Lango, Dušek (2025), section 3: whether the score of an
    explained judgement follows its explanation is seen when the explanation is changed.
    """

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return what the judge makes of `spans`, in their order, as if it had found them.

        Raises
        ------
        JudgeError, ModelError
            If it cannot.
        """
        ...
