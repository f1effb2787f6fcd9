"""Held-out texts: each judged by a calibration that was fitted without its source."""

from typing import NamedTuple

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from spanjury.orchestration.engine.thresholds import Thresholds
from spanjury.orchestration.studies.calibration.fitting import Terms, fit, penalties
from spanjury.orchestration.studies.calibration.texts import (
    BoolArray,
    CalibrationTexts,
    Suspicions,
)
from spanjury.stats.arrays import FloatArray

LEAST_SOURCES = 2
"""Sources below which no text can be held out."""


class HeldOut(NamedTuple):
    """The texts, each by a calibration that did not see it; NaN where there was none."""

    mapped: FloatArray
    """The panel's scores after the map."""
    usual_penalties: FloatArray
    """The penalty of the panel's errors by the usual weights of severities."""
    fitted_penalties: FloatArray
    """The same by the fitted weights, put on one scale over the folds."""
    unsure: FloatArray
    """1 for a text that is called unsure or faulty, 0 for one that is not."""
    faulty: FloatArray
    """The same for faulty."""


def fold_numbers(sources: tuple[str, ...], *, folds: int, seed: int) -> NDArray[np.intp]:
    """Deal sources into at most so many folds of nearly equal size, and return each text's.

    The order of the sources does not matter.
    """
    names = sorted(set(sources))
    parts = max(1, min(folds, len(names)))
    dealt = default_rng(seed).permutation(len(names)) % parts
    by_name = dict(zip(names, dealt.tolist(), strict=True))
    return np.array([by_name[source] for source in sources], dtype=np.intp)


def hold_out(texts: CalibrationTexts, terms: Terms) -> HeldOut:
    """Fit without each fold, and apply to it; of a single source, nothing is held out."""
    held = HeldOut(*(np.full(len(texts.texts), np.nan) for _ in HeldOut._fields))
    dealt = fold_numbers(texts.sources, folds=terms.folds, seed=terms.seed)
    for fold in range(folds) if (folds := int(dealt.max()) + 1) >= LEAST_SOURCES else ():
        inside: BoolArray = dealt == fold
        others, own = texts.part(~inside), texts.part(inside)
        for values, found in zip(held, _held_out(own, others, terms), strict=True):
            values[inside] = found
    return held


def _held_out(own: CalibrationTexts, others: CalibrationTexts, terms: Terms) -> HeldOut:
    """Return the values of `HeldOut` for a fold, by what is fitted to the others."""
    fitted = fit(others, terms)
    unknown = np.full(len(own.texts), np.nan)
    mapped = fitted_penalties = unsure = faulty = unknown
    if fitted.score_map is not None:
        mapped = np.array([fitted.score_map.at(score) for score in own.scores])
    if (weights := fitted.severity_weights) is not None:
        # Weights say nothing of a unit: the gravest error costs 1 in every fold.
        fitted_penalties = penalties(own, weights) / weights[-1]
    if fitted.thresholds is not None:
        unsure, faulty = alarms(own.suspicions(like=others), fitted.thresholds)
    return HeldOut(mapped, penalties(own, None), fitted_penalties, unsure, faulty)


def alarms(suspicions: Suspicions, thresholds: Thresholds) -> tuple[FloatArray, FloatArray]:
    """Return 1 for texts that are unsure or graver, and for faulty ones; NaN if not known."""
    known = ~np.isnan(suspicions.values)
    unsure = np.where(known, suspicions.with_grave >= thresholds.unsure, np.nan)
    over = (suspicions.values >= thresholds.faulty) & suspicions.may_be_faulty
    faulty = np.where(known, over, np.nan)
    return unsure.astype(np.float64), faulty.astype(np.float64)
