"""The report of cascades that were fitted to a panel's reports."""

import math
from collections.abc import Iterator

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Line,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    figure,
    line,
    prose,
    right,
    table_of,
)
from spanjury.orchestration.report.plot import Plot, PlotPoint
from spanjury.orchestration.studies.agreement.scorers import CORRELATIONS, LEVELS
from spanjury.orchestration.studies.panel_study.cascades import CascadeFindings, CascadePoint, Kept
from spanjury.orchestration.studies.panel_study.seats import (
    VALUE,
    estimate_cell,
    price_lines,
    short_names,
)

_SHARE, _GAIN = ".0%", "+.3f"


def cascade_report(findings: CascadeFindings) -> Report:
    """Return the report of fitted cascades."""
    order = " > ".join(" + ".join(stage) for stage in findings.stages)
    several = len(findings.parts) > 1
    in_dollars = findings.unit == "dollars"
    prices = price_lines(findings.prices, unit=findings.unit) if in_dollars else ()
    scores = findings.people or "none; only the distance from the whole panel's score is measured"
    return Report(
        title=f"Cascades of a panel: {findings.aspect}",
        answer=_answer(findings),
        picture=_plot(findings, 0) if findings.parts else None,
        facts=(
            prose("stages: {}", code(order)),
            prose("people's scores: {}", code(scores)),
            f"{findings.texts} texts, {findings.settings.folds} folds by source",
            f"cost in {findings.unit}; seed {findings.settings.seed}",
        ),
        sections=(
            Section("Cost and distance", [_costs(findings), *prices]),
            *(
                Section(
                    f"Agreement with people{f': {_texts(findings, number)}' if several else ''}",
                    list(_agreement(findings, number)),
                )
                for number in range(len(findings.parts))
            ),
            Section("Notes", [Paragraph(_METHOD, only="page"), Bullets(findings.notes)]),
        ),
    )


def _answer(findings: CascadeFindings) -> str:
    """Return what the cascade of the share that was asked for takes, and what it keeps."""
    chosen = findings.chosen
    takes = (
        f"{findings.aspect}: fitted to {chosen.share:.0%} of the {findings.unit} of all seats, the "
        f"cascade uses {chosen.cost:.0%} of them on texts of other sources"
    )
    if not chosen.kept or math.isnan(chosen.kept[0].agreement):
        apart = f"{figure(chosen.apart, VALUE)} of the scale"
        return f"{takes}, and its score differs from that of all seats by {apart} on average."
    kept, whole = chosen.kept[0], findings.parts[0].whole
    gain = estimate_cell(kept.gain, _GAIN).text
    return (
        f"{takes}, and its agreement with people is {figure(kept.agreement, VALUE)} (all seats:"
        f" {figure(whole.value, VALUE)}, difference {gain})."
    )


def _texts(findings: CascadeFindings, number: int) -> str:
    return findings.parts[number].name if number else "all texts"


_METHOD = (
    "The cascade of each row is evaluated on sources that it was not fitted to. The fit does not "
    "use people's scores: it approximates the score of all seats. The share of the cost is a "
    "target on the texts of the fit, so the share used on other texts may differ."
)


def _costs(findings: CascadeFindings) -> Table:
    short = short_names([seat for stage in findings.stages for seat in stage])
    names = [" + ".join(short[seat] for seat in stage) for stage in findings.stages]
    return table_of(
        (
            line(
                right("target", point.share, _SHARE),
                right("cost", point.cost, _SHARE),
                *(
                    right(name, asked, _SHARE, wrap=True)
                    for name, asked in zip(names, point.asked, strict=True)
                ),
                right("apart", point.apart, VALUE),
                faint=point is not findings.chosen,
            )
            for point in findings.points
        ),
        note=f"Cost: share of the {findings.unit} of all seats. Columns of seats: share of the "
        "texts on which they were asked. Apart: mean distance from the whole panel's score, as a "
        "share of the scale. The highlighted row has the requested share (--share).",
    )


def _agreement(findings: CascadeFindings, number: int) -> Iterator[Block]:
    part = findings.parts[number]
    yield table_of(
        (_line(point, kept, findings) for point, kept in _lines(findings, number)),
        note=f"{part.texts} texts, {CORRELATIONS[findings.settings.method]} {LEVELS[part.level]}. "
        "Against all seats: the difference, with a 95 % interval over inputs. Of all seats': share "
        f"of their agreement. Agreement of all seats: {estimate_cell(part.whole).text}; of those "
        f"behind the first stage: {estimate_cell(part.paid).text}.",
    )
    if number:  # the first stands beside the answer
        yield _plot(findings, number)


def _plot(findings: CascadeFindings, number: int) -> Plot:
    part = findings.parts[number]
    return Plot(
        points=[
            PlotPoint(x=100.0, y=part.whole.value, name="all seats", kind="other", mark="all"),
            *(
                PlotPoint(
                    x=100 * kept.cost,
                    y=kept.agreement,
                    name=f"target {point.share:.0%}: {figure(kept.agreement, VALUE)}",
                    kind="line",
                    mark=f"{point.share:.0%}",
                )
                for point, kept in _lines(findings, number)
            ),
        ],
        x=f"% of the {findings.unit} of all seats",
        y="agreement with people",
        alt=f"Agreement with people on {_texts(findings, number)} by the share of the"
        f" {findings.unit} used; the labels are the target shares",
    )


def _lines(findings: CascadeFindings, number: int) -> list[tuple[CascadePoint, Kept]]:
    return [(point, point.kept[number]) for point in findings.points]


def _line(point: CascadePoint, kept: Kept, findings: CascadeFindings) -> Line:
    return line(
        right("target", point.share, _SHARE),
        right("cost", kept.cost, _SHARE),
        right("agreement", kept.agreement, VALUE),
        right("against all seats", estimate_cell(kept.gain, _GAIN)),
        right("of all seats'", kept.of_whole, ".1%"),
        right("of those behind the first stage", kept.of_paid, ".1%", only="page"),
        faint=point is not findings.chosen,
    )
