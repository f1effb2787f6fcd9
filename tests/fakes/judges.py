"""Judges and segments for tests of what stands above the judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from anyio import Event

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    Located,
    Report,
    SeatReport,
    Segment,
    Task,
    Verdict,
)
from spanjury.orchestration.engine.aggregation import mean
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.seats import Seat

TASK = Task(name="summarization", description="A summary of an article.", output_header="Summary")
ASPECT = Aspect(name="consistency", task=TASK, definition="Facts agree.", kind="grounding")


def segment(name: str = "s", output: str = "The bridge opened in 1935.") -> Segment:
    return Segment(segment_id=name, output=output, inputs={"Article": "It opened in 1932."})


def located(text: str, start: int, **fields: object) -> ErrorSpan:
    """Return an error of severity 3 at the place where `text` begins at `start`."""
    usual = {"explanation": "wrong", "severity": 3, "located": Located.EXACT, **fields}
    return ErrorSpan(text=text, start=start, end=start + len(text), **usual)  # type: ignore[arg-type]  # the fields of each test


def mark(
    output: str, quote: str, explanation: str = "wrong", severity: int | None = 3, **fields: object
) -> ErrorSpan:
    """Mark the first `quote` in `output`, or report it without a place if it is not there."""
    both = {"explanation": explanation, "severity": severity, **fields}
    if not quote or quote not in output:
        return ErrorSpan(text=quote, **both)  # type: ignore[arg-type]  # the fields of each test
    return located(quote, output.index(quote), **both)


def panel_of(*judges: Judge, names: Sequence[str] = (), **fields: object) -> Panel:
    """Return a panel that takes the mean; its seats are called `names`, or seat0, seat1, …"""
    called = names or [f"seat{number}" for number in range(len(judges))]
    seats = tuple(Seat(name=name, judge=judge) for name, judge in zip(called, judges, strict=True))
    usual = {"aggregation": mean, "aggregation_name": "mean", "consolidator": RuleConsolidator()}
    return Panel(seats=seats, **{**usual, **fields})  # type: ignore[arg-type]  # the fields of each test


def verdict_of(
    text: Segment, spans: Mapping[str, Sequence[ErrorSpan]], *, aspect: Aspect = ASPECT
) -> Verdict:
    """Return the verdict of seats that each found these spans in `text`."""
    seats = (
        SeatReport(seat=name, signature=name, report=Report(score=3, spans=tuple(own)), seconds=0)
        for name, own in spans.items()
    )
    return Verdict(segment=text, aspect=aspect, seats=tuple(seats))


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedJudge:
    """Says the same of everything, or raises."""

    says: Report | BaseException | object
    name: str = "fixed"

    @property
    def signature(self) -> str:
        return self.name

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says  # type: ignore[return-value]  # a broken judge returns anything


@dataclass(slots=True)
class WaitingJudge:
    """Scores 3, but only once the event for the segment is set; notes what began."""

    signature = "waiting"
    events: dict[str, Event] = field(default_factory=dict)
    began: list[str] = field(default_factory=list)

    @classmethod
    def holding(cls, names: Sequence[str]) -> "WaitingJudge":
        return cls(events={name: Event() for name in names})

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        self.began.append(segment.segment_id)
        if segment.segment_id in self.events:
            await self.events[segment.segment_id].wait()
        return Report(score=3)


class PanicError(BaseException):
    """An exception as a plugin in Rust raises it: none of Python's `Exception`s."""
