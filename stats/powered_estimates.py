"""Estimates from the parts of a prediction-powered one: tuning, error and interval."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from spanjury.stats.arrays import FloatArray, safe_divide

# Minimum number of marked clusters for a tuning; with fewer, a slope is mostly noise.
LEAST_TUNED = 3

# Upper limit of the leverage of a cluster, so that no error is infinite.
MOST_PULL = 0.9

# A share of a judge's variation that is due to rounding.
ROUNDING = 1e-20


class PoweredEstimate(NamedTuple):
    """A mean of people's scores, or a difference of two, estimated with the help of a judge."""

    value: float
    low: float
    high: float
    error: float
    """The standard error; NaN with marks in fewer than two clusters."""
    p: float
    """Two-sided p of the null hypothesis of 0; agrees with the interval."""
    tuning: float
    """Weight of a point of the judge in people's points; 0 if the judge is not used."""
    plain: float
    """The estimate from people's marks alone; its bounds follow."""
    plain_low: float
    plain_high: float
    marked: int
    items: int
    clusters: int
    """Clusters with a mark; for a difference, those of the system that has fewer."""
    effective_marks: float
    """Number of marks that would give this error without a judge; infinite if it is 0."""
    floor: float
    """The limit of the standard error as more of these items are marked, due to the items."""
    plain_error: float
    """The standard error of the estimate from people's marks alone."""


class Parts(NamedTuple):
    """The parts: people's estimate, and what each cluster contributes to it and to the gap.

    `gap` is the judge's mean over all items minus its mean over the marked ones.
    """

    plain: float
    gap: float
    people: FloatArray
    """Shape ``(clusters,)``: contribution of each cluster to `plain`."""
    judge: FloatArray
    """The same for minus `gap`."""
    whole: FloatArray
    """The same for the judge's mean over all items."""
    share: FloatArray
    """Each cluster's share of the total weight of marked items."""
    marked: int
    items: int
    clusters: int


def tuned_estimate(
    parts: Parts, *, confidence: float, given: float | None = None
) -> PoweredEstimate:
    """Return the estimate of least error, and that of people alone, from the parts.

    A `given` tuning is considered constant: it was chosen from much more data than these parts.
    """
    tuned = parts.clusters >= LEAST_TUNED
    tuning = (common_tuning([parts]) if tuned else 0.0) if given is None else given
    used = int(tuning != 0 and given is None)  # a degree of freedom
    value = parts.plain + tuning * parts.gap
    plain = _plain_error(parts)
    error = plain
    if tuning != 0 and parts.clusters > 1:
        error = _tuned_error(parts, tuning=tuning, chosen=given is None)
    reach, plain_reach = (
        size * float(stdtrit(parts.clusters - lost, (1 + confidence) / 2)) if size > 0 else size
        for size, lost in ((error, 1 + used), (plain, 1))
    )
    if parts.clusters == 0:
        value = tuning = np.nan
    effective = float(safe_divide(parts.marked * plain**2, error**2))
    if error == 0:
        effective = np.inf if plain > 0 else float(parts.marked)
    return PoweredEstimate(
        value,
        value - reach,
        value + reach,
        error,
        p=student_p(value, error, freedom=parts.clusters - 1 - used),
        tuning=tuning,
        plain=parts.plain,
        plain_low=parts.plain - plain_reach,
        plain_high=parts.plain + plain_reach,
        marked=parts.marked,
        items=parts.items,
        clusters=parts.clusters,
        effective_marks=effective,
        floor=abs(tuning) * float(np.sqrt((parts.whole**2).sum())),
        plain_error=plain,
    )


def common_tuning(parts: Sequence[Parts]) -> float:
    """Return the slope with the least variance, summed over estimates.

    0 for an uninformative judge.
    """
    varied = sum(float(part.judge @ part.judge) for part in parts)
    if varied <= ROUNDING * sum(float(part.whole @ part.whole) for part in parts):
        return 0.0
    return sum(float(part.people @ part.judge) for part in parts) / varied


def _plain_error(parts: Parts) -> float:
    """Return Student's error of the estimate from people's marks alone."""
    if parts.clusters < 2:  # noqa: PLR2004 - two, to vary
        return np.nan
    varied = parts.people @ parts.people
    return float(np.sqrt(varied * parts.clusters / (parts.clusters - 1)))


def _tuned_error(parts: Parts, *, tuning: float, chosen: bool) -> float:
    """Return the error from the residuals of the clusters, corrected for their leverage.

    If the tuning was chosen from these parts, a cluster influences the tuning, too, and its whole
    leverage is corrected (HC3); otherwise half of it, which is right for a plain mean (HC2).
    """
    residuals = parts.people - tuning * parts.judge
    if not chosen:
        share = np.minimum(parts.share, MOST_PULL)
        return float(np.sqrt((residuals**2 / (1 - share)).sum()))
    pull = parts.share + parts.judge**2 / (parts.judge @ parts.judge)
    left = residuals / (1 - np.minimum(pull, MOST_PULL))
    return float(np.sqrt(left @ left))


def student_p(value: float, error: float, *, freedom: float) -> float:
    """Return the two-sided p of the null hypothesis of 0 by Student's test; NaN if undefined."""
    if np.isnan(value) or np.isnan(error):
        return np.nan
    if error == 0:
        return float(value == 0)
    return min(1.0, 2 * float(stdtr(freedom, -abs(value) / error)))
