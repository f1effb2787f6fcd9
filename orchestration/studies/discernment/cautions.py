"""Cautions: reasons not to take the figures of an exam at their face value, in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from spanjury.orchestration.studies.discernment.aspect_scores import STRICT, USUAL, fewest_texts
from spanjury.orchestration.studies.discernment.conclusions import (
    ONE_FLIP,
    is_harmless,
    missing,
    targeted,
    worst_net_drop,
)
from spanjury.orchestration.studies.discernment.contrasts import Contrast, Mode
from spanjury.orchestration.studies.discernment.findings import Finding, Findings

_FEW = 30
"""With fewer texts than this even a large effect is often missed, and intervals are rough."""
_NARROW = 0.5
"""From this share of clean scores at the worst on, little can fall."""

_MODES: Mapping[Mode, str] = MappingProxyType(
    {
        "paper": "Mode `paper` is for comparison with the paper only: its combined value is no "
        "p-value. Of four aspects without any effect it passes D = 1 in about 30 % of exams, "
        "not in 5 %.",
        "wilson": "Mode `wilson` is somewhat too generous: D = 1 stands for a p-value a little "
        "above 0.05.",
    }
)


def cautions(findings: Findings) -> tuple[str, ...]:
    """Return the reasons not to take the numbers at their face value, in sentences."""
    reasons = (
        _on_mode(findings),
        _on_numbers(findings),
        _on_equal_scores(findings),
        _on_missing_scores(findings),
        _on_alarms(findings),
        _on_control(findings),
    )
    return tuple(sentence for sentences in reasons for sentence in sentences)


def _on_mode(findings: Findings) -> Iterator[str]:
    mode = findings.settings.mode
    if mode in _MODES:
        yield _MODES[mode]


def _on_numbers(findings: Findings) -> Iterator[str]:
    most = findings.segments * ONE_FLIP
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
    """Say whether a fall is seen only because scores are missing."""
    seen = contrast in targeted(finding) and contrast.interval[0] > 0
    return seen and worst_net_drop(finding, contrast) <= 0


def _on_control(findings: Findings) -> Iterator[str]:
    for contrast in findings.control:
        low, high = contrast.interval
        if low > 0 or high < 0:
            yield (
                f"On {contrast.aspect} the clean texts were scored differently the second time "
                f"({contrast.effects.net_drop:+.2f}) for no known reason: do not read a smaller "
                "effect as damage that the judge saw."
            )


def _on_alarms(findings: Findings) -> Iterator[str]:
    scored = [alarm for alarm in findings.alarms if alarm.clean]
    if scored and not any(alarm.harmless for alarm in scored):
        yield (
            "No harmless change was made to the texts, so false alarms are counted on clean texts "
            "alone."
        )
    for rate in (STRICT, USUAL):
        few = [alarm for alarm in scored if alarm.clean < fewest_texts(rate)]
        if few:
            names = ", ".join(f"{alarm.aspect} {alarm.clean}" for alarm in few)
            yield (
                f"Too few clean texts have a score to state a false-alarm rate of {rate:.0%}, "
                f"which takes {fewest_texts(rate)}: {names}."
            )


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count} texts"
