"""One score of several: over references, over outputs for one input, over segments.

Numbers of references and of outputs may differ from sample to sample. However many pairs
there are, the metric is called once.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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

Choice = Literal["best", "mean", "worst"]
Average = Literal["mean", "median"]
Reduction = Choice | Callable[[Sequence[float]], float]
"""The one of several scores that counts; or any function of one or more scores."""


@runtime_checkable
class Ranked(SegmentMetric, Protocol):
    """A metric whose best and worst reference another one finds.

    So do precision and recall of ROUGE: rouge-score takes those of the reference with the best
    F, of two that are as good the first.
    """

    @property
    def ranking(self) -> SegmentMetric:
        """The metric that says which reference is best; it may be this one."""
        ...


def over_references(
    metric: SegmentMetric,
    samples: Sequence[Sample],
    *,
    card: MetricCard,
    reduction: Reduction = "best",
) -> list[float]:
    """Score each sample with a metric that takes one reference at a time.

    A metric that takes all references together, or none, is left to do so.

    Parameters
    ----------
    metric, card
        The metric, and its card, which says how many references it takes and what is better.
    samples
        Outputs, each with its references.
    reduction
        How the scores of a sample become one.

    Returns
    -------
    list of float
        One score a sample, in their order.

    Raises
    ------
    ConfigError
        If `reduction` is none of its choices, or the card does not say what is better.
    MetricError
        If a sample has no reference where one is needed; names its index.
    """
    reduce = _reducing(reduction, card=card)
    if card.references == "none":
        return list(metric.score_segments(samples))
    for index, sample in enumerate(samples):
        if not sample.references:
            raise MetricError(f"sample {index} has no reference, and {card.name} needs one")
    if card.references == "many":
        return list(metric.score_segments(samples))
    pairs = [
        replace(sample, references=(reference,))
        for sample in samples
        for reference in sample.references
    ]
    scores = metric.score_segments(pairs)
    sizes = [len(sample.references) for sample in samples]
    is_choice = reduction in ("best", "worst")
    if is_choice and isinstance(metric, Ranked) and metric.ranking != metric:
        ranks = metric.ranking.score_segments(pairs)
        return _where_reduced(scores, ranks, sizes, reduce=reduce)
    return _reduced(scores, sizes, reduce=reduce)


def over_outputs(
    metric: SegmentMetric,
    groups: Sequence[Sequence[Sample]],
    *,
    card: MetricCard,
    reduction: Reduction = "best",
    references: Reduction = "best",
) -> list[float]:
    """Score groups of outputs, each group written for one input.

    Parameters
    ----------
    metric, card
        As `over_references` takes them.
    groups
        One or more samples each.
    reduction
        How the scores of a group become one.
    references
        How the scores of one sample become one before, as `over_references` does it.

    Returns
    -------
    list of float
        One score a group, in their order.

    Raises
    ------
    ConfigError
        As `over_references` raises it.
    MetricError
        If a group is empty, or a sample lacks a reference; names its index.
    """
    reduce = _reducing(reduction, card=card)
    for index, group in enumerate(groups):
        if not group:
            raise MetricError(f"group {index} has no output")
    samples = [sample for group in groups for sample in group]
    scores = over_references(metric, samples, card=card, reduction=references)
    return _reduced(scores, [len(group) for group in groups], reduce=reduce)


def over_segments(
    scores: Sequence[float],
    *,
    reduction: Average | Callable[[Sequence[float]], float] = "mean",
) -> float:
    """Return one score of a corpus, from those of one or more segments.

    Raises
    ------
    ConfigError
        If `reduction` is none of its choices.
    MetricError
        If there are no scores.

    Examples
    --------
    >>> over_segments([1.0, 2.0, 6.0], reduction="median")
    2.0
    """
    if not scores:
        raise MetricError("no segment has a score")
    if callable(reduction):
        return reduction(scores)
    if reduction not in get_args(Average):
        raise ConfigError(f"a reduction is one of {get_args(Average)}, got {reduction!r}")
    if any(map(math.isnan, scores)):
        return math.nan  # a median would sort it anywhere
    return statistics.fmean(scores) if reduction == "mean" else statistics.median(scores)


def _reducing(reduction: Reduction, *, card: MetricCard) -> Callable[[Sequence[float]], float]:
    """Return the function that `reduction` stands for."""
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
    return _highest if (reduction == "best") == (card.direction == "higher") else _lowest


def _highest(scores: Sequence[float]) -> float:
    """Return the highest score, NaN if one is."""
    return math.nan if any(map(math.isnan, scores)) else max(scores)


def _lowest(scores: Sequence[float]) -> float:
    """Return the lowest score, NaN if one is."""
    return math.nan if any(map(math.isnan, scores)) else min(scores)


def _reduced(
    scores: Sequence[float],
    sizes: Sequence[int],
    *,
    reduce: Callable[[Sequence[float]], float],
) -> list[float]:
    """Reduce runs of scores that are as long as `sizes` says."""
    remaining: Iterator[float] = iter(scores)
    return [reduce(list(islice(remaining, size))) for size in sizes]


def _where_reduced(
    scores: Sequence[float],
    ranks: Sequence[float],
    sizes: Sequence[int],
    *,
    reduce: Callable[[Sequence[float]], float],
) -> list[float]:
    """Return of each run of scores the first one whose rank is what its run of ranks reduces to."""
    pairs = iter(zip(scores, ranks, strict=True))
    chosen = []
    for size in sizes:
        run = list(islice(pairs, size))
        rank = reduce([each for _, each in run])
        chosen.append(next((score for score, each in run if each == rank), math.nan))
    return chosen


@runtime_checkable
class RowMetric(MergeableMetric, Protocol):
    """A metric whose segment scores follow from its rows: who has these need not count again."""

    def score_rows(self, rows: Sequence[Sequence[float]], /) -> Sequence[float]:
        """Return the score of each segment from its row of `statistics`."""
        ...


def add_rows(rows: Sequence[Sequence[float]]) -> list[float]:
    """Add rows of one length, number by number.

    Examples
    --------
    >>> add_rows([[1, 2], [3, 4]])
    [4, 6]
    """
    return [sum(column) for column in zip(*rows, strict=True)]
