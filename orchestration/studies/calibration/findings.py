"""Findings of a calibration: what it gains and promises, seen on texts that were held out."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from spanjury.judges.core import counted
from spanjury.orchestration.engine.calibration import AspectCalibration
from spanjury.orchestration.engine.thresholds import Thresholds
from spanjury.orchestration.report import figure
from spanjury.orchestration.studies.calibration.fitting import (
    FAULTY_SHARE,
    BoolArray,
    CalibrationTexts,
    Suspicions,
    Terms,
    fit,
    penalties,
)
from spanjury.orchestration.studies.estimates import LEVEL
from spanjury.orchestration.studies.ranking.score_table import inputs_to_show
from spanjury.orchestration.studies.sampling import unequal_chances_note
from spanjury.stats.arrays import FloatArray
from spanjury.stats.conformal import items_for_rate
from spanjury.stats.correlations.correlation import correlation
from spanjury.stats.proportions import clustered_proportion
from spanjury.stats.resampling import Estimate

FEWEST = 5
"""Marked texts from which on anything is fitted."""
LEAST_SOURCES = 2
"""Sources below which no text can be held out."""


class HeldOut(NamedTuple):
    """The texts, each by a calibration that did not see it; NaN where there was none."""

    mapped: FloatArray
    """The panel's scores after the map."""
    mean: FloatArray
    """People's mean score on the other texts: a map that knows nothing of the panel's."""
    usual_penalties: FloatArray
    """The penalty of the panel's errors by the usual weights of severities."""
    fitted_penalties: FloatArray
    """The same by the fitted weights, put on one scale over the folds."""
    unsure: FloatArray
    """1 for a text that is called unsure or faulty, 0 for one that is not."""
    faulty: FloatArray
    """The same for faulty."""


def fold_numbers(sources: tuple[str, ...], *, folds: int, seed: int) -> NDArray[np.intp]:
    """Deal sources into at most so many folds of nearly equal size, and return each text's.

    The order of the sources does not matter.
    """
    names = sorted(set(sources))
    parts = max(1, min(folds, len(names)))
    dealt = default_rng(seed).permutation(len(names)) % parts
    by_name = dict(zip(names, dealt.tolist(), strict=True))
    return np.array([by_name[source] for source in sources], dtype=np.intp)


def hold_out(texts: CalibrationTexts, terms: Terms) -> HeldOut:
    """Fit without each fold, and apply to it; of a single source, nothing is held out."""
    held = HeldOut(*(np.full(len(texts.texts), np.nan) for _ in HeldOut._fields))
    dealt = fold_numbers(texts.sources, folds=terms.folds, seed=terms.seed)
    for fold in range(folds) if (folds := int(dealt.max()) + 1) >= LEAST_SOURCES else ():
        inside: BoolArray = dealt == fold
        others, own = texts.part(~inside), texts.part(inside)
        for values, fitted in zip(held, _held_out(own, others, terms), strict=True):
            values[inside] = fitted
    return held


def _held_out(own: CalibrationTexts, others: CalibrationTexts, terms: Terms) -> HeldOut:
    fitted, human = fit(others, terms), others.human
    mapped = mean = fitted_penalties = unsure = faulty = np.full(len(own.texts), np.nan)
    if (scored := ~np.isnan(human)).any():
        mean = np.full_like(mean, np.average(human[scored], weights=others.weights[scored]))
    if fitted.score_map is not None:
        mapped = np.array([fitted.score_map.at(score) for score in own.scores])
    if (weights := fitted.severity_weights) is not None:
        # Weights say nothing of a unit: the most severe error costs 1 in every fold.
        fitted_penalties = penalties(own, weights) / weights[-1]
    if fitted.thresholds is not None:
        unsure, faulty = alarms(own.suspicions(like=others), fitted.thresholds)
    return HeldOut(mapped, mean, penalties(own, None), fitted_penalties, unsure, faulty)


def alarms(suspicions: Suspicions, thresholds: Thresholds) -> tuple[FloatArray, FloatArray]:
    """Return 1 for texts that are unsure or worse, and for faulty ones.

    NaN for texts without a number to compare, and all for faulty ones without such a threshold.
    """
    defined = ~np.isnan(suspicions.values)
    unsure = np.where(defined, suspicions.with_grave >= thresholds.unsure, np.nan)
    over = (suspicions.values >= thresholds.faulty) & suspicions.may_be_faulty
    faulty = np.where(defined & math.isfinite(thresholds.faulty), over, np.nan)
    return unsure.astype(np.float64), faulty.astype(np.float64)


TO_SHOW = inputs_to_show(confidence=1 - LEVEL)
"""Sources that can show a gain at all."""
_BINS, _PER_BIN = 10, 5
_BOUNDS = (0.025, 0.975)
Statistic = Callable[[FloatArray, FloatArray], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure before calibration and after it, on held-out texts.

    `after` and `difference` are not defined for a figure that no calibration changes.
    """

    name: str
    before: Estimate
    after: Estimate
    difference: Estimate
    """After less before, on the same draws of sources."""
    higher_is_better: bool
    sources: int

    @property
    def is_gain(self) -> bool:
        """True if the gain is more than chance explains: few sources may all agree by chance."""
        if self.sources < TO_SHOW:
            return False
        bound = self.difference.low if self.higher_is_better else -self.difference.high
        return bound > 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmFindings:
    """A threshold, what it promises, and what it does to held-out texts."""

    level: str
    threshold: float | None
    """None where too few texts allow none."""
    promised: float
    """Rate of false alarms that is not exceeded."""
    needed: int
    """Sources of texts without error that the promise takes at least."""
    attained: Estimate
    """Share of the held-out texts without error that raise an alarm; not defined without a
    threshold."""
    caught: Estimate
    """Share of the held-out texts with an error that do; not defined without a threshold."""
    untried: int
    """Texts for which the others, without their fold, allowed no threshold."""

    @property
    def catches_more(self) -> bool:
        """True if texts with an error are shown to raise an alarm more often than those without.

        The lower bound of the difference of the two shares, by Newcombe's method 10 [1]_, is above
        0.

        References
        ----------
        .. [1] Newcombe (1998), Interval estimation for the difference between independent
           proportions, Statistics in Medicine 17(8):873-890
        """
        below = self.caught.value - self.caught.low
        above = self.attained.high - self.attained.value
        return self.caught.value - self.attained.value > math.hypot(below, above)


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectFindings:
    """The calibration of one aspect, and what is known of it.

    `clean`, `faulty`: marked texts without error, and with one.
    """

    task: str
    aspect: str
    calibration: AspectCalibration
    signal: str
    clean: int
    clean_sources: int
    """Sources of those without error; each text is its own where chances of being drawn differ."""
    faulty: int
    grave_share: float
    """Share of the texts without error in which the panel marks an error of severity 4 or 5."""
    folds: int
    changes: tuple[Change, ...]
    """By the map of scores and, where the score follows from spans, the weights of severities."""
    alarms: tuple[AlarmFindings, ...]
    kept: tuple[str, ...]
    """Parts of the calibration that were kept: those that gain, and thresholds."""
    cautions: tuple[str, ...] = ()
    """Reasons why the figures are worth less than they look."""

    @property
    def gains(self) -> frozenset[str]:
        """Names of the changes that are shown to be gains."""
        return frozenset(change.name for change in self.changes if change.is_gain)

    @property
    def only_shrinks(self) -> bool:
        """True if a map of scores helps no more than people's mean in the place of every score."""
        return DISTANCE in self.gains and TO_MEAN not in self.gains


MAP, WEIGHTS, THRESHOLDS = "map of scores", "weights of severities", "thresholds"
AGREEMENT, DISTANCE, CALIBRATION_ERROR = "rank correlation", "distance", "calibration error"
TO_MEAN = "distance, mean"
"""The distance of people's mean score, and after it that of the map."""
BY_SPANS = "severities"


def aspect_findings(texts: CalibrationTexts, terms: Terms) -> AspectFindings:
    """Fit, hold out, and keep what gains."""
    held = hold_out(texts, terms)
    changes = tuple(_changes(texts, held, terms).values())
    gains = {change.name for change in changes if change.is_gain}
    with_map = gains >= {DISTANCE, TO_MEAN}  # a shrinkage to the mean gains on any poor score
    fitted = fit(texts, terms, with_map=with_map, with_weights=BY_SPANS in gains)
    kept = {MAP: fitted.score_map, WEIGHTS: fitted.severity_weights, THRESHOLDS: fitted.thresholds}
    clean = texts.clean
    grave = np.array([text.is_grave for text in texts.texts])
    made = AspectFindings(
        task=texts.aspect.task.name,
        aspect=texts.aspect.name,
        calibration=fitted,
        signal=texts.suspicions().signal,
        clean=int(clean.sum()),
        clean_sources=_clean_sources(texts),
        faulty=int(texts.faulty.sum()),
        grave_share=float(grave[clean].mean()) if clean.any() else math.nan,
        folds=min(terms.folds, len(set(texts.sources))),
        changes=changes,
        alarms=_alarms(texts, held, set_to=fitted.thresholds, terms=terms),
        kept=tuple(name for name, part in kept.items() if part is not None),
    )
    return replace(made, cautions=tuple(cautions(texts, made, terms)))


def _changes(texts: CalibrationTexts, held: HeldOut, terms: Terms) -> Mapping[str, Change]:
    human = texts.human
    compared: dict[str, tuple[FloatArray, FloatArray, Statistic, bool]] = {
        AGREEMENT: (texts.scores, texts.scores, rank_correlation, True),
        DISTANCE: (texts.scores, held.mapped, distance, False),
        TO_MEAN: (held.mean, held.mapped, distance, False),
        CALIBRATION_ERROR: (texts.scores, held.mapped, calibration_error, False),
        # None of it is known where the panel's score does not follow from its spans.
        BY_SPANS: (-held.usual_penalties, -held.fitted_penalties, rank_correlation, True),
    }
    changes = {}
    for name, (before, after, statistic, higher) in compared.items():
        scored = ~np.isnan(human + after + held.mean)
        if scored.any():
            pair = before[scored], after[scored]
            compare = partial(_compared, sources=np.array(texts.sources)[scored], terms=terms)
            made = compare(pair, human[scored], statistic=statistic)
            if name == AGREEMENT:  # a map that never falls reverses no two scores
                made = made[0], Estimate(), Estimate()
            changes[name] = Change(
                name=name,
                before=made[0],
                after=made[1],
                difference=made[2],
                higher_is_better=higher,
                sources=len({*np.array(texts.sources)[scored]}),
            )
    return changes


def rank_correlation(scores: FloatArray, human: FloatArray) -> float:
    """Return Spearman's correlation of scores with people's."""
    return correlation(scores, human).value


def distance(scores: FloatArray, human: FloatArray) -> float:
    """Return the root mean square distance of scores from people's, in points of the scale."""
    return float(np.sqrt(np.square(scores - human).mean()))


def calibration_error(scores: FloatArray, human: FloatArray) -> float:
    """Return how far groups of texts with like scores are from people's mean, on average.

    The groups are of nearly equal size, ten at most, with five texts or more on average. Texts with
    equal scores are in one group, so their order does not matter.
    """
    _, level, counts = np.unique(scores, return_inverse=True, return_counts=True)
    parts = max(1, min(_BINS, scores.size // _PER_BIN))
    middle = np.cumsum(counts) - counts / 2
    group = (parts * middle / scores.size).astype(np.intp)
    return float(np.abs(np.bincount(group[level], scores - human)).sum()) / scores.size


def _compared(
    pair: tuple[FloatArray, FloatArray],
    human: FloatArray,
    *,
    sources: NDArray[np.str_],
    statistic: Statistic,
    terms: Terms,
) -> tuple[Estimate, Estimate, Estimate]:
    """Return a figure before and after, and their difference, over draws of sources."""
    draws = _draws(sources, draws=terms.draws, rng=default_rng(terms.seed))
    before, after = (
        np.array([statistic(side[items], human[items]) for items in draws]) for side in pair
    )
    values = statistic(pair[0], human), statistic(pair[1], human)
    return (
        _bounded(values[0], before),
        _bounded(values[1], after),
        _bounded(values[1] - values[0], after - before),
    )


def _draws(sources: NDArray[np.str_], *, draws: int, rng: Generator) -> list[NDArray[np.intp]]:
    """Draw sources with replacement, each with all its texts."""
    _, where = np.unique(sources, return_inverse=True)
    order = np.argsort(where, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(where))[:-1])
    picks = rng.integers(len(members), size=(draws, len(members)))
    return [np.concatenate([members[source] for source in pick]) for pick in picks]


def _bounded(value: float, drawn: FloatArray) -> Estimate:
    defined = drawn[~np.isnan(drawn)]
    if not defined.size or math.isnan(value):
        return Estimate(value)
    low, high = np.quantile(defined, _BOUNDS)
    return Estimate(value, float(low), float(high))


def _alarms(
    texts: CalibrationTexts, held: HeldOut, *, set_to: Thresholds | None, terms: Terms
) -> tuple[AlarmFindings, ...]:
    levels = (
        ("unsure", terms.rate, set_to.unsure if set_to else math.inf, held.unsure),
        ("faulty", terms.rate * FAULTY_SHARE, set_to.faulty if set_to else math.inf, held.faulty),
    )
    clustered = _clean_sources(texts) < int(texts.clean.sum())
    defined = ~np.isnan(texts.suspicions().values)
    return tuple(
        AlarmFindings(
            level=level,
            threshold=value if is_set else None,
            promised=rate,
            needed=items_for_rate(rate, confidence=terms.confidence, clustered=clustered),
            attained=_share(raised, texts.clean, texts) if is_set else Estimate(),
            caught=_share(raised, texts.faulty, texts) if is_set else Estimate(),
            untried=int(np.count_nonzero(defined & np.isnan(raised))),
        )
        for level, rate, value, raised in levels
        for is_set in (math.isfinite(value),)
    )


def _clean_sources(texts: CalibrationTexts) -> int:
    if texts.are_weighted:
        return int(texts.clean.sum())
    return len(set(np.array(texts.sources)[texts.clean]))


def _share(raised: FloatArray, among: BoolArray, texts: CalibrationTexts) -> Estimate:
    """Return the share of some texts that raise an alarm, over their sources.

    The weights of the texts are scaled to sum to their effective number [1]_, which limits the
    number of trials in Wilson's interval.

    References
    ----------
    .. [1] Kish (1965), Survey Sampling, section 11.7
    """
    scored = among & ~np.isnan(raised)
    if not scored.any():
        return Estimate()
    _, where = np.unique(np.array(texts.sources)[scored], return_inverse=True)
    weights = texts.weights[scored]
    weights *= weights.sum() / np.square(weights).sum()
    hits = np.bincount(where, weights * raised[scored])
    share = clustered_proportion(hits, np.bincount(where, weights))
    return Estimate(share.value, share.low, share.high)


_FEW = 30
"""Sources below which an interval of percentiles is too narrow."""


def cautions(texts: CalibrationTexts, findings: AspectFindings, terms: Terms) -> Iterator[str]:
    """Say what makes the figures worth less than they look."""
    if not findings.faulty:
        yield "people find no error in any text, so the share of caught texts is unknown"
    if not findings.clean:
        yield (
            "people find an error in every text; thresholds are set on error-free texts, so there"
            " are none"
        )
    yield from _on_map(texts, findings)
    sources = len(set(texts.sources))
    if sources < TO_SHOW:
        come = f"the texts come from {counted(sources, 'source')}"
        yield f"{come}; a gain can be shown with {TO_SHOW} or more"
    elif sources < _FEW:
        yield f"the texts come from only {sources} sources, so intervals are too narrow"
    if findings.clean_sources < findings.clean:
        yield (
            f"the {findings.clean} error-free texts come from only"
            f" {counted(findings.clean_sources, 'source')}; the rate applies to new sources, so"
            " mark texts from more sources"
        )
    if strange := int(np.isnan(texts.suspicions().values).sum()):
        yield (
            f"{strange} of {len(texts.texts)} texts were scored by a different set of seats than"
            " most; the thresholds do not apply to them, so the default rules decide, without a"
            " guaranteed rate"
        )
    for alarm in findings.alarms:
        if alarm.untried and alarm.threshold is not None:
            yield (
                f"{alarm.untried} of {len(texts.texts)} held-out texts are excluded from both rates"
                f' of "{alarm.level}": the other folds allow no such threshold'
            )
    if texts.are_weighted:
        yield unequal_chances_note([text.inclusion for text in texts.texts])
        yield "the map and the thresholds weight texts by their chances" + (
            ", and no confidence is promised" if terms.confidence is not None else ""
        )
    yield from _disagreements(texts)


def _on_map(texts: CalibrationTexts, findings: AspectFindings) -> Iterator[str]:
    if len({text.human for text in texts.texts if text.human is not None}) == 1:
        yield "people gave all texts the same score, so there is nothing to map scores to"
    if findings.only_shrinks:
        yield (
            "mapped scores are not shown to be closer to people's than people's mean score is, so"
            " no map is kept"
        )


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
                f" {len(both)} texts that both scored ({figure(agreement.value, '.2f')}), so their"
                " mean says little: agree on what counts as an error before you calibrate"
            )
