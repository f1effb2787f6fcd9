"""A mark: one person's reading of one row of the results, validated against the text."""

import math
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

from spanjury.judges.core import (
    MAX_SEVERITY,
    MIN_SEVERITY,
    ConfigError,
    DataError,
    ErrorSpan,
    Located,
    first_problem,
)
from spanjury.judges.core.lazy import Once, lazily

with lazily():
    import pydantic

_MOST_SPANS, _LONGEST = 1_000, 100_000
_LONGEST_NAME = 64
Verdict = Literal["accepted", "edited", "own"]
"""Origin of a span: a judge's, accepted unchanged or edited, or the person's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A judge's span: the index of its run in the view, and of the span in the row's result."""

    run: int
    span: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedSpan:
    """An error that a person marked.

    Offsets are half-open, in code points of the output; both are None for an omission or a quote
    that the output does not contain.
    """

    start: int | None
    end: int | None
    text: str
    severity: int | None = None
    category: str = ""
    explanation: str = ""
    verdict: Verdict = "own"
    origin: Origin | None = None

    def error_span(self, annotator: str, *, category: str | None = None) -> ErrorSpan:
        """Return the span as an `ErrorSpan` found by `annotator`."""
        return ErrorSpan(
            text=self.text,
            start=self.start,
            end=self.end,
            severity=self.severity,
            category=self.category if category is None else category,
            explanation=self.explanation,
            located=Located.UNLOCATED if self.start is None else Located.EXACT,
            found_by=(annotator,),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One person's reading of a row.

    A finished mark (`is_done`) without spans means that the text has no error, unless `scores_only`
    says that the person did not look for errors. `rejected` are judges' spans that the person finds
    correct, that is, no errors.
    """

    score: float | None = None
    note: str = ""
    is_done: bool = False
    spans: tuple[MarkedSpan, ...] = ()
    rejected: tuple[Origin, ...] = ()
    scores_only: bool = False


_MARKS = Once(lambda: pydantic.TypeAdapter(Mark))


def mark_of_json(text: str | bytes) -> Mark:
    """Parse a mark; raise `DataError` if it is invalid, naming the field."""
    try:
        return _MARKS.get().validate_json(text, strict=True)
    except pydantic.ValidationError as error:
        raise DataError(f"the mark cannot be read: {first_problem(error)}") from error


def mark_json(mark: Mark) -> str:
    """Return a mark as JSON; equal marks give equal strings."""
    return _MARKS.get().dump_json(mark).decode()


def check_mark(
    mark: Mark, *, output: str, low: float | None = None, high: float | None = None
) -> None:
    """Raise `DataError` if a mark does not fit its text, or its score is off the scale."""
    if len(mark.spans) > _MOST_SPANS:
        raise DataError(f"the mark has {len(mark.spans)} spans, expected {_MOST_SPANS} at most")
    texts = (
        mark.note,
        *(text for span in mark.spans for text in (span.category, span.explanation)),
    )
    if max(map(len, texts)) > _LONGEST:
        raise DataError(f"a note, category or explanation is longer than {_LONGEST} characters")
    least, most = (-math.inf if low is None else low), (math.inf if high is None else high)
    score = mark.score
    if score is not None and not (math.isfinite(score) and least <= score <= most):
        raise DataError(f"the score {score:g} is not on the scale from {least:g} to {most:g}")
    for number, span in enumerate(mark.spans):
        _check_span(span, number=number, output=output)


def _check_span(span: MarkedSpan, *, number: int, output: str) -> None:
    if span.severity is not None and not MIN_SEVERITY <= span.severity <= MAX_SEVERITY:
        raise DataError(
            f"spans[{number}]: severity {span.severity}, expected {MIN_SEVERITY} to {MAX_SEVERITY}"
        )
    if span.start is None or span.end is None:
        if span.start is not span.end:
            raise DataError(
                f"spans[{number}]: start {span.start} and end {span.end}, expected both or none"
            )
        return
    if not 0 <= span.start < span.end <= len(output):
        raise DataError(
            f"spans[{number}]: start {span.start} and end {span.end}, expected 0 <= start < end <="
            f" {len(output)}, the length of the output in code points"
        )
    if output[span.start : span.end] != span.text:
        raise DataError(
            f"spans[{number}]: the text {span.text[:60]!r} is not what the output has there:"
            f" {output[span.start : span.end][:60]!r}"
        )


def annotator_name(name: str) -> str:
    """Return an annotator's name in its stored form; raise `ConfigError` if it is invalid."""
    kept = normalize("NFC", name.strip())
    if not 1 <= len(kept) <= _LONGEST_NAME or not kept.isprintable():
        raise ConfigError(
            f"an annotator's name has 1 to {_LONGEST_NAME} printable characters, got {name[:80]!r}"
        )
    return kept
