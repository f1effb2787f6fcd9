"""Decisions: what a judge would do with damaged and with harmless texts, in one ordered list."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.discernment.conclusions import (
    Conclusion,
    conclusion,
    conclusion_on,
    is_harmless,
    of_interest,
    strongest,
)
from spanjury.orchestration.studies.discernment.contrasts import Contrast
from spanjury.orchestration.studies.discernment.detection import Detection
from spanjury.orchestration.studies.discernment.findings import Finding, Findings
from spanjury.orchestration.studies.discernment.marked_places import Marking


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """One condition on one aspect that it harms; for a harmless condition, on any aspect.

    Parameters
    ----------
    contrast, detection, marking
        Of the aspect; None where no aspect that matters has a score.
    leads
        Whether the word for the condition is for this aspect.
    """

    finding: Finding
    contrast: Contrast | None
    detection: Detection | None
    marking: Marking | None
    conclusion: Conclusion
    leads: bool

    @property
    def is_harmless(self) -> bool:
        """True if no score should move."""
        return is_harmless(self.finding)

    @property
    def aspect(self) -> str:
        """The aspect, or those that matter and lack a score."""
        if self.contrast is not None:
            return self.contrast.aspect
        names = [self.finding.contrasts[n].aspect for n in of_interest(self.finding)]
        return names[0] if len(names) == 1 else ""


def decision_rows(findings: Findings) -> tuple[DecisionRow, ...]:
    """Return the rows of an exam, harmful and harmless conditions together.

    Those of which most texts are flagged come first; those without scores come last.
    """
    rows = [row for finding in findings.findings for row in _rows(finding)]
    return tuple(sorted(rows, key=_place))


def decisions_json(findings: Findings) -> list[dict[str, object]]:
    """Return the rows as objects, with the figures and intervals that a page shows."""
    return [
        {
            "condition": row.finding.condition,
            "aspect": row.aspect or None,
            "harmless": row.is_harmless,
            "verdict": row.conclusion.value,
            "detection": plain(row.detection),
            "hits": plain(row.marking.localisation.hit_rate) if row.marking else None,
            "claims_spans": row.marking.claims_spans if row.marking else None,
            "discernment": plain(row.contrast.discernment) if row.contrast else None,
        }
        for row in decision_rows(findings)
    ]


def _rows(finding: Finding) -> Iterator[DecisionRow]:
    lead = strongest(finding)
    if lead is None:
        yield DecisionRow(
            finding=finding,
            contrast=None,
            detection=None,
            marking=None,
            conclusion=conclusion(finding),
            leads=True,
        )
        return
    for number in of_interest(finding):
        if finding.contrasts[number].effects.used:
            yield DecisionRow(
                finding=finding,
                contrast=finding.contrasts[number],
                detection=finding.detections[number],
                marking=finding.markings[number],
                conclusion=conclusion_on(finding, number),
                leads=number == lead,
            )


def _place(row: DecisionRow) -> tuple[float, float]:
    if row.detection is None:
        return math.inf, math.inf
    figures = row.detection.caught_10.value, row.detection.auroc.value
    caught, auroc = (-1.0 if math.isnan(figure) else figure for figure in figures)
    return -caught, -auroc
