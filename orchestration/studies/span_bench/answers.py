"""Answers: what a judge, or a baseline that knows no text, says of a text of a bench."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from spanjury.judges.core import Decision, Outcome, Report, Result, Scale, SeatReport
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words, words
from spanjury.orchestration.engine.decision import decide
from spanjury.orchestration.engine.thresholds import SHIPPED
from spanjury.orchestration.studies.span_bench.gold import BenchText

PANEL = "whole panel"
"""The judge that all seats make together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSpan:
    """An error that is reported at a place; the category is empty where there is none."""

    start: int
    end: int
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer with a score.

    Parameters
    ----------
    spans
        The errors that have a place.
    unlocated
        How many errors have none.
    suspicion
        By how much the score is below the best of the scale; a greater one is worse.
    probability
        Of an error; None where the judge estimates none.
    """

    spans: tuple[FoundSpan, ...] = ()
    unlocated: int = 0
    suspicion: float = 0.0
    probability: float | None = None
    decision: Decision = Decision.OK

    @property
    def is_flagged(self) -> bool:
        """True if any error is reported."""
        return bool(self.spans) or self.unlocated > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An assessment without a score."""

    outcome: Outcome
    reason: str


def answer_of(report: Report, decision: Decision | None, *, best: int) -> Answer | Failure:
    """Return what a report and the decision on it come to.

    Parameters
    ----------
    decision
        None for a report without a score.
    best
        The best score of the scale.
    """
    if report.score is None or decision is None:
        return Failure(outcome=report.outcome, reason=report.reason)
    spans = tuple(
        FoundSpan(start=span.interval[0], end=span.interval[1], category=span.category)
        for span in report.spans
        if span.interval is not None
    )
    return Answer(
        spans=spans,
        unlocated=len(report.spans) - len(spans),
        suspicion=best - report.score,
        probability=report.error_probability,
        decision=decision,
    )


def answers_in(result: Result) -> Iterator[tuple[tuple[str, str], Answer | Failure]]:
    """Yield the answers of the panel and of its seats, if it has several, with judge and text."""
    text, scale, report = result.segment.segment_id, result.aspect.scale, result.report
    seats = report.seats
    name = PANEL if len(seats) > 1 else seats[0].seat
    yield (name, text), answer_of(report, report.decision, best=scale.high)
    for seat in seats if len(seats) > 1 else ():
        decision = _decision_of(seat, scale=scale)
        yield (seat.seat, text), answer_of(seat.report, decision, best=scale.high)


def _decision_of(seat: SeatReport, *, scale: Scale) -> Decision | None:
    """Return what a panel of this seat alone decides; None without a score."""
    report = seat.report
    if report.score is None:
        return None
    spans = [replace(span, found_by=(seat.seat,)) for span in report.spans]
    decided = decide((seat,), spans, score=report.score, scale=scale, thresholds=SHIPPED)
    return decided.decision


def mark_nothing(text: BenchText) -> Answer:
    """Report no error."""
    del text
    return Answer()


def mark_everything(text: BenchText) -> Answer:
    """Report the whole text as one error."""
    length = len(text.segment.output)
    spans = (FoundSpan(start=0, end=length),) if length else ()
    return Answer(spans=spans, decision=Decision.FAULTY if spans else Decision.OK)


def mark_new_words(text: BenchText) -> Answer | Failure:
    """Report every content word whose stem the inputs do not have; their share is the suspicion.

    Content words are those that carry no grammar alone. There is no answer without an input.
    """
    source = " ".join(text.aspect.view(text.segment.inputs).values())
    if not source.strip():
        return Failure(outcome=Outcome.ABSTAINED, reason="there is no input to compare with")
    stems = {stem(word) for word in folded_words(source)}
    content = [word for word in words(text.segment.output) if word.folded not in FUNCTION_WORDS]
    new = [word for word in content if stem(word.folded) not in stems]
    return Answer(
        spans=tuple(FoundSpan(start=word.start, end=word.end) for word in new),
        suspicion=len(new) / len(content) if content else 0.0,
        decision=Decision.FAULTY if new else Decision.OK,
    )


RIVAL = "new words"
"""The baseline that a judge has to be better than."""
BASELINES: Mapping[str, Callable[[BenchText], Answer | Failure]] = MappingProxyType(
    {
        "nothing": mark_nothing,
        "everything": mark_everything,
        RIVAL: mark_new_words,
    }
)
"""Name -> the answer of who has not read the text, or has only looked for new words."""
