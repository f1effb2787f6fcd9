"""A judge on texts held out of training: cases, reports beside the targets, and findings."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, ErrorSpan, Outcome, Report, Scale, Segment
from spanjury.judges.llm.distilled_form import percent
from spanjury.orchestration.studies.agreement.spans.measures import overlaps
from spanjury.orchestration.studies.card import SHARE, SIGNED, Measure, Range, Ranges
from spanjury.orchestration.studies.estimates import DEFAULTS, Effects, Settings, estimates
from spanjury.orchestration.studies.judging import overlapping
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.spans.span_agreement import micro_effect
from spanjury.stats.weighted import mean_drop, of_items, ratio

ALL = ""

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
FIGURES: Mapping[str, str] = {
    "reports.parsed": "share of the examples with a readable report",
    "spans.precision": "share of the marked characters that are errors",
    "spans.recall": "share of the characters of errors that are marked",
    "spans.f1": "harmonic mean of this precision and recall",
    "graded.precision": "the same, with half a point if only the grade is wrong (minor, major)",
    "graded.recall": "the same, with half a point if only the grade is wrong",
    "graded.f1": "harmonic mean of this precision and recall",
    "recognised.error_free": "share of the texts without errors in which none is found",
    "recognised.faulty": "share of the texts with errors in which one is found",
    "severity.alike": "share of the marked and of the target spans that overlap one of the same"
    " severity",
    "severity.apart": "mean difference of the severities of overlapping spans",
    "score.spearman": "rank correlation of the score with the correct one",
    "score.error": "mean error of the score, in points of 100",
}
_SPEARMAN = "score.spearman"
RANGES: Ranges = {
    **dict.fromkeys(FIGURES, SHARE),
    "severity.apart": Range(0, 4),
    _SPEARMAN: SIGNED,
    "score.error": Range(0, 100),
}

_DISTINCT = 3
"""Target scores below which a correlation says nothing."""
_DIGITS = 9
"""Behind the point; what is beyond them comes from rounding."""
_FEW = 30
"""Inputs below which an interval of percentiles is too narrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One text and one aspect of it.

    Raises `ValueError` if the target has no score.
    """

    segment: Segment
    aspect: Aspect
    target: Report
    """The report that a judge should make; with a score on the scale of the aspect."""
    input_id: str
    """Texts for the same input are drawn together."""
    damages: tuple[str, ...] = ()
    """Name of the damage; empty for one as it was."""

    def __post_init__(self) -> None:
        if self.target.score is None:
            raise ValueError(f"the target of {self.segment.segment_id!r} has no score")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenInTraining:
    """The tasks, aspects and damages that a model was trained on."""

    tasks: frozenset[str]
    aspects: frozenset[tuple[str, str]]
    """Task and aspect: the same word in another task is another aspect."""
    damages: frozenset[str]


def groups_of(cases: Sequence[Case], seen: SeenInTraining | None) -> Mapping[str, BoolArray]:
    """Return which cases are like those that a model was trained on, and which are not.

    A group has an array of the shape ``(cases,)``, true for the cases in it. `ALL` is the first
    group, and the only one without `seen`; empty groups are left out. A text with any unseen damage
    is among the unseen damages; one without damage is in neither group of damages.
    """
    groups = {ALL: np.ones(len(cases), dtype=np.bool_)}
    if seen is not None:
        tasks = [case.aspect.task.name in seen.tasks for case in cases]
        aspects = [(case.aspect.task.name, case.aspect.name) in seen.aspects for case in cases]
        seen_damage = [seen.damages.issuperset(case.damages) for case in cases]
        damaged = np.array([bool(case.damages) for case in cases])
        every = groups[ALL]
        for name, flags, among in (
            ("tasks", tasks, every),
            ("aspects", aspects, every),
            ("damages", seen_damage, damaged),
        ):
            groups[f"seen-{name}"] = among & np.array(flags)
            groups[f"unseen-{name}"] = among & ~np.array(flags)
    return {name: inside for name, inside in groups.items() if inside.any()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreArrays:
    """Reports beside targets; all arrays are of the shape ``(cases,)`` or ``(cases, 3)``.

    A report without a score is NaN: a failure counts as such and as nothing else.

    `characters`, `graded`: `Overlap` of the spans found with those of the target; by severity.
    `alike`, `apart`: number of these with the same severity, and the sum of the differences in
    severity.
    `score`, `target_score`: from 0, the worst of the scale, to 100, the best.
    """

    inputs: NDArray[np.int64]
    outcomes: NDArray[np.int64]
    """Outcome of each assessment, as the index of the outcome in `Outcome`."""
    characters: FloatArray
    graded: FloatArray
    spans: FloatArray
    target_spans: FloatArray
    meetings: FloatArray
    """Pairs of a span found and one of the target that share a character and have a severity
    each."""
    alike: FloatArray
    apart: FloatArray
    score: FloatArray
    target_score: FloatArray

    @property
    def asked(self) -> int:
        """Return the number of cases."""
        return len(self.inputs)

    @property
    def parsed(self) -> BoolArray:
        """True where a report has a score, shape ``(cases,)``."""
        return ~np.isnan(self.score)

    def ended(self) -> Iterator[tuple[Outcome, int]]:
        """Yield how assessments ended, and how many did so."""
        for index, outcome in enumerate(Outcome):
            if count := int(np.count_nonzero(self.outcomes == index)):
                yield outcome, count

    def part(self, inside: BoolArray) -> "ScoreArrays":
        """Return the arrays of some cases, with inputs numbered from 0 again."""
        kept = {field.name: getattr(self, field.name)[inside] for field in fields(self)}
        _, kept["inputs"] = np.unique(kept["inputs"], return_inverse=True)
        return replace(self, **kept)


def collect_scores(cases: Sequence[Case], reports: Sequence[Report]) -> ScoreArrays:
    """Put the reports of a judge beside the targets."""
    pairs = list(zip(cases, reports, strict=True))
    has_score = np.array([report.score is not None for report in reports], dtype=np.bool_)
    scored = [(case, report) for case, report in pairs if report.score is not None]
    common = overlaps(
        [report.spans for _, report in scored], [case.target.spans for case, _ in scored]
    )
    met = np.array(
        [_met(report.spans, case.target.spans) for case, report in scored], dtype=np.float64
    ).reshape(-1, 3)
    meetings, alike, apart = _filled(met, has_score).T
    outcomes = list(Outcome)
    return ScoreArrays(
        inputs=np.unique([case.input_id for case in cases], return_inverse=True)[1],
        outcomes=np.array([outcomes.index(report.outcome) for report in reports], dtype=np.int64),
        characters=_filled(common["characters"], has_score),
        graded=_filled(common["graded"], has_score),
        spans=np.array([np.nan if r.score is None else len(r.spans) for r in reports]),
        target_spans=np.array([len(case.target.spans) for case in cases], dtype=np.float64),
        meetings=meetings,
        alike=alike,
        apart=apart,
        score=np.array([_points(report.score, case.aspect.scale) for case, report in pairs]),
        target_score=np.array([_points(case.target.score, case.aspect.scale) for case in cases]),
    )


def _filled(rows: FloatArray, scored: BoolArray) -> FloatArray:
    """Return rows for all cases: those of the `scored` ones, and NaN."""
    filled = np.full((len(scored), rows.shape[1]), np.nan)
    filled[scored] = rows
    return filled


def _met(spans: Sequence[ErrorSpan], target: Sequence[ErrorSpan]) -> tuple[int, int, int]:
    """Return the pairs of spans that meet, those of one severity, and the sum of differences."""
    reported, due = (
        [(each.interval, each.severity) for each in side if each.interval and each.severity]
        for side in (spans, target)
    )
    apart = [
        abs(severity - right)
        for interval, severity in reported
        for gold, right in due
        if overlapping([interval], [gold])
    ]
    return len(apart), apart.count(0), sum(apart)


def _points(score: float | None, scale: Scale) -> float:
    return np.nan if score is None else percent(score, scale=scale)


def measure_name(figure: str, group: str) -> str:
    """Return the name of a figure of a group, as ``spans.f1.unseen-tasks``."""
    return figure if group == ALL else f"{figure}.{group}"


def split_name(name: str) -> tuple[str, str]:
    """Return figure and group of a measure, as `measure_name` joins them."""
    figure, _, group = name.rpartition(".")
    return (figure, group) if figure in FIGURES else (name, ALL)


def measures_of(
    score_arrays: ScoreArrays, groups: Mapping[str, BoolArray], *, settings: Settings = DEFAULTS
) -> tuple[Measure, ...]:
    """Return every figure of every group, the groups of a figure one after the other.

    `settings`: seed and draws; inputs are drawn, each with all its cases.
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
            f"{lost} of {score_arrays.asked} examples have no report ({ends}): they count"
            " only in reports.parsed"
        )
    inputs = len(np.unique(score_arrays.inputs))
    if inputs < _FEW:
        yield f"the examples have only {inputs} inputs, so intervals are too narrow"


def _figures(score_arrays: ScoreArrays, settings: Settings) -> dict[str, Measure]:
    """Work out every figure of a group, under its bare name."""
    estimated = estimates(_effects(score_arrays), sources=score_arrays.inputs, settings=settings)
    counts, reason = _counts(score_arrays), _no_correlation(score_arrays)
    measures = {
        name: Measure(
            name=name,
            value=_rounded(estimate.value),
            says=FIGURES[name],
            count=counts.get(name, counts["parsed"]),
            low=_rounded(estimate.low),
            high=_rounded(estimate.high),
            range=RANGES[name],
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
    marked = score_arrays.target_spans > 0
    free, faulty = parsed & ~marked, parsed & marked
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
