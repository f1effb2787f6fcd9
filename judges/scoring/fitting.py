"""Fit a map from spans to scores, either people's or a judge's own.

A fit has seen its own rows, so measure its agreement with people on other rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from spanjury.judges.core import Aspect, ErrorSpan
from spanjury.judges.scoring.span_map import Curve, SpanMap, SpanPenalty
from spanjury.stats.monotone import decreasing_fit, decreasing_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSpans:
    """Errors found in one text, and the target score of the map."""

    output: str
    spans: tuple[ErrorSpan, ...]
    score: float


def fit_curve(
    rows: Sequence[ScoredSpans], *, aspect: Aspect, low: float, penalty: SpanPenalty | None = None
) -> SpanMap:
    """Fit a decreasing curve from penalty to score, by isotonic regression.

    Raises `ValueError` if there are no rows, if a score is not finite or below `low`, or if the
    texts without errors do not score above `low`.

    Parameters
    ----------
    low
        The lowest possible score. The fit is stretched so that a text without errors has the best
        score of the scale; this changes no order.
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
    """Fit the weight of each severity, none smaller than that of a lower severity.

    Raises `ValueError` if there are no rows, a score is not finite, or all weights would be 0.

    Parameters
    ----------
    penalty
        How errors are counted, by its other parameters; its weights are fitted.
    """
    counted = penalty or SpanPenalty()
    fit = decreasing_steps(
        [counted.exposure(row.output, row.spans, aspect=aspect) for row in rows],
        [row.score for row in rows],
    )
    return SpanMap(penalty=replace(counted, weights=tuple(accumulate(fit.steps.tolist()))))
