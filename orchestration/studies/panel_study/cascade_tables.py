"""Cascades of a panel as a report: what is kept for which share of its cost."""

from collections.abc import Iterator

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.report.plot import Plot, PlotPoint
from spanjury.orchestration.report.tables import Row
from spanjury.orchestration.studies.panel_study.cascade_findings import (
    CascadeFindings,
    CascadePoint,
    Kept,
)
from spanjury.orchestration.studies.panel_study.price_lines import price_lines

_VALUE = ".3f"
_SHARE = ".0%"


def cascade_report(findings: CascadeFindings) -> Report:
    """Return the report of fitted cascades."""
    order = " > ".join(" + ".join(stage) for stage in findings.stages)
    scores = findings.people or "none: only the nearness to the whole panel's score is measured"
    return Report(
        title=f"Cascades of a panel: {findings.aspect}",
        facts=(
            prose("stages: {}", code(order)),
            prose("people's scores: {}", code(scores)),
            f"{findings.texts} texts, {findings.settings.folds} folds by source",
            f"cost in {findings.unit}; seed {findings.settings.seed}",
        ),
        sections=(
            Section("Cost and nearness", list(_priced(findings))),
            *(
                Section(f"Agreement with people: {part.name}", list(_agreement(findings, number)))
                for number, part in enumerate(findings.parts)
            ),
            Section("Notes", [Paragraph(_METHOD, only="page"), *_notes(findings)]),
        ),
    )


def _priced(findings: CascadeFindings) -> Iterator[Block]:
    yield _costs(findings)
    if findings.unit == "dollars":
        yield from price_lines(findings.prices, unit=findings.unit)


_METHOD = (
    "Each line is judged by cascades that were fitted to other sources. The fit knows no score of "
    "people: it keeps near to the score of all seats. The share of the cost is aimed at on the "
    "texts of the fit, so that what is taken on others may be more or less."
)


def _notes(findings: CascadeFindings) -> Iterator[Block]:
    if findings.notes:
        yield Bullets(findings.notes)


def _costs(findings: CascadeFindings) -> Table:
    names = [" + ".join(stage) for stage in findings.stages]
    return table(
        [*numeric("aimed at", "cost"), *numeric(*names), *numeric("apart")],
        (
            row(
                *(Cell(one.share, _SHARE), Cell(one.cost, _SHARE)),
                *(Cell(asked, _SHARE) for asked in one.asked),
                Cell(one.apart, _VALUE),
                faint=one is not findings.chosen,
            )
            for one in findings.points
        ),
        note=f"Cost: share of the {findings.unit} of all seats; under the names, the share of the "
        "texts on which they were asked; apart: mean distance from the whole panel's score, as a "
        "share of the scale.",
    )


def _agreement(findings: CascadeFindings, number: int) -> Iterator[Block]:
    part = findings.parts[number]
    lines = [(one, one.kept[number]) for one in findings.points]
    yield table(
        [
            *numeric("aimed at", "cost", "agreement", "more than all", "of all"),
            *numeric("of those behind the first stage", only="page"),
        ],
        (_line(point, kept, findings) for point, kept in lines),
        note=f"{part.texts} texts, {findings.settings.method}. More than all: than all seats, with "
        "a 95 % interval over other inputs; of all: share of the agreement of all seats. All seats "
        f"{part.whole.value:.3f} [{part.whole.low:.3f}, {part.whole.high:.3f}], those behind the "
        f"first stage {part.paid.value:.3f} [{part.paid.low:.3f}, {part.paid.high:.3f}]",
    )
    yield Plot(
        points=[
            PlotPoint(x=1.0, y=part.whole.value, name="all seats", kind="other", mark="all"),
            *(
                PlotPoint(
                    x=kept.cost,
                    y=kept.agreement,
                    name=f"aimed at {point.share:.0%}",
                    kind="line",
                    mark=f"{point.share:.0%}",
                )
                for point, kept in lines
            ),
        ],
        x=f"share of the {findings.unit} of all seats",
        y="agreement with people",
        alt=f"Agreement with people on {part.name} by the share of the cost",
    )


def _line(point: CascadePoint, kept: Kept, findings: CascadeFindings) -> Row:
    gain = kept.gain
    return row(
        Cell(point.share, _SHARE),
        Cell(kept.cost, _SHARE),
        Cell(kept.agreement, _VALUE),
        Cell(gain.value, f"+{_VALUE}", interval=(gain.low, gain.high)),
        Cell(kept.of_whole, ".1%"),
        Cell(kept.of_paid, ".1%"),
        faint=point is not findings.chosen,
    )
