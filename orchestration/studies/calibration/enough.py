"""Say whether the marked texts suffice, and what to keep in mind of them."""

import math
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from spanjury.orchestration.report import figure
from spanjury.orchestration.studies.calibration.findings import (
    AGREEMENT,
    AlarmFindings,
    AspectFindings,
)
from spanjury.orchestration.studies.calibration.fitting import Terms
from spanjury.orchestration.studies.calibration.texts import CalibrationTexts
from spanjury.orchestration.studies.sampling.chances import unequal_chances_note
from spanjury.stats.correlations.correlation import correlation

FEWEST = 5
"""Marked texts from which on anything is fitted."""
_HALVES = 3
"""More texts, for each that there is, that halve an interval: its width goes with their root."""
_FEW = 30
"""Sources below which an interval of percentiles is too narrow."""
_WIDTH = 0.1
"""Half the width of an interval that most conclusions can do with."""


def enough(findings: AspectFindings) -> Iterator[str]:
    """Say for what the texts suffice, and how many more would do."""
    for alarm in findings.alarms:
        yield _for_rate(findings, alarm)
    if precision := _attained_rate(findings):
        yield precision
    if agreement := _agreement(findings):
        yield agreement


def _for_rate(findings: AspectFindings, alarm: AlarmFindings) -> str:
    sources = findings.clean_sources
    of_sources = "sources of " if sources < findings.clean else ""
    takes = (
        f"{alarm.level}, at {figure(alarm.promised, '.1%')} false alarms, takes {alarm.needed}"
        f" {of_sources}texts without error; {sources} are marked"
    )
    if sources < alarm.needed:
        lacking = alarm.needed - sources
        return f"{takes}: {lacking} more {'is' if lacking == 1 else 'are'} needed"
    if alarm.threshold is not None:
        return f"{takes}: enough"
    why = "too many of them look as if they had an error"
    if findings.signal == "probability" and findings.grave_share > alarm.promised:
        why = (
            f"the panel marks an error of severity 4 or 5 in {figure(findings.grave_share, '.0%')}"
            " of them, which makes a text unsure"
        )
    return f"{takes}, but no threshold keeps the rate: {why}"


def _attained_rate(findings: AspectFindings) -> str:
    attained = findings.alarms[0].attained
    if math.isnan(attained.low):
        return ""
    return (
        f"the rate itself is known to {figure(attained.low, '.0%')} to"
        f" {figure(attained.high, '.0%')} on held-out texts;"
        f" {_HALVES * findings.clean} more without error would halve that interval"
    )


def _agreement(findings: AspectFindings) -> str:
    change = next((each for each in findings.changes if each.name == AGREEMENT), None)
    if change is None or math.isnan(change.before.low):
        return ""
    before, texts = change.before, findings.calibration.texts
    half = (before.high - before.low) / 2
    says = (
        f"the rank correlation with people is known to {figure(before.low, '~.2f')} to"
        f" {figure(before.high, '~.2f')}"
    )
    if half <= _WIDTH:
        return says
    wanted = math.ceil(texts * (half / _WIDTH) ** 2)
    return f"{says}; about {wanted - texts} more marked texts would bring it to ± {_WIDTH}"


def cautions(texts: CalibrationTexts, findings: AspectFindings, terms: Terms) -> Iterator[str]:
    """Say what makes the figures worth less than they look."""
    if not findings.faulty:
        yield "people find an error in none of the texts: what is caught is not known"
    if not findings.clean:
        yield (
            "people find an error in all of the texts: thresholds are set on texts without error,"
            " so there is none"
        )
    if len({text.human for text in texts.texts if text.human is not None}) == 1:
        yield "people gave all texts one score: there is nothing to map scores to"
    sources = len(set(texts.sources))
    if sources < _FEW:
        yield f"the texts are of {sources} sources: with so few, intervals are too narrow"
    if findings.clean_sources < findings.clean:
        yield (
            f"{findings.clean} texts without error are of {findings.clean_sources} sources: the"
            " rate is promised for texts of new sources, so it takes more sources, not more texts"
            " of these"
        )
    if strange := int(np.isnan(texts.suspicions().values).sum()):
        yield (
            f"{strange} of {len(texts.texts)} texts have a score of other seats than most: no"
            " threshold is for these, so the usual rules decide and nothing is promised of them"
        )
    if findings.untried and findings.alarms[0].threshold is not None:
        yield (
            f"{findings.untried} of {len(texts.texts)} held-out texts are in no share of false"
            " alarms or of texts caught: without their fold the others are too few for a threshold"
        )
    if texts.are_weighted:
        yield unequal_chances_note([text.inclusion for text in texts.texts])
        yield "the map and the thresholds weigh texts by their chances" + (
            ", and no confidence is promised" if terms.confidence is not None else ""
        )
    yield from _disagreements(texts)


def _disagreements(texts: CalibrationTexts) -> Iterator[str]:
    """Say which people do not agree at all on the texts that both scored."""
    raters = sorted({rater for text in texts.texts for rater in text.people})
    for first, second in combinations(raters, 2):
        both = [text.people for text in texts.texts if {first, second} <= text.people.keys()]
        if len(both) < FEWEST:
            continue
        pairs = np.array([(scores[first], scores[second]) for scores in both])
        agreement = correlation(pairs[:, 0], pairs[:, 1])
        if agreement.value <= 0.0:
            yield (
                f"{first or 'one person'} and {second or 'another'} do not agree on the"
                f" {len(both)} texts that both scored ({figure(agreement.value, '~.2f')}): their"
                " mean says little, so settle what an error is before you calibrate to it"
            )
