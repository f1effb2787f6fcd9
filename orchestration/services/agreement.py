"""A meta-evaluation, from files to how far each scorer agrees with people."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, create_task_group, to_process, to_thread

from spanjury.judges.core import ConfigError, DataError, Segment, first_error_alone
from spanjury.orchestration.services.annotators import Marker, read_markers, span_tasks
from spanjury.orchestration.services.panels import read_segments
from spanjury.orchestration.services.scorers import read_scorers
from spanjury.orchestration.studies.agreement.aspects import (
    AspectFindings,
    aspect_findings,
)
from spanjury.orchestration.studies.agreement.findings import Settings
from spanjury.orchestration.studies.agreement.ratings import (
    Ratings,
    Scorer,
    rated_aspects,
    ratings,
)
from spanjury.orchestration.studies.agreement.spans.annotators import (
    PairFinding,
    annotator_pairs,
)
from spanjury.orchestration.studies.agreement.spans.aspect import (
    AspectSpans,
    SpanTask,
    aspect_spans,
)
from spanjury.orchestration.studies.agreement.spans.categories import category_map
from spanjury.orchestration.studies.agreement.spans.estimates import Settings as SpanSettings
from spanjury.orchestration.studies.agreement.spans.gold import Gold, gold_of
from spanjury.orchestration.studies.agreement.whole import MetaFindings

__all__ = ["Gathered", "MetaJob", "gather", "measure"]

T = TypeVar("T")

_WORTH_A_PROCESS = 100_000
"""Texts times draws from which on a process, which takes seconds to start, is worth it."""
_SPANS, _PEOPLE = "spans", "people with people"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaJob:
    """Whose scores and spans are compared with whose.

    Parameters
    ----------
    results
        Results of runs, folders of runs, or scores of metrics.
    human
        A file of texts with people's scores or spans.
    aspects
        What people rated or judges judged; none for all of it.
    columns
        As in `job.Job`.
    settings
        How agreement is measured.
    categories
        Pairs ``JUDGE=GOLD``: which of judges' categories means which gold one.
    """

    results: tuple[Path, ...]
    human: Path
    aspects: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    settings: Settings = Settings()
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What is compared.

    Parameters
    ----------
    ratings
        Scores, aspect by aspect.
    spans
        Error spans, aspect by aspect; empty where judges marked none, or people neither marked
        nor praised a text.
    markers
        Who sat in the runs, whether or not they marked anything.
    gold
        What people marked; None if they marked nothing.
    lengths
        Id of the segment -> code points of its output.
    """

    ratings: tuple[Ratings, ...]
    spans: tuple[SpanTask, ...]
    markers: tuple[Marker, ...]
    gold: Gold | None
    lengths: Mapping[str, int]


def gather(job: MetaJob) -> Gathered:
    """Read what a job compares, aspect by aspect.

    Raises
    ------
    ConfigError
        If people did not rate an aspect that was asked for, and no judge marked errors of it,
        or categories are paired as `category_map` does not take them.
    DataError
        If a file cannot be read, people rated and marked nothing, or nobody else scored or
        marked the same.
    """
    segments = tuple(read_segments(job.human, columns=job.columns))
    known = rated_aspects(segments)
    gold = gold_of(segments) if any(one.gold for one in segments) else None
    if not known and gold is None:
        raise DataError(
            f"{job.human}: no row has people's scores or error spans (the keys are 'human' and "
            "'spans')"
        )
    markers = read_markers(job.results)
    _refuse_strange(job.aspects, known, markers if gold else ())
    wanted = [aspect for aspect in job.aspects or known if aspect in known]
    told = Gathered(
        ratings=_compared(segments, read_scorers(job.results), wanted),
        spans=tuple(
            span_tasks(
                segments,
                markers,
                gold=gold,
                aspects=job.aspects,
                categories=category_map(job.categories, gold=gold),
            )
        ),
        markers=tuple(markers),
        gold=gold,
        lengths={one.segment_id: len(one.output) for one in segments},
    )
    if not told.ratings and not told.spans:
        raise DataError(
            f"no score is of a row and an aspect that people rated in {job.human}: the ids of "
            "rows and the names of aspects must be the same"
        )
    return told


async def measure(
    job: MetaJob, told: Gathered, *, show: Callable[[str], None] = lambda _: None
) -> MetaFindings:
    """Measure agreement, aspect by aspect, in processes unless there is little to do.

    `show` is told of each aspect that is done.
    """
    lane = CapacityLimiter(os.cpu_count() or 1)
    about_spans = SpanSettings(seed=job.settings.seed, draws=job.settings.draws)
    scores: dict[str, AspectFindings] = {}
    spans: dict[str, AspectSpans] = {}
    people: dict[str, tuple[PairFinding, ...]] = {}

    small = len(told.lengths) * (about_spans.draws + about_spans.samples) < _WORTH_A_PROCESS

    async def run(into: dict[str, T], name: str, work: Callable[[], T]) -> None:
        if small:
            into[name] = await to_thread.run_sync(work, abandon_on_cancel=True)
        else:
            into[name] = await to_process.run_sync(work, cancellable=True, limiter=lane)
        show(name)

    with first_error_alone():
        async with create_task_group() as group:
            for each in told.ratings:
                work = partial(aspect_findings, each, job.settings)
                group.start_soon(run, scores, each.aspect, work)
            for task in told.spans:
                name = f"{_SPANS} of {task.aspect}"
                group.start_soon(run, spans, name, partial(aspect_spans, task, about_spans))
            if told.gold is not None and _several_read(told.gold):
                work_on_people = partial(_pairs, told.gold, told.lengths, settings=about_spans)
                group.start_soon(run, people, _PEOPLE, work_on_people)
    return MetaFindings(
        settings=job.settings,
        data=str(job.human),
        results=tuple(map(str, job.results)),
        aspects=tuple(scores[each.aspect] for each in told.ratings),
        spans=tuple(spans[f"{_SPANS} of {task.aspect}"] for task in told.spans),
        annotators=people.get(_PEOPLE, ()),
    )


def _refuse_strange(asked: Sequence[str], rated: Sequence[str], markers: Iterable[Marker]) -> None:
    known = dict.fromkeys([*rated, *(one.aspect for one in markers if one.marks)])
    if strange := [aspect for aspect in asked if aspect not in known]:
        raise ConfigError(
            f"nobody rated {', '.join(strange)}; people rated {', '.join(known) or 'nothing'}"
        )


def _compared(
    segments: Sequence[Segment], scorers: Sequence[Scorer], aspects: Sequence[str]
) -> tuple[Ratings, ...]:
    told = (ratings(segments, scorers, aspect=aspect) for aspect in aspects)
    return tuple(one for one in told if one.coverage.any())


def _several_read(gold: Gold) -> bool:
    return any(len({*readers} - {""}) > 1 for readers in gold.readers.values())


def _pairs(
    gold: Gold, lengths: Mapping[str, int], *, settings: SpanSettings
) -> tuple[PairFinding, ...]:
    return tuple(annotator_pairs(gold, lengths, settings=settings))
