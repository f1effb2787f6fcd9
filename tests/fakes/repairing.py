"""A judge that marks listed words, and writers of whom it is known what they write."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fakes.judges import mark
from fakes.judges import panel_of as seated

from spanjury.judges.core import Aspect, ErrorSpan, Judge, Report, Segment, Usage
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.text_repair.loop import Replacements
from spanjury.orchestration.engine.text_repair.versions import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingJudge:
    """Marks each listed quote that stands in the text; 5 less the gravest severity is the score."""

    severities: Mapping[str, int]
    omission: str = ""
    name: str = "marking"
    usage: Usage = Usage()

    @property
    def signature(self) -> str:
        return self.name

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        text = segment.output
        spans = [
            mark(text, quote, explanation=f"{quote} is wrong", severity=severity)
            for quote, severity in self.severities.items()
            if quote in text
        ]
        gravest = max((span.severity or 0 for span in spans), default=0)
        if self.omission:
            spans.append(ErrorSpan(text="", explanation=self.omission, severity=2))
        return Report(score=max(1, 5 - gravest), spans=tuple(spans), usage=self.usage)


@dataclass(slots=True)
class ScriptedWriter:
    """Gives the scripted answers in turn: texts by place, a function of the version, or an error.

    `seen` are the versions that it was asked about.
    """

    signature = "scripted"
    answers: list[Mapping[int, str] | Callable[[Version], Mapping[int, str]] | Exception]
    seen: list[Version] = field(default_factory=list)

    async def replacements(self, version: Version) -> Replacements:
        self.seen.append(version)
        answer = self.answers[len(self.seen) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Replacements(texts=answer if isinstance(answer, Mapping) else answer(version))


def panel_of(*judges: Judge) -> Panel:
    return seated(*judges, names=[f"seat-{number}" for number in range(len(judges))])


@asynccontextmanager
async def opened(panel: Panel) -> AsyncIterator[Panel]:
    yield panel
