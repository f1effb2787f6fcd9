"""Excess: how much more a changed list moves the score than the same list, asked for again."""

import math
from typing import NamedTuple

import numpy as np

from spanjury.orchestration.experiments.faithfulness.changes import CONTROL
from spanjury.orchestration.experiments.faithfulness.evidence import Evidence, FloatArray
from spanjury.orchestration.experiments.faithfulness.rates import Estimate
from spanjury.stats.sign_flip import paired_test
from spanjury.stats.sign_test import sign_test

__all__ = ["MEASURES", "Excess", "differences", "excess_of"]

MEASURES = ("changed", "toward", "against", "average")
"""What is compared with the control, in the order of the arrays."""


class Excess(NamedTuple):
    """Figures of a treatment minus those of the null control, on the same reports."""

    used: int
    """Reports whose list was changed, with a score after that and after the control."""
    control: float
    """Share of these whose score the control changed: what a judge does of itself."""
    changed: Estimate
    """Share of changed scores, minus that of the control."""
    toward: Estimate
    """The same of scores that moved as they should."""
    against: Estimate
    """The same of scores that moved the other way."""
    average: Estimate
    """The same of the average change, counted positive where it is as it should be."""
    p_changed: float
    """One-sided: more scores changed than under the control; McNemar's exact test."""
    p_average: float
    """One-sided: scores moved further as they should; the exact signed-rank test."""


def differences(evidence: Evidence, row: int) -> FloatArray:
    """Return treatment minus control for each report.

    Parameters
    ----------
    evidence
        With the null control among its treatments, or without.
    row
        Of the treatment.

    Returns
    -------
    FloatArray
        Shape ``(len(MEASURES), texts)``; NaN for reports that cannot be compared, which are
        all without a control, and for a control itself.
    """
    treated, null = evidence.treatments[row], evidence.row(CONTROL)
    if null is None or treated.push is None:
        return np.full((len(MEASURES), len(evidence.texts)), np.nan)
    sign = 1.0 if treated.push == "rises" else -1.0
    among = evidence.applied[row] & evidence.rescored[null]
    told = [
        np.where(among, sign * shifts, np.nan)
        for shifts in (evidence.shifts[row], evidence.shifts[null])
    ]
    missing = np.isnan(told[0] + told[1])
    with_treatment, with_control = (
        np.stack([shifts != 0, shifts > 0, shifts < 0, shifts]).astype(np.float64)
        for shifts in told
    )
    return np.where(missing, np.nan, with_treatment - with_control)


def excess_of(evidence: Evidence, row: int, *, estimates: tuple[Estimate, ...]) -> Excess | None:
    """Test a treatment against the null control; None where there is nothing to compare.

    Parameters
    ----------
    evidence, row
        As in `differences`.
    estimates
        Of what `differences` returns, in its order.
    """
    told = differences(evidence, row)
    used = ~np.isnan(told[0])
    null = evidence.row(CONTROL)
    if null is None or not used.any():
        return None
    changed, toward, against, average = estimates
    return Excess(
        used=int(used.sum()),
        control=float(np.mean(evidence.shifts[null][used] != 0)),
        changed=changed,
        toward=toward,
        against=against,
        average=average,
        p_changed=math.exp(sign_test(told[0]).log_p),
        p_average=math.exp(paired_test(told[-1]).log_p),
    )
