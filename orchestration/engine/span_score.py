"""A panel's score that follows from the spans it reports, instead of from its seats' scores."""

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
    """The score that consolidated spans make.

    A seat that scores below the best label and names no error has no say. Nor has a seat
    that names errors of which none counts: since the consolidator did not see or keep them,
    or since they quote what the text does not contain.

    Parameters
    ----------
    span_map
        Makes the score of spans.
    over
        ``"seats"`` for the mean over the seats of what the spans make that each of them
        found; a span that names no seat is held to be found by all. ``"list"`` for what
        the whole list makes, however few found an error.
    """

    span_map: SpanMap
    over: Over = "seats"

    @property
    def signature(self) -> str:
        """The map, and the spans that it is applied to."""
        return signature("from-spans", over=self.over, map=fingerprint(self.span_map.signature))

    def of(self, verdict: Verdict, spans: Sequence[ErrorSpan]) -> float | None:
        """Return the score; None if the spans of no seat of `verdict` count."""
        aspect, output = verdict.aspect, verdict.segment.output
        seats = [seat for seat in verdict.seats if self._counts(seat, spans, aspect=aspect)]
        if not seats:
            return None
        lists = [spans] if self.over == "list" else [_found_by(seat, spans) for seat in seats]
        made = [self.span_map.score(output, marked, aspect=aspect) for marked in lists]
        scores = [score for score in made if score is not None]
        return fmean(scores) if scores else None

    def weighed(self, weights: tuple[float, ...]) -> "SpanScore":
        """Return the same with these weights of the severities, and a straight line to nothing."""
        penalty = replace(self.span_map.penalty, weights=weights)
        return SpanScore(span_map=SpanMap(penalty=penalty), over=self.over)

    def _counts(self, seat: SeatReport, spans: Sequence[ErrorSpan], *, aspect: Aspect) -> bool:
        """Say whether a seat names no error, or some that count and of which `spans` keep any."""
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
    """Return the score that ``from-spans`` and its options name.

    Raise `ConfigError` if `file` cannot be read, or comes with options that it has already,
    and `ValueError` if an option is out of its range.

    Parameters
    ----------
    file
        A map that was fitted and written by `write_map`; it comes with all other options.
    by, rest, unknown, placeless
        As in `SpanPenalty`; None for its defaults.
    top
        The cost of an error of severity 5, where one of severity 4 costs 4, of 3 costs 3, and
        so on; with 5, every severity differs from the next.
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
