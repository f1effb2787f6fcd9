"""A judge of whether a text is well formed; it follows rules, and asks no model.

Bands of a scale: the best eighth of it is for texts in which no error was found.

So a score and the errors that are reported never contradict each other: without errors a
score is at least 4.5 on a scale from 1 to 5, and with any it is below.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    Report,
    Rescoring,
    RescoringMethod,
    Scale,
    Segment,
    fingerprint,
    gravest,
    not_about,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.rules.form_checks import (
    articles,
    broken_off,
    debris,
    disagreement,
    doubled_marks,
    lower_case_starts,
    lower_i,
    misheard,
    missing_blanks,
    repeated_passages,
    shouting,
    stray_blanks,
    stuttering,
    unclosed_quotes,
    unpaired_brackets,
)
from spanjury.judges.rules.form_text import FormText, read_form
from spanjury.judges.text.turns import in_turn

CHECKS: tuple[Callable[[FormText], Iterator[ErrorSpan]], ...] = (
    articles,
    broken_off,
    debris,
    disagreement,
    doubled_marks,
    lower_case_starts,
    lower_i,
    misheard,
    missing_blanks,
    repeated_passages,
    shouting,
    stray_blanks,
    stuttering,
    unclosed_quotes,
    unpaired_brackets,
)
"""Every check that the judge makes; a new one is added here."""

_MOST = 100  # errors of one check that are looked at: more change no score by much

_TOP = 1 / 8  # share of the scale

_COSTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)  # of an error by severity

_UNGRADED = 3  # severity of an error without one

_FLOOR = 3  # sentences up to which length does not matter


@dataclass(frozen=True, slots=True, kw_only=True)
class FormJudge:
    """Mark what is badly written, whatever it says.

    That is: repetition, unfinished sentences, unpaired brackets and quotation marks, slips
    of casing and spacing, debris of encodings and mark-up, the surest errors of grammar.

    It judges aspects of the kind ``"form"`` and abstains on others. It reports what it is
    sure of and misses much: it knows no meaning. A way of writing kept throughout, as
    tokenised or lower-cased data have it, is a habit and no error; the rationale names it.

    In a sentence of a longer text (`Segment.before`) it marks what is an error whatever may follow,
    and repetition of what stands before.

    The score is the best where there is no error; with any it is::

        low + (7 / 8 * (high - low)) / (1 + load)

    where the load is the cost of all errors (.1, .25, .5, 1 and 2 for a severity of 1 to 5),
    in a text of more than three sentences over the root of every third
    (`spanjury.judges.rules.form`). An empty text has the lowest score. Of another list of errors
    the score is computed in the same way; errors that were found and not reported are counted as
    before. `max_spans`, 0 or more, limits the spans of the report; the score counts all.
    """

    blind_spots: ClassVar[str] = (
        "whatever takes an understanding of the text: a word that exists and is the wrong one, "
        "clumsy style, bad order, and grammar beyond a few slips of English"
    )

    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.max_spans < 0:
            raise ValueError(f"max_spans must not be negative, got {self.max_spans!r}")

    @property
    def signature(self) -> str:
        """The options, what errors cost, and the rules."""
        costs = costs_signature()
        return signature("form", max_spans=self.max_spans, costs=costs, rules=code_digest(__name__))

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Look at the output alone."""
        return await self._look(segment, aspect)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score that `spans` cost, in place of those that are reported."""
        report = await self._look(segment, aspect, spans=tuple(spans))
        return Rescoring(report=report, method=RescoringMethod.COMPUTED)

    async def _look(
        self, segment: Segment, aspect: Aspect, *, spans: tuple[ErrorSpan, ...] | None = None
    ) -> Report:
        if aspect.kind != "form":
            return not_about(aspect, "the form of the text")
        text, before = segment.output, segment.before
        check = partial(self._check, text, aspect=aspect, spans=spans, before=before)
        return await in_turn(check, length=len(text) + len(before or ""))

    def _check(
        self,
        text: str,
        *,
        aspect: Aspect,
        spans: tuple[ErrorSpan, ...] | None = None,
        before: str | None = None,
    ) -> Report:
        """Score `text` by the errors in it, `spans` in place of the reported ones if given."""
        scale = aspect.scale
        if not text.strip():
            empty = ErrorSpan(
                text="", explanation="The text is empty.", severity=5, category="unfinished"
            )
            reported = (empty,)[: self.max_spans] if spans is None else spans
            return Report(score=scale.low, spans=reported, rationale="Empty.")
        form, errors = _errors(text, before=before)
        reported = gravest(errors, limit=self.max_spans)
        if spans is not None:
            errors = [*spans, *(span for span in errors if span not in reported)]
        # What stands there twice makes a text no longer.
        sentences = 1 if before else len({sentence.text for sentence in form.sentences})
        weight = load(errors, sentences=sentences)
        return Report(
            score=banded(1.0, load=weight, scale=scale),
            spans=reported if spans is None else spans,
            rationale=" ".join([_summary(errors, words=len(form.words)), *_habits(form)]),
        )


def _errors(text: str, *, before: str | None) -> tuple[FormText, list[ErrorSpan]]:
    """Return the text that is read, with what stands before it, and the errors of `text`."""
    start = len(before or "")
    form = read_form((before or "") + text, is_whole=before is None)
    errors = _without_nested([span for check in CHECKS for span in islice(check(form), _MOST)])
    if not start:
        return form, errors
    own = (span for span in errors if span.start is not None and span.start >= start)
    return form, [span.moved(-start) for span in own]


def _summary(errors: Sequence[ErrorSpan], *, words: int) -> str:
    if not errors:
        return "No error of form found."
    return f"{len(errors)} error{'s' if len(errors) > 1 else ''} of form in {words} words."


def _habits(form: FormText) -> Iterator[str]:
    """Yield a note on each way of writing that the text keeps throughout."""
    if form.tokenised:
        yield "Blanks stand before punctuation throughout, which is taken for a habit."
    if not form.capitals:
        yield "Sentences begin in lower case throughout, which is taken for a habit."


def _without_nested(spans: Sequence[ErrorSpan]) -> list[ErrorSpan]:
    """Leave out spans that lie within another: one slip is one error."""
    kept: list[ErrorSpan] = []
    reach = -1
    for span in sorted(spans, key=lambda span: (span.start or 0, -(span.end or 0))):
        if (span.end or 0) > reach:
            kept.append(span)
            reach = span.end or 0
    return kept


def banded(quality: float, *, load: float, scale: Scale) -> float:
    """Return the score of a text.

    Parameters
    ----------
    quality
        What else is known of the text, 0 to 1; it orders texts within a band.
    load
        How heavily errors weigh on it; 0 for none, without an upper limit.

    Examples
    --------
    >>> [round(banded(0.5, load=load, scale=Scale()), 4) for load in (0, 1)]
    [4.75, 2.3125]
    """
    width = scale.high - scale.low
    if not load:
        return scale.high - width * _TOP * (1 - quality)
    # Below the band even where next to nothing weighs on a perfect text.
    most = math.nextafter(scale.high - width * _TOP, scale.low)
    return scale.low + (most - scale.low) * (1 + quality) / 2 / (1 + load)


def costs_signature() -> str:
    """Return a digest of what errors cost and how length excuses them."""
    return fingerprint(repr((_COSTS, _FLOOR)))


def cost(spans: Iterable[ErrorSpan]) -> float:
    """Return the sum of what errors cost: .1, .25, .5, 1 and 2 for a severity of 1 to 5."""
    graded = (_UNGRADED if span.severity is None else span.severity for span in spans)
    return math.fsum(_COSTS[severity] for severity in graded)


def load(spans: Iterable[ErrorSpan], *, sentences: int) -> float:
    """Return how heavily errors weigh on a text of so many sentences.

    It is their cost, in a text of more than three sentences over the root of every third: in
    four times the text the same errors weigh half as much. So an error more never lightens
    the load of a text, and a sentence more does so only a little.
    """
    return cost(spans) / math.sqrt(max(1.0, sentences / _FLOOR))
