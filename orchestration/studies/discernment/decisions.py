"""Decisions: what a judge would do with damaged and with harmless texts, listed in a table."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from spanjury.orchestration.report import (
    Cell,
    Column,
    Paragraph,
    Table,
    figure,
    numeric,
    prose,
    table,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.report.tables import Mark
from spanjury.orchestration.studies.discernment.conclusions import (
    Conclusion,
    conclusion,
    conclusion_on,
    is_harmless,
    of_interest,
    strongest,
)
from spanjury.orchestration.studies.discernment.detection import (
    Alarms,
    Detection,
    Estimate,
    Marking,
)
from spanjury.orchestration.studies.discernment.findings import Contrast, Finding, Findings


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """One condition on one aspect that it harms; for a harmless condition, on any aspect.

    Parameters
    ----------
    contrast, detection, marking
        Those of the aspect; None if no aspect that matters has a score.
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
    return tuple(sorted(rows, key=_order))


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


def _order(row: DecisionRow) -> tuple[float, float]:
    if row.detection is None:
        return math.inf, math.inf
    figures = row.detection.caught_10.value, row.detection.auroc.value
    caught, auroc = (-1.0 if math.isnan(figure) else figure for figure in figures)
    return -caught, -auroc


MARKS: Mapping[Conclusion, Mark] = MappingProxyType(
    {
        Conclusion.DISCERNED: "good",
        Conclusion.STEADY: "good",
        Conclusion.TOO_SMALL: "bad",
        Conclusion.PLACE_MISSED: "bad",
        Conclusion.NOT_DISCERNED: "bad",
        Conclusion.REWARDED: "bad",
        Conclusion.DISTURBED: "bad",
        Conclusion.ELSEWHERE: "unsure",
        Conclusion.UNSCORED: "failed",
        Conclusion.NOT_DONE: "failed",
    }
)
_SHARE = ".0%"
_SIGNED = "+.2f"
_READING = prose(
    "Would the judge catch a damaged text **without its clean twin**? *Caught at 5 % (10 %)*: "
    "share of texts with a score below the cut-off that at most 5 % (10 %) of the clean and the "
    "harmlessly changed texts are below; of a harmless change (=) these are false alarms. *At "
    "10 % of clean*: the same, the cut-off set by clean texts alone. *AUROC*: the chance that a "
    "damaged text scores lower than one that is not worse; of a harmless change, than a clean one. "
    "*Hits*: places of damage that a new span on this aspect touches. *Drop*: in steps of the "
    "scale. *Still top*: share that keeps the best label. *D* is the paper's figure: how sure it "
    "is that scores fall, not how far."
)
_VERDICTS = prose(
    "*Discerned*: scores fall (D of 1 or more), and more texts are caught than the 10 % of chance, "
    "with the whole interval, or the mean drops by half a step and by more than after any "
    "harmless change. *Too small to act on*: they fall by less. *Place missed*: enough, but the "
    "judge marks spans and none touches the damage. *Steady*: after a harmless change no more "
    "texts are flagged than 10 % by chance, and the mean moves by less than half a step. "
    "*Disturbed*: it is not so."
)


def decision_table(findings: Findings) -> Table:
    """Return the table of a page: a row for each condition and aspect that it harms."""
    return table(
        [
            "condition",
            "aspect",
            "",
            *numeric("texts", "caught at 5 %", "caught at 10 %", "at 10 % of clean", "AUROC"),
            *numeric("hits (by chance)", "drop", "still top", "D"),
            "verdict",
        ],
        map(_cells, decision_rows(findings)),
        note=_READING,
        only="page",
    )


def decision_summary(findings: Findings) -> Table:
    """Return the table of a terminal, 80 characters wide: a row for each condition."""
    return table(
        [
            Column("condition", max_width=17),
            *numeric("5 %", "10 %", "AUROC", "hits", "drop", "top"),
            Column("verdict", max_width=13),
        ],
        (_summary_cells(row) for row in decision_rows(findings) if row.leads),
        title=f"Discernment of {findings.segments} texts, each without its clean twin",
        note="5 %, 10 %: caught at so many false alarms. Hits: damage that a span touches. Drop: "
        "in steps. Top: still the best label. =: a harmless change, which should set off nothing.",
        only="terminal",
    )


def decision_notes(findings: Findings) -> Iterator[Paragraph]:
    """Yield what the verdicts mean, and what the false alarms were counted on."""
    yield Paragraph(_VERDICTS, only="page")
    for alarms in findings.alarms:
        if alarms.clean:
            yield Paragraph(_counted(alarms))


def _counted(alarms: Alarms) -> str:
    return (
        f"{alarms.aspect}: false alarms counted on {alarms.clean} clean and {alarms.harmless} "
        f"harmlessly changed texts; below {figure(alarms.cutoff_5)} lie "
        f"{figure(alarms.flagged_5, '.1%')}, below {figure(alarms.cutoff_10)} "
        f"{figure(alarms.flagged_10, '.1%')}."
    )


def _cells(row: DecisionRow) -> Iterator[Cell]:
    detection, marking = row.detection, row.marking
    yield Cell(row.finding.condition, bold=not row.is_harmless)
    yield Cell(row.aspect or None)
    yield Cell("=" if row.is_harmless else "")
    yield Cell(detection.texts if detection else row.finding.damaged)
    yield _estimate(detection.caught_5 if detection else None, _SHARE)
    yield _estimate(detection.caught_10 if detection else None, _SHARE)
    yield _estimate(detection.of_clean_10 if detection else None, _SHARE)
    yield _estimate(detection.auroc if detection else None, ".2f")
    spans = marking.localisation if marking else None
    chance = f"({figure(spans.chance, _SHARE)})" if spans and spans.places else ""
    yield Cell(spans.hit_rate if spans else None, _SHARE, note=chance)
    yield _estimate(detection.mean_drop if detection else None, _SIGNED)
    yield Cell(detection.still_top if detection else None, _SHARE)
    yield Cell(row.contrast.discernment if row.contrast else None)
    yield Cell(row.conclusion.value, mark=MARKS.get(row.conclusion))


def _summary_cells(row: DecisionRow) -> Iterator[Cell]:
    detection, marking = row.detection, row.marking
    sign = "= " if row.is_harmless else ""
    yield Cell(f"{sign}{row.finding.condition}", note=row.aspect)
    yield Cell(detection.caught_5.value if detection else None, _SHARE)
    yield Cell(detection.caught_10.value if detection else None, _SHARE)
    yield Cell(detection.auroc.value if detection else None, ".2f")
    yield Cell(marking.localisation.hit_rate if marking else None, _SHARE)
    yield Cell(detection.mean_drop.value if detection else None, _SIGNED)
    yield Cell(detection.still_top if detection else None, _SHARE)
    yield Cell(row.conclusion.value, mark=MARKS.get(row.conclusion))


def _estimate(share: Estimate | None, spec: str) -> Cell:
    return Cell(share.value, spec, interval=(share.low, share.high)) if share else Cell(None)
