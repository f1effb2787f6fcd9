"""The result of a rubric: the reports on a text's criteria become one score and one decision.

The score is the weighted mean of the criteria's grades: 1 for a criterion that is met, 0 for one
that is not, and the position on its scale, 0 to 1, for a graded one. A criterion is *open* if it
has no score, or if the judges cannot tell whether it is met. A yes/no criterion with a marked
violation is not met, or open if the seats disagree. An open criterion never counts as met: it is
left out of the mean, and the share of the weight that remains is stated. A text that misses a
must-have is faulty whatever its score, or unsure if the must-have is unsure by its probability of
an error. A text with an open criterion is not ok.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from spanjury.judges.core import (
    Aspect,
    Criterion,
    Decision,
    DecisionBasis,
    ErrorSpan,
    Ground,
    PanelReport,
    Result,
    Segment,
    fingerprint,
    stamped,
    unstamped,
)
from spanjury.orchestration.engine.seats import gravest_outcome

_AGGREGATION = "rubric"
_HALF = 0.5
_ROUNDING = 1e-9
"""The most that the mean of best grades falls short of the best."""
_MUST_SEVERITY, _SEVERITY = 5, 3
"""Severities of the spans of must-haves, and of other criteria."""

T = TypeVar("T")


def concluded(aspect: Aspect, reports: Mapping[str, PanelReport]) -> PanelReport:
    """Return the report on a rubric.

    Parameters
    ----------
    aspect
        The rubric's, with its criteria.
    reports
        Name of the aspect of each criterion -> the report on it.

    Returns
    -------
    PanelReport
        Its spans are the criteria that are not met, without offsets: the offsets are in the reports
        on the criteria. It has no score if every criterion is open.
    """
    judged = [_Judged(part, reports[part.aspect.name]) for part in aspect.criteria]
    closed = [part for part in judged if part.grade is not None]
    weight = sum(part.criterion.weight for part in closed)
    signature = _signature(aspect, reports)
    words = _words(judged)
    if not closed:
        outcomes = {part.report.outcome for part in judged}
        return PanelReport(
            outcome=gravest_outcome(outcomes),
            reason=f"no criterion could be decided: {words}",
            signature=signature,
            aggregation=_AGGREGATION,
        )
    share = sum(part.criterion.weight * (part.grade or 0.0) for part in closed) / weight
    scale = aspect.scale
    decision = _decision(judged, share=share)
    reason = f"{share:.0%} of the weight is met: {words}"
    missed = tuple(_span(part) for part in closed if not part.is_met)
    return PanelReport(
        score=scale.low + (scale.high - scale.low) * share,
        spans=missed,
        rationale=reason,
        signature=signature,
        aggregation=_AGGREGATION,
        decision=decision,
        basis=DecisionBasis(
            ground=Ground.SPANS if missed and decision is not Decision.OK else Ground.SCORE,
            reason=reason,
        ),
    )


def deciding(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return the results that decide on a text: criteria count through their rubric only."""
    names = {result.aspect.name for result in results}
    return tuple(result for result in results if result.aspect.rubric not in names)


@dataclass(slots=True)
class TextCriteria(Generic[T]):
    """Values of a text's criteria, collected until their rubric is evaluated.

    The aspects of a text arrive together, the rubric's after its criteria.
    """

    _segment: Segment | None = None
    _parts: "dict[str, T] | None" = None

    def take(self, segment: Segment, aspect: Aspect, part: T) -> None:
        """Store the value of a criterion; forget the previous text."""
        if segment is not self._segment or self._parts is None:
            self._segment, self._parts = segment, {}
        self._parts[aspect.name] = part

    def of(self, segment: Segment, aspect: Aspect) -> dict[str, T] | None:
        """Return the value of each criterion of a rubric; None if a criterion was not judged."""
        parts = self._parts or {}
        names = [part.aspect.name for part in aspect.criteria]
        if segment is not self._segment or not parts.keys() >= set(names):
            return None
        return {name: parts[name] for name in names}


@dataclass(frozen=True, slots=True)
class _Judged:
    """A criterion with the report on it."""

    criterion: Criterion
    report: PanelReport

    @property
    def grade(self) -> float | None:
        """0 (not met) to 1 (met); None if the criterion is open."""
        report, scale = self.report, self.criterion.aspect.scale
        if report.score is None:
            return None
        grade = (report.score - scale.low) / (scale.high - scale.low)
        if not self.criterion.is_graded:
            if report.decision is Decision.FAULTY:
                return 0.0
            # The seats are split, or most call it met and a violation is marked all the same.
            if grade == _HALF or (self._is_marked and _HALF < grade < 1 - _ROUNDING):
                return None
            grade = float(grade > _HALF and not self._is_marked)
        is_unverified = report.decision is Decision.UNSURE and bool(report.unverified)
        return None if grade >= _HALF and (report.cannot_tell or is_unverified) else grade

    @property
    def _is_marked(self) -> bool:
        """True if a violation is marked that no measured probability outweighs."""
        report = self.report
        return bool(report.spans) and report.decision is not Decision.OK and not report.cannot_tell

    @property
    def is_met_in_part(self) -> bool:
        """True if it is graded in the upper half of its scale, below the best grade."""
        return self.is_met and (self.grade or 0.0) < 1 - _ROUNDING

    @property
    def is_met(self) -> bool:
        """True if it is met, or graded in the upper half of its scale without a grave error."""
        grade = self.grade
        return grade is not None and grade >= _HALF and self.report.decision is not Decision.FAULTY

    @property
    def misses_must(self) -> Decision | None:
        """FAULTY, or UNSURE by probability, for a must-have that is not met; None for others."""
        if not self.criterion.must or self.grade is None or self.is_met:
            return None
        basis, is_unsure = self.report.basis, self.report.decision is Decision.UNSURE
        by_probability = basis is not None and basis.ground is Ground.PROBABILITY
        return Decision.UNSURE if is_unsure and by_probability else Decision.FAULTY


def _decision(judged: Sequence[_Judged], *, share: float) -> Decision:
    missed = {part.misses_must for part in judged}
    if Decision.FAULTY in missed:
        return Decision.FAULTY
    is_open = any(part.grade is None for part in judged)
    if is_open or share < _HALF or Decision.UNSURE in missed:
        return Decision.UNSURE
    return Decision.OK


def _words(every: Sequence[_Judged]) -> str:
    """Describe how many criteria are met, and name those that are missed or open."""
    closed = [part for part in every if part.grade is not None]
    partly = sum(part.is_met_in_part for part in closed)
    met = sum(part.is_met for part in closed) - partly
    parts = [f"{met} of {len(closed)} criteria are met{f', {partly} in part' if partly else ''}"]
    if len(closed) < len(every):
        weight = sum(part.criterion.weight for part in every)
        share = sum(part.criterion.weight for part in closed) / weight
        parts[0] += f", {len(closed)} of {len(every)} decided ({share:.0%} of the weight)"
    for name, kind in (
        ("must-have not met", [part for part in every if part.misses_must is Decision.FAULTY]),
        ("must-have unsure", [part for part in every if part.misses_must is Decision.UNSURE]),
        ("open", [part for part in every if part.grade is None]),
    ):
        if kind:
            parts.append(f"{name}: {', '.join(part.criterion.aspect.spoken for part in kind)}")
    return "; ".join(parts)


def _span(missed: _Judged) -> ErrorSpan:
    """Return an error span for a missed criterion, explained by the first error of its report."""
    criterion, report = missed.criterion, missed.report
    score = criterion.aspect.scale.label(report.score or 0.0) if criterion.is_graded else "not met"
    why = next((span.explanation for span in report.spans if span.explanation), "")
    weight = f" (weight {criterion.weight:g})" if criterion.weight != 1 else ""
    return ErrorSpan(
        text="",
        explanation=f"{criterion.aspect.spoken}: {score}{weight}. {why}".rstrip(),
        severity=_MUST_SEVERITY if criterion.must else _SEVERITY,
        category="must-have" if criterion.must else "criterion",
        found_by=tuple(dict.fromkeys(by for span in report.spans for by in span.found_by)),
    )


def _signature(aspect: Aspect, reports: Mapping[str, PanelReport]) -> str:
    """Return the signature of the panel, with the criteria and their weights."""
    criteria = (
        f"{part.aspect.name}|{part.aspect.scale.labels}|{part.weight}|{part.must}"
        for part in aspect.criteria
    )
    panel = unstamped(next(iter(reports.values())).signature)
    return stamped(f"{panel}|rubric:{fingerprint(*criteria)}")
