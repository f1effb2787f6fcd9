"""Markers from files: whoever marked errors in a run, and what that took."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spanjury.judges.core import DataError, ErrorSpan, Segment
from spanjury.orchestration.services.metric_scores import are_metric_scores
from spanjury.orchestration.services.scorers import PANEL, names_apart, results_file
from spanjury.orchestration.studies.agreement.spans.aspect import SpanTask, praise
from spanjury.orchestration.studies.agreement.spans.categories import (
    NO_CATEGORIES,
    renamed,
)
from spanjury.orchestration.studies.agreement.spans.gold import Found, Gold
from spanjury.orchestration.wiring.results import ResultSpans, SeatWork, read_result_spans

__all__ = ["Marker", "read_markers", "span_tasks"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A panel or a seat of one, on one aspect.

    Parameters
    ----------
    name
        As of the scorer that it is, too.
    is_panel
        Whether it is several seats together.
    aspect
        What it marks errors of.
    spans
        Id of the segment -> its errors; None for one without a score.
    marks
        Whether it marked any error in its run; a judge that only scores never does.
    seconds, tokens
        That a segment took, on average; a panel takes what its seats do.
    """

    name: str
    is_panel: bool
    aspect: str
    spans: Mapping[str, tuple[ErrorSpan, ...] | None]
    marks: bool
    seconds: float
    tokens: float


def read_markers(paths: Iterable[Path]) -> list[Marker]:
    """Read who marked what, and who sat on a panel; scores of metrics are passed over.

    Raises
    ------
    DataError
        If a file cannot be read.
    """
    files = [(path, file) for path in paths if not are_metric_scores(file := results_file(path))]
    heard = [(path, key, one) for path, file in files for key, one in _heard(file).items()]
    names = names_apart([(path, *key) for path, key, _ in heard])
    marking = {(path, key[0]) for path, key, one in heard if any(one.spans.values())}
    return [
        Marker(
            name=name,
            is_panel=key[0] == PANEL,
            aspect=key[1],
            spans=one.spans,
            marks=(path, key[0]) in marking,
            seconds=one.seconds / len(one.spans),
            tokens=one.tokens / len(one.spans),
        )
        for name, (path, key, one) in zip(names, heard, strict=True)
    ]


def span_tasks(
    segments: Sequence[Segment],
    markers: Iterable[Marker],
    *,
    gold: Gold | None,
    aspects: Sequence[str] = (),
    categories: Mapping[str, str] = NO_CATEGORIES,
) -> Iterator[SpanTask]:
    """Yield what there is to find out about the spans of each aspect.

    Parameters
    ----------
    segments
        With people's scores or spans.
    markers
        Those that mark nothing at all are left out, and aspects on which they have no score.
    gold
        What people marked; None if they marked nothing.
    aspects
        Which to look at; none for all that anybody marked errors of.
    categories
        Judges' category -> the gold one that it means, as `category_map` gives them.

    Raises
    ------
    DataError
        If a judge marked another text than the segment of the same id has.
    """
    known = {one.segment_id: one for one in segments}
    groups = {one.segment_id: one.system for one in segments if one.system}
    marking = [
        one for one in markers if one.marks and any(said is not None for said in one.spans.values())
    ]
    for aspect in dict.fromkeys(one.aspect for one in marking):
        here = [one for one in marking if one.aspect == aspect]
        found = tuple(
            (judge, name, output, None if spans is None else renamed(spans, categories))
            for judge, name, output, spans in _found(here, known)
        )
        praised = praise(segments, aspect=aspect)
        if (not aspects or aspect in aspects) and found and (gold is not None or praised.texts):
            yield SpanTask(aspect=aspect, found=found, gold=gold, groups=groups, praise=praised)


@dataclass(slots=True)
class _Heard:
    spans: dict[str, tuple[ErrorSpan, ...] | None] = field(default_factory=dict)
    seconds: float = 0.0
    tokens: int = 0


def _heard(file: Path) -> dict[tuple[str, str], _Heard]:
    """Gather what each name said of each aspect."""
    heard: dict[tuple[str, str], _Heard] = {}
    for row in read_result_spans(file):
        for name, (spans, work) in _told(row).items():
            one = heard.setdefault((name, row.aspect), _Heard())
            one.spans[row.segment_id] = spans
            one.seconds += work.seconds
            one.tokens += work.tokens
    return heard


def _told(row: ResultSpans) -> dict[str, tuple[tuple[ErrorSpan, ...] | None, SeatWork]]:
    seats = {name: (spans, row.work[name]) for name, spans in row.seats.items()}
    if len(seats) == 1:
        return seats
    works = row.work.values()
    whole = SeatWork(sum(one.seconds for one in works), sum(one.tokens for one in works))
    return {PANEL: (row.spans, whole), **seats}


def _found(markers: Iterable[Marker], known: Mapping[str, Segment]) -> Iterator[Found]:
    for marker in markers:
        for segment_id, spans in marker.spans.items():
            if segment_id in known:
                output = known[segment_id].output
                _refuse_other_text(segment_id, spans or (), output)
                yield marker.name, segment_id, output, spans


def _refuse_other_text(segment_id: str, spans: Iterable[ErrorSpan], output: str) -> None:
    for span in spans:
        if span.start is not None and output[span.start : span.end] != span.text:
            raise DataError(
                f"{segment_id!r}: the results mark {span.text[:60]!r} at {span.start}, where the "
                f"text with people's annotations has {output[span.start : span.end][:60]!r}: "
                "results and texts must be of the same data"
            )
