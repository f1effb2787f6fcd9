"""Annotators from files: panels and seats that marked errors in a run, their work and scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import DataError, ErrorSpan, Segment
from spanjury.orchestration.services.judging.metric_scores import are_metric_scores
from spanjury.orchestration.services.judging.scorers import (
    PANEL,
    JudgeScores,
    names_apart,
    results_file,
)
from spanjury.orchestration.studies.agreement.ratings import Scorer
from spanjury.orchestration.studies.agreement.spans.aspect import SpanTask, top_rated_texts
from spanjury.orchestration.studies.agreement.spans.measures import (
    NO_CATEGORIES,
    Gold,
    Marking,
    renamed,
)
from spanjury.orchestration.wiring.read_results import ResultSpans, SeatWork, read_result_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """A panel or a seat of one, on one aspect.

    Parameters
    ----------
    name
        As of the scorer that it is, too.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The content of results files, each read once.

    Parameters
    ----------
    scorers
        Path -> the panel and the seats of its run, as scorers whose names are the files' own.
    """

    annotators: tuple[Annotator, ...]
    scorers: Mapping[Path, Sequence[Scorer]]


def read_judged(paths: Iterable[Path]) -> Judged:
    """Read the spans and scores of panels and their seats; scores of metrics are skipped.

    Raise `DataError` if a file cannot be read.
    """
    files = [(path, file) for path in paths if not are_metric_scores(file := results_file(path))]
    runs = {path: _run(file, name=str(path)) for path, file in files}
    works = [(path, key, work) for path, _ in files for key, work in runs[path].work.items()]
    names = names_apart([(path, *key) for path, key, _ in works])
    marking = {(path, key[0]) for path, key, work in works if any(work.spans.values())}
    annotators = tuple(
        Annotator(
            name=name,
            is_panel=key[0] == PANEL,
            aspect=key[1],
            spans=work.spans,
            marks=(path, key[0]) in marking,
            seconds=work.seconds / len(work.spans),
            tokens=work.tokens / len(work.spans),
        )
        for name, (path, key, work) in zip(names, works, strict=True)
    )
    return Judged(
        annotators=annotators, scorers={path: run.scores.scorers() for path, run in runs.items()}
    )


def span_tasks(
    segments: Sequence[Segment],
    annotators: Iterable[Annotator],
    *,
    gold: Gold | None,
    aspects: Sequence[str] = (),
    categories: Mapping[str, str] = NO_CATEGORIES,
) -> Iterator[SpanTask]:
    """Yield the spans to compare on each aspect.

    Raise `DataError` if a judge marked another text than the segment of the same id has.

    Parameters
    ----------
    annotators
        Those that mark nothing at all are skipped, and aspects on which they have no score.
    gold
        Spans that people marked; None without any.
    aspects
        Those to compare; none for all that a judge marked errors of.
    categories
        Judges' category -> the gold one that it means, as `category_map` gives them.
    """
    by_id = {segment.segment_id: segment for segment in segments}
    groups = {segment.segment_id: segment.system for segment in segments if segment.system}
    marking = [
        annotator
        for annotator in annotators
        if annotator.marks and any(spans is not None for spans in annotator.spans.values())
    ]
    for aspect in dict.fromkeys(annotator.aspect for annotator in marking):
        here = [annotator for annotator in marking if annotator.aspect == aspect]
        marked = tuple(
            (judge, name, output, None if spans is None else renamed(spans, categories))
            for judge, name, output, spans in _marked_spans(here, by_id)
        )
        best = top_rated_texts(segments, aspect=aspect)
        if (not aspects or aspect in aspects) and marked and (gold is not None or best.texts):
            yield SpanTask(aspect=aspect, markings=marked, gold=gold, groups=groups, top_rated=best)


@dataclass(slots=True)
class _Work:
    spans: dict[str, tuple[ErrorSpan, ...] | None] = field(default_factory=dict)
    seconds: float = 0.0
    tokens: int = 0


class _Run(NamedTuple):
    """A results file: the work of each name on each aspect, and all scores."""

    work: Mapping[tuple[str, str], _Work]
    scores: JudgeScores


def _run(file: Path, *, name: str) -> _Run:
    """Read a results file once."""
    by_key: dict[tuple[str, str], _Work] = {}
    scores = JudgeScores(run=name)
    for row in read_result_spans(file):
        scores.add(row.scores)
        for judge, (spans, work) in _by_name(row).items():
            entry = by_key.setdefault((judge, row.scores.aspect), _Work())
            entry.spans[row.scores.segment_id] = spans
            entry.seconds += work.seconds
            entry.tokens += work.tokens
    return _Run(by_key, scores)


def _by_name(row: ResultSpans) -> dict[str, tuple[tuple[ErrorSpan, ...] | None, SeatWork]]:
    seats = {name: (spans, row.work[name]) for name, spans in row.seats.items()}
    if len(seats) == 1:
        return seats
    works = row.work.values()
    whole = SeatWork(sum(work.seconds for work in works), sum(work.tokens for work in works))
    return {PANEL: (row.spans, whole), **seats}


def _marked_spans(
    annotators: Iterable[Annotator], segments: Mapping[str, Segment]
) -> Iterator[Marking]:
    for annotator in annotators:
        for segment_id, spans in annotator.spans.items():
            if segment_id in segments:
                output = segments[segment_id].output
                _refuse_other_text(segment_id, spans or (), output)
                yield annotator.name, segment_id, output, spans


def _refuse_other_text(segment_id: str, spans: Iterable[ErrorSpan], output: str) -> None:
    for span in spans:
        if span.start is not None and output[span.start : span.end] != span.text:
            raise DataError(
                f"{segment_id!r}: the results mark {span.text[:60]!r} at {span.start}, where the "
                f"text with people's annotations has {output[span.start : span.end][:60]!r}: "
                "results and texts must be of the same data"
            )
