"""Compare people's marks: annotators with each other, and the run's judges with people."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, TypeVar

from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.services.judging.scorers import read_scorers
from spanjury.orchestration.services.people.agreement import Collected, read_judged, span_tasks
from spanjury.orchestration.services.people.marked_texts import MarkedSource
from spanjury.orchestration.services.people.marks.exporting import bare_text
from spanjury.orchestration.services.people.marks.marked_run import (
    MarkedRun,
    Reading,
    read_readings,
)
from spanjury.orchestration.services.people.sampled import counted_texts
from spanjury.orchestration.studies.agreement.people import (
    PeopleOnAspect,
    people_on_aspect,
    read_texts,
)
from spanjury.orchestration.studies.agreement.scorers import Ratings, ratings
from spanjury.orchestration.studies.agreement.spans.findings import SpanTask
from spanjury.orchestration.studies.agreement.spans.measures import Gold, category_map, gold_of
from spanjury.orchestration.studies.estimates import DEFAULTS, Settings, grouped
from spanjury.orchestration.studies.sources import TextIds, text_name
from spanjury.orchestration.wiring.marks import ANNOTATORS

T = TypeVar("T")

FEWEST_TEXTS = 5
"""Fewest marked texts of an aspect for which judges are evaluated."""


def texts_by_aspect(readings: Iterable[Reading]) -> dict[str, tuple[Segment, ...]]:
    """Return aspect -> its texts, with the scores and the spans of this aspect only."""
    by_aspect = grouped(readings, lambda reading: reading.aspect)
    return {aspect: tuple(_texts(aspect, of_aspect)) for aspect, of_aspect in by_aspect.items()}


def _texts(aspect: str, readings: Iterable[Reading]) -> Iterator[Segment]:
    for _, group in groupby(readings, key=lambda reading: reading.text.segment.segment_id):
        of_text = list(group)
        bare = bare_text(of_text[0].text.segment)
        scores = {
            reading.annotator: reading.mark.score
            for reading in of_text
            if reading.mark.score is not None
        }
        yield replace(
            bare,
            human={aspect: scores} if scores else {},
            gold=tuple(
                span.error_span(reading.annotator)
                for reading in of_text
                for span in reading.mark.spans
            ),
            meta={
                **bare.meta,
                ANNOTATORS: [
                    reading.annotator for reading in of_text if not reading.mark.scores_only
                ],
            },
        )


class PeopleAgreement(NamedTuple):
    """The agreement of annotators, and a note on its limits."""

    aspects: tuple[PeopleOnAspect, ...]
    note: str


def people_agreement(run: MarkedRun, *, settings: Settings = DEFAULTS) -> PeopleAgreement:
    """Compare the annotators of a run on their finished marks; raises as `read_readings`."""
    read = read_readings(run)
    readings = read.chosen()
    names = sorted({reading.annotator for reading in readings})
    if len(names) < 2:  # noqa: PLR2004  agreement needs two annotators
        who = f"one annotator, {names[0]}, has" if names else "no one has"
        note = f"{who} finished marks of {run.named}: agreement needs two annotators"
        return PeopleAgreement((), note)
    compared = tuple(
        people_on_aspect(texts, aspect=aspect, settings=settings)
        for aspect, texts in texts_by_aspect(readings).items()
    )
    shared = tuple(aspect for aspect in compared if aspect.shared)
    alone = ", ".join(aspect.aspect for aspect in compared if not aspect.shared)
    note = f"no text was finished by two annotators on {alone}" if alone else ""
    return PeopleAgreement(shared, note)


def collect_marks(source: MarkedSource, *, categories: Sequence[str] = ()) -> Collected:
    """Collect the finished marks of the first run that has any.

    Each pair of categories is written ``JUDGE=GOLD``. The closing lines name the annotators, and
    the figures that need more marks.

    Raise `ConfigError` if no run has marks, or no one marked a requested aspect, and `DataError` if
    every aspect has fewer than `FEWEST_TEXTS`, or no judge scored them.
    """
    run, finished = _marked_run(source.results, data=source.data)
    segments = (reading.text.segment for reading in finished)
    counted = counted_texts(segments, source.sample, marks=str(run.marks))
    readings = [reading for reading in finished if text_name(reading.text.segment) in counted.names]
    by_aspect = texts_by_aspect(readings)
    if strange := [name for name in source.aspects if name not in by_aspect]:
        aspects = ", ".join(by_aspect)
        raise ConfigError(f"no one marked {', '.join(strange)}; marked: {aspects}")
    asked = {name: by_aspect[name] for name in source.aspects or by_aspect}
    enough = {name: texts for name, texts in asked.items() if len(texts) >= FEWEST_TEXTS}
    counts = ", ".join(
        f"{len(texts)} text{'' if len(texts) == 1 else 's'} of {name}"
        for name, texts in asked.items()
    )
    if not enough:
        raise DataError(
            f"{run.named} has too few marks to evaluate judges: {counts}; an aspect needs at "
            f"least {FEWEST_TEXTS} finished texts"
        )
    who = ", ".join(sorted({reading.annotator for reading in readings}))
    data = f"marks of {who} in {run.marks}"
    left_out = (
        f"{name} is left out: it has {len(texts)} marked texts and needs at least {FEWEST_TEXTS}"
        for name, texts in asked.items()
        if name not in enough
    )
    scored = _collected(source, enough, data=data, categories=categories)
    collected = replace(scored, notes=counted.notes, closing=(f"{data}: {counts}", *left_out))
    if not collected.ratings and not collected.spans:
        raise DataError(f"no judge scored or marked what people marked of {run.named}")
    return collected


def _marked_run(
    results: Sequence[Path], *, data: Path | None
) -> tuple[MarkedRun, Sequence[Reading]]:
    for path in results:
        run = MarkedRun(path, data=data)
        if readings := read_readings(run).chosen():
            return run, readings
    named = " ".join(map(str, results))
    raise ConfigError(
        f"{named} has no finished marks of people: make some with 'spanjury view {results[0]}',"
        f" take them in with 'spanjury marks import {results[0]} FILE',"
        " or name ratings with --human"
    )


def _collected(
    source: MarkedSource,
    by_aspect: Mapping[str, tuple[Segment, ...]],
    *,
    data: str,
    categories: Sequence[str],
) -> Collected:
    ids = TextIds(text for texts in by_aspect.values() for text in texts)
    judged = read_judged(source.results, ids=ids)
    scorers = read_scorers(source.results, ids=ids, judges=judged.scorers)
    gold = _joined(by_aspect)
    pairs = category_map(categories, gold=gold)
    tasks: list[SpanTask] = []
    compared: list[Ratings] = []
    for aspect, texts in by_aspect.items():
        scored = sum(aspect in text.human for text in texts)
        if scored >= FEWEST_TEXTS:
            compared.append(ratings(texts, scorers, aspect=aspect))
        tasks += span_tasks(
            texts,
            judged.annotators,
            gold=gold_of(looked) if (looked := read_texts(texts)) else None,
            aspects=(aspect,),
            categories=pairs,
        )
    return Collected(
        data=data,
        results=tuple(map(str, source.results)),
        ratings=tuple(scorer for scorer in compared if scorer.coverage.any()),
        spans=tuple(tasks),
        annotators=judged.annotators,
        gold=gold,
    )


def _joined(by_aspect: Mapping[str, Sequence[Segment]]) -> Gold:
    """Join the gold spans of all aspects: a text that was read for two aspects counts twice."""
    golds = {aspect: gold_of(read_texts(texts)) for aspect, texts in by_aspect.items()}

    def joined(part: Callable[[Gold], Mapping[str, T]]) -> dict[str, T]:
        return {
            f"{aspect}\0{name}": value
            for aspect, gold in golds.items()
            for name, value in part(gold).items()
        }

    return Gold(
        joined(lambda gold: gold.spans),
        joined(lambda gold: gold.readers),
        joined(lambda gold: gold.lengths),
        joined(lambda gold: gold.sources),
    )
