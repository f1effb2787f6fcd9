"""The page of a meta-evaluation on panels of several seats and on systems, in Markdown."""

import math
from collections.abc import Iterator, Sequence

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.agreement.aspects import AspectFindings
from spanjury.orchestration.studies.agreement.findings import Settings
from spanjury.orchestration.studies.agreement.page import LEVELS, valued
from spanjury.orchestration.studies.agreement.rankings import Ranking
from spanjury.orchestration.studies.agreement.seat_findings import SeatFindings
from spanjury.orchestration.studies.agreement.seats import Coefficient
from spanjury.orchestration.studies.markdown_rows import head, row
from spanjury.stats.raters.agreement import AlphaLevel, KappaWeights

__all__ = ["seats_markdown", "systems_markdown"]

_VALUE = ".3f"
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
            figure(pair.spearman, _VALUE),
            *(_told(pair.kappa[name]) for name in _WEIGHTS),
        )
    yield ""
    alpha = one.agreement.alpha
    told = ", ".join(f"{name} {_told(alpha[name])}" for name in _LEVELS)
    yield (
        f"All seats: Krippendorff's alpha {told} ({alpha['ordinal'].outputs} outputs); "
        f"Fleiss' kappa {_told(one.agreement.fleiss)}."
    )


def _sizes(one: SeatFindings) -> Iterator[str]:
    yield from head("seats on a panel", "panels", "mean", "least", "greatest", "undefined")
    for size in one.sizes:
        values = (figure(value, _VALUE) for value in (size.mean, size.least, size.greatest))
        yield row(str(size.size), str(size.panels), *values, str(size.undefined))


def _gains(one: SeatFindings) -> Iterator[str]:
    yield from head("seat", "alone", "panel without it", "its gain")
    for gain in one.gains:
        alone, without = (figure(value, _VALUE) for value in (gain.alone, gain.without))
        yield row(gain.seat, alone, without, figure(gain.gain, f"+{_VALUE}"))


def _aggregations(one: SeatFindings) -> Iterator[str]:
    yield from head("aggregation", "agreement with people", "p against the nearest")
    for told in one.aggregations:
        value = valued(told)
        yield row(told.scorer, value, figure(told.behind, _VALUE))


def _told(one: Coefficient) -> str:
    return f"- ({one.reason})" if one.reason else figure(one.value, _VALUE)


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
        return figure(one.score, _VALUE)
    return f"{one.score:{_VALUE}} [{one.low:{_VALUE}}, {one.high:{_VALUE}}]"
