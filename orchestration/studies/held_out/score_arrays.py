"""Score arrays: the reports of one judge beside the targets, case by case."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import ErrorSpan, Outcome, Report, Scale
from spanjury.judges.llm.percent import percent
from spanjury.orchestration.studies.agreement.spans.measures import overlaps
from spanjury.orchestration.studies.held_out.cases import BoolArray, Case

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreArrays:
    """Reports beside targets; all arrays are of the shape ``(cases,)`` or ``(cases, 3)``.

    A report without a score is NaN: a failure counts as such and as nothing else.

    Parameters
    ----------
    outcomes
        How each assessment ended, as the index of the outcome in `Outcome`.
    characters, graded
        `Overlap` of the spans found with those of the target; by severity.
    meetings
        Pairs of a span found and one of the target that share a character and have a severity each.
    alike, apart
        Of these, how many have the same severity; by how much severities differ, added up.
    score, target_score
        From 0, the worst of the scale, to 100, the best.
    """

    inputs: NDArray[np.int64]
    outcomes: NDArray[np.int64]
    characters: FloatArray
    graded: FloatArray
    spans: FloatArray
    target_spans: FloatArray
    meetings: FloatArray
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
    apart = [
        abs(span.severity - gold.severity)
        for span in spans
        for gold in target
        if span.severity is not None and gold.severity is not None and _meet(span, gold)
    ]
    return len(apart), apart.count(0), sum(apart)


def _meet(span: ErrorSpan, gold: ErrorSpan) -> bool:
    if span.interval is None or gold.interval is None:
        return False
    return max(span.interval[0], gold.interval[0]) < min(span.interval[1], gold.interval[1])


def _points(score: float | None, scale: Scale) -> float:
    return np.nan if score is None else percent(score, scale=scale)
