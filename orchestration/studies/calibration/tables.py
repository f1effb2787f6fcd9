"""A calibration as a report and a file: whether the marks suffice, tables and cautions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from spanjury.judges.core import VERSION
from spanjury.orchestration.engine.calibration import Calibration
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    estimate_cell,
    figure,
    left,
    named,
    prose,
    right,
    spread,
    strong,
    table_of,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.calibration.findings import (
    AGREEMENT,
    BY_SPANS,
    THRESHOLDS,
    AlarmFindings,
    AspectFindings,
    Change,
)
from spanjury.orchestration.studies.calibration.fitting import Terms
from spanjury.stats.resampling import Estimate

_HALVES = 3
"""More texts, for each that there is, that halve an interval: its width goes with their root."""
_WIDTH = 0.1
"""Half the width of an interval that most conclusions can do with."""


def enough(findings: AspectFindings) -> Iterator[str]:
    """Say for what the texts suffice, and how many more would do."""
    for alarm in findings.alarms:
        yield _for_rate(findings, alarm)
    attained = findings.alarms[0].attained
    if not math.isnan(attained.low):
        yield (
            f"the false-alarm rate on held-out texts lies between {figure(attained.low, '.0%')} and"
            f" {figure(attained.high, '.0%')}; {_HALVES * findings.clean} more error-free texts"
            " would halve that interval"
        )
    change = next((each for each in findings.changes if each.name == AGREEMENT), None)
    if change is not None and not math.isnan(change.before.low):
        yield _agreement(change.before, texts=findings.calibration.texts)


def _for_rate(findings: AspectFindings, alarm: AlarmFindings) -> str:
    sources = findings.clean_sources
    is_clustered = sources < findings.clean
    texts = "sources with error-free texts" if is_clustered else "error-free texts"
    needs = (
        f'a threshold for "{alarm.level}" at {figure(alarm.promised, ".1%")} false alarms needs'
        f" {alarm.needed} {texts}: {sources} {'is' if sources == 1 else 'are'} marked"
    )
    if sources < alarm.needed:
        lacking = alarm.needed - sources
        return f"{needs}, {lacking} {'is' if lacking == 1 else 'are'} missing"
    if alarm.threshold is not None:
        return f"{needs}, which is enough"
    why = "too many error-free texts look as if they had an error"
    if findings.signal == "probability" and findings.grave_share > alarm.promised:
        why = (
            f"the panel marks an error of severity 4 or 5 in {figure(findings.grave_share, '.0%')}"
            " of the error-free texts, which makes a text unsure"
        )
    return f"{needs}, but no threshold keeps the rate: {why}"


def _agreement(before: Estimate, *, texts: int) -> str:
    half = (before.high - before.low) / 2
    says = (
        f"the rank correlation with people lies between {figure(before.low, '.2f')} and"
        f" {figure(before.high, '.2f')}"
    )
    if half <= _WIDTH:
        return says
    wanted = math.ceil(texts * (half / _WIDTH) ** 2)
    return f"{says}; about {wanted - texts} more marked texts would narrow this to ± {_WIDTH}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFindings:
    """All that is known of a calibration.

    `results`, `marks`: where the scores and the marks are from.
    `notes`: sentences.
    """

    results: str
    marks: str
    terms: Terms
    calibration: Calibration | None
    """None where nothing was kept of any aspect."""
    aspects: tuple[AspectFindings, ...]
    notes: tuple[str, ...] = ()


def calibration_report(findings: CalibrationFindings) -> Report:
    """Return the report of a calibration."""
    kept = findings.calibration
    return Report(
        title="Calibration of a panel",
        answer=" ".join(map(_answer, findings.aspects)),
        facts=(
            prose("results: {}", code(findings.results)),
            prose("marks: {}", code(findings.marks)),
            prose("false alarms promised: {}", _promise(findings.terms)),
            prose("digest: {}", code(kept.digest if kept else "nothing was kept")),
        ),
        sections=(
            *(Section(aspect.aspect, [*_aspect(aspect)]) for aspect in findings.aspects),
            Bullets(list(findings.notes), tone="caution"),
        ),
    )


def _answer(findings: AspectFindings) -> str:
    """Say whether the calibration of an aspect is worth its use, and what it does."""
    alarm, aspect = findings.alarms[0], findings.aspect
    gain = "no gain was shown"
    if findings.only_shrinks:
        gain = "the panel's scores are not shown to follow people's"
    if not findings.kept:
        return f"Do not calibrate {aspect}: {gain}, and no threshold can be set."
    if THRESHOLDS not in findings.kept:
        return f"Use the calibration on {aspect} ({named(findings.kept)})."
    maps = [name for name in findings.kept if name != THRESHOLDS]
    if alarm.catches_more:
        return f"Use the calibration on {aspect} ({named(findings.kept)}): {_called(alarm)}."
    if maps:
        return f"Use only the {named(maps)} on {aspect}: {_useless(alarm)}."
    return f"The calibration of {aspect} is of little use: {gain}, and {_useless(alarm)}."


def _useless(alarm: AlarmFindings) -> str:
    """Say why thresholds are not worth their use."""
    if math.isnan(alarm.caught.value):
        return "what its thresholds catch is unknown"
    return f"{_called(alarm)}, so no difference is shown"


def _called(alarm: AlarmFindings) -> str:
    return (
        f"its thresholds call {_share(alarm.caught)} of the held-out texts with an error unsure or"
        f" faulty, and {_share(alarm.attained)} of those without one"
    )


def _share(share: Estimate) -> str:
    return estimate_cell(share, ".0%").text


def calibration_json(findings: CalibrationFindings) -> dict[str, object]:
    """Return the findings for a machine; None for what is undefined."""
    return {
        "spanjury": VERSION,
        "results": findings.results,
        "marks": findings.marks,
        "terms": plain(findings.terms),
        "digest": findings.calibration.digest if findings.calibration else None,
        "panel": findings.calibration.panel if findings.calibration else None,
        "notes": list(findings.notes),
        "aspects": [
            {
                "task": aspect.task,
                "aspect": aspect.aspect,
                "texts": aspect.calibration.texts,
                "sources": aspect.calibration.sources,
                "clean": aspect.clean,
                "clean_sources": aspect.clean_sources,
                "faulty": aspect.faulty,
                "folds": aspect.folds,
                "signal": aspect.signal,
                "changes": [plain(change) for change in aspect.changes],
                "alarms": [plain(alarm) for alarm in aspect.alarms],
                "kept": list(aspect.kept),
                "enough": [*enough(aspect)],
                "cautions": list(aspect.cautions),
            }
            for aspect in findings.aspects
        ],
    }


_ROUNDS_TO_0 = 0.0005
_SEVERITIES = " Severities: rank correlation of the errors' total weight."


def _promise(terms: Terms) -> str:
    rate = figure(terms.rate, ".1%")
    if terms.confidence is None:
        return f"{rate} of new texts of the same kind, on average over sets of marked texts"
    sure = figure(terms.confidence, ".0%")
    return f"{rate} of all texts of the same kind from new sources, with a confidence of {sure}"


def _aspect(findings: AspectFindings) -> Iterator[Block]:
    about = findings.calibration
    kept = ", ".join(findings.kept) or "nothing"
    texts = (
        f"{about.texts:,} marked texts of {about.sources:,} sources, {findings.clean:,} without an"
        f" error and {findings.faulty:,} with one."
    )
    yield Paragraph(f"{findings.aspect}: {kept} kept. {texts}", only="terminal")
    yield Paragraph(f"Kept: {kept}. {texts}", only="page")
    yield _changes(findings)
    yield _alarms(findings)
    yield Bullets([*enough(findings)])
    yield Bullets(findings.cautions, tone="caution")


def _changes(findings: AspectFindings) -> Table:
    names = {change.name for change in findings.changes}
    return table_of(
        (
            (
                left("measure", change.name, wrap=False),
                spread("before", change.before, ".3f"),
                spread("after", change.after, ".3f"),
                spread("difference", change.difference, "+.3f", only="page"),
                left("gain", _gain(change), wrap=False),
            )
            for change in findings.changes
        ),
        title=strong(f"{findings.aspect}: scores before and after"),
        note=(
            f"Held-out texts in {findings.folds} folds by source, with 95 % intervals over "
            "sources. Distance (root mean square) and calibration error are in points of the "
            "scale; the interval of the calibration error is biased slightly upwards. Distance, "
            "mean: before, the distance of people's mean score on the other folds; a map is kept "
            "only if it beats both distances. A map never reverses two scores, so the rank "
            "correlation has no value after it." + (_SEVERITIES if BY_SPANS in names else "")
        ),
    )


def _gain(change: Change) -> str | None:
    if math.isnan(change.difference.value):
        return None
    return "yes" if change.is_gain else "no"


def _threshold(value: float | None) -> float | str | None:
    """Return a threshold; one that rounds to 0 is reached by any value above 0, but not by 0."""
    return value if value is None or not 0 < value < _ROUNDS_TO_0 else "above 0"


def _alarms(findings: AspectFindings) -> Table:
    signal = "the share of the scale that the score has lost"
    if findings.signal == "probability":
        signal = "the probability of an error"
    return table_of(
        (
            (
                left("decision", alarm.level, wrap=False),
                right("from", _threshold(alarm.threshold), ".3f"),
                right("promised", alarm.promised, ".1%"),
                spread("false alarms", alarm.attained, ".1%"),
                spread("caught", alarm.caught, ".1%"),
                right("needs", alarm.needed, only="page"),
            )
            for alarm in findings.alarms
        ),
        title=strong(f"{findings.aspect}: thresholds"),
        note=(
            f"Based on {signal}. False alarms: share of texts without an error that are flagged. "
            "Caught: share of texts with an error that are flagged. Both are measured on held-out "
            "texts, with 95 % intervals. The lines below say how many error-free texts each rate "
            "needs."
        ),
    )
