"""Cautions: what in an exam should keep a reader from trusting a number."""

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.orchestration.experiments.discernment.cells import Cell, Mode
from spanjury.orchestration.experiments.discernment.findings import Finding, Findings
from spanjury.orchestration.experiments.discernment.readings import (
    is_harmless,
    missing,
    targeted,
    worst_net_drop,
)

__all__ = ["cautions"]

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
    names = ", ".join(finding.treatment for finding in hanging)
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
