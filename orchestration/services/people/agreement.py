"""A meta-evaluation: read scores, spans and costs, and measure agreement with people."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, create_task_group, to_thread

from spanjury.judges.core import ConfigError, DataError, ErrorSpan, Segment, first_error_alone
from spanjury.orchestration.services.judging.exam_texts import read_texts
from spanjury.orchestration.services.judging.metrics import are_metric_scores
from spanjury.orchestration.services.judging.scorers import (
    JudgeScores,
    names_apart,
    read_scorers,
    results_file,
)
from spanjury.orchestration.services.people.marked_texts import MarkedSource, own_texts
from spanjury.orchestration.services.people.sampled import counted_texts
from spanjury.orchestration.services.viewing.sources import find_runs
from spanjury.orchestration.studies.agreement.findings import (
    AspectFindings,
    MetaFindings,
    aspect_findings,
)
from spanjury.orchestration.studies.agreement.scorers import (
    PANEL,
    Ratings,
    Scorer,
    Settings,
    rated_aspects,
    ratings,
)
from spanjury.orchestration.studies.agreement.spans.findings import (
    AspectSpans,
    SpanTask,
    aspect_spans,
    top_rated_texts,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    NO_CATEGORIES,
    Gold,
    Marking,
    PairFinding,
    annotator_pairs,
    category_map,
    gold_of,
    renamed,
)
from spanjury.orchestration.studies.estimates import Settings as SpanSettings
from spanjury.orchestration.studies.sources import TextIds, by_name, source_of, text_name
from spanjury.orchestration.wiring.read_results import SeatWork, read_result_spans

T = TypeVar("T")

_SPANS, _PEOPLE = "spans", "people with people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """A panel, or one of its seats, on one aspect.

    It has the same name as its scorer. `seconds` and `tokens` are averages over segments; for a
    panel, over the sums of its seats. `spans` maps ids of segments to errors, or to None without a
    score. `marks` is False for a judge that only scores, that is, marked no error in its run.
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

    `scorers` maps each path to the panel and seats of its run, with their names in the file.
    """

    annotators: tuple[Annotator, ...]
    scorers: Mapping[Path, Sequence[Scorer]]


def read_judged(paths: Iterable[Path], *, ids: TextIds) -> Judged:
    """Read the spans and scores of panels and their seats; files of metric scores are skipped.

    Raise `DataError` if a file cannot be read or holds two results for one text and aspect.
    """
    files = [(path, file) for path in paths if not are_metric_scores(file := results_file(path))]
    runs = {path: _run(file, name=str(path), ids=ids) for path, file in files}
    works = [(path, key, work) for path, _ in files for key, work in runs[path][0].items()]
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
    scorers = {path: of_run for path, (_, of_run) in runs.items()}
    return Judged(annotators=annotators, scorers=scorers)


def span_tasks(
    segments: Sequence[Segment],
    annotators: Iterable[Annotator],
    *,
    gold: Gold | None,
    aspects: Sequence[str] = (),
    categories: Mapping[str, str] = NO_CATEGORIES,
) -> Iterator[SpanTask]:
    """Yield the spans to compare on each aspect.

    Annotators that mark nothing at all are skipped, as are aspects without a score. Without
    `aspects`, every aspect on which a judge marked errors is compared.

    Raise `DataError` if a judge marked another text than the segment with the same id has.
    """
    by_id = {segment.segment_id: segment for segment in segments}
    groups = {segment.segment_id: segment.system for segment in segments if segment.system}
    sources = {segment.segment_id: source_of(segment) for segment in segments}
    marking = [
        annotator
        for annotator in annotators
        if annotator.marks and any(spans is not None for spans in annotator.spans.values())
    ]
    for aspect in dict.fromkeys(annotator.aspect for annotator in marking):
        here = [annotator for annotator in marking if annotator.aspect == aspect]
        marked = tuple(_markings(here, by_id, categories=categories))
        best = top_rated_texts(segments, aspect=aspect)
        if (not aspects or aspect in aspects) and marked and (gold is not None or best.texts):
            yield SpanTask(
                aspect=aspect,
                markings=marked,
                gold=gold,
                groups=groups,
                sources=sources,
                top_rated=best,
            )


@dataclass(slots=True)
class _Work:
    spans: dict[str, tuple[ErrorSpan, ...] | None] = field(default_factory=dict)
    seconds: float = 0.0
    tokens: int = 0


def _run(
    file: Path, *, name: str, ids: TextIds
) -> tuple[Mapping[tuple[str, str], _Work], Sequence[Scorer]]:
    """Read a results file once; return the work of each judge on each aspect, and its scorers."""
    by_key: dict[tuple[str, str], _Work] = {}
    scores = JudgeScores(run=name, ids=ids)
    for row in read_result_spans(file):
        text = scores.add(row.scores)
        works = row.work.values()
        whole = SeatWork(sum(work.seconds for work in works), sum(work.tokens for work in works))
        judges = {PANEL: (row.spans, whole)}
        judges |= {seat: (spans, row.work[seat]) for seat, spans in row.seats.items()}
        for judge, (spans, work) in judges.items():
            entry = by_key.setdefault((judge, row.scores.aspect), _Work())
            entry.spans[text] = spans
            entry.seconds += work.seconds
            entry.tokens += work.tokens
    scorers = scores.scorers()
    kept = {(scorer.name, scorer.aspect) for scorer in scorers}
    return {key: work for key, work in by_key.items() if key in kept}, scorers


def _markings(
    annotators: Iterable[Annotator],
    segments: Mapping[str, Segment],
    *,
    categories: Mapping[str, str],
) -> Iterator[Marking]:
    for annotator in annotators:
        for segment_id, spans in annotator.spans.items():
            if segment_id not in segments:
                continue
            output = segments[segment_id].output
            for span in spans or ():
                if span.start is not None and output[span.start : span.end] != span.text:
                    raise DataError(
                        f"{segment_id!r}: the results mark {span.text[:60]!r} at {span.start},"
                        " where the text with people's annotations has"
                        f" {output[span.start : span.end][:60]!r}: results and texts must be of"
                        " the same data"
                    )
            named = None if spans is None else renamed(spans, categories)
            yield annotator.name, segment_id, output, named


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """Ratings and error spans to compare.

    `data` and `results` are names. `spans` is empty if judges marked no spans, or if people neither
    marked a text nor all gave one text the best score. `gold` is None if people marked nothing.
    `closing` are lines that a command ends with.
    """

    data: str
    results: tuple[str, ...]
    ratings: tuple[Ratings, ...]
    spans: tuple[SpanTask, ...]
    annotators: tuple[Annotator, ...]
    gold: Gold | None
    notes: tuple[str, ...] = ()
    closing: tuple[str, ...] = ()


def collect(source: MarkedSource, *, categories: Sequence[str] = ()) -> Collected:
    """Read the scores and spans of judges and people, aspect by aspect.

    Each pair of categories is written ``JUDGE=GOLD``.

    Raise `ConfigError` if people did not rate a requested aspect and no judge marked errors on it,
    or if `category_map` does not accept the categories; and `DataError` if a file cannot be read,
    people rated and marked nothing, or no judge and no metric scored or marked the same texts.
    """
    human = source.human
    assert human is not None  # `collect_marks` handles the runs' own marks
    segments, notes = _that_count(tuple(read_texts(human, columns=source.columns)), source)
    rated = rated_aspects(segments)
    gold = gold_of(segments) if any(segment.gold for segment in segments) else None
    if not rated and gold is None:
        raise DataError(
            f"{human}: no row has people's scores or error spans (the keys are 'human' and 'spans')"
            ": name a column of scores by --column human.ASPECT=COLUMN"
        )
    ids = TextIds(segments)
    judged = read_judged(source.results, ids=ids)
    _refuse_strange(source.aspects, rated, judged.annotators if gold else ())
    wanted = [aspect for aspect in source.aspects or rated if aspect in rated]
    scorers = read_scorers(source.results, ids=ids, judges=judged.scorers)
    compared = (ratings(segments, scorers, aspect=aspect) for aspect in wanted)
    collected = Collected(
        data=str(human),
        results=tuple(map(str, source.results)),
        ratings=tuple(each for each in compared if each.coverage.any()),
        spans=tuple(
            span_tasks(
                segments,
                judged.annotators,
                gold=gold,
                aspects=source.aspects,
                categories=category_map(categories, gold=gold),
            )
        ),
        annotators=judged.annotators,
        gold=gold,
        notes=(*notes, *_other_versions(segments, source.results)),
    )
    if not collected.ratings and not collected.spans:
        raise DataError(
            f"no score is of a row and an aspect that people rated in {human}: the ids and systems"
            " of rows and the names of aspects must be the same"
        )
    return collected


async def measure(
    collected: Collected, settings: Settings, *, begin: Callable[[str], None] = lambda _: None
) -> MetaFindings:
    """Measure agreement, aspect by aspect.

    `begin` is called with the name of each part when it begins, from another thread.
    """
    threads = CapacityLimiter(os.cpu_count() or 1)
    about_spans = SpanSettings(seed=settings.seed, draws=settings.draws)
    scores: dict[str, AspectFindings] = {}
    spans: dict[str, AspectSpans] = {}
    people: dict[str, tuple[PairFinding, ...]] = {}

    async def run(into: dict[str, T], name: str, work: Callable[[], T]) -> None:
        def begun() -> T:
            begin(name)
            return work()

        into[name] = await to_thread.run_sync(begun, abandon_on_cancel=True, limiter=threads)

    with first_error_alone():
        async with create_task_group() as group:
            for each in collected.ratings:
                work = partial(aspect_findings, each, settings)
                group.start_soon(run, scores, each.aspect, work)
            for task in collected.spans:
                name = f"{_SPANS} of {task.aspect}"
                group.start_soon(run, spans, name, partial(aspect_spans, task, about_spans))
            if (gold := collected.gold) is not None and gold.has_pairs:
                pairs = partial(annotator_pairs, gold, settings=about_spans)
                group.start_soon(run, people, _PEOPLE, lambda: tuple(pairs()))
    return MetaFindings(
        settings=settings,
        data=collected.data,
        results=collected.results,
        aspects=tuple(scores[each.aspect] for each in collected.ratings),
        spans=tuple(spans[f"{_SPANS} of {task.aspect}"] for task in collected.spans),
        annotators=people.get(_PEOPLE, ()),
        notes=collected.notes,
    )


def _that_count(
    segments: Sequence[Segment], source: MarkedSource
) -> tuple[tuple[Segment, ...], tuple[str, ...]]:
    """Drop marked texts without a sampling probability if others have one."""
    has_spans = any(segment.gold for segment in segments)
    marked = by_name(segment for segment in segments if has_spans or segment.human)
    if not marked:
        return tuple(segments), ()
    counted = counted_texts(marked.values(), source.sample, marks=str(source.human))
    strange = marked.keys() - counted.names
    kept = (segment for segment in segments if text_name(segment) not in strange)
    return tuple(kept), counted.notes


def _other_versions(segments: Iterable[Segment], results: Iterable[Path]) -> Iterator[str]:
    """Yield notes on texts of which people read another version than the run judged."""
    texts = by_name(segments)
    for path in results:
        if path.is_file():
            continue
        try:
            (run,) = find_runs([path])
            own = own_texts(run)
        except DataError:  # the results can be read nevertheless
            continue
        if others := sum(
            texts.get(name, segment).output != segment.output for name, segment in own.items()
        ):
            yield (
                f"{others:,} of people's texts are other versions of those that {path} judged: "
                "people and judges read different texts, so agreement looks worse"
            )


def _refuse_strange(
    asked: Sequence[str], rated: Sequence[str], annotators: Iterable[Annotator]
) -> None:
    marked = dict.fromkeys(
        [*rated, *(annotator.aspect for annotator in annotators if annotator.marks)]
    )
    if strange := [aspect for aspect in asked if aspect not in marked]:
        raise ConfigError(
            f"people did not rate {', '.join(strange)}; they rated {', '.join(marked) or 'nothing'}"
        )
