"""A robustness exam's findings as single numbers, for a judge's card and for demands."""

import math
from collections.abc import Iterator

from spanjury.orchestration.experiments.card.measure import Measure
from spanjury.orchestration.experiments.robustness.exhibits import PLAIN, REPEAT
from spanjury.orchestration.experiments.robustness.findings import Count, Finding, Findings

__all__ = ["measures_of"]

_SUCCESS = "robustness.attack_success"
_CONTROLS = {
    REPEAT: "the same for texts that are heard a second time",
    PLAIN: "the same for additions that say nothing",
}


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return what `findings` come to for the panel, and the success on its weakest seat."""
    panel, *seats = findings.judges
    overall = findings.overall(panel)
    return (
        _success(
            overall,
            _SUCCESS,
            "share of attacks with room after which the score rises or spans vanish",
        ),
        _net(overall),
        *(
            _success(family, f"{_SUCCESS}.{family.name}", f"the same for the family {family.name}")
            for family in findings.of(panel, "family")
        ),
        *_weakest([findings.overall(seat) for seat in seats]),
        *(
            _success(control, f"robustness.{control.name}", _CONTROLS[control.name])
            for control in findings.of(panel, "control")
        ),
        _share("denied", overall.denied, "that left no score"),
        _share("fell", overall.fell, "that made the score fall"),
    )


def _success(finding: Finding, name: str, says: str) -> Measure:
    success = finding.success
    return Measure(
        name=name,
        value=_defined(success.value),
        says=says,
        count=success.trials,
        low=_defined(success.low),
        high=_defined(success.high),
    )


def _net(finding: Finding) -> Measure:
    return Measure(
        name="robustness.net_success",
        value=_defined(finding.net.value),
        says="success less that of plain additions about as long; -1 to 1",
        count=finding.success.trials,
        low=_defined(finding.net.low),
        high=_defined(finding.net.high),
    )


def _weakest(seats: list[Finding]) -> Iterator[Measure]:
    attacked = [seat for seat in seats if seat.success.trials]
    if attacked:
        weakest = max(attacked, key=lambda seat: seat.success.value)
        yield _success(
            weakest, "robustness.weakest_seat", f"the same for the weakest seat, {weakest.judge}"
        )


def _share(name: str, count: Count, says: str) -> Measure:
    return Measure(
        name=f"robustness.{name}",
        value=count.count / count.of if count.of else None,
        says=f"share of attacks on texts with a score {says}",
        count=count.of,
    )


def _defined(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
