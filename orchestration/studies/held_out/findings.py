"""Findings: how near a judge's reports are to the targets, group by group."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from spanjury.judges.core import Outcome
from spanjury.orchestration.studies.agreement.spans.estimates import (
    DEFAULTS,
    Effects,
    Settings,
    by_owner,
    estimates,
)
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.held_out.cases import ALL, BoolArray
from spanjury.orchestration.studies.held_out.score_arrays import ScoreArrays
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.spans.span_agreement import micro_effect
from spanjury.stats.weighted import mean_drop, of_items, ratio

FIGURES: Mapping[str, str] = MappingProxyType(
    {
        "reports.parsed": "share of the examples with a readable report",
        "spans.precision": "share of the marked characters that are errors",
        "spans.recall": "share of the characters of errors that are marked",
        "spans.f1": "harmonic mean of these two",
        "graded.precision": "the same, half a point where only the grade is wrong (minor, major)",
        "graded.recall": "the same, half a point where only the grade is wrong",
        "graded.f1": "harmonic mean of these two",
        "recognised.error_free": "share of the texts without errors in which none is found",
        "recognised.faulty": "share of the texts with errors in which one is found",
        "severity.alike": "share of the spans found and of the target that meet with one severity",
        "severity.apart": "by how much severities differ where spans meet, on average",
        "score.spearman": "rank correlation of the score with that of the target",
        "score.error": "by how many of 100 points the score is off, on average",
    }
)
"""Name -> meaning."""

_SPEARMAN = "score.spearman"
_DISTINCT = 3
"""Target scores below which a correlation says nothing."""
_DIGITS = 9
"""Behind the point; what is beyond them comes from rounding."""
_DRAWN = 2
"""Inputs below which there is nothing to draw from, and no interval."""
_FEW = 30
"""Inputs below which an interval of percentiles is too narrow."""


def measure_name(figure: str, group: str) -> str:
    """Return the name of a figure of a group, as ``spans.f1.unseen-tasks``."""
    return figure if group == ALL else f"{figure}.{group}"


def split_name(name: str) -> tuple[str, str]:
    """Return figure and group of a measure, as `measure_name` joins them.

    Examples
    --------
    >>> split_name("spans.f1.unseen-tasks"), split_name("retest.moved")
    (('spans.f1', 'unseen-tasks'), ('retest.moved', ''))
    """
    figure, _, group = name.rpartition(".")
    return (figure, group) if figure in FIGURES else (name, ALL)


def measures_of(
    score_arrays: ScoreArrays, groups: Mapping[str, BoolArray], *, settings: Settings = DEFAULTS
) -> tuple[Measure, ...]:
    """Return every figure of every group, the groups of a figure one after the other.

    Parameters
    ----------
    settings
        Seed and draws; inputs are drawn, each with all its cases.
    """
    by_group = {
        name: _figures(score_arrays.part(inside), settings) for name, inside in groups.items()
    }
    return tuple(
        replace(figures[name], name=measure_name(name, group))
        for name in FIGURES
        for group, figures in by_group.items()
    )


def cautions(score_arrays: ScoreArrays) -> Iterator[str]:
    """Say what to keep in mind when the measures are read."""
    lost = score_arrays.asked - int(np.count_nonzero(score_arrays.parsed))
    if lost:
        ends = ", ".join(
            f"{count} {outcome.value}"
            for outcome, count in score_arrays.ended()
            if outcome is not Outcome.SCORED
        )
        yield (
            f"{lost} of {score_arrays.asked} examples have no report ({ends}): they count in"
            " reports.parsed, and in nothing else"
        )
    inputs = len(np.unique(score_arrays.inputs))
    if inputs < _FEW:
        yield f"the examples are of {inputs} inputs: with so few, intervals are too narrow"


def _figures(score_arrays: ScoreArrays, settings: Settings) -> dict[str, Measure]:
    """Work out every figure of a group, under its bare name."""
    effects = {
        names: by_owner(effect, score_arrays.inputs)
        for names, effect in _effects(score_arrays).items()
    }
    inputs = len(np.unique(score_arrays.inputs))
    estimated = estimates(effects, texts=inputs, settings=settings)
    if inputs < _DRAWN:
        bare = {"low": np.nan, "high": np.nan}
        estimated = {name: replace(estimate, **bare) for name, estimate in estimated.items()}
    counts, reason = _counts(score_arrays), _no_correlation(score_arrays)
    measures = {
        name: Measure(
            name=name,
            value=_rounded(estimate.value),
            says=FIGURES[name],
            count=counts.get(name, counts["parsed"]),
            low=_rounded(estimate.low),
            high=_rounded(estimate.high),
        )
        for name, estimate in estimated.items()
    }
    if reason:
        says = f"{FIGURES[_SPEARMAN]}; none: {reason}"
        spearman = measures[_SPEARMAN]
        measures[_SPEARMAN] = replace(spearman, value=None, low=None, high=None, says=says)
    return measures


def _effects(score_arrays: ScoreArrays) -> Effects:
    parsed = score_arrays.parsed
    free, faulty = (
        parsed & (score_arrays.target_spans == 0),
        parsed & (score_arrays.target_spans > 0),
    )
    scores = np.stack([score_arrays.target_score, score_arrays.score])
    severities = np.stack([score_arrays.alike, score_arrays.apart])
    return {
        ("reports.parsed",): mean_drop(parsed.astype(np.float64)),
        ("spans.precision", "spans.recall", "spans.f1"): micro_effect(score_arrays.characters),
        ("graded.precision", "graded.recall", "graded.f1"): micro_effect(score_arrays.graded),
        ("recognised.error_free",): mean_drop(np.where(free, score_arrays.spans == 0, np.nan)),
        ("recognised.faulty",): mean_drop(np.where(faulty, score_arrays.spans > 0, np.nan)),
        ("severity.alike", "severity.apart"): ratio(severities, score_arrays.meetings),
        (_SPEARMAN,): of_items(scores, lambda drawn: correlation(*drawn).value),
        ("score.error",): mean_drop(np.abs(score_arrays.score - score_arrays.target_score)),
    }


def _counts(score_arrays: ScoreArrays) -> dict[str, int]:
    """Return the number of examples, or meetings, behind a figure; ``parsed`` for the others."""
    parsed, meetings = score_arrays.parsed, int(np.nansum(score_arrays.meetings))
    return {
        "parsed": int(np.count_nonzero(parsed)),
        "reports.parsed": score_arrays.asked,
        "recognised.error_free": int(np.count_nonzero(parsed & (score_arrays.target_spans == 0))),
        "recognised.faulty": int(np.count_nonzero(parsed & (score_arrays.target_spans > 0))),
        "severity.alike": meetings,
        "severity.apart": meetings,
    }


def _no_correlation(score_arrays: ScoreArrays) -> str:
    """Say why there is no rank correlation; empty if there is one."""
    parsed = score_arrays.parsed
    target, score = score_arrays.target_score[parsed], score_arrays.score[parsed]
    if len(np.unique(target)) < _DISTINCT:
        return f"fewer than {_DISTINCT} different target scores"
    return correlation(target, score).reason or ""


def _rounded(value: float) -> float | None:
    return round(value, _DIGITS) + 0.0 if math.isfinite(value) else None  # + 0: there is no -0
