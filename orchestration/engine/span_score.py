"""A panel's score computed from its merged spans, instead of from its seats' scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Literal

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    ErrorSpan,
    SeatReport,
    Verdict,
    fingerprint,
    signature,
)
from spanjury.judges.scoring import SpanMap, SpanPenalty, names_its_errors
from spanjury.judges.scoring.span_map import read_map

Over = Literal["seats", "list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanScore:
    """The score of consolidated spans.

    A seat is ignored if it scores below the best label and names no error. It is also ignored if
    none of its errors counts: because the consolidator did not receive or keep them, or because
    they quote text that the output does not contain.

    Parameters
    ----------
    span_map
        Computes a score from spans.
    over
        ``"seats"`` for the mean over the seats, each scored by the spans that it found; a span that
        names no seat counts for all. ``"list"`` for the score of the whole list, however few seats
        found an error.
    """

    span_map: SpanMap
    over: Over = "seats"

    @property
    def signature(self) -> str:
        """The map, and the spans to which it is applied."""
        return signature("from-spans", over=self.over, map=fingerprint(self.span_map.signature))

    def of(self, verdict: Verdict, spans: Sequence[ErrorSpan]) -> float | None:
        """Return the score; None if no seat of `verdict` counts."""
        aspect, output = verdict.aspect, verdict.segment.output
        seats = [seat for seat in verdict.seats if self._counts(seat, spans, aspect=aspect)]
        if not seats:
            return None
        lists = [spans] if self.over == "list" else [_found_by(seat, spans) for seat in seats]
        computed = [self.span_map.score(output, marked, aspect=aspect) for marked in lists]
        scores = [score for score in computed if score is not None]
        return fmean(scores) if scores else None

    def weighed(self, weights: tuple[float, ...]) -> "SpanScore":
        """Return a copy with these severity weights and a linear map of the penalty."""
        penalty = replace(self.span_map.penalty, weights=weights)
        return SpanScore(span_map=SpanMap(penalty=penalty), over=self.over)

    def _counts(self, seat: SeatReport, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> bool:
        """Return whether a seat names no errors, or countable ones of which `spans` keeps some."""
        report = seat.report
        lost = self.span_map.penalty.misquotes(report.spans, aspect=aspect)
        kept = not report.spans or bool(_found_by(seat, spans))
        return names_its_errors(report, aspect=aspect) and kept and not lost


def span_score(
    *,
    over: Over = "seats",
    file: Path | None = None,
    by: Literal["sentence", "error"] | None = None,
    rest: float | None = None,
    unknown: int | None = None,
    placeless: bool | None = None,
    top: float | None = None,
) -> SpanScore:
    """Return the span score described by the options of ``from-spans``.

    Raise `ConfigError` if `file` cannot be read, or is combined with options that it already sets,
    and `ValueError` if an option is out of range.

    Parameters
    ----------
    file
        A fitted map, written by `write_map`; it sets all other options but `over`.
    by, rest, unknown, placeless
        As in `SpanPenalty`; None for its defaults.
    top
        The cost of an error of severity 5; errors of severity 1 to 4 cost 1 to 4. With 5, all
        severities differ.
    """
    usual = SpanPenalty()
    options = (by, rest, unknown, placeless, top)
    if file is None:
        penalty = SpanPenalty(
            by=usual.by if by is None else by,
            rest=usual.rest if rest is None else rest,
            unknown=usual.unknown if unknown is None else unknown,
            placeless=placeless,
            weights=usual.weights if top is None else (1.0, 2.0, 3.0, 4.0, top),
        )
        return SpanScore(span_map=SpanMap(penalty=penalty), over=over)
    if options != (None,) * len(options):
        raise ConfigError(f"the map {file} says how errors count; leave out all but over")
    return SpanScore(span_map=read_map(file), over=over)


def _found_by(seat: SeatReport, spans: Sequence[ErrorSpan]) -> list[ErrorSpan]:
    return [span for span in spans if not span.found_by or seat.seat in span.found_by]
