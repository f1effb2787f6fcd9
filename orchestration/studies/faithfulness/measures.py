"""Measures: a faithfulness exam's findings as single numbers, for a judge's card."""

import math
from collections.abc import Callable, Iterator, Sequence

from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.faithfulness.findings import Finding, Findings
from spanjury.orchestration.studies.faithfulness.outcomes import NetOfControl, Rates

__all__ = ["measures_of"]


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of `findings`, each report and condition counting alike."""
    changed = [one for one in findings.findings if not one.is_control]
    return (*_shares(changed), *_net_measures(changed), _noise(findings.findings))


def _shares(findings: Sequence[Finding]) -> Iterator[Measure]:
    """Yield shares of scores that moved, each over those with room to move that way."""
    falls = [one for one in findings if one.direction == "falls"]
    rises = [one for one in findings if one.direction == "rises"]
    toward = (
        *((one.with_room, one.with_room.fell) for one in falls),
        *((one.with_room, one.with_room.rose) for one in rises),
    )
    against = (
        *((one.with_room_against, one.with_room_against.rose) for one in falls),
        *((one.with_room_against, one.with_room_against.fell) for one in rises),
    )
    yield _share("toward", toward, says="with room that moved as the changed list says")
    yield _share("against", against, says="with room to move the other way that did")


def _share(name: str, moved: Sequence[tuple[Rates, int]], *, says: str) -> Measure:
    count = sum(rates.scored for rates, _ in moved)
    return Measure(
        name=f"faithfulness.{name}",
        value=sum(number for _, number in moved) / count if count else None,
        says=f"share of scores {says}",
        count=count,
    )


def _net_measures(findings: Sequence[Finding]) -> Iterator[Measure]:
    nets = [one.net for one in findings if one.net is not None and one.net.used]
    figures: tuple[tuple[str, Callable[[NetOfControl], float], str], ...] = (
        ("null_adjusted", lambda one: one.toward.value, "moved as the changed list says"),
        ("null_adjusted_against", lambda one: one.against.value, "moved the other way"),
    )
    count = sum(one.used for one in nets)
    for name, figure, says in figures:
        total = sum(figure(one) * one.used for one in nets)
        yield Measure(
            name=f"faithfulness.{name}",
            value=total / count if count and math.isfinite(total) else None,
            says=f"share of scores that {says}, less that under the unchanged list",
            count=count,
        )


def _noise(findings: Sequence[Finding]) -> Measure:
    controls = [one.overall for one in findings if one.is_control and one.overall.scored]
    count = sum(rates.scored for rates in controls)
    return Measure(
        name="faithfulness.null_moved",
        value=sum(rates.changed * rates.scored for rates in controls) / count if count else None,
        says="share of scores that are others although the list is the same",
        count=count,
    )
