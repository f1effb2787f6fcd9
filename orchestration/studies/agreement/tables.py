"""The page of a meta-evaluation, in Markdown and as JSON."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from spanjury.judges.core import VERSION, code_span, markdown
from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.agreement.findings import AspectFindings
from spanjury.orchestration.studies.agreement.rankings import Ranking
from spanjury.orchestration.studies.agreement.scorers import Agreement, Settings
from spanjury.orchestration.studies.agreement.seat_findings import SeatFindings
from spanjury.orchestration.studies.agreement.seats import Coefficient
from spanjury.orchestration.studies.markdown_rows import bold, head, row
from spanjury.stats.raters.agreement import AlphaLevel, KappaWeights

__all__ = [
    "LEVELS",
    "as_json",
    "as_markdown",
    "is_tied",
    "seats_markdown",
    "systems_markdown",
    "valued",
]

_VALUE = ".3f"
LEVELS: Mapping[str, str] = {
    "by-input": "within each input over its systems, then the mean over inputs",
    "pooled": "over all outputs at once",
    "system": "of the systems' mean scores",
}


def as_markdown(
    agreements: Sequence[Agreement], settings: Settings, *, data: str, results: Sequence[str]
) -> str:
    """Write a page.

    Parameters
    ----------
    agreements
        Of all aspects.
    settings
        How they were measured.
    data, results
        Whose ratings, and whose scores, as the reader knows them.
    """
    return "\n".join(_lines(agreements, settings, data=data, results=results)) + "\n"


def as_json(
    agreements: Sequence[Agreement], settings: Settings, *, data: str, results: Sequence[str]
) -> dict[str, object]:
    """Return the same for a machine; None for what is undefined."""
    return {
        "spanjury": VERSION,
        "data": data,
        "results": list(results),
        "settings": asdict(settings),
        "agreements": [_plain(asdict(one)) for one in agreements],
    }


def is_tied(one: Agreement) -> bool:
    """Say whether the nearest scorer on an aspect may be no nearer than this one."""
    return one.standing in ("nearest", "not told apart")


def _lines(
    agreements: Sequence[Agreement], settings: Settings, *, data: str, results: Sequence[str]
) -> Iterator[str]:
    yield "# Agreement with people"
    yield ""
    yield f"Ratings: {code_span(data)}. Scores: {', '.join(map(code_span, results))}."
    yield ""
    yield _told(settings)
    yield ""
    aspects = tuple(dict.fromkeys(one.aspect for one in agreements))
    yield from _overview(agreements, aspects)
    for aspect in aspects:
        yield ""
        yield f"## {markdown(aspect)}"
        yield ""
        yield from _table([one for one in agreements if one.aspect == aspect])


def _told(settings: Settings) -> str:
    told = (
        f"{settings.method}, {LEVELS[settings.level]}; higher is nearer to people, also for "
        "metrics of which lower is better."
    )
    if not settings.draws:
        return f"{told} No test was run and no interval drawn: the draws were set to 0."
    return (
        f"{told} Brackets are 95 % intervals over systems and inputs drawn anew; **bold** are "
        "the nearest on an aspect and all that are not told apart from it (swapped scores, "
        f"Holm, 5 %). {settings.draws} draws, seed {settings.seed}. Whoever was fitted to these "
        "ratings has an advantage that no interval shows."
    )


def _overview(agreements: Sequence[Agreement], aspects: Sequence[str]) -> Iterator[str]:
    told = {(one.scorer, one.aspect): one for one in agreements}
    yield from head("scorer", *aspects)
    for scorer in _by_mean(agreements):
        cells = [told.get((scorer, aspect)) for aspect in aspects]
        yield row(scorer, *(_cell(one) for one in cells))


def _by_mean(agreements: Sequence[Agreement]) -> list[str]:
    """Return the scorers, those first that agree most over the aspects that they scored."""
    values: dict[str, list[float]] = {}
    for one in agreements:
        values.setdefault(one.scorer, []).append(-math.inf if math.isnan(one.value) else one.value)
    return sorted(values, key=lambda name: -sum(values[name]) / len(values[name]))


def _cell(one: Agreement | None) -> str:
    if one is None:
        return ""
    return valued(one)


def valued(one: Agreement) -> str:
    """Format a value with its interval, in bold if it is the nearest or not told apart from it."""
    value = figure(one.value, _VALUE)
    interval = "" if math.isnan(one.low) else f" [{one.low:{_VALUE}}, {one.high:{_VALUE}}]"
    return bold(value, after=interval) if is_tied(one) else f"{value}{interval}"


def _table(agreements: Sequence[Agreement]) -> Iterator[str]:
    others = tuple(dict.fromkeys(name for one in agreements for name in one.others))
    yield from head("scorer", "outputs", "coverage", *others, "p against the nearest", "note")
    for one in agreements:
        yield row(
            one.scorer,
            str(one.items),
            f"{one.coverage:.0%}",
            *(figure(one.others.get(name, math.nan), _VALUE) for name in others),
            figure(one.behind, _VALUE),
            one.reason or _left_out(one),
        )


def _left_out(one: Agreement) -> str:
    if not one.undefined:
        return ""
    return f"{one.undefined} of {one.undefined + one.groups} inputs undefined"


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


_VALUE_seat_page = ".3f"
_WEIGHTS: tuple[KappaWeights, ...] = ("unweighted", "linear", "quadratic")
_LEVELS: tuple[AlphaLevel, ...] = ("nominal", "ordinal", "interval")


def seats_markdown(findings: Sequence[AspectFindings], settings: Settings) -> str:
    """Write the part on seats; empty where there is none."""
    seats = [one for each in findings for one in each.seats]
    return "\n".join(_seats(seats, settings)) + "\n" if seats else ""


def systems_markdown(findings: Sequence[AspectFindings]) -> str:
    """Write the part on systems; empty where there is none."""
    told = [each.rankings for each in findings if each.rankings]
    return "\n".join(_systems(told)) + "\n" if told else ""


def _seats(seats: Sequence[SeatFindings], settings: Settings) -> Iterator[str]:
    yield "# Seats of a panel"
    yield ""
    yield (
        "Seats agree with one another over all outputs at once: Spearman's rho, and beyond "
        "chance Cohen's kappa (disagreements alike, or weighted), Fleiss' kappa and "
        "Krippendorff's alpha. With people: "
        f"{settings.method}, {LEVELS[settings.level]}."
    )
    for one in seats:
        yield ""
        yield f"## {markdown(one.aspect)}, {code_span(one.run)}"
        yield ""
        yield from _pairs(one)
        yield ""
        yield from _sizes(one)
        yield ""
        yield from _gains(one)
        yield ""
        yield from _aggregations(one)


def _pairs(one: SeatFindings) -> Iterator[str]:
    yield from head("seat", "seat", "outputs", "Spearman", *(f"kappa, {name}" for name in _WEIGHTS))
    for pair in one.agreement.pairs:
        yield row(
            pair.first,
            pair.second,
            str(pair.outputs),
            figure(pair.spearman, _VALUE_seat_page),
            *(_told_seat_page(pair.kappa[name]) for name in _WEIGHTS),
        )
    yield ""
    alpha = one.agreement.alpha
    told = ", ".join(f"{name} {_told_seat_page(alpha[name])}" for name in _LEVELS)
    yield (
        f"All seats: Krippendorff's alpha {told} ({alpha['ordinal'].outputs} outputs); "
        f"Fleiss' kappa {_told_seat_page(one.agreement.fleiss)}."
    )


def _sizes(one: SeatFindings) -> Iterator[str]:
    yield from head("seats on a panel", "panels", "mean", "least", "greatest", "undefined")
    for size in one.sizes:
        values = (
            figure(value, _VALUE_seat_page) for value in (size.mean, size.least, size.greatest)
        )
        yield row(str(size.size), str(size.panels), *values, str(size.undefined))


def _gains(one: SeatFindings) -> Iterator[str]:
    yield from head("seat", "alone", "panel without it", "its gain")
    for gain in one.gains:
        alone, without = (figure(value, _VALUE_seat_page) for value in (gain.alone, gain.without))
        yield row(gain.seat, alone, without, figure(gain.gain, f"+{_VALUE_seat_page}"))


def _aggregations(one: SeatFindings) -> Iterator[str]:
    yield from head("aggregation", "agreement with people", "p against the nearest")
    for told in one.aggregations:
        value = valued(told)
        yield row(told.scorer, value, figure(told.behind, _VALUE_seat_page))


def _told_seat_page(one: Coefficient) -> str:
    return f"- ({one.reason})" if one.reason else figure(one.value, _VALUE_seat_page)


def _systems(told: Sequence[Sequence[Ranking]]) -> Iterator[str]:
    yield "# Systems"
    yield ""
    yield (
        "Mean scores by people and by the scorer that is nearest to them, with 95 % intervals "
        "over inputs drawn anew."
    )
    for rankings in told:
        yield ""
        yield f"## Systems by {markdown(rankings[0].aspect)}"
        yield ""
        yield from _ranking(rankings)


def _ranking(rankings: Sequence[Ranking]) -> Iterator[str]:
    people, *others = rankings
    yield from head("rank", "system", *(ranking.by for ranking in rankings))
    for rank, system in enumerate(people.systems, start=1):
        cells = [_mean(people, system.system), *(_ranked(one, system.system) for one in others)]
        yield row(str(rank), system.system, *cells)


def _ranked(ranking: Ranking, system: str) -> str:
    place = next(at for at, one in enumerate(ranking.systems, start=1) if one.system == system)
    return f"{_mean(ranking, system)}, rank {place}"


def _mean(ranking: Ranking, system: str) -> str:
    one = next(told for told in ranking.systems if told.system == system)
    if math.isnan(one.low):
        return figure(one.score, _VALUE_seat_page)
    return f"{one.score:{_VALUE_seat_page}} [{one.low:{_VALUE_seat_page}}, {one.high:{_VALUE_seat_page}}]"
