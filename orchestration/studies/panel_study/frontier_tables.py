"""The frontier of cost and agreement as a plot and tables, and what a budget buys."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Plot,
    PlotPoint,
    code,
    figure,
    numeric,
    prose,
    table,
)
from spanjury.orchestration.studies.panel_study.agreement import Estimate
from spanjury.orchestration.studies.panel_study.cells import VALUE, estimate_cell, price_lines
from spanjury.orchestration.studies.panel_study.costs import Unit, amount_words
from spanjury.orchestration.studies.panel_study.findings import AspectStudy, StudyFindings
from spanjury.orchestration.studies.panel_study.frontier import (
    Budget,
    Choice,
    Frontier,
    FrontierPoint,
    choice_name,
)

_THOUSAND = 1000
_PER_TEXTS = MappingProxyType(
    {
        "dollars": "$ for 1,000 texts",  # for one text they are a number with many zeros
        "tokens": "tokens a text",
        "calls": "calls a text",
        "seconds": "seconds a text",
    }
)
_MOST_UNEVEN = 5
"""Of the panels that are not comparable, by name."""


def frontier_blocks(
    study: AspectStudy, findings: StudyFindings, names: Mapping[str, str]
) -> Iterator[Block]:
    """Yield the plot and the tables.

    Parameters
    ----------
    names
        Seat -> what it is called in tables.
    """
    frontier = study.frontier
    shown = {choice.name: _shown(choice, names) for choice in frontier.choices}
    if len({choice.cost for choice in frontier.choices if math.isfinite(choice.cost)}) > 1:
        yield _plot(study, shown)
    yield table(
        [
            *numeric("no."),
            "panel",
            *numeric(_PER_TEXTS[frontier.unit]),
            *numeric("of all seats' cost", only="page"),
            *numeric("agreement", "corrected"),
            *numeric("of all seats'", only="page"),
        ],
        (
            (number, shown[point.choice.name], *_point(point, frontier))
            for number, point in enumerate(frontier.points, start=1)
        ),
        note="The frontier: no other panel agrees as much with people for less. Corrected: "
        "agreement minus what the best of all panels of at most that cost gains by being "
        "chosen on the texts it is measured on. A more expensive panel must win after this "
        "correction, too.",
    )
    yield from _cascades(study, findings)
    if frontier.uneven:
        yield _uneven([shown[name] for name in frontier.uneven])
    yield Paragraph(
        f"All seats: {_cost_words(frontier)}, agreement {figure(study.subsets.whole.value, VALUE)}."
    )
    yield from price_lines(study.prices, unit=frontier.unit)
    if frontier.budget:
        yield from _budget(frontier.budget, frontier, shown)


def _shown(choice: Choice, names: Mapping[str, str]) -> str:
    stages = ((names[seat] for seat in stage) for stage in choice.stages)
    return choice_name(stages, choice.share)


def _point(point: FrontierPoint, frontier: Frontier) -> tuple[Cell, ...]:
    choice, whole = point.choice, frontier.whole
    return (
        Cell(_digits(_priced(choice.cost, frontier.unit))),
        Cell(choice.cost / whole.cost if whole.cost else math.nan, ".0%"),
        estimate_cell(point.estimate),
        Cell(point.corrected, VALUE),
        Cell(choice.agreement / whole.agreement if whole.agreement > 0 else math.nan, ".1%"),
    )


def _uneven(panels: Sequence[str]) -> Paragraph:
    more = len(panels) - _MOST_UNEVEN
    listed = "; ".join(panels[:_MOST_UNEVEN]) + (f"; and {more} more" if more > 0 else "")
    return Paragraph(
        f"Not on the frontier, because they leave many texts without a score: {listed}."
    )


def _cascades(study: AspectStudy, findings: StudyFindings) -> Iterator[Block]:
    """Say what a cascade on the frontier is, and by which command it is had."""
    cascades = [
        (number, _command(point.choice, study, findings))
        for number, point in enumerate(study.frontier.points, start=1)
        if point.choice.share is not None
    ]
    if not cascades:
        return
    yield Paragraph(
        "a > b at 40% is a cascade: it asks b only if a is not enough, and is fitted to use at "
        "most 40% of the cost of asking all its seats. Its agreement is measured on texts of "
        "sources that it was not fitted to."
    )
    if len(findings.results) > 1:
        yield Paragraph(
            "A cascade is fitted to one run, so judge the texts by one panel of its seats."
        )
        return
    prices = ", with the same --price or --panel," if study.frontier.unit == "dollars" else ""
    alone = "for a panel file that names these seats alone:"
    yield Paragraph(f"A command{prices} fits each, {alone}", only="page")
    listed = [prose("no. {}: {}", str(number), code(command)) for number, command in cascades]
    yield Bullets(listed, only="page")
    number, command = cascades[-1]
    yield Paragraph(f"This{prices} fits no. {number}, {alone}", only="terminal")
    yield Paragraph((code(command),), only="terminal")


def _command(choice: Choice, study: AspectStudy, findings: StudyFindings) -> str:
    words = ["spanjury", "panel", "cascade", *findings.results]
    if len(findings.aspects) > 1:
        words += ["--aspect", study.aspect]
    for stage in choice.stages:
        words += ["--stage", ",".join(stage)]
    words += ["--share", f"{choice.share:g}", "--cost", study.frontier.unit]
    return shlex.join([*words, "--write", "cascade.toml"])


def _priced(cost: float, unit: Unit) -> float:
    """Return the cost of one text as the tables count it."""
    return _THOUSAND * cost if unit == "dollars" else cost


def _cost_words(frontier: Frontier) -> str:
    """Return the cost of all seats in words."""
    cost = frontier.whole.cost
    if math.isnan(cost):
        return f"cost in {frontier.unit} unknown"
    digits = _digits(_priced(cost, frontier.unit))
    return (
        f"${digits} for 1,000 texts"
        if frontier.unit == "dollars"
        else f"{digits} {frontier.unit} a text"
    )


def _digits(cost: float) -> str:
    return figure(cost, ",.0f" if cost >= 100 else ".3g")  # noqa: PLR2004  digits that matter


def _budget(budget: Budget, frontier: Frontier, shown: Mapping[str, str]) -> Iterator[Block]:
    amount = amount_words(budget.amount, budget.unit)
    yield table(
        [*numeric("no."), "panel", *numeric("texts that it judges", "corrected")],
        (
            (
                *(number, shown[point.choice.name], _affordable(budget.amount, point.choice.cost)),
                Cell(point.corrected, VALUE),
            )
            for number, point in enumerate(frontier.points, start=1)
        ),
        title=f"What {amount} buys",
    )
    if budget.best is None:
        yield Paragraph(
            f"No panel judges all {budget.texts:,} texts of the run for {amount}.", tone="strong"
        )
    else:
        yield Paragraph(
            f"The best that judges all {budget.texts:,} texts of the run for {amount}:"
            f" {shown[budget.best.choice.name]},"
            f" agreement {estimate_cell(budget.best.estimate).text}, corrected"
            f" {figure(budget.best.corrected, VALUE)}.",
            tone="strong",
        )


def _affordable(amount: float, cost: float) -> str:
    return f"{math.floor(amount / cost + 1e-9):,}" if cost > 0 else "any number"


def _plot(study: AspectStudy, shown: Mapping[str, str]) -> Plot:
    frontier = study.frontier
    numbers = {point.choice.name: str(number) for number, point in enumerate(frontier.points, 1)}
    estimates = {point.choice.name: point.estimate for point in frontier.points}
    points = [
        PlotPoint(
            x=_priced(choice.cost, frontier.unit),
            y=choice.agreement,
            name=f"{shown[choice.name]}: {figure(choice.agreement, VALUE)}",
            kind="line" if choice.name in numbers else "faint",
            mark=numbers.get(choice.name, ""),
            interval=_bounds(estimates.get(choice.name)),
        )
        for choice in frontier.choices
        if choice.name != frontier.whole.name or choice.name in numbers
    ]
    if frontier.whole.name not in numbers:
        points.append(
            PlotPoint(
                x=_priced(frontier.whole.cost, frontier.unit),
                y=frontier.whole.agreement,
                name=f"all seats: {figure(frontier.whole.agreement, VALUE)}",
                kind="other",
                mark="all",
                interval=_bounds(study.subsets.whole),
            )
        )
    return Plot(
        points=points,
        x=_PER_TEXTS[frontier.unit],
        y="agreement with people",
        alt=f"Panels by cost and by agreement with people on {study.aspect}; those on the frontier"
        " are numbered as in the table below, with 95 % intervals.",
    )


def _bounds(interval: Estimate | None) -> tuple[float, float] | None:
    return None if interval is None or math.isnan(interval.low) else (interval.low, interval.high)
