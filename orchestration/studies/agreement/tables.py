"""Agreement with people as a report: scorers, seats of a panel, systems, error spans."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Column,
    Paragraph,
    Picture,
    Report,
    Section,
    Table,
    code,
    named,
    numeric,
    prose,
    table,
)
from spanjury.orchestration.studies.agreement.findings import AspectFindings, MetaFindings, Ranking
from spanjury.orchestration.studies.agreement.scorers import Agreement, Settings
from spanjury.orchestration.studies.agreement.seats import Coefficient, SeatFindings
from spanjury.orchestration.studies.agreement.spans.tables import SOFT_F1, span_blocks
from spanjury.stats.correlations.correlation import LEAST_ITEMS
from spanjury.stats.raters.agreement import AlphaLevel, KappaWeights

_VALUE = ".3f"
_GAIN = "+.3f"
_POINTS = ".3f"
_P = ".3f"
_LEVELS: Mapping[str, str] = MappingProxyType(
    {
        "by-input": "within each input over its systems, then the mean over inputs",
        "pooled": "over all outputs at once",
        "system": "of the systems' mean scores",
    }
)
_WEIGHTS: tuple[KappaWeights, ...] = ("unweighted", "linear", "quadratic")
_ALPHAS: tuple[AlphaLevel, ...] = ("nominal", "ordinal", "interval")


def agreement_report(
    findings: MetaFindings, *, pictures: Mapping[Path, str] = MappingProxyType({})
) -> Report:
    """Return the report of a meta-evaluation; `pictures` are files and what they show."""
    shown = [Picture(file=file, alt=alt) for file, alt in pictures.items()]
    seats = [seat for each in findings.aspects for seat in each.seats]
    return Report(
        title="Agreement with people",
        answer=_answer(findings),
        picture=next(iter(shown), None),
        facts=(
            prose("ratings: {}", code(findings.data)),
            *(prose("scores: {}", code(path)) for path in findings.results),
        ),
        sections=(
            *([Bullets(findings.notes, tone="caution")] if findings.notes else ()),
            *_scorers(findings),
            Section("Seats of a panel", list(_seats(seats, findings.settings))),
            Section("Systems", list(_systems(findings.aspects)), only="page"),
            Section("Error spans", span_blocks(findings.spans, findings.annotators)),
            Section("Pictures", shown[1:], only="page"),
        ),
    )


def _answer(findings: MetaFindings) -> str:
    """Name the scorer that is closest to people on each aspect, and those that may be as close."""
    answers = []
    for each in findings.aspects:
        nearest, *others = each.agreements
        if math.isnan(nearest.value):
            continue
        tied = [other.scorer for other in others if other.is_tied]
        answer = f"On {each.aspect} {nearest.scorer} is closest to people ({nearest.value:.2f})"
        if tied:
            is_ = "is" if len(tied) == 1 else "are"
            answer = f"{answer}; {named(tied, most=3)} {is_} not shown to be worse"
        answers.append(f"{answer}.")
    for spans in findings.spans:
        judges = [] if spans.agreement is None else spans.agreement.judges
        marking = [judge for judge in judges if not judge.group]
        values = {judge.judge: judge.figures[SOFT_F1].value for judge in marking}
        defined = {judge: value for judge, value in values.items() if not math.isnan(value)}
        if defined:
            best = max(defined, key=lambda judge: defined[judge])
            f1 = f"{defined[best]:.2f}"
            answers.append(f"On {spans.aspect} {best}'s spans are closest to people's (F1 {f1}).")
    return " ".join(answers) or "Nothing could be compared with people's scores."


def _scorers(findings: MetaFindings) -> Iterator[Block]:
    yield Paragraph(_method(findings.settings), only="page")
    yield _overview(findings)
    yield Bullets([*_without_a_level(findings)], tone="caution")
    for each in findings.aspects:
        yield Section(each.aspect, [_measures(each.agreements)], only="page")


def _without_a_level(findings: MetaFindings) -> Iterator[str]:
    """Say which aspects have texts enough, but too few systems to correlate at this level."""
    level = findings.settings.level
    if level == "pooled":
        return
    for each in findings.aspects:
        if max(
            (agreement.items for agreement in each.agreements), default=0
        ) >= LEAST_ITEMS and all(
            agreement.reason == "fewer than 3 items" for agreement in each.agreements
        ):
            lacking = "no input has texts of" if level == "by-input" else "there are no"
            yield (
                f"{each.aspect}: {lacking} {LEAST_ITEMS} systems, so nothing can be correlated at "
                "this level; --level pooled correlates all texts"
            )


def _method(settings: Settings) -> str:
    method = (
        f"{_measured(settings)}; higher means closer to people, even for metrics where lower is "
        "better."
    )
    if not settings.draws:
        return method
    return (
        f"{method} Brackets are 95 % intervals over resampled systems and inputs. "
        f"{settings.draws} draws, seed {settings.seed}. A scorer that was fitted to these ratings "
        "has an advantage that no interval shows."
    )


def _measured(settings: Settings) -> str:
    return f"{settings.method}, {_LEVELS[settings.level]}"


def _overview(findings: MetaFindings) -> Table:
    """Tabulate scorers by aspects, those first that agree most."""
    by_cell = {(agreement.scorer, agreement.aspect): agreement for agreement in findings.agreements}
    aspects = [each.aspect for each in findings.aspects]
    tested = (
        "* The scorer closest to people on an aspect, and those that are not significantly worse "
        "(swapped scores, Holm, 5 %)."
    )
    untested = "No test was run and no interval computed, because the number of draws is 0."
    return table(
        ["scorer", *(Column(aspect, "right", wrap=True) for aspect in aspects)],
        (
            [scorer, *(_correlation(by_cell.get((scorer, aspect))) for aspect in aspects)]
            for scorer in _by_mean(findings.agreements)
        ),
        title=f"Agreement with people: {_measured(findings.settings)}",
        note=(tested if any(agreement.is_tied for agreement in findings.agreements) else "")
        if findings.settings.draws
        else untested,
    )


def _by_mean(agreements: Iterable[Agreement]) -> list[str]:
    """Return the scorers, those first that agree most over the aspects that they scored."""
    values: dict[str, list[float]] = {}
    for agreement in agreements:
        values.setdefault(agreement.scorer, []).append(
            -math.inf if math.isnan(agreement.value) else agreement.value
        )
    return sorted(values, key=lambda name: -sum(values[name]) / len(values[name]))


def _correlation(agreement: Agreement | None) -> Cell:
    """Show a value with its interval, starred if it is the nearest or may be as near."""
    if agreement is None:
        return Cell("")
    note = "*" if agreement.is_tied else agreement.reason if agreement.items else "no score"
    return Cell(
        agreement.value,
        _VALUE,
        interval=(agreement.low, agreement.high),
        bold=agreement.is_tied,
        note=note,
    )


def _measures(agreements: Sequence[Agreement]) -> Table:
    """Tabulate all measures of agreement on one aspect."""
    others = tuple(dict.fromkeys(name for agreement in agreements for name in agreement.others))
    return table(
        [
            "scorer",
            *numeric("outputs", "coverage", *others, "p against the nearest"),
            "note",
        ],
        (
            [
                *(agreement.scorer, agreement.items, Cell(agreement.coverage, ".0%")),
                *(Cell(agreement.others.get(name), _VALUE) for name in others),
                *(Cell(agreement.behind, _P), agreement.reason or _undefined(agreement)),
            ]
            for agreement in agreements
        ),
    )


def _undefined(agreement: Agreement) -> str:
    if not agreement.undefined:
        return ""
    return f"{agreement.undefined} of {agreement.undefined + agreement.groups} inputs undefined"


def _seats(seats: Sequence[SeatFindings], settings: Settings) -> Iterator[Block]:
    yield _panels(seats)
    if seats:
        yield Paragraph(
            "Agreement among seats is over all outputs at once: Spearman's rho, and beyond "
            "chance Cohen's kappa (unweighted or weighted disagreements), Fleiss' kappa and "
            f"Krippendorff's alpha. Agreement with people: {settings.method}, "
            f"{_LEVELS[settings.level]}.",
            only="page",
        )
    for seat in seats:
        blocks: list[Block] = [
            _pairs(seat),
            _all_seats(seat),
            _sizes(seat),
            _gains(seat),
            _aggregations(seat),
        ]
        yield Section(f"{seat.aspect}, {seat.run}", blocks, only="page")


def _panels(seats: Sequence[SeatFindings]) -> Table:
    """Tabulate what each panel gains by being several seats."""
    return table(
        [
            *("run", "aspect"),
            *numeric("alpha", "one seat", "all seats", "best aggregation", "least gain"),
        ],
        map(_panel, seats),
        note="Alpha is Krippendorff's, ordinal. Agreement with people is given for one seat (on "
        "average), for all seats, and for the best aggregation.",
    )


def _panel(findings: SeatFindings) -> Iterator[Cell]:
    best, least = (
        findings.aggregations[0],
        min(findings.gains, key=lambda gain: _nan_last(gain.gain)),
    )
    yield Cell(findings.run)
    yield Cell(findings.aspect)
    yield Cell(findings.agreement.alpha["ordinal"].value, _VALUE)
    yield Cell(findings.sizes[0].mean, _VALUE)
    yield Cell(findings.whole, _VALUE)
    yield Cell(best.value, _VALUE, note=best.scorer)
    yield Cell(least.gain, _GAIN, note=least.seat)


def _nan_last(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _pairs(findings: SeatFindings) -> Table:
    return table(
        ["seat", "seat", *numeric("outputs", "Spearman", *(f"kappa, {name}" for name in _WEIGHTS))],
        (
            [
                *(pair.first, pair.second, pair.outputs, Cell(pair.spearman, _VALUE)),
                *(_coefficient(pair.kappa[name]) for name in _WEIGHTS),
            ]
            for pair in findings.agreement.pairs
        ),
    )


def _all_seats(findings: SeatFindings) -> Paragraph:
    alpha = findings.agreement.alpha
    values = ", ".join(f"{name} {_coefficient(alpha[name]).text}" for name in _ALPHAS)
    return Paragraph(
        f"All seats: Krippendorff's alpha {values} ({alpha['ordinal'].outputs} outputs); "
        f"Fleiss' kappa {_coefficient(findings.agreement.fleiss).text}."
    )


def _sizes(findings: SeatFindings) -> Table:
    return table(
        numeric("seats on a panel", "panels", "mean", "least", "greatest", "undefined"),
        (
            [
                *(size.size, size.panels),
                *(Cell(value, _VALUE) for value in (size.mean, size.least, size.greatest)),
                size.undefined,
            ]
            for size in findings.sizes
        ),
    )


def _gains(findings: SeatFindings) -> Table:
    return table(
        ["seat", *numeric("alone", "panel without it", "its gain")],
        (
            (
                *(gain.seat, Cell(gain.alone, _VALUE), Cell(gain.without, _VALUE)),
                Cell(gain.gain, _GAIN),
            )
            for gain in findings.gains
        ),
    )


def _aggregations(findings: SeatFindings) -> Table:
    return table(
        ["aggregation", *numeric("agreement with people", "p against the nearest")],
        ((by.scorer, _correlation(by), Cell(by.behind, _P)) for by in findings.aggregations),
    )


def _coefficient(coefficient: Coefficient) -> Cell:
    return Cell(
        coefficient.value, _VALUE, note=f"({coefficient.reason})" if coefficient.reason else ""
    )


def _systems(findings: Sequence[AspectFindings]) -> Iterator[Block]:
    ranked = [each for each in findings if each.rankings]
    if ranked:
        yield Paragraph(
            "Mean scores by people and by the scorer closest to them, with 95 % intervals over "
            "resampled inputs."
        )
    for each in ranked:
        yield Section(f"Systems by {each.aspect}", [_ranking(each.rankings)])


def _ranking(rankings: Sequence[Ranking]) -> Table:
    """Tabulate the systems as people rank them, beside the ranks that others give them."""
    people, *others = map(_means, rankings)
    return table(
        [*numeric("rank"), "system", *numeric(*(ranking.by for ranking in rankings))],
        (
            [rank, system, mean, *(_ranked(means, system) for means in others)]
            for rank, (system, mean) in enumerate(people.items(), start=1)
        ),
    )


def _means(ranking: Ranking) -> dict[str, Cell]:
    return {
        system.system: Cell(system.score, _POINTS, interval=(system.low, system.high))
        for system in ranking.systems
    }


def _ranked(means: Mapping[str, Cell], system: str) -> str:
    return f"{means[system].text}, rank {list(means).index(system) + 1}"
