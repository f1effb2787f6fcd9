"""Cautions: why a number of a faithfulness exam should not be taken at its face value."""

import math
from collections.abc import Iterator

from spanjury.judges.core import RescoringMethod
from spanjury.orchestration.studies.faithfulness.changes import CONTROL, REPEAT, ListOutcome
from spanjury.orchestration.studies.faithfulness.findings import Finding, Findings
from spanjury.orchestration.studies.faithfulness.score_arrays import ScoreArrays

_FEW = 30
"""With fewer reports than this an effect is often missed, and intervals are rough."""
_RESTLESS = 0.05
"""From this share on a judge that changes its mind by itself colours every figure."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what speaks against taking the numbers at their face value."""
    sentences = [
        sentence for score_array in findings.score_arrays for sentence in _on_scores(score_array)
    ]
    sentences += [sentence for finding in findings.findings for sentence in _on_finding(finding)]
    return tuple(sentences)


def named(one: ScoreArrays | Finding) -> str:
    """Say whose scores these are, and of what."""
    return ", ".join(part for part in (one.judge, one.dataset, one.aspect) if part)


def _on_scores(score_arrays: ScoreArrays) -> Iterator[str]:
    whose = named(score_arrays)
    if score_arrays.row(CONTROL) is None:
        yield (
            f"{whose}: there is no null control, so it is unknown how often the score changes "
            "without a cause, and no share of changed scores can be attributed to a condition."
        )
    absent = sum(change.list_outcome is ListOutcome.ABSENT for change in score_arrays.changes)
    rows = len({(change.condition, change.text) for change in score_arrays.changes})
    missing = len(score_arrays.conditions) * len(score_arrays.texts) - rows + absent
    if missing:
        yield f"{whose}: {missing} pairs are not in the record and were skipped."
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
            f"{whose}: some lists were restated in a new turn, not continued from. A judge may "
            "score a given list differently from one that it wrote itself."
        )


def _on_finding(finding: Finding) -> Iterator[str]:
    whose = f"{named(finding)}, {finding.condition}"
    overall = finding.overall
    is_restless = not math.isnan(overall.changed) and overall.changed >= _RESTLESS
    if finding.condition in (CONTROL, REPEAT) and is_restless:
        yield (
            f"{whose}: {overall.changed:.0%} of the scores change although the list did not. Read "
            "the columns minus control."
        )
    if finding.failed:
        count = sum(finding.failed.values())
        wanted = finding.texts - finding.absent - finding.unscored - sum(finding.unchanged.values())
        reasons = "; ".join(f"{why} ({n})" for why, n in finding.failed.items())
        yield (
            f"{whose}: {finding.written_by} did not write {count} of {wanted} lists, which "
            f"were skipped: {reasons}."
        )
    if overall.lost:
        yield f"{whose}: {overall.lost} of {overall.reports} reports have no second score."
