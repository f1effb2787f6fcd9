"""Fit a map from spans to scores: to people's, or to those that a judge gives itself.

A fit knows the rows that it was fitted to: how well it agrees with people is to be seen on
others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from spanjury.judges.core import Aspect, ErrorSpan
from spanjury.judges.scoring.curve import Curve
from spanjury.judges.scoring.penalty import SpanLoss
from spanjury.judges.scoring.span_map import SpanMap
from spanjury.stats.monotone import decreasing_fit, decreasing_steps

__all__ = ["ScoredSpans", "fit_curve", "fit_worth"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSpans:
    """What was found in one text, and the score that its map is to come near to."""

    output: str
    spans: tuple[ErrorSpan, ...]
    score: float


def fit_curve(
    rows: Sequence[ScoredSpans], *, aspect: Aspect, low: float, loss: SpanLoss | None = None
) -> SpanMap:
    """Fit how much a loss lowers the score, by isotonic regression.

    Parameters
    ----------
    rows
        One or more.
    aspect
        What the texts were judged by.
    low
        The worst score that there may be. The fit is stretched, so that a text without
        errors has the best score of the scale; this changes no order.
    loss
        What errors cost.

    Raises
    ------
    ValueError
        If there are no rows, a score is not finite or below `low`, or those without errors
        do not have more than `low`.
    """
    cost = loss or SpanLoss()
    fit = decreasing_fit(
        [cost.of(row.output, row.spans, aspect=aspect) for row in rows],
        [row.score for row in rows],
    )
    return SpanMap(loss=cost, curve=Curve.through(fit.knots.tolist(), fit.values.tolist(), low=low))


def fit_worth(
    rows: Sequence[ScoredSpans], *, aspect: Aspect, loss: SpanLoss | None = None
) -> SpanMap:
    """Fit what each severity costs, none less than the one before it: an ordinal map.

    Parameters
    ----------
    rows, aspect
        As in `fit_curve`.
    loss
        How errors are counted; its `worth` is what is fitted.

    Raises
    ------
    ValueError
        If there are no rows, a score is not finite, or errors cost nothing in these rows.
    """
    counted = loss or SpanLoss()
    fit = decreasing_steps(
        [counted.exposure(row.output, row.spans, aspect=aspect) for row in rows],
        [row.score for row in rows],
    )
    return SpanMap(loss=replace(counted, worth=tuple(accumulate(fit.steps.tolist()))))
