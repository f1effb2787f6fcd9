"""The study of a panel's seats as a report: tables, and the frontier as a plot."""

import math
import shlex
from collections.abc import Iterable, Iterator

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Column,
    Paragraph,
    Plot,
    PlotPoint,
    Report,
    Section,
    Table,
    code,
    figure,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.studies.panel_study.agreement import Estimate
from spanjury.orchestration.studies.panel_study.choices import CascadeOrder
from spanjury.orchestration.studies.panel_study.findings import AspectStudy, StudyFindings
from spanjury.orchestration.studies.panel_study.frontier import Budget, Frontier, FrontierPoint
from spanjury.orchestration.studies.panel_study.leaning import Lean
from spanjury.orchestration.studies.panel_study.price_lines import price_lines
from spanjury.orchestration.studies.panel_study.redundancy import RedundancyFindings
from spanjury.orchestration.studies.panel_study.subsets import SubsetFindings
from spanjury.orchestration.studies.panel_study.weights import Weighing

_VALUE = "~.3f"
_GAIN = "~+.3f"
_LEVELS = {
    "by-input": "within each input over its outputs",
    "pooled": "over all texts",
    "system": "of systems' means",
}
_DIGITS = 9
_MOST_SUBSETS = 12
"""Of the best ones in the table of subsets."""


def study_report(findings: StudyFindings) -> Report:
    """Make the report of a study."""
    settings = findings.settings
    measured = (
        f"{settings.method}; {settings.folds} folds by source; intervals of 95 % from"
        f" {settings.draws} draws, seed {settings.seed}"
    )
    return Report(
        title="Which seats",
        facts=[
            prose("results: {}", code(" ".join(findings.results))),
            prose("people: {}", code(findings.human)),
            measured,
        ],
        sections=[block for one in findings.aspects for block in _aspect(one, findings)],
    )


def _aspect(one: AspectStudy, findings: StudyFindings) -> Iterator[Block]:
    several = len(findings.aspects) > 1
    suffix = f", {one.aspect}" if several else ""
    within = f", mean of {', '.join(one.groups)}" if one.groups else ""
    yield Paragraph(
        f"{one.aspect}: {one.texts} texts of {one.sources} sources that people scored;"
        f" {findings.settings.method} with them {_LEVELS[one.level]}{within}."
    )
    yield Bullets(one.notes, tone="caution")
    yield Section(f"Seats{suffix}", [_seats(one)])
    yield Section(f"Subsets{suffix}", [_sizes(one.subsets), _best(one.subsets)])
    if one.redundancy:
        yield Section(f"Redundancy{suffix}", list(_redundancy(one.redundancy)))
    yield Section(f"Own family{suffix}", [_leans(one.leans)])
    yield Section(f"Weights of seats{suffix}", [_weighings(one.weighings)])
    yield Section(f"Cost and agreement{suffix}", list(_frontier(one, findings)))


def _estimate(one: Estimate, spec: str = _VALUE) -> Cell:
    # Rounding errors would be shown as a negative nothing.
    value, low, high = (round(number, _DIGITS) + 0.0 for number in one)
    return Cell(value, spec, interval=(low, high))


def _seats(one: AspectStudy) -> Table:
    return table(
        [
            Column("seat", wrap=False),
            Column("family", wrap=False),
            *numeric("scored", only="page"),
            *numeric("alone", "gain", "Shapley"),
        ],
        (
            (
                *(share.seat, one.families.get(share.seat, "-"), Cell(share.coverage, ".0%")),
                _estimate(share.alone),
                _estimate(share.gain, _GAIN),
                Cell(share.shapley, _VALUE),
            )
            for share in one.subsets.shares
        ),
        note="Gain: the panel's agreement less that of all other seats. Shapley: what the seat adds"
        " on average over all orders in which seats may join; the shares sum to the panel's"
        f" agreement, {figure(one.subsets.whole.value, _VALUE)}.",
    )


def _sizes(found: SubsetFindings) -> Table:
    looked_at = "all subsets" if found.is_complete else "subsets met when the best seat joins next"
    return table(
        [*numeric("seats", "panels", "mean", "least", "best", "corrected"), "best panel"],
        (
            (
                *(size.size, size.panels, Cell(size.mean, _VALUE), Cell(size.least, _VALUE)),
                _estimate(size.estimate),
                Cell(size.corrected, _VALUE),
                ", ".join(size.best.seats),
            )
            for size in found.sizes
        ),
        note=f"Agreement with people of {looked_at}, whose score is the mean of their seats'."
        " Corrected: the best, less what it gains by being chosen on the texts that it is measured"
        " on.",
    )


def _best(found: SubsetFindings) -> Table:
    known = [one for one in found.subsets if not math.isnan(one.agreement)]
    ranked = sorted(known, key=lambda one: -one.agreement)[:_MOST_SUBSETS]
    return table(
        ["panel", *numeric("seats", "agreement", "against all seats")],
        (
            (
                ", ".join(one.seats),
                len(one.members),
                Cell(one.agreement, _VALUE),
                Cell(one.agreement - found.whole.value, _GAIN),
            )
            for one in ranked
        ),
        title=f"The {len(ranked)} subsets that agree most, of {len(found.subsets)}",
        only="page",
    )


def _redundancy(found: RedundancyFindings) -> Iterator[Block]:
    yield table(
        ["seat", "seat", "one family", *numeric("texts", "agreement beyond people")],
        (
            (pair.first, pair.second, pair.family or "", pair.texts, _estimate(pair.partial))
            for pair in found.pairs
        ),
        note="Rank correlation of the two where people's scores are held fixed. People's scores are"
        " noisy: what they miss and both seats see counts as redundancy: this is an upper bound.",
    )
    number = Cell(
        found.effective.value, ".2f", interval=(found.effective.low, found.effective.high)
    )
    yield Paragraph(f"The seats count as at least {number.text} independent ones.")
    if not math.isnan(found.within):
        others = f", seats of different families by {figure(found.between, _VALUE)}"
        yield Paragraph(
            f"Seats of one family agree by {figure(found.within, _VALUE)} beyond people"
            f"{'' if math.isnan(found.between) else others}."
        )


def _leans(found: Iterable[Lean]) -> Table:
    return table(
        ["seat", "family", "systems", *numeric("texts", "beyond people", "beyond other seats")],
        (
            (
                *(one.seat, one.family, ", ".join(one.systems), one.texts),
                _estimate(one.beyond_people, "+.2f"),
                _estimate(one.beyond_seats, "+.2f"),
            )
            for one in found
        ),
        note="By how much a judge scores the texts of its own family's systems higher than people's"
        " scores predict, or than seats of other families do, less the same of other texts; in"
        " grades of its scale. Where those systems are better in ways that people missed, that is"
        " in it, too.",
    )


def _weighings(found: Iterable[Weighing]) -> Table:
    return table(
        [
            "score",
            Column("made with", only="page"),
            *numeric("agreement", "against the plain mean"),
            Column("weights", only="page"),
        ],
        (
            row(
                one.name,
                "people's scores, by folds" if one.uses_people else "seats alone",
                _estimate(one.agreement),
                "" if one.name == "plain mean" else _estimate(one.gain, _GAIN),
                ", ".join(f"{seat} {figure(of, '~.2f')}" for seat, of in one.weights.items()),
            )
            for one in found
        ),
        note="A score is better than the plain mean where the whole interval is above 0."
        " Dawid-Skene and the ordinal model take seats to err independently, and trust those too"
        " much that err alike.",
    )


def _frontier(one: AspectStudy, findings: StudyFindings) -> Iterator[Block]:
    found = one.frontier
    yield _plot(one)
    yield table(
        [
            *numeric("no."),
            "panel",
            *numeric(f"{found.unit} a text"),
            *numeric("of all seats' cost", only="page"),
            *numeric("agreement", "corrected"),
            *numeric("of all seats'", only="page"),
        ],
        (_point(number, point, found) for number, point in enumerate(found.points, start=1)),
        note="The frontier: no other panel agrees as much with people for less. Corrected: less"
        " what the best of all panels that cost no more gains by being chosen on the texts that it"
        " is measured on; a dearer panel must be better by this, too.",
    )
    yield from _cascades(one, findings)
    if found.uneven:
        yield Paragraph(
            f"Not on the frontier, since many texts have no score by them:"
            f" {', '.join(found.uneven)}."
        )
    yield Paragraph(
        f"All seats: {_cost(found.whole.cost)} {found.unit} a text, agreement"
        f" {figure(one.subsets.whole.value, _VALUE)}."
    )
    yield from price_lines(one.prices, unit=found.unit)
    if found.budget:
        yield from _budget(found.budget, found)


def _point(number: int, point: FrontierPoint, found: Frontier) -> tuple[Cell | str | int, ...]:
    choice, whole = point.choice, found.whole
    return (
        number,
        choice.name,
        Cell(_cost(choice.cost)),
        Cell(choice.cost / whole.cost if whole.cost else math.nan, ".0%"),
        _estimate(point.estimate),
        Cell(point.corrected, _VALUE),
        Cell(choice.agreement / whole.agreement if whole.agreement > 0 else math.nan, ".1%"),
    )


def _cascades(one: AspectStudy, findings: StudyFindings) -> Iterator[Block]:
    """Say what a cascade on the frontier is, and how it is had."""
    orders = [
        (number, point.choice.cascade)
        for number, point in enumerate(one.frontier.points, start=1)
        if point.choice.cascade
    ]
    if not orders:
        return
    yield Paragraph(
        "a > b at 40% is a cascade: it asks b where a does not suffice, and is fitted to take 40%"
        " of what its seats cost if all are asked. Its agreement is on texts of other sources than"
        " it was fitted to."
    )
    if len(findings.results) > 1:
        yield Paragraph("A cascade is fitted to one run: judge texts by a panel of its seats.")
        return
    prices = ", with the same --price or --panel," if one.frontier.unit == "dollars" else ""
    of_all = [
        prose("no. {}: {}", str(number), code(_command(order, one, findings)))
        for number, order in orders
    ]
    yield Paragraph(
        f"A command{prices} fits each, for a panel file that names these seats alone:", only="page"
    )
    yield Bullets(of_all, only="page")
    number, order = orders[-1]
    yield Paragraph(
        f"This{prices} fits no. {number}, for a panel file that names these seats alone:",
        only="terminal",
    )
    yield Paragraph(code(_command(order, one, findings)), only="terminal")


def _command(order: CascadeOrder, one: AspectStudy, findings: StudyFindings) -> str:
    words = ["spanjury", "panel", "cascade", *findings.results]
    if len(findings.aspects) > 1:
        words += ["--aspect", one.aspect]
    for stage in order.stages:
        words += ["--stage", ",".join(stage)]
    words += ["--share", f"{order.share:g}", "--cost", one.frontier.unit]
    return shlex.join([*words, "--write", "cascade.toml"])


def _cost(cost: float) -> str:
    return figure(cost, ",.0f" if cost >= 100 else ".3g")  # noqa: PLR2004  digits that matter


def _budget(budget: Budget, found: Frontier) -> Iterator[Block]:
    amount = f"{figure(budget.amount, ',.6g')} {budget.unit}"
    yield table(
        [*numeric("no."), "panel", *numeric("texts that it judges", "corrected")],
        (
            (
                *(number, point.choice.name, _affordable(budget.amount, point.choice.cost)),
                Cell(point.corrected, _VALUE),
            )
            for number, point in enumerate(found.points, start=1)
        ),
        title=f"What {amount} buys",
    )
    if budget.best is None:
        yield Paragraph(
            f"No panel judges all {budget.texts:,} texts of the run for {amount}.", tone="strong"
        )
    else:
        yield Paragraph(
            f"For all {budget.texts:,} texts of the run, {amount} buy {budget.best.choice.name}:"
            f" agreement {_estimate(budget.best.estimate).text}, corrected"
            f" {figure(budget.best.corrected, _VALUE)}.",
            tone="strong",
        )


def _affordable(amount: float, cost: float) -> str:
    return f"{math.floor(amount / cost + 1e-9):,}" if cost > 0 else "any number"


def _plot(one: AspectStudy) -> Plot:
    found = one.frontier
    numbers = {point.choice.name: str(number) for number, point in enumerate(found.points, 1)}
    estimates = {point.choice.name: point.estimate for point in found.points}
    points = [
        PlotPoint(
            x=choice.cost,
            y=choice.agreement,
            name=f"{choice.name}: {figure(choice.agreement, _VALUE)}",
            kind="line" if choice.name in numbers else "faint",
            mark=numbers.get(choice.name, ""),
            interval=_bounds(estimates.get(choice.name)),
        )
        for choice in found.choices
        if choice.name != found.whole.name or choice.name in numbers
    ]
    if found.whole.name not in numbers:
        points.append(
            PlotPoint(
                x=found.whole.cost,
                y=found.whole.agreement,
                name=f"all seats: {figure(found.whole.agreement, _VALUE)}",
                kind="other",
                mark="all",
                interval=_bounds(one.subsets.whole),
            )
        )
    return Plot(
        points=points,
        x=f"{found.unit} a text",
        y="agreement with people",
        alt=f"Panels by cost and by agreement with people on {one.aspect}; those on the frontier"
        " are numbered as in the table below, with 95 % intervals.",
    )


def _bounds(one: Estimate | None) -> tuple[float, float] | None:
    return None if one is None or math.isnan(one.low) else (one.low, one.high)
