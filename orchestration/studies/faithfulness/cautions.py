"""Cautions: what in an exam of faithfulness should keep a reader from trusting a number."""

import math
from collections.abc import Iterator

from spanjury.judges.core import RescoringMethod
from spanjury.orchestration.studies.faithfulness.changes import CONTROL, REPEAT, Fate
from spanjury.orchestration.studies.faithfulness.findings import Finding, Findings
from spanjury.orchestration.studies.faithfulness.score_arrays import ScoreArrays

__all__ = ["cautions", "named"]

_FEW = 30
"""With fewer reports than this an effect is often missed, and intervals are rough."""
_RESTLESS = 0.05
"""From this share on a judge that changes its mind by itself colours every figure."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what speaks against taking the numbers at their face value."""
    told = [sentence for one in findings.score_arrays for sentence in _on_evidence(one)]
    told += [sentence for one in findings.findings for sentence in _on_finding(one)]
    return tuple(told)


def named(one: ScoreArrays | Finding) -> str:
    """Say whose scores these are, and of what."""
    return ", ".join(part for part in (one.judge, one.dataset, one.aspect) if part)


def _on_evidence(score_arrays: ScoreArrays) -> Iterator[str]:
    whose = named(score_arrays)
    if score_arrays.row(CONTROL) is None:
        yield (
            f"{whose}: there is no null control. How often the score changes when nothing does "
            "is not known, and no share of changed scores can be put down to a treatment."
        )
    absent = [change for change in score_arrays.changes if change.fate is Fate.ABSENT]
    rows = len({(change.condition, change.text) for change in score_arrays.changes})
    missing = len(score_arrays.conditions) * len(score_arrays.texts) - rows + len(absent)
    if missing:
        yield f"{whose}: {missing} pairs are not in the record and were left out."
    if all(change.errors is None for change in score_arrays.changes):
        yield (
            f"{whose}: the record does not say how many errors a report lists; a report below "
            "the best score is taken to list some."
        )
    if score_arrays.known.any() and score_arrays.with_errors.any(axis=0).sum() < _FEW:
        count = int(score_arrays.with_errors.any(axis=0).sum())
        yield f"{whose}: {count} reports list errors, which is few."
    if any(change.method is RescoringMethod.RESTATED for change in score_arrays.changes):
        yield (
            f"{whose}: some lists were restated in a new turn, not continued from. What a judge "
            "makes of a list that it is told may differ from what it makes of its own."
        )


def _on_finding(finding: Finding) -> Iterator[str]:
    whose = f"{named(finding)}, {finding.condition}"
    told = finding.overall
    if finding.condition in (CONTROL, REPEAT) and _is_restless(told.changed):
        yield (
            f"{whose}: {told.changed:.0%} of the scores change although nothing did. Read the "
            "columns minus control."
        )
    if finding.unwritten:
        count = sum(finding.unwritten.values())
        wanted = finding.texts - finding.absent - finding.unscored - sum(finding.unchanged.values())
        reasons = "; ".join(f"{why} ({n})" for why, n in finding.unwritten.items())
        yield (
            f"{whose}: {finding.written_by} did not write {count} of {wanted} lists, which "
            f"were left out: {reasons}."
        )
    if told.lost:
        yield f"{whose}: {told.lost} of {told.reports} reports have no second score."


def _is_restless(share: float) -> bool:
    return not math.isnan(share) and share >= _RESTLESS
