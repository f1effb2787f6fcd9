"""The study of a panel's seats as a report, with the frontier of cost and agreement."""

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Entry,
    Paragraph,
    Plot,
    PlotPoint,
    Prose,
    Report,
    Section,
    Table,
    code,
    emphasis,
    figure,
    joined,
    left,
    named_in_code,
    prose,
    right,
    table_of,
)
from spanjury.orchestration.report.tables import Medium
from spanjury.orchestration.studies.agreement.scorers import CORRELATIONS, LEVELS, RESAMPLED
from spanjury.orchestration.studies.panel_study.findings import (
    AspectStudy,
    Lean,
    RedundancyFindings,
    RedundantPair,
    StudyFindings,
    Weighing,
)
from spanjury.orchestration.studies.panel_study.seats import (
    VALUE,
    Settings,
    Unit,
    amount_words,
    estimate_cell,
    price_lines,
    short_names,
)
from spanjury.orchestration.studies.panel_study.subsets import (
    Budget,
    Choice,
    Frontier,
    FrontierPoint,
    Subset,
    SubsetFindings,
    choice_name,
)
from spanjury.stats.resampling import Estimate

_THOUSAND = 1000
_PER_TEXTS = {
    "dollars": "$ per 1,000 texts",  # for one text they are a number with many zeros
    "tokens": "tokens per text",
    "calls": "calls per text",
    "seconds": "seconds per text",
}
_MOST_UNEVEN = 5
"""Number of panels that are named as not comparable."""
Names = Mapping[str, str]
"""Seat -> what it is called here."""
_SHAPLEY = (
    " Shapley: what the seat adds, averaged over all orders in which seats can join; these values "
    "sum to the panel's agreement."
)
_PLAIN = "plain mean"
_GAIN = "+.3f"
_WIDE = 12
"""Characters of a seat's name from which on there is no room in a terminal for its family."""
_FEW_LEFT = 4
"""Seats that are named as missing rather than all others as present, if fewer."""
_MOST_PAIRS = 15
_MOST_SUBSETS = 12


def frontier_blocks(
    study: AspectStudy, findings: StudyFindings, names: Mapping[str, str]
) -> Iterator[Block]:
    """Yield the plot and the tables.

    `names`: seat -> what it is called in tables.
    """
    frontier = study.frontier
    shown = {choice.name: _shown(choice, names) for choice in frontier.choices}
    plot = _plot(study)
    if plot is not None and study is not findings.aspects[0]:  # that stands beside the answer
        yield plot
    yield table_of(
        (
            (
                right("no.", number),
                left("panel", shown[point.choice.name]),
                *_point(point, frontier),
            )
            for number, point in enumerate(frontier.points, start=1)
        ),
        note="Panels on the frontier: no cheaper panel agrees with people as well. Corrected: "
        "agreement minus the selection bias, the gain from choosing the best panel of at most that "
        "cost on the same texts that measure it. A more expensive panel must be better after this "
        "correction, too.",
    )
    yield from _cascades(study, findings)
    if frontier.uneven:
        more = len(frontier.uneven) - _MOST_UNEVEN
        panels = "; ".join(shown[name] for name in frontier.uneven[:_MOST_UNEVEN])
        listed = f"{panels}; and {more} more" if more > 0 else panels
        yield Paragraph(
            f"Excluded from the frontier, because they leave many texts without a score: {listed}."
        )
    yield Paragraph(
        f"All seats: {_cost_words(frontier)}, agreement {figure(study.subsets.whole.value, VALUE)}."
    )
    yield from price_lines(study.prices, unit=frontier.unit)
    if frontier.budget:
        yield from _budget(frontier.budget, frontier, shown)


def _shown(choice: Choice, names: Mapping[str, str]) -> str:
    stages = ((names[seat] for seat in stage) for stage in choice.stages)
    return choice_name(stages, choice.share)


def _point(point: FrontierPoint, frontier: Frontier) -> Iterator[Entry]:
    choice, whole = point.choice, frontier.whole
    of_cost = choice.cost / whole.cost if whole.cost else None
    of_agreement = choice.agreement / whole.agreement if whole.agreement > 0 else None
    yield right(_PER_TEXTS[frontier.unit], _digits(_priced(choice.cost, frontier.unit)))
    yield right("of all seats' cost", of_cost, ".0%", only="page")
    yield right("agreement", estimate_cell(point.estimate))
    yield right("corrected", point.corrected, VALUE)
    yield right("of all seats'", of_agreement, ".1%", only="page")


def _cascades(study: AspectStudy, findings: StudyFindings) -> Iterator[Block]:
    """Explain cascades on the frontier, and give the commands that fit them."""
    cascades = [
        (number, _command(point.choice, study, findings))
        for number, point in enumerate(study.frontier.points, start=1)
        if point.choice.share is not None
    ]
    if not cascades:
        return
    yield Paragraph(
        "a > b at 40% is a cascade: it asks b only if a is not certain enough, and is fitted to "
        "use at most 40% of the cost of asking all its seats. Its agreement is measured on texts "
        "of sources that it was not fitted to."
    )
    if len(findings.results) > 1:
        yield Paragraph(
            "A cascade is fitted to one run, so judge the texts with a panel of all its seats."
        )
        return
    prices = ", with the same --price or --panel," if study.frontier.unit == "dollars" else ""
    alone = "for a panel file with only these seats:"
    yield Paragraph(f"These commands{prices} fit the cascades, each {alone}", only="page")
    listed = [prose("no. {}: {}", str(number), code(command)) for number, command in cascades]
    yield Bullets(listed, only="page")
    number, command = cascades[-1]
    yield Paragraph(f"This command{prices} fits no. {number}, {alone}", only="terminal")
    yield Paragraph((code(command),), only="terminal")


def _command(choice: Choice, study: AspectStudy, findings: StudyFindings) -> str:
    settings, usual = findings.settings, Settings()
    words = ["spanjury", "panel", "cascade", *findings.results, "--aspect", study.aspect]
    words += findings.flags
    for stage in choice.stages:
        words += ["--stage", ",".join(stage)]
    words += ["--share", f"{choice.share:g}", "--cost", study.frontier.unit]
    for name in ("level", "folds", "seed"):
        if (value := getattr(settings, name)) != getattr(usual, name):
            words += [f"--{name}", str(value)]
    return shlex.join([*words, "--write", "cascade.toml"])


def _priced(cost: float, unit: Unit) -> float:
    return _THOUSAND * cost if unit == "dollars" else cost


def _cost_words(frontier: Frontier) -> str:
    cost = frontier.whole.cost
    if math.isnan(cost):
        return f"cost in {frontier.unit} unknown"
    digits = _digits(_priced(cost, frontier.unit))
    return (
        f"${digits} per 1,000 texts"
        if frontier.unit == "dollars"
        else f"{digits} {frontier.unit} per text"
    )


def _digits(cost: float) -> str:
    return figure(cost, ",.0f" if cost >= 100 else ".3g")  # noqa: PLR2004  digits that matter


def _budget(budget: Budget, frontier: Frontier, shown: Mapping[str, str]) -> Iterator[Block]:
    amount = amount_words(budget.amount, budget.unit)
    yield table_of(
        (
            (
                right("no.", number),
                left("panel", shown[point.choice.name]),
                right("texts it can judge", _affordable(budget.amount, point.choice.cost)),
                right("corrected", point.corrected, VALUE),
            )
            for number, point in enumerate(frontier.points, start=1)
        ),
        title=f"What {amount} buys",
    )
    best, run = budget.best, f"all {budget.texts:,} texts of the run for {amount}"
    answer = f"No panel judges {run}."
    if best is not None:
        answer = (
            f"The best panel that judges {run}: {shown[best.choice.name]}, agreement"
            f" {estimate_cell(best.estimate).text}, corrected {figure(best.corrected, VALUE)}."
        )
    yield Paragraph(answer, tone="strong")


def _affordable(amount: float, cost: float) -> str:
    return f"{math.floor(amount / cost + 1e-9):,}" if cost > 0 else "any number"


def _plot(study: AspectStudy) -> Plot | None:
    """Return the picture of costs and agreement; None where all panels cost the same."""
    frontier, whole = study.frontier, study.frontier.whole
    names = short_names(study.seats)
    if len({choice.cost for choice in frontier.choices if math.isfinite(choice.cost)}) <= 1:
        return None
    shown = {choice.name: _shown(choice, names) for choice in frontier.choices}
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
        if choice.name != whole.name or choice.name in numbers
    ]
    if whole.name not in numbers:
        all_seats = PlotPoint(
            x=_priced(whole.cost, frontier.unit),
            y=whole.agreement,
            name=f"all seats: {figure(whole.agreement, VALUE)}",
            kind="other",
            mark="all",
            interval=_bounds(study.subsets.whole),
        )
        points.append(all_seats)
    return Plot(
        points=points,
        x=_PER_TEXTS[frontier.unit],
        y="agreement with people",
        alt=f"Panels by cost and by agreement with people on {study.aspect}; those on the frontier"
        " are numbered as in the table below, with 95 % intervals.",
    )


def _bounds(interval: Estimate | None) -> tuple[float, float] | None:
    return None if interval is None or math.isnan(interval.low) else (interval.low, interval.high)


def study_report(findings: StudyFindings) -> Report:
    """Make the report of a study."""
    settings = findings.settings
    measured = (
        f"{settings.method}; {settings.folds} folds by source; intervals of 95 % from"
        f" {settings.draws} draws, seed {settings.seed}; none if all draws are equal"
    )
    return Report(
        title="Which seats",
        answer=joined(map(_answer, findings.aspects)),
        picture=_plot(findings.aspects[0]),
        facts=[
            prose("results: {}", code(" ".join(findings.results))),
            prose("people: {}", code(findings.human)),
            measured,
        ],
        sections=[block for aspect in findings.aspects for block in _aspect(aspect, findings)],
    )


def _answer(study: AspectStudy) -> Prose:
    """Say which seats to keep: those of the best panel on the frontier, or that the budget buys."""
    names, frontier = short_names(study.seats), study.frontier
    bought = frontier.budget.best if frontier.budget else None
    shown = [point for point in frontier.points if point.is_shown]
    best = bought or frontier.advised or frontier.points[-1]
    choice, whole = best.choice, frontier.whole
    kept = {seat for stage in choice.stages for seat in stage}
    aspect, agreement = emphasis(study.aspect), estimate_cell(best.shifted, ".2f").text
    corrected = "" if math.isnan(best.corrected) else ", corrected for the choice"
    is_cascade = len(choice.stages) > 1
    if not best.is_shown:
        is_alone = any(share.alone.low > 0 for share in study.subsets.shares)
        return prose(
            "On {}, no {} is shown to agree with people: the agreement of {} is {}{}.",
            aspect,
            "panel within the budget" if shown else "panel" if is_alone else "seat",
            code(_shown(choice, names)),
            agreement,
            corrected,
        )
    of_cost = choice.cost / whole.cost if whole.cost else math.nan
    if len(kept) == len(study.seats) and not is_cascade:
        helps = any(share.gain.low > 0 for share in study.subsets.shares)
        return prose(
            "On {}, keep all {} seats: their agreement with people is {}{}."
            if helps
            else "On {}, all {} seats together agree best with people, {}{}, but none of them is "
            "shown to add to the others.",
            *(aspect, len(kept), agreement, corrected),
        )
    answer = prose(
        "On {}, {} {}: {} agreement with people is {}{} (all seats: {}){}.",
        aspect,
        "use the cascade" if is_cascade else "keep only",
        code(_shown(choice, names)),
        "its" if is_cascade or len(kept) == 1 else "their",
        agreement,
        corrected,
        figure(whole.agreement, ".2f"),
        "" if math.isnan(of_cost) else f", at {of_cost:.0%} of the cost",
    )
    idle = [share for share in study.subsets.shares if share.seat not in kept]
    if not idle or any(share.gain.low > 0 for share in idle):
        return answer
    seats = named_in_code([names[share.seat] for share in idle])
    return joined([answer, prose("No benefit of {} is shown.", seats)])


def _aspect(study: AspectStudy, findings: StudyFindings) -> Iterator[Block]:
    several = len(findings.aspects) > 1
    suffix = f", {study.aspect}" if several else ""
    within = f", mean of {', '.join(study.groups)}" if study.groups else ""
    yield Paragraph(
        f"{study.aspect}: {study.texts} texts of {study.sources} sources that people scored;"
        f" {CORRELATIONS[findings.settings.method]} {LEVELS[study.level]}{within}; intervals"
        f" resample {RESAMPLED[study.resampled]}."
    )
    yield Bullets(study.notes, tone="caution")
    names = short_names(study.seats)
    yield Section(f"Seats{suffix}", [_seats(study, names)])
    yield Section(f"Subsets{suffix}", [_sizes(study.subsets, names), _best(study.subsets, names)])
    yield Section(f"Redundancy{suffix}", list(_redundancy(study.redundancy, names)))
    yield Section(f"Own family{suffix}", [_leans(study.leans, names)])
    weighed = table_of(
        (_weighed(weighing, names) for weighing in study.weighings),
        note="A score is shown to be better than the plain mean if the whole interval of the "
        "difference is above 0. Dawid-Skene and the ordinal model assume that seats err "
        "independently, so they overrate seats that make the same errors.",
    )
    yield Section(f"Weights of seats{suffix}", [weighed])
    yield Section(f"Cost and agreement{suffix}", list(frontier_blocks(study, findings, names)))


def _seats(study: AspectStudy, names: Names) -> Table:
    has_short = any(seat != name for seat, name in names.items())
    is_wide = max(map(len, names.values())) > _WIDE
    has_shapley = study.subsets.is_complete
    of_family: Medium | None = "page" if is_wide else None
    return table_of(
        (
            (
                left("seat", names[share.seat], wrap=is_wide),
                *([left("in full", share.seat, only="page")] if has_short else []),
                left("family", study.families.get(share.seat, "-"), wrap=False, only=of_family),
                right("scored", share.coverage, ".0%", only="page"),
                right("alone", estimate_cell(share.alone)),
                right("gain", estimate_cell(share.gain, _GAIN)),
                *([right("Shapley", share.shapley, VALUE)] if has_shapley else []),
            )
            for share in study.subsets.shares
        ),
        note=f"Gain: the panel's agreement ({figure(study.subsets.whole.value, VALUE)}) minus that "
        f"of all other seats, on the texts that both score.{_SHAPLEY if has_shapley else ''}",
    )


def _sizes(findings: SubsetFindings, names: Names) -> Table:
    subsets = (
        "each subset"
        if findings.is_complete
        else "the subsets that arise if the best seat is added next"
    )
    return table_of(
        (
            (
                right("seats", size.size),
                right("panels", size.panels, only="page"),
                right("mean", size.mean, VALUE),
                right("least", size.least, VALUE, only="page"),
                right("best", estimate_cell(size.estimate)),
                right("corrected", size.corrected, VALUE),
                left("best panel", _members(size.best, names)),
            )
            for size in findings.sizes
        ),
        note=f"Agreement with people of {subsets}; a subset's score is the mean of its seats' "
        "scores. Corrected: the best agreement minus its selection bias, the gain from choosing "
        "the best subset on the same texts that measure it.",
    )


def _members(panel: Subset, names: Names) -> str:
    others = [name for seat, name in names.items() if seat not in panel.seats]
    if len(others) < min(len(panel.seats), _FEW_LEFT):
        return f"all but {', '.join(others)}" if others else "all"
    return ", ".join(names[seat] for seat in panel.seats)


def _best(findings: SubsetFindings, names: Names) -> Table:
    defined = [subset for subset in findings.subsets if not math.isnan(subset.agreement)]
    ranked = sorted(defined, key=lambda subset: -subset.agreement)[:_MOST_SUBSETS]
    return table_of(
        (
            (
                left("panel", ", ".join(names[seat] for seat in subset.seats)),
                right("seats", len(subset.members)),
                right("agreement", subset.agreement, VALUE),
                right("against all seats", subset.agreement - findings.whole.value, _GAIN),
            )
            for subset in ranked
        ),
        title=f"The {len(ranked)} subsets that agree most, of {len(findings.subsets)}",
        only="page",
    )


def _redundancy(findings: RedundancyFindings, names: Names) -> Iterator[Block]:
    pairs = findings.pairs
    if len(pairs) > _MOST_PAIRS:
        title = f"The {_MOST_PAIRS} most redundant pairs of {len(pairs)}"
        yield replace(_pairs(pairs[:_MOST_PAIRS], names), title=title, only="terminal")
        yield replace(_pairs(pairs, names), only="page")
    else:
        yield _pairs(pairs, names)
    if not math.isnan(findings.effective.value):
        number = Cell(findings.effective.value, ".2f", interval=findings.effective[1:]).text
        yield Paragraph(f"These seats are worth at least {number} independent seats.")
    if not math.isnan(findings.within):
        others = f", seats of different families {figure(findings.between, VALUE)}"
        yield Paragraph(
            f"Agreement beyond people: seats of one family {figure(findings.within, VALUE)}"
            f"{'' if math.isnan(findings.between) else others}."
        )


def _pairs(pairs: Iterable[RedundantPair], names: Names) -> Table:
    return table_of(
        (
            (
                left("seat", names[pair.first]),
                left("seat", names[pair.second]),
                left("one family", pair.family or ""),
                right("texts", pair.texts, only="page"),
                right("agreement beyond people", estimate_cell(pair.partial)),
            )
            for pair in pairs
        ),
        note="Partial rank correlation of the two seats, given people's scores. It is an upper "
        "bound: people's scores are noisy, and an error that both seats see and people miss counts "
        "as redundancy.",
    )


def _leans(leans: Iterable[Lean], names: Names) -> Table:
    return table_of(
        (
            (
                left("seat", names[lean.seat]),
                left("family", lean.family),
                left("systems", ", ".join(lean.systems)),
                right("texts", lean.texts),
                right("beyond people", estimate_cell(lean.beyond_people, "+.2f")),
                right("beyond other seats", estimate_cell(lean.beyond_seats, "+.2f")),
            )
            for lean in leans
        ),
        note="Beyond people: how much higher a judge scores the texts of its own family's systems "
        "than people's scores predict, minus the same difference on other texts, in points of its "
        "scale. Beyond other seats: the same compared with seats of other families. If those "
        "systems are better in ways that people missed, this counts as favouritism, too.",
    )


def _weighed(weighing: Weighing, names: Names) -> Iterator[Entry]:
    is_plain = weighing.name == _PLAIN
    source = "people's scores, by folds" if weighing.uses_people else "seats alone"
    weights = (f"{names[seat]} {figure(of, '.2f')}" for seat, of in weighing.weights.items())
    yield left("score", weighing.name)
    yield left("made with", source, only="page")
    yield right("agreement", estimate_cell(weighing.agreement))
    yield right("against the plain mean", "" if is_plain else estimate_cell(weighing.gain, _GAIN))
    yield left("weights", "all equal" if is_plain else ", ".join(weights), only="page")
