"""A judge whose score follows its list, and who sits alone on a panel of any size."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from fakes.judges import mark, panel_of

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Judge,
    Report,
    Rescoring,
    RescoringMethod,
    Segment,
)
from spanjury.orchestration.engine.panel import Panel


@dataclass(slots=True)
class Faithful:
    """Takes the gravest severity off the best score; raises on lists of some length."""

    name: str = "faithful"
    fails: Exception | None = None
    fails_on: int = -1
    asked: list[int] = field(default_factory=list)

    @property
    def signature(self) -> str:
        return self.name

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        spans = (mark(segment.output, "1935"),) if "1935" in segment.output else ()
        return Report(score=_score(spans), spans=spans)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        self.asked.append(len(spans))
        if self.fails is not None and len(spans) == self.fails_on:
            raise self.fails
        report = Report(score=_score(spans), spans=tuple(spans))
        return Rescoring(report=report, method=RescoringMethod.COMPUTED)


def _score(spans: Sequence[ErrorSpan]) -> float:
    return max(1, 5 - max((span.severity or 0 for span in spans), default=0))


def opener(*judges: Judge) -> Callable[[str], AbstractAsyncContextManager[Panel]]:
    """Return what opens a panel of `judges`, the same under every draw."""
    panel = panel_of(*judges, names=[judge.signature for judge in judges])

    @asynccontextmanager
    async def open_panel(draw: str) -> AsyncIterator[Panel]:
        yield panel

    return open_panel
