"""Scores of metrics on a corpus: assembled from parts, and of several metrics together."""

import math
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
from anyio import CapacityLimiter, create_task_group, to_process, to_thread
from numpy.random import default_rng

from spanjury.judges.core import (
    CorpusMetric,
    MergeableMetric,
    MetricError,
    Sample,
    SegmentMetric,
    counted,
    failing_as,
    first_error_alone,
)
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.reductions import (
    RowMetric,
    add_rows,
    over_references,
    rows_over_references,
)
from spanjury.stats.arrays import FloatArray, cluster_numbers
from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.weighted import Weighted, by_owner, mean_drop

T = TypeVar("T")
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Scores of a metric on some samples.

    Parameters
    ----------
    segments
        One score for each sample; None if it scores no segments.
    statistics
        One row of counts for each sample; None if a corpus is not scored by sums.
    whole
        The score of these samples together; None if it follows from one of the others.
    """

    segments: tuple[float, ...] | None
    statistics: Rows | None
    whole: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricScores:
    """Scores of a metric on a corpus.

    Parameters
    ----------
    corpus
        The score of the corpus: from the sums if the metric has them, from the whole corpus if
        the metric needs it, and otherwise the mean of the segments.
    """

    named: NamedMetric
    segments: tuple[float, ...] | None
    statistics: Rows | None
    corpus: float

    def corpus_of(self, rows: Sequence[int]) -> float | None:
        """Return the corpus score of some samples, possibly repeated; None if unknown.

        Nothing is measured again: a metric that needs the whole corpus has no answer.
        """
        metric = self.named.metric
        if isinstance(metric, MergeableMetric) and self.statistics is not None:
            return metric.score_statistics(add_rows([self.statistics[row] for row in rows]))
        takes_no_less = isinstance(metric, CorpusMetric) and not isinstance(metric, MergeableMetric)
        if self.segments is None or takes_no_less:
            return None
        return _mean([self.segments[row] for row in rows])

    def remarks(self) -> Iterator[str]:
        """Yield a line if scores are undefined, and one if they are outside the card's bounds."""
        name, card = self.named.name, self.named.card
        scores = (self.corpus,) if self.segments is None else self.segments
        texts = counted(len(scores), "corpus" if self.segments is None else "text")
        if undefined := sum(map(math.isnan, scores)):
            yield f"{name} is undefined for {undefined} of {texts}"
        if outside := sum(score not in card for score in scores) - undefined:
            yield f"{name} is not within {card.bounds}, as its card says, for {outside} of {texts}"


def measured(named: NamedMetric, samples: Sequence[Sample]) -> Part:
    """Measure some samples with a metric, in the current thread or process.

    Raises `MetricError`, also if the metric fails in another way or does not return a number for
    each sample. NaN is an undefined score; an infinite one is an error.
    """
    with failing_as(lambda error: MetricError(f"metric {named.name!r} failed: {error!r}")):
        part = _measured(named, samples)
    for rows in (part.segments, part.statistics):
        if rows is not None and len(rows) != len(samples):
            raise MetricError(
                f"metric {named.name!r} gave {len(rows)} scores for {len(samples)} texts"
            )
    _refuse_infinity(named, *(part.segments or ()), part.whole or 0.0)
    return part


def _refuse_infinity(named: NamedMetric, *scores: float) -> None:
    """Raise `MetricError` if a score is infinite: no mean of it would say anything."""
    infinite = next(filter(math.isinf, scores), None)
    if infinite is not None:
        raise MetricError(
            f"metric {named.name!r} gave {infinite}: a score is a finite number, or NaN if it is"
            " undefined"
        )


def measured_together(
    metrics: Sequence[NamedMetric], samples: Sequence[Sample]
) -> tuple[Part, ...]:
    """Measure the same samples with several metrics, which share the preprocessed texts."""
    shared = Corpus.of(samples) if len(metrics) > 1 else samples
    return tuple([measured(named, shared) for named in metrics])


def _measured(named: NamedMetric, samples: Sequence[Sample]) -> Part:
    metric = named.metric
    if named.card.references == "one" and any(len(sample.references) > 1 for sample in samples):
        return _over_references(named, samples)
    segments = statistics = whole = None
    if isinstance(metric, RowMetric):
        rows = metric.statistics(samples)
        return Part(
            segments=tuple(map(float, metric.score_rows(rows))),
            statistics=tuple(map(tuple, rows)),
            whole=None,
        )
    if isinstance(metric, SegmentMetric):
        segments = tuple(map(float, metric.score_segments(samples)))
    if isinstance(metric, MergeableMetric):
        statistics = tuple(tuple(row) for row in metric.statistics(samples))
    elif isinstance(metric, CorpusMetric):
        whole = float(metric.score_corpus(samples))
    return Part(segments=segments, statistics=statistics, whole=whole)


def _over_references(named: NamedMetric, samples: Sequence[Sample]) -> Part:
    """Score each output against several references, reduced as the metric's options say."""
    metric, card, reduction = named.metric, named.card, named.over_refs
    assert isinstance(metric, SegmentMetric)  # all metrics of one reference score segments
    segments = over_references(metric, samples, card=card, reduction=reduction)
    rows = None
    if isinstance(metric, RowMetric):
        rows = tuple(rows_over_references(metric, samples, card=card, reduction=reduction))
    return Part(segments=tuple(segments), statistics=rows, whole=None)


def put_together(named: NamedMetric, parts: Sequence[Part]) -> MetricScores:
    """Combine the parts of one metric, in order, into its scores on the corpus.

    Raises `MetricError` if the score of the corpus is infinite.
    """
    segments = _joined([part.segments for part in parts])
    statistics = _joined([part.statistics for part in parts])
    if statistics is not None and isinstance(named.metric, MergeableMetric):
        corpus = named.metric.score_statistics(add_rows(statistics))
    elif parts[0].whole is not None:
        corpus = parts[0].whole
    else:
        corpus = _mean(segments or ())
    _refuse_infinity(named, corpus)
    return MetricScores(named=named, segments=segments, statistics=statistics, corpus=corpus)


def _joined(parts: Sequence[tuple[T, ...] | None]) -> tuple[T, ...] | None:
    present = [part for part in parts if part is not None]
    return tuple(chain.from_iterable(present)) if len(present) == len(parts) else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def corpus_intervals(
    scores: Sequence[MetricScores],
    *,
    sources: Sequence[str] | None = None,
    seed: int = 1,
    draws: int = 1000,
) -> list[tuple[float, float] | None]:
    """Return the 95 % percentile interval of each corpus score over resampled sources.

    None for a metric that needs the whole corpus, because it would have to measure again. Metrics
    with the same number of segments share the resamples.

    `sources`: the source of each segment, of which all segments are drawn together; None if each
    segment is of its own.

    Raise `ValueError` if there is not one source for each segment.
    """
    intervals: list[tuple[float, float] | None] = [None] * len(scores)
    by_items: dict[int, list[int]] = {}
    effects = [_effect(each) for each in scores]
    for index, effect in enumerate(effects):
        if effect is not None:
            items = len(scores[index].statistics or scores[index].segments or ())
            by_items.setdefault(items, []).append(index)
    for items, indices in by_items.items():
        together = _together([effect for index in indices if (effect := effects[index])])
        owner = cluster_numbers(sources, items=items)
        resampled = bootstrap(
            by_owner(together, owner),
            items=int(owner.max(initial=-1)) + 1,
            rng=default_rng(seed),
            draws=draws,
        )
        lows, highs = percentile_interval(resampled)
        for index, low, high in zip(indices, lows.tolist(), highs.tolist(), strict=True):
            intervals[index] = (low, high)
    return intervals


def _together(effects: Sequence[Weighted]) -> Weighted:
    """Combine effects into one, with a cell for each."""

    def weighted(counts: FloatArray) -> FloatArray:
        return np.stack([effect(counts) for effect in effects], axis=-1)

    return weighted


def _effect(scores: MetricScores) -> Weighted | None:
    """Return the corpus score as a function of the weight of each segment."""
    metric = scores.named.metric
    if scores.statistics is not None and isinstance(metric, MergeableMetric):
        rows = np.asarray(scores.statistics, dtype=np.float64)

        def weighted(counts: FloatArray) -> FloatArray:
            return np.array([metric.score_statistics(total.tolist()) for total in counts @ rows])

        return weighted
    if scores.corpus_of(()) is None or scores.segments is None:
        return None
    return mean_drop(scores.segments)


_CHUNK = 250
"""Samples of a chunk: some seconds of work for a slow metric, a millisecond of pickling."""
_CHUNK_OF_MANY = 500
"""Samples of a chunk for several metrics: a fifth of a second of work for thirty of them."""
_FEW = 50
"""Number of samples up to which a process is not worthwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limiters:
    """Limiters of a run: one model at a time, everything else by the number of cores."""

    processes: CapacityLimiter
    threads: CapacityLimiter
    models: CapacityLimiter


async def run_metrics(
    metrics: Sequence[NamedMetric],
    samples: Sequence[Sample],
    *,
    workers: int | None = None,
    show: Callable[[MetricScores], None] = lambda _: None,
) -> list[MetricScores]:
    """Measure a corpus with every metric.

    Raises the first `EvaluationError` of a metric. `show` gets the scores of each metric when it
    is done.

    Parameters
    ----------
    metrics
        The metrics; `check_samples` must have checked their needs.
    workers
        Maximum number of concurrent processes, and of threads; None for the number of cores.
    """
    count = workers or os.cpu_count() or 1
    limiters = _Limiters(
        processes=CapacityLimiter(count), threads=CapacityLimiter(count), models=CapacityLimiter(1)
    )
    done: dict[int, MetricScores] = {}

    async def run(indices: Sequence[int]) -> None:
        columns = await _run([metrics[index] for index in indices], samples, limiters=limiters)
        for index, scores in zip(indices, columns, strict=True):
            done[index] = scores
            show(scores)

    with first_error_alone():
        async with create_task_group() as group:
            for bundle in _bundles(metrics):
                group.start_soon(run, bundle)
    return [done[index] for index in range(len(metrics))]


def _bundles(metrics: Sequence[NamedMetric]) -> list[list[int]]:
    """Group the indices of metrics that share preprocessed texts.

    All others are alone, so that a slow one does not delay the scores of another.
    """
    bundles: dict[Hashable, list[int]] = {}
    for index, named in enumerate(metrics):
        shared = (named.card.runs, _can_be_cut(named))
        bundles.setdefault(shared if named.card.shares else index, []).append(index)
    return [*bundles.values()]


async def _run(
    bundle: Sequence[NamedMetric], samples: Sequence[Sample], *, limiters: _Limiters
) -> list[MetricScores]:
    """Measure a corpus with a bundle, in chunks if the metrics do not need all of it at once."""
    chunk = _CHUNK if len(bundle) == 1 else _CHUNK_OF_MANY
    size = chunk if _can_be_cut(bundle[0]) else len(samples)
    chunks = [samples[start : start + size] for start in range(0, len(samples), size)]
    parts: dict[int, tuple[Part, ...]] = {}

    async def measure(index: int) -> None:
        parts[index] = await _measured_elsewhere(bundle, chunks[index], limiters=limiters)

    async with create_task_group() as group:
        for index in range(len(chunks)):
            group.start_soon(measure, index)
    in_order = [parts[index] for index in range(len(chunks))]
    return [
        put_together(named, of_one)
        for named, of_one in zip(bundle, zip(*in_order, strict=True), strict=True)
    ]


def _can_be_cut(named: NamedMetric) -> bool:
    has_sums = isinstance(named.metric, MergeableMetric)
    takes_all = isinstance(named.metric, CorpusMetric) and not has_sums
    return not takes_all and not named.card.batch_dependent and named.card.runs != "model"


async def _measured_elsewhere(
    bundle: Sequence[NamedMetric], samples: Sequence[Sample], *, limiters: _Limiters
) -> tuple[Part, ...]:
    """Measure where the metrics belong: a process can be killed midway, a thread cannot."""
    runs = bundle[0].card.runs
    if runs == "python" and len(samples) > _FEW:
        return await to_process.run_sync(
            measured_together, bundle, samples, cancellable=True, limiter=limiters.processes
        )
    limiter = limiters.threads if runs in {"native", "python"} else limiters.models
    return await to_thread.run_sync(
        measured_together, bundle, samples, abandon_on_cancel=True, limiter=limiter
    )
