"""Readings: what a finding says in a word, and the figures that stand behind it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.discernment.contrasts import Cell, Mode
from spanjury.orchestration.studies.discernment.findings import Finding, Findings

__all__ = [
    "Verdict",
    "cautions",
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
    """What a condition shows of a judge."""

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


_FEW = 30
"""With fewer texts than this even a large effect is often missed, and intervals are rough."""
_NARROW = 0.5
"""From this share of clean scores at the worst on, little can fall."""
_ONE_FLIP = math.log(2, 20)
"""D that one more falling text adds at most: the exact p of n falling texts is 2 to the -n."""

_MODES: Mapping[Mode, str] = MappingProxyType(
    {
        "paper": "Mode `paper` is for comparison with the paper only: its combined value is no "
        "p-value. Of four aspects without any effect it passes D = 1 in about 30 % of exams, "
        "not in 5 %.",
        "wilson": "Mode `wilson` is somewhat too generous: D = 1 stands for a p-value a little "
        "above .05.",
    }
)


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what speaks against taking the numbers at their face value."""
    told = (
        _on_mode(findings),
        _on_numbers(findings),
        _on_equal_scores(findings),
        _on_missing_scores(findings),
        _on_control(findings),
    )
    return tuple(sentence for sentences in told for sentence in sentences)


def _on_mode(findings: Findings) -> Iterator[str]:
    mode = findings.settings.mode
    if mode in _MODES:
        yield _MODES[mode]


def _on_numbers(findings: Findings) -> Iterator[str]:
    most = findings.segments * _ONE_FLIP
    if most < 1:
        yield (
            f"{_texts(findings.segments)} cannot show anything: even if every score fell, D by "
            f"the exact test would be {most:.2f}."
        )
    elif findings.segments < _FEW:
        yield f"{_texts(findings.segments)} are few: an effect that is not shown may well be there."
    harmful = [finding for finding in findings.findings if not is_harmless(finding)]
    sizes = {finding.damaged for finding in harmful if finding.damaged}
    if len(sizes) > 1:
        yield (
            f"Treatments damaged {min(sizes)} to {max(sizes)} texts: D of those that damaged "
            "more is larger for the same effect."
        )
    if findings.overall.missing > len(findings.findings) - len(harmful):
        without = findings.overall.missing - (len(findings.findings) - len(harmful))
        yield f"Treatments without a D, and left out of the average: {without} of {len(harmful)}."


def _on_equal_scores(findings: Findings) -> Iterator[str]:
    for number, control in enumerate(findings.control):
        column = [finding.cells[number] for finding in findings.findings]
        told = [cell for cell in column if cell.expected == "falls" and cell.effects.used]
        if told and all(cell.test.nothing_moved for cell in told):
            yield (
                f"On {control.aspect} no score moved under any treatment that should "
                "make it fall: p is 1 and D is 0 by convention."
            )
        elif control.on_scale.clean_floor >= _NARROW:
            yield (
                f"On {control.aspect} {control.on_scale.clean_floor:.0%} of the clean texts have "
                "the worst score already and cannot fall."
            )


def _on_missing_scores(findings: Findings) -> Iterator[str]:
    for number, control in enumerate(findings.control):
        cells = [(finding, finding.cells[number]) for finding in findings.findings]
        wanted = sum(finding.damaged for finding in findings.findings)
        lost = sum(missing(finding, cell) for finding, cell in cells)
        if lost == wanted:
            yield f"On {control.aspect} the judge gave no pair of scores at all."
        elif lost:
            yield (
                f"On {control.aspect} {lost} of {wanted} pairs lack a score and were left out. "
                + _at_worst([finding for finding, cell in cells if _hangs_on(finding, cell)])
            )


def _at_worst(hanging: Sequence[Finding]) -> str:
    if not hanging:
        return "Had all of them risen, no effect on a damaged aspect would lose its sign."
    names = ", ".join(finding.condition for finding in hanging)
    return f"Had all of them risen, no fall would be left after: {names}."


def _hangs_on(finding: Finding, cell: Cell) -> bool:
    """Whether a fall is seen only because scores are missing."""
    seen = cell in targeted(finding) and cell.interval[0] > 0
    return seen and worst_net_drop(finding, cell) <= 0


def _on_control(findings: Findings) -> Iterator[str]:
    for cell in findings.control:
        low, high = cell.interval
        if low > 0 or high < 0:
            yield (
                f"On {cell.aspect} the clean texts were scored otherwise the second time "
                f"({cell.effects.net_drop:+.2f}), which nothing explains: read no smaller effect "
                "as damage seen."
            )


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count} texts"
