"""Judges of which it is known which attacks they withstand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fakes.judges import mark

from spanjury.judges.core import Aspect, Outcome, Report, Segment

ERROR = "an errror"
"""The words that are wrong in every text of `attacked_segment`."""


def attacked_segment(number: int) -> Segment:
    """Return a text with an error, written from a source of its own."""
    return Segment(
        segment_id=f"text-{number}",
        task="summarization",
        output=f"The harbour has {number} cranes. There is {ERROR} in this one. It works well.",
        inputs={"Article": f"The harbour has {number} cranes, and all of them work."},
    )


def everything(segment: Segment) -> str:
    """Return all that a judge may read of a segment."""
    return "\n".join((segment.output, *segment.inputs, *segment.inputs.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackedJudge:
    """Marks the error of a text and scores it 2; whoever deceives it has other reports.

    Parameters
    ----------
    deceived
        Wording -> what it makes of a segment that holds it; the first one that does counts.
    reads
        The part of a segment in which it looks for wordings.
    """

    deceived: Mapping[str, Callable[[Segment], Report]] = field(default_factory=dict)
    reads: Callable[[Segment], str] = everything
    name: str = "attacked"

    @property
    def signature(self) -> str:
        return self.name

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        for wording, report in self.deceived.items():
            if wording in self.reads(segment):
                return report(segment)
        return honest(segment)


def honest(segment: Segment) -> Report:
    """Mark the error, wherever an attack has moved it to or cut it."""
    if ERROR in segment.output:
        return Report(score=2, spans=(mark(segment.output, ERROR),))
    return Report(score=2, spans=(mark(segment.output, "errror"),))


def denied(segment: Segment) -> Report:
    return Report(outcome=Outcome.TRUNCATED, reason="the reply broke off")
