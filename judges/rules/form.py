"""A judge of whether a text is well formed; it uses rules and no model.

The best eighth of a scale is reserved for texts without errors. So a score and the reported errors
never contradict each other: without errors a score is at least 4.5 on a scale from 1 to 5, and with
any error it is below.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
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
    abstention,
    fingerprint,
    gravest,
    not_about,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.rules.form_checks import CHECKS
from spanjury.judges.rules.form_text import FormText, read_form
from spanjury.judges.text.turns import in_turn

_MOST = 100  # maximum errors of one check: more hardly change the score

_TOP = 1 / 8  # share of the scale for texts without errors

_COSTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)  # cost of an error by severity

_UNGRADED = 3  # severity assumed for an error without one

_FLOOR = 3  # number of sentences up to which length does not matter


@dataclass(frozen=True, slots=True, kw_only=True)
class FormJudge:
    """Mark errors of form, regardless of the meaning of the text.

    These are repetition, unfinished sentences, unpaired brackets and quotation marks, slips of
    casing and spacing, debris of encodings and mark-up, misspelt words, and the surest errors of
    grammar. It judges aspects of the kind ``"form"`` and abstains on others, and on texts in which
    it finds no error if they are not English. It reports only sure errors and misses
    many, because it does not understand the text. A habit kept throughout, as in tokenised or
    lower-cased data, is not an error; the rationale names it. In a sentence of a longer text
    (`Segment.before`) it marks errors that no following text could excuse, and repetition of the
    text before.

    A text without errors has the best score; with errors the score is::

        low + (7 / 8 * (high - low)) / (1 + load)

    where the load is the cost of all errors (0.1, 0.25, 0.5, 1 and 2 for a severity of 1 to 5). In
    a text of more than three sentences it is divided by the square root of a third of their number
    (`spanjury.judges.rules.form`). An empty text has the lowest score. The score for another error
    list is computed in the same way; errors that were found but not reported count as before.
    `max_spans`, 0 or more, limits the spans of the report; the score counts all.
    """

    blind_spots: ClassVar[str] = (
        "errors that require understanding the text: a wrong but correctly spelled word, clumsy "
        "style, bad order, and grammar beyond a few common slips of English"
    )

    max_spans: int = 8

    def __post_init__(self) -> None:
        if self.max_spans < 0:
            raise ValueError(f"max_spans must not be negative, got {self.max_spans!r}")

    @property
    def signature(self) -> str:
        """The options, the costs of errors, and the rules."""
        costs = costs_signature()
        return signature("form", max_spans=self.max_spans, costs=costs, rules=code_digest(__name__))

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Check the output alone."""
        return await self._look(segment, aspect)

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score for `spans` instead of the reported errors."""
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
        """Score `text` by its errors; `spans`, if given, replace the reported ones."""
        scale = aspect.scale
        if not text.strip():
            empty = ErrorSpan(
                text="", explanation="The text is empty.", severity=5, category="unfinished"
            )
            reported = (empty,)[: self.max_spans] if spans is None else spans
            return Report(score=scale.low, spans=reported, rationale="Empty.")
        form, errors = _errors(text, before=before)
        if form.unread and not (errors or spans):
            return abstention(f"{form.unread}, and this judge reads English")
        reported = gravest(errors, limit=self.max_spans)
        if spans is not None:
            errors = [*spans, *(span for span in errors if span not in reported)]
        # Repeated sentences do not count towards the length of the text.
        sentences = 1 if before else len({sentence.text for sentence in form.sentences})
        weight = load(errors, sentences=sentences)
        return Report(
            score=banded(1.0, load=weight, scale=scale),
            spans=reported if spans is None else spans,
            rationale=" ".join(_rationale(errors, form)),
        )


def _errors(text: str, *, before: str | None) -> tuple[FormText, list[ErrorSpan]]:
    """Return the text including the text before it, and the errors of `text`."""
    start = len(before or "")
    form = read_form((before or "") + text, is_whole=before is None)
    errors = _without_nested([span for check in CHECKS for span in islice(check(form), _MOST)])
    if not start:
        return form, errors
    own = (span for span in errors if span.start is not None and span.start >= start)
    return form, [span.moved(-start) for span in own]


def _rationale(errors: Sequence[ErrorSpan], form: FormText) -> Iterator[str]:
    """Yield the count of errors, and a note on each habit that the text keeps throughout."""
    count = f"{len(errors)} error{'s' if len(errors) > 1 else ''}"
    yield f"{count} of form in {len(form.words)} words." if errors else "No error of form found."
    if form.tokenised:
        yield "Spaces precede punctuation throughout, so this is not counted as an error."
    if not form.capitals:
        yield "Sentences begin in lower case throughout, so this is not counted as an error."


def _without_nested(spans: Sequence[ErrorSpan]) -> list[ErrorSpan]:
    """Leave out spans within another span, because they mark the same slip."""
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
        Other evidence about the text, 0 to 1; it orders texts within a band.
    load
        Total weight of its errors, 0 or more; 0 without errors.

    Examples
    --------
    >>> [round(banded(0.5, load=load, scale=Scale()), 4) for load in (0, 1)]
    [4.75, 2.3125]
    """
    width = scale.high - scale.low
    if not load:
        return scale.high - width * _TOP * (1 - quality)
    # Strictly below the band, even for a perfect text with a tiny load.
    most = math.nextafter(scale.high - width * _TOP, scale.low)
    return scale.low + (most - scale.low) * (1 + quality) / 2 / (1 + load)


def costs_signature() -> str:
    """Return a digest of the costs of errors and of the allowance for length."""
    return fingerprint(repr((_COSTS, _FLOOR)))


def cost(spans: Iterable[ErrorSpan]) -> float:
    """Return the total cost of errors: 0.1, 0.25, 0.5, 1 and 2 for a severity of 1 to 5."""
    graded = (_UNGRADED if span.severity is None else span.severity for span in spans)
    return math.fsum(_COSTS[severity] for severity in graded)


def load(spans: Iterable[ErrorSpan], *, sentences: int) -> float:
    """Return the weight of errors on a text with so many sentences.

    This is their cost, divided in a text of more than three sentences by the square root of a third
    of their number: in four times the text the same errors weigh half as much. So another error
    never reduces the load, and another sentence reduces it only a little.
    """
    return cost(spans) / math.sqrt(max(1.0, sentences / _FLOOR))
