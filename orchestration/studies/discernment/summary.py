"""An exam in sentences and numbers: cautions, values for programs, and measures."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from spanjury.judges.core import counted
from spanjury.orchestration.report import Bounded
from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.report.tables import figure
from spanjury.orchestration.studies.card import (
    NOT_NEGATIVE,
    SHARE,
    SIGNED,
    Measure,
    Ranges,
    measured,
    ratio_measure,
)
from spanjury.orchestration.studies.discernment.conclusions import (
    ONE_FLIP,
    Conclusion,
    conclusion,
    decision_rows,
    is_harmless,
    is_measured,
    missing,
    targeted,
    worst_net_drop,
)
from spanjury.orchestration.studies.discernment.detection import (
    STRICT,
    USUAL,
    Detection,
    WrittenTwins,
    fewest_texts,
)
from spanjury.orchestration.studies.discernment.findings import Contrast, Finding, Findings, Mode
from spanjury.orchestration.studies.discernment.score_arrays import BIAS
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.judging import Examinee, of_sources
from spanjury.perturbations.perturbation import Effect
from spanjury.stats.combination.discernment import LevelBalanced
from spanjury.stats.resampling import Estimate
from spanjury.stats.spans.localisation import pooled

_FEW = 30
"""With fewer sources than this even a large effect is often missed, and intervals are rough."""
_NARROW = 0.5
"""From this share of clean scores at the worst on, little can fall."""
_MODES: Mapping[Mode, str] = {
    "paper": "Use mode `paper` for comparison with the paper only: its combined value is not a "
    "p-value. With four aspects and no effect on any, D exceeds 1 in about 30 % of exams, not in "
    "5 %.",
    "wilson": "Mode `wilson` is slightly anti-conservative: D = 1 corresponds to a p-value "
    "slightly above 0.05.",
}


def cautions(findings: Findings) -> tuple[str, ...]:
    """Return the reasons not to take the numbers at their face value, in sentences."""
    mode = findings.settings.mode
    return (
        *([_MODES[mode]] if mode in _MODES else ()),
        *_on_numbers(findings),
        *_on_equal_scores(findings),
        *_on_missing_scores(findings),
        *_on_missing_weights(findings),
        *_on_alarms(findings),
        *_on_control(findings),
    )


def _on_numbers(findings: Findings) -> Iterator[str]:
    most = findings.sources * ONE_FLIP
    texts = of_sources(findings.segments, findings.sources)
    if most < 1:
        apart = "; give texts with equal inputs but different sources a `doc_id` each"
        yield (
            f"{texts} cannot show anything: even if every score fell, D by the exact test would"
            f" be {most:.2f}. Take texts of {math.ceil(1 / ONE_FLIP)} sources or more"
            f"{apart if findings.sources < findings.segments else ''}."
        )
    elif findings.sources < _FEW:
        yield f"{texts} are few: an effect that is not shown may still exist."
    harmful = [finding for finding in findings.findings if not is_harmless(finding)]
    sizes = {finding.damaged for finding in harmful if finding.damaged}
    if len(sizes) > 1:
        yield (
            f"The conditions damaged between {min(sizes)} and {max(sizes)} texts. For the same "
            "effect, D is larger if more texts were damaged."
        )
    without = findings.overall.missing - (len(findings.findings) - len(harmful))
    if without > 0:
        yield f"Conditions without a D, excluded from the average: {without} of {len(harmful)}."


def _on_equal_scores(findings: Findings) -> Iterator[str]:
    for number, control in enumerate(findings.control):
        column = [finding.contrasts[number] for finding in findings.findings]
        scored = [each for each in column if each.expected == "falls" and each.effects.used]
        if scored and not any(_moved(contrast) for contrast in scored):
            yield (
                f"On {control.aspect}, no score moved under any condition that should "
                "make it fall: p is 1 and D is 0 by convention."
            )
        elif control.on_scale.clean_floor >= _NARROW:
            yield (
                f"On {control.aspect}, {control.on_scale.clean_floor:.0%} of the clean texts have "
                "the worst score already and cannot fall."
            )


def _moved(contrast: Contrast) -> float:
    return contrast.effects.drop_share + contrast.effects.rise_share


def _on_missing_scores(findings: Findings) -> Iterator[str]:
    for number, control in enumerate(findings.control):
        contrasts = [(finding, finding.contrasts[number]) for finding in findings.findings]
        wanted = sum(finding.damaged for finding in findings.findings)
        lost = sum(missing(finding, contrast) for finding, contrast in contrasts)
        if lost == wanted:
            yield f"On {control.aspect}, the judge scored no pair of a clean and a damaged text."
        elif lost:
            # Conditions after which a fall is seen only because scores are missing.
            hanging = [
                finding.condition
                for finding, contrast in contrasts
                if contrast in targeted(finding)
                and contrast.interval[0] > 0 >= worst_net_drop(finding, contrast)
            ]
            at_worst = f"scores would no longer fall after: {', '.join(hanging)}"
            yield (
                f"On {control.aspect}, {lost} of {wanted} pairs lack a score. D and effects skip"
                " them, and a damaged text without a score counts as not caught. If all of them had"
                " risen,"
                f" {at_worst if hanging else 'every fall that is shown now would remain'}."
            )


def _on_missing_weights(findings: Findings) -> Iterator[str]:
    unscored = (pair for each in findings.findings for pair in each.unscored_weights.items())
    if lacking := grouped(unscored, itemgetter(0)):
        aspects = (
            f"{aspect} (up to {max(weight for _, weight in pairs):.2f} of the weight, in"
            f" {counted(len(pairs), 'condition')})"
            for aspect, pairs in lacking.items()
        )
        yield (
            "Weighted D skips aspects without scores and scales up the other weights. Skipped:"
            f" {', '.join(aspects)}. It is undefined if these have more than half of the weight."
        )


def _on_control(findings: Findings) -> Iterator[str]:
    for contrast in findings.control:
        low, high = contrast.interval
        if low > 0 or high < 0:
            yield (
                f"On {contrast.aspect}, the clean texts were scored differently the second time "
                f"({contrast.effects.net_drop:+.2f}) although nothing changed: do not take a "
                "smaller effect as evidence that the judge saw the damage."
            )


def _on_alarms(findings: Findings) -> Iterator[str]:
    scored = [alarm for alarm in findings.alarms if alarm.clean]
    if scored and not any(alarm.harmless for alarm in scored):
        yield "No text was changed harmlessly, so false alarms are counted on clean texts alone."
    for rate in (STRICT, USUAL):
        few = [alarm for alarm in scored if alarm.clean < fewest_texts(rate)]
        if few:
            names = ", ".join(f"{alarm.aspect} {alarm.clean}" for alarm in few)
            yield (
                f"Too few clean texts have a score for a false-alarm rate of {rate:.0%}, which "
                f"needs {fewest_texts(rate)}: {names}."
            )


_KEYS = {"skipped": "left_out", "contrasts": "cells", "target_contrast": "contrast"}
"""Names of fields that JSON has under another key."""
_DISTURBED = "share of harmless conditions that disturb the judge"
_SWAYED = "conditions with an attempt to sway the judge"
_MEASURES: Mapping[str, str] = {
    "discernment.average": "D, averaged over levels of damage; 1 is p = 0.05",
    "discernment.minimum": "the lowest D of all conditions",
    "discernment.weighted": "average D with a weight for each aspect: the recipe's, which are our"
    " own, or those of --weights",
    "discernment.effect": "P(drop) - P(rise), the mean over damaged aspects of all conditions",
    "discernment.caught.average": "share of damaged texts caught at 10 % false alarms on clean and"
    " harmlessly changed texts, mean over conditions and damaged aspects",
    "discernment.twins_caught": "share of the wrong versions caught at {} false alarms on the"
    " correct ones, in written pairs",
    "discernment.twins_in_order": "share of written pairs whose wrong version scores lower, ties"
    " half; 0.5 is chance",
    "discernment.false_alarms": "share of harmlessly changed texts below the cut-off that flags at"
    " most 10 % of clean ones",
    "discernment.harmless_disturbed": _DISTURBED,
    "localisation.hits": "share of damaged passages that new spans touch; {} by chance",
    "localisation.precision": "share of newly marked characters that are damage",
    "invariance.steady": "share of harmless conditions shown to leave scores unchanged",
    "invariance.moved": _DISTURBED,
    "bias.steady": f"share of {_SWAYED} that are shown to leave scores unchanged",
    "bias.moved": f"share of {_SWAYED} that disturb it",
    "retest.moved": "share of the clean texts' scores that change when they are judged again",
}
"""Name -> what it is, with room for a share."""
_RANGES: Ranges = {
    **dict.fromkeys(_MEASURES, SHARE),
    "discernment.average": NOT_NEGATIVE,
    "discernment.minimum": NOT_NEGATIVE,
    "discernment.weighted": NOT_NEGATIVE,
    "discernment.effect": SIGNED,
}
_TABLED = frozenset({"detections", "markings"})
"""Fields that JSON has under `decisions`, in the order of the page."""


def findings_json(findings: Findings, *, examinee: Examinee) -> dict[str, object]:
    """Return `findings` by field, numbers to 6 significant digits.

    Beside each D of one aspect stands the natural logarithm of its p-value (``test.log_p``). What
    is undefined or infinite is None.
    """
    return {
        "versions": versions(),
        "judge": plain(examinee),
        "settings": plain(findings.settings),
        "segments": findings.segments,
        "sources": findings.sources,
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
            "detection": plain(row.on.detection) if row.on else None,
            "hits": plain(row.on.marking.localisation.hit_rate) if row.on else None,
            "claims_spans": row.on.marking.claims_spans if row.on else None,
            "discernment": plain(row.on.contrast.discernment) if row.on else None,
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


def ranges_of(conditions: Iterable[str]) -> Ranges:
    """Return the ranges of all measures that an exam with these conditions may give."""
    caught = (f"discernment.caught.{condition}" for condition in conditions)
    return {**_RANGES, **dict.fromkeys(caught, SHARE)}


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return what `findings` come to: how well damage is seen, and what else moves scores."""
    damaged = [finding for finding in findings.findings if finding.damaged]
    harmful = [finding for finding in damaged if not is_harmless(finding)]
    harmless = [finding for finding in damaged if is_harmless(finding)]
    invariant = [finding for finding in harmless if finding.family != BIAS]
    biased = [finding for finding in harmless if finding.family == BIAS]
    return (
        *(_discernment(findings, harmful) if harmful else ()),
        *_caught(findings, harmful),
        *(_twins(findings.twins) if findings.twins else ()),
        *(_false_alarms(invariant) if invariant else ()),
        *(_localisation(harmful) if harmful else ()),
        *(_steady_shares("invariance", invariant) if invariant else ()),
        *(_steady_shares("bias", biased) if biased else ()),
        _retest(findings.control),
    )


def _measured(name: str, estimate: Bounded, *, count: int, share: float = math.nan) -> Measure:
    says = _MEASURES[name].format(figure(share, ".0%"))
    return measured(name, estimate, says=says, count=count)


def _mean(name: str, values: Sequence[float]) -> Measure:
    return ratio_measure(name, sum(values), len(values), says=_MEASURES[name])


def _discernment(findings: Findings, harmful: Sequence[Finding]) -> Iterator[Measure]:
    overall, weighted = findings.overall, findings.weighted
    for name, value in (
        ("discernment.average", overall.average),
        ("discernment.minimum", overall.minimum),
        ("discernment.weighted", weighted.average),
    ):
        yield _measured(name, Estimate(value), count=findings.segments)
    effects = [contrast.effects for finding in harmful for contrast in targeted(finding)]
    yield _mean("discernment.effect", [each.net_drop for each in effects if each.used])


def _caught(findings: Findings, harmful: Sequence[Finding]) -> Iterator[Measure]:
    """Yield the shares of damaged texts that are caught without their clean versions."""
    by_condition = [(finding, [*_measured_on(finding, "falls")]) for finding in harmful]
    if not any(detections for _, detections in by_condition):
        return
    caught = findings.caught
    yield _measured("discernment.caught.average", caught, count=caught.texts)
    for finding, detections in by_condition:
        shares = [detection.caught_10 for detection in detections]
        if shares:
            mean = Estimate(sum(share.value for share in shares) / len(shares))
            over = f", mean over its {len(shares)} aspects" if len(shares) > 1 else ""
            yield measured(
                f"discernment.caught.{finding.condition}",
                shares[0] if len(shares) == 1 else mean,
                says=f"the same after {finding.condition}{over}",
                count=sum(detection.share_of for detection in detections),
            )


def _twins(twins: WrittenTwins) -> Iterator[Measure]:
    alarms = twins.false_alarms
    yield _measured("discernment.twins_caught", twins.caught, count=twins.wrong, share=alarms)
    yield _measured("discernment.twins_in_order", twins.in_order, count=twins.pairs)


def _false_alarms(harmless: Sequence[Finding]) -> Iterator[Measure]:
    detections = [
        detection for finding in harmless for detection in _measured_on(finding, "unchanged")
    ]
    is_known = not any(math.isnan(each.of_clean_10.value) for each in detections)
    yield ratio_measure(
        "discernment.false_alarms",
        sum(detection.flags for detection in detections) if is_known else math.nan,
        sum(detection.texts for detection in detections),
        says=_MEASURES["discernment.false_alarms"],
    )
    disturbed = [conclusion(finding) is Conclusion.DISTURBED for finding in harmless]
    yield _mean("discernment.harmless_disturbed", disturbed)


def _measured_on(finding: Finding, expected: Effect) -> Iterator[Detection]:
    for on in finding.on_aspects:
        if on.contrast.expected == expected and is_measured(on):
            yield on.detection


def _localisation(harmful: Sequence[Finding]) -> Iterator[Measure]:
    spans = pooled(finding.localisation for finding in harmful)
    hits, precision = Estimate(spans.hit_rate), Estimate(spans.precision)
    yield _measured("localisation.hits", hits, count=spans.places, share=spans.chance)
    yield _measured("localisation.precision", precision, count=spans.marked)


def _steady_shares(topic: str, harmless: Sequence[Finding]) -> Iterator[Measure]:
    conclusions = [conclusion(finding) for finding in harmless]
    for name, wanted in (("steady", Conclusion.STEADY), ("moved", Conclusion.DISTURBED)):
        yield _mean(f"{topic}.{name}", [each is wanted for each in conclusions])


def _retest(control: Sequence[Contrast]) -> Measure:
    """Return the share of scores in which a judge disagrees with itself."""
    scored = [contrast for contrast in control if contrast.effects.used]
    return ratio_measure(
        "retest.moved",
        sum(_moved(contrast) * contrast.effects.used for contrast in scored),
        sum(contrast.effects.used for contrast in scored),
        says=_MEASURES["retest.moved"],
    )
