"""Over-annotation: errors found where people find none, and how many more than people find [1].

References
----------
.. [1] OpeNLGauge, Appendix K: among outputs that every person gave the best score on an aspect,
   those in which a judge finds an error. Where scales are binary the best score says too little.
"""

from dataclasses import dataclass

import numpy as np

from spanjury.orchestration.studies.agreement.spans.estimates import (
    Estimate,
    Settings,
    estimates,
)
from spanjury.orchestration.studies.agreement.spans.score_arrays import ScoreArrays
from spanjury.stats.weighted import mean_drop


@dataclass(frozen=True, slots=True, kw_only=True)
class OverAnnotation:
    """Errors that a judge marks where people mark none, or fewer.

    Parameters
    ----------
    flawless
        Texts that people find without error and the judge has a verdict on; those `erring` to
        `max_severity` are about.
    erring
        Share of them in which it finds an error.
    spans
        Mean number of errors that it finds in one of them.
    histogram
        In how many of them it finds no error, one, two and so on.
    mean_severity, max_severity
        Mean over those in which it finds errors that have a severity.
    surplus
        By how many errors it finds more than a reader does, mean over all texts.
    """

    judge: str
    flawless: int
    erring: Estimate
    spans: Estimate
    histogram: tuple[int, ...]
    mean_severity: float
    max_severity: float
    surplus: Estimate


def over_annotation(score_arrays: ScoreArrays, *, settings: Settings) -> OverAnnotation:
    """Count a judge's errors in the texts that no reader marked."""
    readings = np.bincount(score_arrays.owner, minlength=len(score_arrays.texts))
    gold = np.bincount(score_arrays.owner, score_arrays.gold, minlength=len(score_arrays.texts))
    clean = gold == 0
    counts = np.where(clean, score_arrays.marked, np.nan)
    erring = np.where(clean, score_arrays.marked > 0, np.nan)
    graded = [
        severities
        for severities, is_clean in zip(score_arrays.severities, clean, strict=True)
        if is_clean and severities
    ]
    figures = estimates(
        {
            ("erring", "spans", "surplus"): mean_drop(
                [erring, counts, score_arrays.marked - gold / readings]
            )
        },
        texts=len(score_arrays.texts),
        settings=settings,
    )
    return OverAnnotation(
        judge=score_arrays.judge,
        flawless=int(clean.sum()),
        histogram=tuple(np.bincount(score_arrays.marked[clean].astype(np.int64)).tolist()),
        mean_severity=_mean([sum(severities) / len(severities) for severities in graded]),
        max_severity=_mean([float(max(severities)) for severities in graded]),
        **figures,
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else np.nan
