"""Averages: a condition over all aspects of a dataset, as the paper's table has it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanjury.orchestration.studies.faithfulness.findings import Finding

__all__ = ["Average", "averages"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """Unweighted means over the aspects of a dataset; NaN where no aspect has a figure.

    Parameters
    ----------
    judge, dataset, condition
        As in `Finding`.
    aspects
        Over how many aspects.
    as_printed
        Share of changed scores over all reports, a lost score counted as a changed one.
    with_errors, with_room
        Share of changed scores over these reports.
    toward
        Share of scores with room that moved as they should.
    against
        Share of scores with room to move the other way that did.
    shift
        Average change over all reports, in points of the scale.
    above_control
        Share of changed scores minus that of the null control.
    """

    judge: str
    dataset: str
    condition: str
    aspects: int
    as_printed: float
    with_errors: float
    with_room: float
    toward: float
    against: float
    shift: float
    above_control: float


def averages(findings: Iterable[Finding]) -> tuple[Average, ...]:
    """Average `findings` over aspects, in the order in which conditions first come."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.judge, one.dataset, one.condition), []).append(one)
    return tuple(_average(told) for told in groups.values())


def _average(told: Sequence[Finding]) -> Average:
    first = told[0]
    return Average(
        judge=first.judge,
        dataset=first.dataset,
        condition=first.condition,
        aspects=len(told),
        as_printed=_mean(one.overall.changed_as_printed for one in told),
        with_errors=_mean(one.with_errors.changed for one in told),
        with_room=_mean(one.with_room.changed for one in told),
        toward=_mean(one.toward(one.with_room) for one in told),
        against=_mean(one.against(one.with_room_against) for one in told),
        shift=_mean(one.overall.average.value for one in told),
        above_control=_mean(one.excess.changed.value for one in told if one.excess),
    )


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
