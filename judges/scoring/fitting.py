"""Fit a map from spans to scores: to people's, or to those that a judge gives itself.

A fit knows the rows that it was fitted to: how well it agrees with people is to be seen on
others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from spanjury.judges.core import Aspect, ErrorSpan
from spanjury.judges.scoring.span_map import Curve, SpanMap, SpanPenalty
from spanjury.stats.monotone import decreasing_fit, decreasing_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSpans:
    """Errors found in one text, and the score that the map should come near to."""

    output: str
    spans: tuple[ErrorSpan, ...]
    score: float


def fit_curve(
    rows: Sequence[ScoredSpans], *, aspect: Aspect, low: float, penalty: SpanPenalty | None = None
) -> SpanMap:
    """Fit how far a penalty lowers the score, by isotonic regression.

    Raises `ValueError` if there are no rows, a score is not finite or below `low`, or those without
    errors do not have more than `low`.

    Parameters
    ----------
    low
        The worst score that there may be. The fit is stretched, so that a text without
        errors has the best score of the scale; this changes no order.
    """
    penalty = penalty or SpanPenalty()
    fit = decreasing_fit(
        [penalty.of(row.output, row.spans, aspect=aspect) for row in rows],
        [row.score for row in rows],
    )
    return SpanMap(
        penalty=penalty, curve=Curve.through(fit.knots.tolist(), fit.values.tolist(), low=low)
    )


def fit_weights(
    rows: Sequence[ScoredSpans], *, aspect: Aspect, penalty: SpanPenalty | None = None
) -> SpanMap:
    """Fit the weight of each severity, none less than the one before it: an ordinal map.

    Raises `ValueError` if there are no rows, a score is not finite, or all weights would be 0.

    Parameters
    ----------
    penalty
        Its other parameters say how errors are counted; its weights are fitted.
    """
    counted = penalty or SpanPenalty()
    fit = decreasing_steps(
        [counted.exposure(row.output, row.spans, aspect=aspect) for row in rows],
        [row.score for row in rows],
    )
    return SpanMap(penalty=replace(counted, weights=tuple(accumulate(fit.steps.tolist()))))
