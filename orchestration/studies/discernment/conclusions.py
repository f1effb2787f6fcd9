"""Conclusions: a finding in a word, the figures behind it, and reasons not to trust them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from spanjury.orchestration.studies.discernment.contrasts import Contrast, Mode
from spanjury.orchestration.studies.discernment.findings import Finding, Findings

_SHOWN = 1.0
"""D of a p-value of .05."""


class Conclusion(StrEnum):
    """The word for a finding."""

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


def conclusion(finding: Finding) -> Conclusion:
    """Return the word for `finding`."""
    if not finding.damaged:
        return Conclusion.NOT_DONE
    scored = [contrast for contrast in _of_interest(finding) if contrast.effects.used]
    if not scored:
        return Conclusion.ELSEWHERE if finding.discernment >= _SHOWN else Conclusion.UNSCORED
    if is_harmless(finding):
        return _steadiness(scored)
    return _discernment(finding, scored)


def is_harmless(finding: Finding) -> bool:
    """Return whether no score should move at all, as after a harmless paraphrase."""
    return all(contrast.expected == "unchanged" for contrast in finding.contrasts)


def targeted(finding: Finding) -> tuple[Contrast, ...]:
    """Return the cells of aspects that were damaged, whose scores should fall."""
    return tuple(contrast for contrast in finding.contrasts if contrast.expected == "falls")


def strongest(finding: Finding) -> Contrast | None:
    """Return that targeted cell whose scores fall most; for a harmless one, move most.

    None where no cell of interest has a score.
    """
    scored = [contrast for contrast in _of_interest(finding) if contrast.effects.used]
    size = abs if is_harmless(finding) else float
    return max(scored, key=lambda contrast: size(contrast.effects.net_drop), default=None)


def missing(finding: Finding, contrast: Contrast) -> int:
    """Return how many damaged texts lack a score, or their clean ones do, on this aspect."""
    return finding.damaged - contrast.effects.used


def worst_net_drop(finding: Finding, contrast: Contrast) -> float:
    """Return P(drop) - P(rise) if every missing score had risen; NaN if nothing was damaged."""
    if not finding.damaged:
        return math.nan
    if not contrast.effects.used:
        return -1.0
    net = contrast.effects.net_drop * contrast.effects.used - missing(finding, contrast)
    return net / finding.damaged


def _of_interest(finding: Finding) -> tuple[Contrast, ...]:
    """Return the targeted cells; where none is, those in which anything may happen, or all."""
    open_ended = tuple(contrast for contrast in finding.contrasts if contrast.expected is None)
    return targeted(finding) or open_ended or finding.contrasts


def _discernment(finding: Finding, scored: list[Contrast]) -> Conclusion:
    shown = {contrast.aspect for contrast in finding.contrasts if contrast.discernment >= _SHOWN}
    on_target = any(contrast.aspect in shown for contrast in scored)
    if finding.discernment >= _SHOWN and (on_target or not shown):
        return Conclusion.DISCERNED
    if not on_target and any(contrast.interval[1] < 0 for contrast in scored):
        return Conclusion.REWARDED
    return Conclusion.ELSEWHERE if finding.discernment >= _SHOWN else Conclusion.NOT_SHOWN


def _steadiness(scored: list[Contrast]) -> Conclusion:
    verdicts = {contrast.equivalence.verdict for contrast in scored if contrast.equivalence}
    if "different" in verdicts:
        return Conclusion.MOVED
    return Conclusion.UNDECIDED if "undecided" in verdicts else Conclusion.STEADY


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
    """Return the reasons not to take the numbers at their face value, in sentences."""
    reasons = (
        _on_mode(findings),
        _on_numbers(findings),
        _on_equal_scores(findings),
        _on_missing_scores(findings),
        _on_control(findings),
    )
    return tuple(sentence for sentences in reasons for sentence in sentences)


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
            f"Conditions damaged {min(sizes)} to {max(sizes)} texts: D of those that damaged "
            "more is larger for the same effect."
        )
    if findings.overall.missing > len(findings.findings) - len(harmful):
        without = findings.overall.missing - (len(findings.findings) - len(harmful))
        yield f"Conditions without a D, and not in the average: {without} of {len(harmful)}."


def _on_equal_scores(findings: Findings) -> Iterator[str]:
    for number, control in enumerate(findings.control):
        column = [finding.contrasts[number] for finding in findings.findings]
        scored = [
            contrast
            for contrast in column
            if contrast.expected == "falls" and contrast.effects.used
        ]
        if scored and all(contrast.test.nothing_moved for contrast in scored):
            yield (
                f"On {control.aspect} no score moved under any condition that should "
                "make it fall: p is 1 and D is 0 by convention."
            )
        elif control.on_scale.clean_floor >= _NARROW:
            yield (
                f"On {control.aspect} {control.on_scale.clean_floor:.0%} of the clean texts have "
                "the worst score already and cannot fall."
            )


def _on_missing_scores(findings: Findings) -> Iterator[str]:
    for number, control in enumerate(findings.control):
        contrasts = [(finding, finding.contrasts[number]) for finding in findings.findings]
        wanted = sum(finding.damaged for finding in findings.findings)
        lost = sum(missing(finding, contrast) for finding, contrast in contrasts)
        if lost == wanted:
            yield f"On {control.aspect} the judge gave no pair of scores at all."
        elif lost:
            yield (
                f"On {control.aspect} {lost} of {wanted} pairs lack a score and were skipped. "
                + _at_worst(
                    [finding for finding, contrast in contrasts if _hangs_on(finding, contrast)]
                )
            )


def _at_worst(hanging: Sequence[Finding]) -> str:
    if not hanging:
        return "Had all of them risen, no effect on a damaged aspect would lose its sign."
    names = ", ".join(finding.condition for finding in hanging)
    return f"Had all of them risen, no fall would be left after: {names}."


def _hangs_on(finding: Finding, contrast: Contrast) -> bool:
    """Whether a fall is seen only because scores are missing."""
    seen = contrast in targeted(finding) and contrast.interval[0] > 0
    return seen and worst_net_drop(finding, contrast) <= 0


def _on_control(findings: Findings) -> Iterator[str]:
    for contrast in findings.control:
        low, high = contrast.interval
        if low > 0 or high < 0:
            yield (
                f"On {contrast.aspect} the clean texts were scored otherwise the second time "
                f"({contrast.effects.net_drop:+.2f}), which nothing explains: read no smaller "
                "effect as damage seen."
            )


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count} texts"
