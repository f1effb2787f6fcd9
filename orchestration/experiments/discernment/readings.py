"""Readings: what a finding says in a word, and the figures that stand behind it."""

import math
from enum import StrEnum

from spanjury.orchestration.experiments.discernment.cells import Cell
from spanjury.orchestration.experiments.discernment.findings import Finding

__all__ = [
    "Verdict",
    "figure",
    "is_harmless",
    "missing",
    "strongest",
    "targeted",
    "verdict",
    "with_interval",
    "worst_net_drop",
]

_SHOWN = 1.0
"""D of a p-value of .05."""


class Verdict(StrEnum):
    """What a treatment shows of a judge."""

    DISCERNED = "discerned"
    """Scores fall on an aspect that was damaged."""
    ELSEWHERE = "discerned elsewhere"
    """Scores fall, but only on aspects that were not damaged."""
    NOT_SHOWN = "not shown"
    """It is not shown that scores fall: they do not, or the texts are too few."""
    REWARDED = "rewarded"
    """Scores rise on an aspect that was damaged."""
    STEADY = "steady"
    """Scores stay where they were, as they should."""
    MOVED = "moved"
    """Scores move although the text did not get worse."""
    UNDECIDED = "undecided"
    """The texts are too few to tell whether scores stay where they were."""
    UNSCORED = "no scores"
    """The judge gives no scores where it matters."""
    NOT_DONE = "nothing damaged"
    """There was nothing in any text that could be damaged."""


def verdict(finding: Finding) -> Verdict:
    """Say what `finding` shows."""
    if not finding.damaged:
        return Verdict.NOT_DONE
    heard = [cell for cell in _of_interest(finding) if cell.effects.used]
    if not heard:
        return Verdict.ELSEWHERE if finding.discernment >= _SHOWN else Verdict.UNSCORED
    if is_harmless(finding):
        return _steadiness(heard)
    return _discernment(finding, heard)


def is_harmless(finding: Finding) -> bool:
    """Return whether no score should move at all, as after a harmless paraphrase."""
    return all(cell.expected == "unchanged" for cell in finding.cells)


def targeted(finding: Finding) -> tuple[Cell, ...]:
    """Return the cells of aspects that were damaged, whose scores should fall."""
    return tuple(cell for cell in finding.cells if cell.expected == "falls")


def strongest(finding: Finding) -> Cell | None:
    """Return that targeted cell whose scores fall most; for a harmless one, move most.

    None where no cell of interest has a score.
    """
    heard = [cell for cell in _of_interest(finding) if cell.effects.used]
    size = abs if is_harmless(finding) else float
    return max(heard, key=lambda cell: size(cell.effects.net_drop), default=None)


def missing(finding: Finding, cell: Cell) -> int:
    """Return how many damaged texts lack a score, or their clean ones do, on this aspect."""
    return finding.damaged - cell.effects.used


def worst_net_drop(finding: Finding, cell: Cell) -> float:
    """Return P(drop) - P(rise) if every missing score had risen; NaN if nothing was damaged."""
    if not finding.damaged:
        return math.nan
    if not cell.effects.used:
        return -1.0
    net = cell.effects.net_drop * cell.effects.used - missing(finding, cell)
    return net / finding.damaged


def figure(value: float, spec: str = ".2f") -> str:
    """Format a number; `-` where there is none.

    Examples
    --------
    >>> figure(0.125, ".0%"), figure(math.nan)
    ('12%', '-')
    """
    return "-" if math.isnan(value) else format(value, spec)


def with_interval(cell: Cell) -> str:
    """Format P(drop) - P(rise) with its interval; `-` where there is none."""
    if math.isnan(cell.effects.net_drop):
        return "-"
    low, high = cell.interval
    return f"{cell.effects.net_drop:+.2f} [{figure(low, '+.2f')}, {figure(high, '+.2f')}]"


def _of_interest(finding: Finding) -> tuple[Cell, ...]:
    """Return the targeted cells; where none is, those in which anything may happen, or all."""
    open_ended = tuple(cell for cell in finding.cells if cell.expected is None)
    return targeted(finding) or open_ended or finding.cells


def _discernment(finding: Finding, heard: list[Cell]) -> Verdict:
    shown = {cell.aspect for cell in finding.cells if cell.discernment >= _SHOWN}
    on_target = any(cell.aspect in shown for cell in heard)
    if finding.discernment >= _SHOWN and (on_target or not shown):
        return Verdict.DISCERNED
    if not on_target and any(cell.interval[1] < 0 for cell in heard):
        return Verdict.REWARDED
    return Verdict.ELSEWHERE if finding.discernment >= _SHOWN else Verdict.NOT_SHOWN


def _steadiness(heard: list[Cell]) -> Verdict:
    told = {cell.equivalence.verdict for cell in heard if cell.equivalence}
    if "different" in told:
        return Verdict.MOVED
    return Verdict.UNDECIDED if "undecided" in told else Verdict.STEADY
