"""A calibration fitted to marked texts: a map of scores, thresholds, weights of severities.

Nothing here says how well a fit does: that is to be seen on texts that it was not fitted to.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, ErrorSpan
from spanjury.judges.scoring.fitting import ScoredSpans, fit_weights
from spanjury.judges.scoring.span_map import SpanPenalty
from spanjury.orchestration.engine.calibration import QUANTILES, AspectCalibration
from spanjury.orchestration.engine.score_map import ScoreMap
from spanjury.orchestration.engine.thresholds import Signal, Thresholds
from spanjury.stats.arrays import FloatArray
from spanjury.stats.conformal import conformal_threshold
from spanjury.stats.monotone import centred_fit

BoolArray = NDArray[np.bool_]

GRAVE = 1.0
"""Added to the suspicion of a text with a grave error marked, which no threshold of a probability
lets pass."""
_DISTINCT = 2
"""Scores of people below which no map is fitted."""
_MARKED = 5
"""Texts with an error marked by the panel from which on severities are weighed."""
FAULTY_SHARE = 0.5
"""Part of the false-alarm rate that is promised for ``faulty``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOnAspect:
    """One text that people marked and the panel scored.

    `score`, `probability`: the panel's; no probability where no seat states one.
    `scored`, `stating`: names of the seats that the score is made of, and of their judges if all of
    these state a probability; a probability that some say nothing of is no measure of the panel.
    """

    source: str
    """The input that it was made of: texts of one source are never in two folds."""
    score: float
    probability: float | None = None
    is_grave: bool = False
    """True if the panel marks an error of severity 4 or 5."""
    people: Mapping[str, float] = field(default_factory=dict)
    """Rater -> score, on the scale of the aspect; empty without any."""
    is_clean: bool | None = None
    """True if people say that it has no error; None if unknown."""
    scored: frozenset[str] = frozenset()
    stating: frozenset[str] = frozenset()
    output: str = ""
    spans: tuple[ErrorSpan, ...] = ()
    inclusion: float = 1.0
    """Probability with which it was drawn to be marked."""

    @property
    def human(self) -> float | None:
        """The mean of people's scores; None without scores."""
        return fmean(self.people.values()) if self.people else None


class Suspicions(NamedTuple):
    """The numbers that thresholds are set on, text by text."""

    signal: Signal
    judges: frozenset[str]
    """Those that state the probability, or the seats whose scores are compared."""
    values: FloatArray
    """The probability of an error or the lost share of the scale; NaN where other seats answered
    than usual."""
    with_grave: FloatArray
    """The same; of probabilities, `GRAVE` more for texts with a grave error marked."""
    may_be_faulty: BoolArray
    """Texts that their number may make faulty: where scores are compared, an error is marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTexts:
    """All that a panel is calibrated on, on one aspect."""

    aspect: Aspect
    texts: tuple[TextOnAspect, ...]
    made_on: str
    """The marks, in words."""
    judges: frozenset[str] = frozenset()
    from_spans: bool = False
    """True if the panel's score follows from its spans: only then do severities weigh in it."""

    def part(self, chosen: BoolArray) -> "CalibrationTexts":
        """Return the texts that are chosen."""
        texts = tuple(text for text, is_in in zip(self.texts, chosen, strict=True) if is_in)
        return replace(self, texts=texts)

    @property
    def sources(self) -> tuple[str, ...]:
        """The source of each text."""
        return tuple(text.source for text in self.texts)

    @property
    def scores(self) -> FloatArray:
        """The panel's scores."""
        return np.array([text.score for text in self.texts], dtype=np.float64)

    @property
    def human(self) -> FloatArray:
        """People's scores, on the scale of the aspect; NaN without any."""
        return np.array([text.human for text in self.texts], dtype=np.float64)

    @property
    def clean(self) -> BoolArray:
        """Texts that people find no error in."""
        return np.array([text.is_clean is True for text in self.texts], dtype=np.bool_)

    @property
    def faulty(self) -> BoolArray:
        """Texts that people find an error in."""
        return np.array([text.is_clean is False for text in self.texts], dtype=np.bool_)

    @property
    def weights(self) -> FloatArray:
        """Texts that each stands for, by the probability with which it was drawn."""
        return 1.0 / np.array([text.inclusion for text in self.texts], dtype=np.float64)

    @property
    def are_weighted(self) -> bool:
        """True if some texts stand for more than others."""
        return len({text.inclusion for text in self.texts}) > 1

    def suspicions(self, like: "CalibrationTexts | None" = None) -> Suspicions:
        """Return the numbers that thresholds are set on.

        `like`: the texts that say which judges usually answer; these by default.
        """
        usual = (like or self).texts
        stating = _commonest([text.stating for text in usual])
        if stating:
            given = [text.probability if text.stating == stating else None for text in self.texts]
            stated = np.array(given, dtype=np.float64)
            grave = np.array([text.is_grave for text in self.texts])
            everywhere = np.ones(len(self.texts), dtype=np.bool_)
            return Suspicions("probability", stating, stated, stated + GRAVE * grave, everywhere)
        scored = _commonest([text.scored for text in usual])
        low, high = self.aspect.scale.low, self.aspect.scale.high
        is_usual = np.array([text.scored == scored for text in self.texts], dtype=np.bool_)
        lost = np.where(is_usual, (high - self.scores) / (high - low), np.nan)
        marked = np.array([bool(text.spans) for text in self.texts], dtype=np.bool_)
        return Suspicions("score", scored, lost, lost, marked)


def _commonest(sets: Sequence[frozenset[str]]) -> frozenset[str]:
    return Counter(sets).most_common(1)[0][0] if sets else frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Terms of a calibration.

    `draws`, `seed`: number of bootstrap resamples, and their seed.
    """

    rate: float = 0.1
    """Share of the texts without error that may be called unsure or faulty."""
    confidence: float | None = None
    """Probability that the rate holds for all texts like these, of new sources; None for a rate
    that holds on the average over sets of marked texts."""
    folds: int = 10
    """The most parts that texts are dealt into, by source."""
    draws: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        for name, share in (("rate", self.rate), ("confidence", self.confidence)):
            if share is not None and not 0.0 < share < 1.0:
                raise ValueError(f"the {name} must be between 0 and 1, got {share!r}")


def fit(
    texts: CalibrationTexts, terms: Terms, *, with_map: bool = True, with_weights: bool = True
) -> AspectCalibration:
    """Fit a calibration; parts that the texts do not allow are left out.

    `with_map`, `with_weights`: whether a map of scores, and weights of severities, are wanted;
    these only where the panel's score follows from its spans.
    """
    score_map = fit_map(texts) if with_map else None
    signal = texts.suspicions().signal
    seen: list[float] = texts.scores.tolist()
    if signal == "probability":
        seen = [text.probability for text in texts.texts if text.probability is not None]
    elif score_map:
        seen = list(map(score_map.at, seen))
    return AspectCalibration(
        score_map=score_map,
        thresholds=fit_thresholds(texts, terms),
        severity_weights=fit_severities(texts) if with_weights and texts.from_spans else None,
        texts=len(texts.texts),
        sources=len(set(texts.sources)),
        made_on=texts.made_on,
        seen=quantiles(seen),
        signal=signal,
    )


def fit_map(texts: CalibrationTexts) -> ScoreMap | None:
    """Fit the panel's score to people's, never falling; None if people's do not differ."""
    human = texts.human
    marked = ~np.isnan(human)
    if len(np.unique(human[marked])) < _DISTINCT:
        return None
    fitted = centred_fit(texts.scores[marked], human[marked], weights=texts.weights[marked])
    return ScoreMap(knots=tuple(fitted.knots.tolist()), values=tuple(fitted.values.tolist()))


def fit_thresholds(texts: CalibrationTexts, terms: Terms) -> Thresholds | None:
    """Set thresholds that keep the false-alarm rate; None if no threshold can.

    An error of severity 4 or 5 makes a text unsure at any threshold of a probability, so it
    counts as an alarm there.
    """
    suspicions = texts.suspicions()
    usable = texts.clean & ~np.isnan(suspicions.values)
    set_on = partial(
        threshold,
        weights=texts.weights[usable],
        confidence=terms.confidence,
        sources=np.array(texts.sources)[usable],
    )
    unsure = set_on(suspicions.with_grave[usable], rate=terms.rate)
    if unsure > 1.0:
        return None
    rate = terms.rate * FAULTY_SHARE
    faulty = max(set_on(suspicions.values[usable], rate=rate), unsure)
    faulty = faulty if faulty <= 1.0 else math.inf
    is_stated = suspicions.signal == "probability"
    return Thresholds(
        judges=suspicions.judges,
        beside=texts.judges - suspicions.judges if is_stated else frozenset(),
        unsure=unsure,
        faulty=faulty,
        unsure_alarms=terms.rate,
        faulty_alarms=rate if math.isfinite(faulty) else 0.0,
        texts=int(usable.sum()),
        data=texts.made_on,
        signal=suspicions.signal,
        promised=terms.rate,
    )


def threshold(
    values: FloatArray,
    weights: FloatArray,
    *,
    rate: float,
    confidence: float | None,
    sources: NDArray[np.str_] | None = None,
) -> float:
    """Return the lowest threshold that keeps false alarms at `rate`; infinite if none does.

    Texts of one source are one cluster. Texts that stand for different numbers of others are
    weighed so, each by itself, and a new one is taken to weigh as much as the heaviest.
    """
    if not values.size:
        return math.inf
    if np.ptp(weights) <= 0.0:
        return conformal_threshold(values, rate=rate, confidence=confidence, clusters=sources).value
    order = np.argsort(-values, kind="stable")
    heaviest = float(weights.max())
    shares = (np.cumsum(weights[order]) + heaviest) / (float(weights.sum()) + heaviest)
    if heaviest / (float(weights.sum()) + heaviest) > rate:
        return math.inf
    over = np.flatnonzero(shares > rate)
    bound = values[order][over[0]] if over.size else -math.inf
    return float(np.nextafter(bound, math.inf))


def fit_severities(texts: CalibrationTexts) -> tuple[float, ...] | None:
    """Fit the weight of each severity to people's scores; None where too few errors are marked."""
    rows = [
        ScoredSpans(output=text.output, spans=text.spans, score=text.human)
        for text in texts.texts
        if text.human is not None
    ]
    if sum(bool(row.spans) for row in rows) < _MARKED:
        return None
    try:
        fitted = fit_weights(rows, aspect=texts.aspect)
    except ValueError:  # people's scores do not fall with what the panel marks
        return None
    return tuple(accumulate(fitted.penalty.weights, max))


def penalties(texts: CalibrationTexts, weights: tuple[float, ...] | None) -> FloatArray:
    """Return the penalty of each text's errors; None for the usual weights."""
    penalty = SpanPenalty() if weights is None else SpanPenalty(weights=weights)
    made = [penalty.of(text.output, text.spans, aspect=texts.aspect) for text in texts.texts]
    return np.array(made, dtype=np.float64)


def quantiles(numbers: Sequence[float]) -> tuple[float, ...]:
    """Return the quantiles of what the panel said, in steps of 5 %."""
    steps = np.linspace(0.0, 1.0, QUANTILES + 1)
    return tuple(np.quantile(numbers, steps, method="inverted_cdf").tolist())
