"""Reduce the scores against several references to one score per sample.

The number of references may vary. The metric is called once for all pairs.
"""

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Literal, Protocol, get_args, runtime_checkable

from spanjury.judges.core import (
    ConfigError,
    MergeableMetric,
    MetricCard,
    MetricError,
    Sample,
    SegmentMetric,
)
from spanjury.judges.metrics.corpus import Corpus, all_pairs

Choice = Literal["best", "mean", "worst"]
Reduction = Choice | Callable[[Sequence[float]], float]
"""The score that counts among several; or a function of one or more scores."""


@runtime_checkable
class Ranked(SegmentMetric, Protocol):
    """A metric whose best and worst reference are selected by another metric.

    Examples are precision and recall of ROUGE: rouge-score takes those of the reference with the
    best F, and of equal ones the first.
    """

    @property
    def ranking(self) -> SegmentMetric:
        """The metric that selects the best reference; it may be this one."""
        ...


def over_references(
    metric: SegmentMetric,
    samples: Sequence[Sample],
    *,
    card: MetricCard,
    reduction: Reduction = "best",
) -> list[float]:
    """Score each sample with a metric that takes one reference at a time.

    A metric that takes all references together, or none, is called directly. Raises `ConfigError`
    if `reduction` is none of its choices, or the card does not say which scores are better. Raises
    `MetricError` if a sample lacks a required reference; the message names its index.
    """
    reduce = _reducing(reduction, card=card)
    if card.references == "none":
        return list(metric.score_segments(samples))
    for index, sample in enumerate(samples):
        if not sample.references:
            raise MetricError(f"sample {index} has no reference, and {card.name} needs one")
    if card.references == "many":
        return list(metric.score_segments(samples))
    pairs = Corpus.of(samples).once(all_pairs)
    scores = metric.score_segments(pairs)
    sizes = [len(sample.references) for sample in samples]
    is_choice = reduction in ("best", "worst")
    if is_choice and isinstance(metric, Ranked) and metric.ranking != metric:
        ranks = metric.ranking.score_segments(pairs)
        return _where_reduced(scores, ranks, sizes, reduce=reduce)
    remaining = iter(scores)
    return [reduce(list(islice(remaining, size))) for size in sizes]


def _reducing(reduction: Reduction, *, card: MetricCard) -> Callable[[Sequence[float]], float]:
    """Return the function that `reduction` denotes."""
    if callable(reduction):
        return reduction
    if reduction not in get_args(Choice):
        raise ConfigError(f"a reduction is one of {get_args(Choice)}, got {reduction!r}")
    if reduction == "mean":
        return statistics.fmean
    if card.direction == "neither":
        raise ConfigError(
            f"{card.name} has no {reduction} score, since neither direction is better; "
            "take the mean, or a function"
        )
    is_highest = (reduction == "best") == (card.direction == "higher")
    return partial(_extreme, choose=max if is_highest else min)


def _extreme(scores: Sequence[float], *, choose: Callable[[Sequence[float]], float]) -> float:
    """Return the highest or the lowest score, or NaN if any score is NaN."""
    return math.nan if any(map(math.isnan, scores)) else choose(scores)


def _where_reduced(
    scores: Sequence[float],
    ranks: Sequence[float],
    sizes: Sequence[int],
    *,
    reduce: Callable[[Sequence[float]], float],
) -> list[float]:
    """Return from each run the first score whose rank is the reduction of the run's ranks."""
    pairs = iter(zip(scores, ranks, strict=True))
    chosen = []
    for size in sizes:
        run = list(islice(pairs, size))
        rank = reduce([each for _, each in run])
        chosen.append(next((score for score, each in run if each == rank), math.nan))
    return chosen


@runtime_checkable
class RowMetric(MergeableMetric, Protocol):
    """A metric that computes segment scores from its rows of counts, without counting again."""

    def score_rows(self, rows: Sequence[Sequence[float]], /) -> Sequence[float]:
        """Return the score of each segment from its row of `statistics`."""
        ...


def rows_over_references(
    metric: RowMetric, samples: Sequence[Sample], *, card: MetricCard, reduction: Choice
) -> Iterator[tuple[float, ...]]:
    """Yield one row of counts for each sample, so that a corpus is scored from sums.

    It is the row of the reference whose score counts, and of equal ones that of the first. For the
    mean it is the mean of the rows.
    """
    reduce = _reducing(reduction, card=card)
    rows = iter(metric.statistics(Corpus.of(samples).once(all_pairs)))
    for sample in samples:
        run = list(islice(rows, len(sample.references)))
        if reduction == "mean":
            yield tuple(map(statistics.fmean, zip(*run, strict=True)))
            continue
        scores = metric.score_rows(run)
        best = reduce(list(scores))
        yield tuple(
            next((row for row, score in zip(run, scores, strict=True) if score == best), run[0])
        )


class SummedRows(ABC):
    """A metric that scores rows of counts, and a corpus by the sum of its rows."""

    __slots__ = ()

    @abstractmethod
    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return a row of counts for each sample."""

    @abstractmethod
    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the score of a row, or of the sum of rows."""

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the score of each output."""
        return self.score_rows(self.statistics(samples))

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the score of the summed counts of all outputs."""
        return self.score_statistics(add_rows(self.statistics(samples)))

    def score_rows(self, rows: Sequence[Sequence[float]], /) -> list[float]:
        """Return the score of each row of `statistics`."""
        return [*map(self.score_statistics, rows)]


def add_rows(rows: Sequence[Sequence[float]]) -> list[float]:
    """Add rows of equal length, element by element."""
    return [math.fsum(column) for column in zip(*rows, strict=True)]
