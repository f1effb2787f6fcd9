"""A calibration as a report: what it gains on held-out texts, what it promises, what is lacking."""

from collections.abc import Iterator
from dataclasses import dataclass

from spanjury.judges.core import VERSION
from spanjury.orchestration.engine.calibration import Calibration
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Column,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    figure,
    numeric,
    prose,
    strong,
    table,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.calibration.findings import (
    AGREEMENT,
    BY_SPANS,
    AspectFindings,
    Bounded,
    Change,
)
from spanjury.orchestration.studies.calibration.fitting import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFindings:
    """All that is known of a calibration.

    Parameters
    ----------
    results, marks
        Where the scores and the marks are from.
    calibration
        None where nothing was kept of any aspect.
    notes, cautions, enough
        Sentences; the last two by aspect.
    """

    results: str
    marks: str
    terms: Terms
    calibration: Calibration | None
    aspects: tuple[AspectFindings, ...]
    enough: tuple[tuple[str, ...], ...]
    cautions: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


def calibration_report(findings: CalibrationFindings) -> Report:
    """Return the report of a calibration."""
    return Report(
        title="Calibration of a panel",
        facts=(
            prose("results: {}", code(findings.results)),
            prose("marks: {}", code(findings.marks)),
            prose("false alarms promised: {}", _promise(findings.terms)),
            prose(
                "digest: {}",
                code(findings.calibration.digest if findings.calibration else "nothing was kept"),
            ),
        ),
        sections=(
            *(
                Section(aspect.aspect, list(_aspect(aspect, enough, cautions)))
                for aspect, enough, cautions in zip(
                    findings.aspects, findings.enough, findings.cautions, strict=True
                )
            ),
            Bullets(list(findings.notes), tone="caution"),
        ),
    )


def calibration_json(findings: CalibrationFindings) -> dict[str, object]:
    """Return the findings for a machine; None for what is undefined."""
    return {
        "spanjury": VERSION,
        "results": findings.results,
        "marks": findings.marks,
        "terms": plain(findings.terms),
        "digest": findings.calibration.digest if findings.calibration else None,
        "panel": findings.calibration.panel if findings.calibration else None,
        "notes": list(findings.notes),
        "aspects": [
            {
                "task": aspect.task,
                "aspect": aspect.aspect,
                "texts": aspect.calibration.texts,
                "sources": aspect.calibration.sources,
                "clean": aspect.clean,
                "clean_sources": aspect.clean_sources,
                "faulty": aspect.faulty,
                "folds": aspect.folds,
                "signal": aspect.signal,
                "changes": [plain(change) for change in aspect.changes],
                "alarms": [plain(alarm) for alarm in aspect.alarms],
                "kept": list(aspect.kept),
                "enough": list(enough),
                "cautions": list(cautions),
            }
            for aspect, enough, cautions in zip(
                findings.aspects, findings.enough, findings.cautions, strict=True
            )
        ],
    }


_SEVERITIES = " Severities: rank correlation of the errors' total weight."


def _promise(terms: Terms) -> str:
    rate = figure(terms.rate, ".1%")
    if terms.confidence is None:
        return f"{rate} of new texts of the same kind, on the average over sets of marked texts"
    sure = figure(terms.confidence, ".0%")
    return f"{rate} of all texts of the same kind, of new sources, {sure} sure"


def _aspect(
    findings: AspectFindings, enough: tuple[str, ...], cautions: tuple[str, ...]
) -> Iterator[Block]:
    about = findings.calibration
    kept = ", ".join(findings.kept) or "nothing"
    texts = (
        f"{about.texts:,} marked texts of {about.sources:,} sources, {findings.clean:,} without"
        f" error and {findings.faulty:,} with one."
    )
    yield Paragraph(f"{findings.aspect}: {kept} kept. {texts}", only="terminal")
    yield Paragraph(f"Kept: {kept}. {texts}", only="page")
    yield _changes(findings)
    yield _alarms(findings)
    yield Bullets(list(enough))
    yield Bullets(list(cautions), tone="caution")


def _changes(findings: AspectFindings) -> Table:
    names = {change.name for change in findings.changes}
    return table(
        [
            Column("measure", wrap=False),
            *numeric("before", "after"),
            *numeric("difference", only="page"),
            Column("gain", wrap=False),
        ],
        (
            [
                change.name,
                _bounded(change, change.before),
                _bounded(change, change.after),
                _bounded(change, change.difference, sign="+"),
                "yes" if change.is_gain else "no",
            ]
            for change in findings.changes
        ),
        title=strong(f"{findings.aspect}: scores before and after"),
        note=(
            f"Held-out texts in {findings.folds} folds by source, with 95 % intervals over "
            "sources. Distance (root mean square) and calibration error are in points of the "
            "scale. A map keeps the order of scores within a fold; the rank correlation is lower "
            "here only because the folds have different maps."
            + (_SEVERITIES if BY_SPANS in names else "")
        ),
    )


def _bounded(change: Change, bounded: Bounded, *, sign: str = "") -> Cell:
    bare = "~" if change.name in {AGREEMENT, BY_SPANS} else ""
    return Cell(bounded.value, f"{bare}{sign}.3f", interval=(bounded.low, bounded.high))


def _alarms(findings: AspectFindings) -> Table:
    what = (
        "the probability of an error"
        if findings.signal == "probability"
        else "the share of the scale that the score has lost"
    )
    return table(
        [
            Column("decision", wrap=False),
            *numeric("from", "promised", "false alarms", "caught"),
            *numeric("takes", only="page"),
        ],
        (
            [
                alarm.level,
                Cell(alarm.threshold, ".3f"),
                Cell(alarm.promised, ".1%"),
                Cell(alarm.attained.value, ".1%", interval=alarm.attained[1:]),
                Cell(alarm.caught.value, ".1%", interval=alarm.caught[1:]),
                alarm.needed,
            ]
            for alarm in findings.alarms
        ),
        title=strong(f"{findings.aspect}: thresholds"),
        note=(
            f"Based on {what}. False alarms: share of texts without an error that are flagged. "
            "Caught: share of texts with an error that are flagged. Both are measured on "
            "held-out texts, with 95 % intervals. The lines below say how many texts without an "
            "error each rate needs."
        ),
    )
