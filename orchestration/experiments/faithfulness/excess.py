"""Excess: how much more a changed list moves the score than the same list, asked for again."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spanjury.orchestration.experiments.faithfulness.changes import CONTROL, REPEAT
from spanjury.orchestration.experiments.faithfulness.evidence import Evidence, FloatArray
from spanjury.orchestration.experiments.faithfulness.rates import Estimate
from spanjury.stats.significance.sign_flip import paired_test
from spanjury.stats.significance.sign_test import sign_test

__all__ = ["MEASURES", "Excess", "differences", "excess_of"]

MEASURES = ("changed", "toward", "against", "average")
"""What is compared with the control, in the order of the arrays."""


class Excess(NamedTuple):
    """Figures of a treatment minus those of the null control, on the same reports.

    Where the control was repeated, they are minus the mean of both.
    """

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
    """One-sided: more scores changed than under the first control; McNemar's exact test."""
    p_average: float
    """The same of how far scores moved as they should; the exact signed-rank test."""


def differences(
    evidence: Evidence, row: int, *, controls: Sequence[str] = (CONTROL, REPEAT)
) -> FloatArray:
    """Return treatment minus control for each report.

    Parameters
    ----------
    evidence
        With the null control among its treatments, or without.
    row
        Of the treatment.
    controls
        What is subtracted: the first of them or, of a report that has a score under others
        too, the mean.

    Returns
    -------
    FloatArray
        Shape ``(len(MEASURES), texts)``; NaN for reports that cannot be compared, which are
        all without a control, and for a control itself.
    """
    if evidence.treatments[row].push is None:
        return np.full((len(MEASURES), len(evidence.texts)), np.nan)
    treated = _measures(evidence, row, of=row)
    treated[:, ~evidence.applied[row]] = np.nan
    return treated - _control(evidence, row, controls)


def excess_of(evidence: Evidence, row: int, *, estimates: tuple[Estimate, ...]) -> Excess | None:
    """Test a treatment against the null control; None where there is nothing to compare.

    The tests take the first control alone: of two draws by the same chances either is as
    likely to be the one that changes, of a draw and the mean of two others it is not.

    Parameters
    ----------
    evidence, row
        As in `differences`.
    estimates
        Of what `differences` returns, in its order.
    """
    told = differences(evidence, row, controls=(CONTROL,))
    used = ~np.isnan(told[0])
    if not used.any():
        return None
    changed, toward, against, average = estimates
    return Excess(
        used=int(used.sum()),
        control=float(np.mean(_control(evidence, row, (CONTROL, REPEAT))[0][used])),
        changed=changed,
        toward=toward,
        against=against,
        average=average,
        p_changed=math.exp(sign_test(told[0]).log_p),
        p_average=math.exp(paired_test(told[-1]).log_p),
    )


def _control(evidence: Evidence, row: int, names: Sequence[str]) -> FloatArray:
    """Return what the controls do by themselves, report by report: the mean over them."""
    first, *others = (
        np.full((len(MEASURES), len(evidence.texts)), np.nan)
        if (null := evidence.row(name)) is None
        else _measures(evidence, null, of=row)
        for name in names
    )
    told = np.stack([first, *(np.where(np.isnan(other), first, other) for other in others)])
    averaged: FloatArray = np.mean(told, axis=0)
    return averaged


def _measures(evidence: Evidence, source: int, *, of: int) -> FloatArray:
    """Return by the scores of `source` what is compared, counted as treatment `of` pushes."""
    sign = 1.0 if evidence.treatments[of].push == "rises" else -1.0
    shifts = np.where(evidence.rescored[source], sign * evidence.shifts[source], np.nan)
    told = np.stack([shifts != 0, shifts > 0, shifts < 0, shifts]).astype(np.float64)
    return np.where(np.isnan(shifts), np.nan, told)
