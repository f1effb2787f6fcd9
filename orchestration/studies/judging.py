"""Judging for an exam: a panel judges texts draw after draw, and what it says is kept by name."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, TypeVar

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DataError,
    ErrorSpan,
    Located,
    Outcome,
    PanelReport,
    Report,
    Result,
    RunStoppedError,
    Segment,
    counted,
)
from spanjury.orchestration.engine.batch import each, evaluate
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.perturbations.pairs import Skipped

OpenPanel = Callable[[str], AbstractAsyncContextManager[Panel]]
"""Opens the panel for one draw; another name of a draw changes all that is random."""

CLEAN = "clean"
T = TypeVar("T")
K = TypeVar("K")


def made_and_skipped(outcomes: Iterable[T | Skipped], done: str) -> tuple[list[T], list[Skipped]]:
    """Separate the texts that were changed from those that were skipped.

    Raise `DataError` with the reasons if all were skipped; `done` is the past participle of the
    change for that message, such as ``damaged``.
    """
    every = list(outcomes)
    made = [outcome for outcome in every if not isinstance(outcome, Skipped)]
    skipped = [outcome for outcome in every if isinstance(outcome, Skipped)]
    if not made:
        reasons = "; ".join(sorted({skip.reason for skip in skipped}))
        raise DataError(f"no text could be {done}: {reasons}")
    return made, skipped


def overlapping(intervals: Iterable[tuple[int, int]], others: Sequence[tuple[int, int]]) -> int:
    """Return how many intervals share a character with any of the others."""
    return sum(
        any(max(start, first) < min(end, last) for first, last in others)
        for start, end in intervals
    )


async def in_order(
    todo: Sequence[T], work: Callable[[T], Awaitable[K]], *, workers: int, stop_token: StopToken
) -> list[K]:
    """Return the results of `work` on each of `todo`, in order; `workers` are made concurrently.

    Raise `RunStoppedError` if the stop token came before the end.
    """
    made: dict[int, K] = {}

    async def work_on(number: int) -> None:
        made[number] = await work(todo[number])

    await each(range(len(todo)), work_on, workers=workers, stop_token=stop_token)
    return [made[number] for number in range(len(todo))]


def require_distinct(**parts: Sequence[str]) -> None:
    """Check the parts of an exam, as texts and aspects: some of each, under distinct names.

    Raise `ConfigError` if a part is empty, or a name in it is doubled.
    """
    if not all(parts.values()):
        *others, last = parts
        raise ConfigError(f"an exam needs {', '.join(others)} and {last}")
    for part, names in parts.items():
        if len(names) != len(set(names)):
            raise ConfigError(f"the {part} of an exam need distinct names")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A panel's, or a seat's, judgement of one text on one aspect."""

    score: float | None
    outcome: Outcome
    spans: tuple[tuple[int, int], ...]
    """The errors that it sees, as half-open offsets in code points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedText:
    """A text of an exam with the panel's result on one aspect, for people to read."""

    result: Result
    """Its segment has planted errors as gold spans."""
    condition: str = ""
    """The change made to the text; for an original text, a name such as ``clean``."""
    clean_id: str = ""
    """Id of the text that it is compared with; empty for an original text."""
    caught: Literal["none", "some", "all"] | None = None
    """Share of the planted errors that the panel marks in this text only; None where none should be
    marked on this aspect."""


def marked_places(
    text: str, intervals: Iterable[tuple[int, int]], *, explanation: str, category: str = ""
) -> tuple[ErrorSpan, ...]:
    """Return a gold span for each of the intervals of a text that is not empty."""
    return tuple(
        ErrorSpan(
            text=text[start:end],
            start=start,
            end=end,
            located=Located.EXACT,
            explanation=explanation,
            severity=None,
            category=category,
        )
        for start, end in intervals
        if start < end
    )


def judgement_of(report: Report) -> Judgement:
    """Return what `report`, of a panel or of a seat, comes to."""
    return Judgement(
        score=report.score,
        outcome=report.outcome,
        spans=tuple(span.interval for span in report.spans if span.interval is not None),
    )


def of_sources(texts: int, sources: int) -> str:
    """Return a number of texts in words, with that of their sources where texts share one."""
    shared = f" of {counted(sources, 'source')}" if sources < texts else ""
    return f"{counted(texts, 'text')}{shared}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examinee:
    """The panel that is examined."""

    signature: str
    seats: Mapping[str, str]
    """Name -> signature of the judge there, with its model and decoding."""

    @classmethod
    def of(cls, report: PanelReport) -> "Examinee":
        """Return who made `report`."""
        seats = {seat.seat: seat.signature for seat in report.seats}
        return cls(signature=report.signature, seats=seats)

    @property
    def name(self) -> str:
        """The names of its seats."""
        return ", ".join(self.seats)


@dataclass(slots=True)
class Recorder:
    """Record who judges and how many scores there are, and pass each result to `show`."""

    show: Callable[[Result], None]
    examinee: Examinee | None = None
    scored: int = 0

    def __call__(self, result: Result) -> None:
        """Record a result."""
        if self.examinee is None:
            self.examinee = Examinee.of(result.report)
        self.scored += result.report.score is not None
        self.show(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamRun:
    """An exam under way, in which a panel judges one draw after the other."""

    open_panel: OpenPanel
    workers: int
    stop_token: StopToken
    """Ends the exam early; with a memory, what was said by then is kept."""
    record: Recorder
    expect: Callable[[int], None] = lambda _: None
    """Called with the number of results as it is known better."""

    @property
    def examinee(self) -> Examinee:
        """The panel, once it has judged anything."""
        assert self.record.examinee is not None
        return self.record.examinee

    async def judge(
        self, pairs: Iterable[tuple[Segment, Aspect]], *, draw: str
    ) -> dict[tuple[str, str], Result]:
        """Judge every pair, and return the results under ``(segment id, aspect name)``.

        Raise `RunStoppedError` if the stop token came before the end.

        `pairs`: segments with distinct ids, each with an aspect.
        `draw`: name of the draw.
        """
        results: dict[tuple[str, str], Result] = {}

        def keep(result: Result) -> None:
            results[result.segment.segment_id, result.aspect.name] = result
            self.record(result)

        async with self.open_panel(draw) as panel:
            await evaluate(
                panel, pairs, write=keep, workers=self.workers, stop_token=self.stop_token
            )
        if self.stop_token.interrupted:
            raise RunStoppedError(self.stop_token.reason)
        return results
