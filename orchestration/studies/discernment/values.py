"""An exam's findings for programs: as plain values, and as single measures for a card."""

import math
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.report.numbers import defined, figure
from spanjury.orchestration.studies.card import Measure, measured
from spanjury.orchestration.studies.discernment.conclusions import (
    Conclusion,
    cautions,
    conclusion,
    decision_rows,
    is_harmless,
    targeted,
)
from spanjury.orchestration.studies.discernment.detection import Detection
from spanjury.orchestration.studies.discernment.findings import Contrast, Finding, Findings
from spanjury.orchestration.studies.discernment.score_arrays import BIAS
from spanjury.orchestration.studies.discernment.written_twins import WrittenTwins
from spanjury.orchestration.studies.judging import Examinee
from spanjury.perturbations.perturbation import Effect
from spanjury.stats.combination.discernment import LevelBalanced
from spanjury.stats.spans.localisation import pooled

_KEYS = MappingProxyType(
    {"skipped": "left_out", "contrasts": "cells", "target_contrast": "contrast"}
)
"""Names of fields that JSON has under another key."""
_NAMES = (
    "discernment.average",
    "discernment.minimum",
    "discernment.weighted",
    "discernment.effect",
    "discernment.caught.average",
    "discernment.twins_caught",
    "discernment.twins_in_order",
    "discernment.false_alarms",
    "discernment.harmless_disturbed",
    "localisation.hits",
    "localisation.precision",
    "invariance.steady",
    "invariance.moved",
    "bias.steady",
    "bias.moved",
    "retest.moved",
)
_TABLED = frozenset({"detections", "markings"})
"""Fields that JSON has under `decisions`, in the order of the page."""


def findings_json(findings: Findings, *, examinee: Examinee) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls.

    Returns
    -------
    dict
        Named by field, numbers to 6 significant digits. Beside each D of one aspect stands the
        natural logarithm of its p-value (``test.log_p``). What is undefined or infinite is
        None.
    """
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "settings": plain(findings.settings),
        "segments": findings.segments,
        "repeats": findings.repeats,
        "overall": _balanced(findings.overall),
        "weighted": _balanced(findings.weighted),
        "control": plain(findings.control),
        "decisions": decisions_json(findings),
        "caught": plain(findings.caught),
        "false_alarms": plain(findings.alarms),
        "written_twins": plain(findings.twins) if findings.twins else None,
        "findings": [_finding(finding) for finding in findings.findings],
        "cautions": list(cautions(findings)),
    }


def decisions_json(findings: Findings) -> list[dict[str, object]]:
    """Return the rows as objects, with the figures and intervals that a page shows."""
    return [
        {
            "condition": row.finding.condition,
            "aspect": row.aspect or None,
            "harmless": row.is_harmless,
            "verdict": row.conclusion.value,
            "detection": plain(row.detection),
            "hits": plain(row.marking.localisation.hit_rate) if row.marking else None,
            "claims_spans": row.marking.claims_spans if row.marking else None,
            "discernment": plain(row.contrast.discernment) if row.contrast else None,
        }
        for row in decision_rows(findings)
    ]


def _finding(finding: Finding) -> dict[str, object]:
    """Add what is computed from the fields, under the keys that files have had from the first."""
    spans = finding.localisation
    rates = {name: getattr(spans, name) for name in ("hit_rate", "chance", "precision", "recall")}
    return {
        **{
            _KEYS.get(name, name): value
            for name, value in fields_of(finding).items()
            if name not in _TABLED
        },
        "verdict": conclusion(finding).value,
        "localisation": plain({**spans._asdict(), **rates}),
    }


def _balanced(balanced: LevelBalanced) -> object:
    return plain({**balanced._asdict(), "by_level": dict(balanced.by_level)})


def measure_names(conditions: Iterable[str]) -> tuple[str, ...]:
    """Return the names of all measures that an exam with these conditions may give."""
    return (*_NAMES, *(f"discernment.caught.{condition}" for condition in conditions))


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return what `findings` come to: how well damage is seen, and what else moves scores."""
    damaged = [finding for finding in findings.findings if finding.damaged]
    harmful = [finding for finding in damaged if not is_harmless(finding)]
    harmless = [finding for finding in damaged if is_harmless(finding)]
    invariant = [finding for finding in harmless if finding.family != BIAS]
    biased = [finding for finding in harmless if finding.family == BIAS]
    return (
        *_discernment(findings, harmful),
        *_caught(findings, harmful),
        *_twins(findings.twins),
        *_false_alarms(invariant),
        *_localisation(harmful),
        *_steadiness("invariance", invariant),
        *_steadiness("bias", biased),
        _retest(findings.control),
    )


def _discernment(findings: Findings, harmful: Sequence[Finding]) -> Iterator[Measure]:
    if not harmful:
        return
    overall, weighted = findings.overall, findings.weighted
    for name, value, says in (
        ("average", overall.average, "D, averaged over levels of damage; 1 is p = .05"),
        ("minimum", overall.minimum, "the lowest D of all conditions"),
        ("weighted", weighted.average, "average D with experts' weights of the aspects"),
    ):
        yield Measure(
            name=f"discernment.{name}", value=defined(value), says=says, count=findings.segments
        )
    yield _mean(
        "discernment.effect",
        [
            contrast.effects.net_drop
            for finding in harmful
            for contrast in targeted(finding)
            if contrast.effects.used
        ],
        says="P(drop) - P(rise), the mean over damaged aspects of all conditions; -1 to 1",
    )


def _caught(findings: Findings, harmful: Sequence[Finding]) -> Iterator[Measure]:
    """Yield the shares of damaged texts that are caught without their clean twins."""
    by_condition = [(finding, [*_scored(finding, "falls")]) for finding in harmful]
    if not any(detections for _, detections in by_condition):
        return
    caught = findings.caught
    yield measured(
        "discernment.caught.average",
        caught,
        says="share of damaged texts caught at 10 % false alarms, mean over damaged aspects",
        count=findings.segments,
    )
    for finding, detections in by_condition:
        shares = [detection.caught_10 for detection in detections]
        if shares:
            ends = shares[0] if len(shares) == 1 else None
            yield Measure(
                name=f"discernment.caught.{finding.condition}",
                value=defined(sum(share.value for share in shares) / len(shares)),
                says=f"the same after {finding.condition}",
                count=sum(detection.texts for detection in detections),
                low=defined(ends.low) if ends else None,
                high=defined(ends.high) if ends else None,
            )


def _twins(twins: WrittenTwins | None) -> Iterator[Measure]:
    if twins is None:
        return
    for name, share, says in (
        (
            "twins_caught",
            twins.caught,
            f"share of written wrong twins caught at {twins.false_alarms:.0%} false alarms",
        ),
        (
            "twins_in_order",
            twins.in_order,
            "share of written pairs whose wrong twin scores lower, ties half; 0.5 is chance",
        ),
    ):
        yield measured(f"discernment.{name}", share, says=says, count=twins.pairs)


def _false_alarms(harmless: Sequence[Finding]) -> Iterator[Measure]:
    if not harmless:
        return
    detections = [detection for finding in harmless for detection in _scored(finding, "unchanged")]
    texts = sum(detection.texts for detection in detections)
    is_known = bool(texts) and not any(math.isnan(each.of_clean_10.value) for each in detections)
    yield Measure(
        name="discernment.false_alarms",
        value=sum(detection.flags for detection in detections) / texts if is_known else None,
        says="share of harmlessly changed texts flagged where at most 10 % of clean ones are",
        count=texts,
    )
    yield _mean(
        "discernment.harmless_disturbed",
        [conclusion(finding) is Conclusion.DISTURBED for finding in harmless],
        says="share of harmless conditions that disturb the judge",
    )


def _scored(finding: Finding, expected: Effect) -> Iterator[Detection]:
    for contrast, detection in zip(finding.contrasts, finding.detections, strict=True):
        if contrast.expected == expected and contrast.effects.used:
            yield detection


def _localisation(harmful: Sequence[Finding]) -> Iterator[Measure]:
    if not harmful:
        return
    spans = pooled(finding.localisation for finding in harmful)
    yield Measure(
        name="localisation.hits",
        value=defined(spans.hit_rate),
        says="share of damaged places that new spans touch; "
        f"{figure(spans.chance, '.0%')} by chance",
        count=spans.places,
    )
    yield Measure(
        name="localisation.precision",
        value=defined(spans.precision),
        says="share of newly marked characters that are damage",
        count=spans.marked,
    )


def _steadiness(topic: str, harmless: Sequence[Finding]) -> Iterator[Measure]:
    if not harmless:
        return
    conclusions = [conclusion(finding) for finding in harmless]
    for name, wanted, says in (
        ("steady", Conclusion.STEADY, "share of harmless conditions shown to leave scores alone"),
        ("moved", Conclusion.DISTURBED, "share of harmless conditions that disturb the judge"),
    ):
        yield _mean(f"{topic}.{name}", [each is wanted for each in conclusions], says=says)


def _mean(name: str, values: Sequence[float], *, says: str) -> Measure:
    mean = sum(values) / len(values) if values else None
    return Measure(name=name, value=mean, says=says, count=len(values))


def _retest(control: Sequence[Contrast]) -> Measure:
    """Return the share of scores in which a judge disagrees with itself."""
    pairs = sum(contrast.effects.used for contrast in control)
    moved = sum(
        (contrast.effects.drop_share + contrast.effects.rise_share) * contrast.effects.used
        for contrast in control
        if contrast.effects.used
    )
    return Measure(
        name="retest.moved",
        value=moved / pairs if pairs else None,
        says="share of scores of clean texts that are others the second time",
        count=pairs,
    )
