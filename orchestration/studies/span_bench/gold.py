"""Gold spans of texts, and the answers that judges gave on them.

A text has an error where people marked one, or ``supported`` in its row is false. It has none
where ``supported`` is true, its list of spans is empty, or the row names annotators who marked
nothing. Of any other text it is not known, and neither is it where ``supported`` is null.

The marks of a damaged text are errors only on the aspects whose scores should fall, which
``aspect_effects`` names. On an aspect whose score should not change, the text has no error; on any
other aspect it is not known whether it has one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import get_args

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DataError,
    Decision,
    Outcome,
    Report,
    Result,
    Scale,
    SeatReport,
    Segment,
    fingerprint,
)
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import folded_words, words
from spanjury.orchestration.engine.decision import decide
from spanjury.orchestration.engine.thresholds import SHIPPED
from spanjury.perturbations.perturbation import EVERY_ASPECT, Effect

KIND = "kind"
"""The key of a row that says of which kind its error is, or would be."""
EFFECTS = "aspect_effects"
"""The key of a damaged text that says what its score should do: aspect -> `Effect`."""
_SUPPORTED = "supported"
_SPANS = "spans"
_READERS = ("annotators", "annotator")
_EXTENTS = ("intrinsic", "extrinsic")
PANEL = "whole panel"
"""The judge that all seats make together."""
RIVAL = "new words"
"""The baseline that a judge has to be better than."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPlace:
    """A place that people marked.

    `start`, `end`: half-open offsets in code points of the output.
    """

    start: int
    end: int
    kinds: tuple[str, ...] = ()
    """Types of the error, as people named them; those of the text where the mark has none."""
    extent: str = ""
    """``intrinsic``, if it twists what the source says, or ``extrinsic``, if it adds to it; empty
    where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchText:
    """A text, and what people found in it on one aspect."""

    segment: Segment
    aspect: Aspect
    source: str
    """Texts of one source are drawn together."""
    faulty: bool | None
    """True if it has an error; None if unknown."""
    gold: tuple[GoldPlace, ...] | None
    """Offsets of its errors, none for a text without errors; None if unknown."""
    human: float | None
    """People's score on the aspect; None without any."""
    groups: tuple[str, ...] = ()
    """Names under which it is reported besides, as kinds of error or its system."""

    @property
    def is_known(self) -> bool:
        """True if people said anything of it."""
        return self.faulty is not None or self.human is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSet:
    """Texts that are reported together."""

    name: str
    texts: tuple[BenchText, ...]
    unknown: int = 0
    """Texts of which nothing is known: they are not judged."""


def bench_text(
    segment: Segment, aspect: Aspect, *, catalogue: Catalogue, by: str = KIND
) -> BenchText:
    """Return what people found in a text; its groups are named under the key `by` of its row.

    Raise `DataError` if ``supported`` is neither true, false nor null, or is true although errors
    are marked, or if ``aspect_effects`` is no mapping from aspects to effects.
    """
    faulty = _faulty_on(segment, aspect)
    marks = tuple(_marks(segment)) if faulty else ()
    inputs = [part for pair in sorted(segment.inputs.items()) for part in pair]
    group = segment.meta.get("group")
    is_named = group is not None and not isinstance(group, dict | list)
    return BenchText(
        segment=segment,
        aspect=aspect,
        source=f"group {group}" if is_named else fingerprint(*(inputs or [segment.output])),
        faulty=faulty,
        gold=marks if marks or faulty is False else None,
        human=_human(segment, aspect, catalogue=catalogue),
        groups=_groups(segment, by),
    )


def _groups(segment: Segment, by: str) -> tuple[str, ...]:
    if by == "system":
        return _names(segment.system)
    return _kinds(segment) if by == KIND else _names(segment.meta.get(by))


def _kinds(segment: Segment) -> tuple[str, ...]:
    """Return the kinds of error that a row names as a whole."""
    return _names(segment.meta.get("kinds")) or _names(segment.meta.get(KIND))


def _faulty_on(segment: Segment, aspect: Aspect) -> bool | None:
    """Return whether a text has an error on `aspect`; None if unknown."""
    effects = segment.meta.get(EFFECTS)
    if effects is None:
        return _faulty(segment)
    choices = get_args(Effect)
    if not isinstance(effects, dict) or any(effect not in choices for effect in effects.values()):
        raise DataError(
            f"row {segment.segment_id!r}: got {EFFECTS} {effects!r}, expected for each aspect one "
            f"of {', '.join(choices)}"
        )
    effect = effects.get(aspect.name, effects.get(EVERY_ASPECT))
    if effect == "falls":
        return _faulty(segment)
    return False if effect == "unchanged" else None


def _faulty(segment: Segment) -> bool | None:
    meta = segment.meta
    supported = meta.get(_SUPPORTED)
    if isinstance(supported, str):  # as tables have it
        supported = {"true": True, "false": False, "": None}.get(supported.lower(), supported)
    if supported is not None and not isinstance(supported, bool):
        raise DataError(
            f"row {segment.segment_id!r}: got supported {supported!r}, expected true, false or null"
        )
    if segment.gold:
        if supported:
            raise DataError(f"row {segment.segment_id!r}: supported is true, yet errors are marked")
        return True
    if _SUPPORTED in meta:
        return None if supported is None else not supported
    looked = meta.get(_SPANS) == [] or any(meta.get(key) for key in _READERS)
    return False if looked else None


def _marks(segment: Segment) -> Iterator[GoldPlace]:
    """Yield what is marked and has a place."""
    written = _written(segment)
    of_text = _kinds(segment)
    for span, mark in zip(segment.gold, written, strict=True):
        if span.interval is None:
            continue
        kinds = _names(mark.get("kinds")) or _names(span.category) or of_text
        yield GoldPlace(
            start=span.interval[0],
            end=span.interval[1],
            kinds=kinds,
            extent=_extent(mark.get("extent"), kinds),
        )


def _written(segment: Segment) -> Sequence[Mapping[str, object]]:
    """Return the marks as the row has them, where a source keeps them; empty ones elsewhere."""
    spans = segment.meta.get(_SPANS)
    if isinstance(spans, list) and len(spans) == len(segment.gold):
        return [span if isinstance(span, dict) else {} for span in spans]
    return [{} for _ in segment.gold]


def _names(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(
        dict.fromkeys(name.strip() for name in values if isinstance(name, str) and name.strip())
    )


def _extent(given: object, kinds: Sequence[str]) -> str:
    """Return the extent of an error: what is given, or else what all of its kinds begin with."""
    if isinstance(given, str) and given.strip():
        return given.strip().lower()
    begun = {next(filter(kind.lower().startswith, _EXTENTS), "") for kind in kinds}
    return begun.pop() if len(begun) == 1 else ""


def _human(segment: Segment, aspect: Aspect, *, catalogue: Catalogue) -> float | None:
    """Return people's score, which may be under another name of the aspect."""
    for name in (aspect.name, *segment.human):
        with suppress(ConfigError):
            if catalogue.aspect(aspect.task.name, name).name == aspect.name:
                score = segment.human_score(name)
                if score is not None:
                    return score
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSpan:
    """An error that is reported at a place; the category is empty if there is none."""

    start: int
    end: int
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer with a score."""

    spans: tuple[FoundSpan, ...] = ()
    """The errors that have a place."""
    unlocated: int = 0
    """Number of errors without a location."""
    suspicion: float = 0.0
    """By how much the score is below the best of the scale; a greater one is worse."""
    probability: float | None = None
    """P(error); None if the judge estimates none."""
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
    """Return what a report and the decision on it come to; `best` is the scale's best score."""
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


BASELINES: Mapping[str, Callable[[BenchText], Answer | Failure]] = {
    "nothing": mark_nothing,
    "everything": mark_everything,
    RIVAL: mark_new_words,
}
"""Name -> the answer of who has not read the text, or has only looked for new words."""
