"""Conclusions: a finding in a word, by condition and by aspect."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from spanjury.orchestration.studies.discernment.detection import USUAL, Detection
from spanjury.orchestration.studies.discernment.findings import (
    Contrast,
    Finding,
    Findings,
    OnAspect,
)

_SHOWN = 1.0
"""D of a p-value of 0.05."""
HALF_STEP = 0.5
"""A mean drop, in steps of the scale, that is enough to act on."""
ONE_FLIP = math.log(2, 20)
"""D that one more falling source adds at most: the exact p of n falling sources is 2 to the -n."""
_NOISE = 1e-9
"""Tolerance for rounding in means."""


class Conclusion(StrEnum):
    """The word for a finding."""

    DISCERNED = "discerned"
    """Scores fall on an aspect that was damaged, and by enough to act on."""
    PLACE_MISSED = "place missed"
    """Scores fall by enough, but the judge marks spans and none of them touches the damage."""
    TOO_SMALL = "too small to act on"
    """Scores fall, but by less than half a step, and damaged texts do not stand out."""
    NOT_DISCERNED = "not discerned"
    """It is not shown that scores fall."""
    ELSEWHERE = "falls elsewhere"
    """Scores fall, but only on aspects that were not damaged."""
    REWARDED = "rewarded"
    """Scores rise on an aspect that was damaged: more rise than fall, and the mean rises, and the
    intervals of both lie wholly on that side of 0."""
    STEADY = "steady"
    """The mean moves by less than half a step, and scores set off no more false alarms."""
    DISTURBED = "disturbed"
    """Scores move, or set off false alarms, although the text did not get worse."""
    UNDECIDED = "undecided"
    """The texts are too few to tell, or the test has no p-value for them."""
    UNSCORED = "no scores"
    """The judge gives no scores where it matters."""
    NOT_DONE = "nothing damaged"
    """There was nothing in any text that could be damaged."""


_RANKS = (
    Conclusion.DISCERNED,
    Conclusion.PLACE_MISSED,
    Conclusion.TOO_SMALL,
    Conclusion.DISTURBED,
    Conclusion.REWARDED,
    Conclusion.ELSEWHERE,
    Conclusion.UNDECIDED,
    Conclusion.NOT_DISCERNED,
    Conclusion.STEADY,
)
"""The word for a condition is the first of these that one of its aspects has."""


def conclusion(finding: Finding) -> Conclusion:
    """Return the word for `finding`: that of the aspect on which the judge sees most.

    For a harmless condition it is that of the aspect on which the judge is disturbed most.
    """
    if not finding.damaged:
        return Conclusion.NOT_DONE
    words = {conclusion_on(finding, on) for on in scored_of_interest(finding)}
    if not words:
        return Conclusion.ELSEWHERE if finding.discernment >= _SHOWN else Conclusion.UNSCORED
    return next(word for word in _RANKS if word in words)


def conclusion_on(finding: Finding, on: OnAspect) -> Conclusion:
    """Return the word for `finding` on one of its aspects."""
    contrast, detection, marking = on
    if not contrast.effects.used:
        return Conclusion.UNSCORED if finding.damaged else Conclusion.NOT_DONE
    if is_harmless(finding):
        return _steadiness(contrast, detection)
    if not _is_shown(finding, contrast):
        return _unshown(finding, contrast, detection)
    # Enough to act on a text without its clean version: more texts are caught than false alarms
    # would be, with the whole interval, or the mean falls far.
    drop = detection.mean_drop.value
    far = drop >= HALF_STEP - _NOISE and drop > detection.harmless_drop
    if not far and not detection.caught_10.low > USUAL:
        return Conclusion.TOO_SMALL
    return Conclusion.PLACE_MISSED if marking.misses else Conclusion.DISCERNED


def is_harmless(finding: Finding) -> bool:
    """Return whether no score should move at all, as after a harmless paraphrase."""
    return all(contrast.expected == "unchanged" for contrast in finding.contrasts)


def targeted(finding: Finding) -> tuple[Contrast, ...]:
    """Return the cells of aspects that were damaged, whose scores should fall."""
    return tuple(contrast for contrast in finding.contrasts if contrast.expected == "falls")


def strongest(finding: Finding) -> OnAspect | None:
    """Return the effect on the aspect that the word for `finding` is for.

    If there are several, it is the one on which most texts are caught. None if no aspect of
    interest has a score.
    """
    word = conclusion(finding)
    same = [on for on in scored_of_interest(finding) if conclusion_on(finding, on) is word]
    return max(same, key=lambda on: _seen(on.detection), default=None)


def _seen(detection: Detection) -> tuple[float, float]:
    """Return what detections are ordered by; an undefined figure stands behind all others."""
    figures = detection.caught_10.value, detection.auroc.value
    caught, auroc = (-1.0 if math.isnan(figure) else figure for figure in figures)
    return caught, auroc


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


def of_interest(finding: Finding) -> Sequence[OnAspect]:
    """Return the effects on the targeted aspects.

    Where there is none, on those on which anything may happen, or on all.
    """
    for effect in ("falls", None):
        if chosen := [on for on in finding.on_aspects if on.contrast.expected == effect]:
            return chosen
    return finding.on_aspects


def scored_of_interest(finding: Finding) -> list[OnAspect]:
    """Return the effects of interest on aspects with scores."""
    return [on for on in of_interest(finding) if on.contrast.effects.used]


def is_measured(on: OnAspect) -> bool:
    """Return whether there is a drop, or a caught share: that of texts without any score is 0."""
    return on.contrast.effects.used > 0 or not math.isnan(on.detection.caught_10.value)


def _is_shown(finding: Finding, contrast: Contrast) -> bool:
    """Say whether scores are shown to fall: on this aspect, or on all together and none alone."""
    alone = [each.discernment >= _SHOWN for each in finding.contrasts]
    return finding.discernment >= _SHOWN and (contrast.discernment >= _SHOWN or not any(alone))


def _unshown(finding: Finding, contrast: Contrast, detection: Detection) -> Conclusion:
    enough = (contrast.test.used + contrast.test.zeros) * ONE_FLIP >= _SHOWN
    if enough and contrast.interval[1] < 0 and detection.mean_drop.high < 0:
        return Conclusion.REWARDED
    if finding.discernment >= _SHOWN:
        return Conclusion.ELSEWHERE
    is_tested = enough and not math.isnan(contrast.discernment)
    return Conclusion.NOT_DISCERNED if is_tested else Conclusion.UNDECIDED


def _steadiness(contrast: Contrast, detection: Detection) -> Conclusion:
    moved = contrast.equivalence.verdict if contrast.equivalence else "undecided"
    if moved == "different" or detection.flags > detection.by_chance:
        return Conclusion.DISTURBED
    unsure = moved == "undecided" or math.isnan(detection.of_clean_10.value)
    return Conclusion.UNDECIDED if unsure else Conclusion.STEADY


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """One condition on one aspect that it harms; for a harmless condition, on any aspect."""

    finding: Finding
    on: OnAspect | None = None
    """None if no aspect that matters has a drop or a caught share."""
    conclusion: Conclusion
    leads: bool
    """True if the word for the condition is for this aspect."""

    @property
    def is_harmless(self) -> bool:
        """True if no score should move."""
        return is_harmless(self.finding)

    @property
    def aspect(self) -> str:
        """The aspect, or the only one that matters where it lacks a score."""
        if self.on is not None:
            return self.on.contrast.aspect
        names = [on.contrast.aspect for on in of_interest(self.finding)]
        return names[0] if len(names) == 1 else ""


def decision_rows(findings: Findings) -> tuple[DecisionRow, ...]:
    """Return the rows of an exam, harmful and harmless conditions together.

    Those of which most texts are flagged come first; those without scores come last.
    """
    rows = [row for finding in findings.findings for row in _rows(finding)]
    return tuple(sorted(rows, key=_order))


def _rows(finding: Finding) -> Iterator[DecisionRow]:
    shown = [on for on in of_interest(finding) if is_measured(on)]
    lead = strongest(finding) or next(iter(shown), None)
    if lead is None:
        yield DecisionRow(finding=finding, conclusion=conclusion(finding), leads=True)
        return
    for on in shown:
        is_lead = on.contrast.aspect == lead.contrast.aspect
        word = conclusion(finding) if is_lead else conclusion_on(finding, on)
        yield DecisionRow(finding=finding, on=on, conclusion=word, leads=is_lead)


def _order(row: DecisionRow) -> tuple[float, float]:
    if row.on is None:
        return math.inf, math.inf
    caught, auroc = _seen(row.on.detection)
    return -caught, -auroc
