"""Judges and segments for tests of what stands above the judges."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from anyio import Event

from spanjury.judges.core import Aspect, ErrorSpan, Located, Report, Segment, Task

__all__ = ["ASPECT", "TASK", "FixedJudge", "WaitingJudge", "mark", "segment"]

TASK = Task(name="summarization", description="A summary of an article.", output_header="Summary")
ASPECT = Aspect(name="consistency", task=TASK, definition="Facts agree.", kind="grounding")


def segment(name: str = "s", output: str = "The bridge opened in 1935.") -> Segment:
    return Segment(segment_id=name, output=output, inputs={"Article": "It opened in 1932."})


def mark(
    output: str, quote: str, explanation: str = "wrong", severity: int | None = 3
) -> ErrorSpan:
    """Mark the first `quote` in `output`."""
    start = output.index(quote)
    return ErrorSpan(
        text=quote,
        start=start,
        end=start + len(quote),
        located=Located.EXACT,
        explanation=explanation,
        severity=severity,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedJudge:
    """Says the same of everything, or raises."""

    says: Report | Exception | object
    name: str = "fixed"

    @property
    def signature(self) -> str:
        return self.name

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        del segment, aspect
        if isinstance(self.says, Exception):
            raise self.says
        return self.says  # type: ignore[return-value]  # a broken judge returns anything


@dataclass(slots=True)
class WaitingJudge:
    """Scores 3, but only once the event for the segment is set; notes what began."""

    events: dict[str, Event] = field(default_factory=dict)
    began: list[str] = field(default_factory=list)

    @classmethod
    def holding(cls, names: Sequence[str]) -> "WaitingJudge":
        return cls(events={name: Event() for name in names})

    @property
    def signature(self) -> str:
        return "waiting"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        del aspect
        self.began.append(segment.segment_id)
        if segment.segment_id in self.events:
            await self.events[segment.segment_id].wait()
        return Report(score=3)
