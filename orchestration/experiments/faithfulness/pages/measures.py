"""A faithfulness exam's findings as single numbers, for a judge's card."""

import math
from collections.abc import Callable, Iterator, Sequence

from spanjury.orchestration.experiments.card.measure import Measure
from spanjury.orchestration.experiments.faithfulness.excess import Excess
from spanjury.orchestration.experiments.faithfulness.findings import Finding, Findings

__all__ = ["measures_of"]


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return what `findings` come to, each report and treatment counting alike."""
    treated = [one for one in findings.findings if not one.is_control]
    return (*_shares(treated), *_excesses(treated), *_noise(findings.findings))


def _shares(treated: Sequence[Finding]) -> Iterator[Measure]:
    rooms = [(one, one.with_room) for one in treated]
    count = sum(room.scored for _, room in rooms)
    shares: tuple[tuple[str, Callable[[Finding], float], str], ...] = (
        ("toward", lambda one: one.toward(one.with_room), "that moved as the changed list says"),
        ("against", lambda one: one.against(one.with_room), "that moved the other way"),
    )
    for name, share, says in shares:
        moved = sum(share(one) * room.scored for one, room in rooms if room.scored)
        yield Measure(
            name=f"faithfulness.{name}",
            value=moved / count if count else None,
            says=f"share of scores with room {says}",
            count=count,
        )


def _excesses(treated: Sequence[Finding]) -> Iterator[Measure]:
    told = [one.excess for one in treated if one.excess is not None and one.excess.used]
    figures: tuple[tuple[str, Callable[[Excess], float], str], ...] = (
        ("null_adjusted", lambda one: one.toward.value, "moved as the changed list says"),
        ("null_adjusted_against", lambda one: one.against.value, "moved the other way"),
    )
    count = sum(one.used for one in told)
    for name, figure, says in figures:
        total = sum(figure(one) * one.used for one in told)
        yield Measure(
            name=f"faithfulness.{name}",
            value=total / count if count and math.isfinite(total) else None,
            says=f"share of scores that {says}, less that under the unchanged list",
            count=count,
        )


def _noise(findings: Sequence[Finding]) -> Iterator[Measure]:
    controls = [one.overall for one in findings if one.is_control and one.overall.scored]
    count = sum(rates.scored for rates in controls)
    yield Measure(
        name="faithfulness.null_moved",
        value=sum(rates.changed * rates.scored for rates in controls) / count if count else None,
        says="share of scores that are others although the list is the same",
        count=count,
    )
