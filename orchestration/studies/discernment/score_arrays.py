"""Scores of clean and of damaged texts: as arrays side by side, and as rows of a file."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, Outcome, Segment, fingerprint
from spanjury.orchestration.studies.judging import Judgement
from spanjury.perturbations.pairs import Condition, PerturbedPair
from spanjury.perturbations.perturbation import Effect, Perturbation
from spanjury.stats.arrays import FloatArray
from spanjury.stats.flagging import auroc_of_drops, cutoff, flagged, most_by_chance
from spanjury.stats.weighted import Weighted, mean_drop

_DIGITS = 9
"""Decimals of a sum of scores: 4.1 + 4.3 is to tie with 4.2 + 4.2."""

BIAS = "bias"
"""Family of the perturbations that leave the substance alone and tempt the judge."""

Judgements = Mapping[tuple[str, str], Judgement]
"""``(segment id, aspect name)`` -> what the panel says."""
STRICT, USUAL = 0.05, 0.1
"""The rates of false alarms."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreArrays:
    """Scores, NaN where there is none.

    Parameters
    ----------
    clean, control
        Shape ``(aspects, segments)``: of the clean texts, and of the same a second time.
    damaged
        Shape ``(conditions, aspects, segments)``; NaN also where nothing could be damaged.
    applied
        Shape ``(conditions, segments)``: whether there is a damaged text.
    repeats
        How many scores each number is the sum of: sums have ties where means would have
        differences in their last digit.
    """

    segments: tuple[str, ...]
    aspects: tuple[str, ...]
    conditions: tuple[str, ...]
    clean: NDArray[np.float64]
    control: NDArray[np.float64]
    damaged: NDArray[np.float64]
    applied: NDArray[np.bool_]
    repeats: int

    @property
    def differences(self) -> NDArray[np.float64]:
        """Clean less damaged scores, summed over repeats: ``(conditions, aspects, segments)``."""
        return self.clean[None] - self.damaged

    def single(self) -> "ScoreArrays":
        """Return the means of the repeats in place of their sums; what ties here tied there."""
        clean, control, damaged = (
            scores / self.repeats for scores in (self.clean, self.control, self.damaged)
        )
        return replace(self, clean=clean, control=control, damaged=damaged, repeats=1)


def collect_scores(
    segments: Sequence[Segment],
    aspects: Sequence[Aspect],
    pairs: Sequence[PerturbedPair],
    *,
    draws: Sequence[Judgements],
    control: Sequence[Judgements],
    conditions: Sequence[str],
) -> ScoreArrays:
    """Put scores into arrays."""
    names = tuple(aspect.name for aspect in aspects)
    rows = {name: number for number, name in enumerate(conditions)}
    columns = {segment.segment_id: number for number, segment in enumerate(segments)}
    damaged = np.full((len(rows), len(names), len(columns)), np.nan)
    applied = np.zeros((len(rows), len(columns)), dtype=bool)
    for pair in pairs:
        row, column = rows[pair.condition], columns[pair.clean.segment_id]
        applied[row, column] = True
        damaged[row, :, column] = _summed(pair.damaged.segment_id, names, draws)
    return ScoreArrays(
        segments=tuple(columns),
        aspects=names,
        conditions=tuple(rows),
        clean=np.array([_summed(name, names, draws) for name in columns]).T,
        control=np.array([_summed(name, names, control) for name in columns]).T,
        damaged=damaged,
        applied=applied,
        repeats=len(draws),
    )


def score_sum(key: tuple[str, str], draws: Sequence[Judgements]) -> float:
    """Sum the scores under ``(segment id, aspect name)`` over the draws; NaN if one is missing."""
    scores = [judgements[key].score for judgements in draws]
    given = [score for score in scores if score is not None]
    return round(math.fsum(given), _DIGITS) if len(given) == len(scores) else math.nan


def _summed(
    segment_id: str, aspects: Sequence[str], draws: Sequence[Judgements]
) -> NDArray[np.float64]:
    return np.array([score_sum((segment_id, aspect), draws) for aspect in aspects])


def is_harmless(perturbation: Perturbation, *, aspects: Sequence[str]) -> bool:
    """Return whether a text is none the worse for it, so that a flag on it is a false alarm.

    One that harms an aspect which is not judged is not harmless. Nor is an attempt to sway the
    judge: that a text with such a sentence is flagged need not be wrong.
    """
    harms = any(effect != "unchanged" for effect in perturbation.effects.values())
    spared = all(perturbation.effect_on(aspect) == "unchanged" for aspect in aspects)
    return spared and not harms and perturbation.family != BIAS


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """Scores of one text, clean and damaged, on one aspect.

    Parameters
    ----------
    condition
        What was done to it; None for the control, where the clean text is judged once more.
    expected
        What the score should do; None where anything may happen.
    clean, damaged
        Sums of `repeats` scores; None where one of them is missing.
    clean_outcome, damaged_outcome
        How the assessments ended: `scored`, or how the first one without a score did.
    clean_digest, damaged_digest
        Digest of all that a judge may see of the text: two exams with the same digests have
        shown the same.
    harmless
        Whether the text is none the worse: a flag on it is a false alarm. None in files of
        releases until 0.2, which do not say.
    """

    text: str
    condition: str | None
    aspect: str
    expected: Effect | None
    clean: float | None
    damaged: float | None
    repeats: int
    clean_outcome: Outcome
    damaged_outcome: Outcome
    clean_digest: str
    damaged_digest: str
    harmless: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Total:
    """The score of one text on one aspect, summed over all draws."""

    total: float | None
    outcome: Outcome


def score_rows(
    segments: Sequence[Segment],
    aspects: Sequence[Aspect],
    pairs: Sequence[PerturbedPair],
    *,
    draws: Sequence[Judgements],
    control: Sequence[Judgements],
    conditions: Sequence[Condition],
) -> Iterator[ScoreRow]:
    """Yield the scores of an exam text by text; parameters as in `collect_scores`.

    Yields
    ------
    ScoreRow
        The control first, then condition by condition.
    """
    by_name = {condition.name: condition.perturbation for condition in conditions}
    names = [aspect.name for aspect in aspects]
    harmless = {name for name, rule in by_name.items() if is_harmless(rule, aspects=names)}
    for segment in segments:
        for aspect in aspects:
            yield _row(
                (segment, segment),
                aspect.name,
                (draws, control),
                condition=None,
                to="unchanged",
                harmless=True,
            )
    for pair in pairs:
        for aspect in aspects:
            yield _row(
                (pair.clean, pair.damaged),
                aspect.name,
                (draws, draws),
                condition=pair.condition,
                to=by_name[pair.condition].effect_on(aspect.name),
                harmless=pair.condition in harmless,
            )


def _row(
    texts: tuple[Segment, Segment],
    aspect: str,
    judgements: tuple[Sequence[Judgements], Sequence[Judgements]],
    *,
    condition: str | None,
    to: Effect | None,
    harmless: bool,
) -> ScoreRow:
    clean, damaged = (
        _total((text.segment_id, aspect), draws)
        for text, draws in zip(texts, judgements, strict=True)
    )
    return ScoreRow(
        text=texts[0].segment_id,
        condition=condition,
        aspect=aspect,
        expected=to,
        clean=clean.total,
        damaged=damaged.total,
        repeats=len(judgements[0]),
        clean_outcome=clean.outcome,
        damaged_outcome=damaged.outcome,
        clean_digest=digest_of(texts[0]),
        damaged_digest=digest_of(texts[1]),
        harmless=harmless,
    )


def _total(key: tuple[str, str], draws: Sequence[Judgements]) -> _Total:
    total = score_sum(key, draws)
    outcomes = (judgements[key].outcome for judgements in draws if judgements[key].score is None)
    return _Total(total=None if np.isnan(total) else total, outcome=next(outcomes, Outcome.SCORED))


def digest_of(segment: Segment) -> str:
    """Return a digest of all that a judge may see of `segment`."""
    inputs = [part for item in sorted(segment.inputs.items()) for part in item]
    return fingerprint(segment.output, str(len(inputs)), *inputs, *segment.references)


def fewest_texts(rate: float) -> int:
    """Return the number of clean texts below which a rate of false alarms cannot be stated."""
    return math.ceil(1 / rate - 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AspectScores:
    """Scores on one aspect, NaN where missing.

    Parameters
    ----------
    clean, changed
        Shape ``(texts,)``, and ``(conditions, texts)``.
    pooled
        Shape ``(conditions,)``: whether a flag is a false alarm.
    spared
        Likewise: whether the score should stay.
    """

    clean: FloatArray
    changed: FloatArray
    pooled: NDArray[np.bool_]
    spared: NDArray[np.bool_]

    @property
    def pool(self) -> FloatArray:
        """The scores of all that is not worse, ``(variants, texts)``."""
        return np.concatenate([self.clean[np.newaxis], self.changed[self.pooled]])

    def can_state(self, rate: float) -> bool:
        """Return whether the clean texts are enough to state a rate of false alarms."""
        return int(np.count_nonzero(~np.isnan(self.clean))) >= fewest_texts(rate)

    @property
    def harmless_drop(self) -> float:
        """The largest mean drop after a harmless change; 0 where none has scores."""
        drops = self.clean - self.changed[self.pooled]
        means = [float(np.nanmean(drop)) for drop in drops if not np.isnan(drop).all()]
        return max(means, default=0.0)

    def cutoff(self, rate: float) -> float:
        """Return the cut-off; NaN where the rate cannot be stated."""
        return cutoff(self.pool.ravel(), rate=rate) if self.can_state(rate) else math.nan

    def cutoff_of_clean(self) -> float:
        """Return the clean texts' cut-off at the usual rate; NaN where it cannot be stated."""
        return cutoff(self.clean, rate=USUAL) if self.can_state(USUAL) else math.nan

    def most_by_chance(self, texts: int) -> int:
        """Return how many of `texts` lie below that cut-off by chance; all without one."""
        clean = int(np.count_nonzero(~np.isnan(self.clean)))
        return most_by_chance(texts, clean=clean, rate=USUAL) if clean else texts

    def effect(self) -> Weighted:
        """Return all figures as one effect, shape ``(draws, figures, conditions)``."""
        clean = self.clean[np.newaxis]
        beside_pool = auroc_of_drops(self.pool, self.changed)
        beside_clean = auroc_of_drops(clean, self.changed)
        return stacked(
            [
                flagged(self.pool, self.changed, rate=STRICT),
                flagged(self.pool, self.changed, rate=USUAL),
                flagged(clean, self.changed, rate=USUAL),
                lambda counts: np.where(self.spared, beside_clean(counts), beside_pool(counts)),
                mean_drop(self.clean - self.changed),
            ]
        )


def stacked(effects: Sequence[Callable[[FloatArray], FloatArray]]) -> Weighted:
    """Join effects of one shape along a new axis behind the draws."""
    return lambda counts: np.stack([effect(counts) for effect in effects], axis=1)


def in_blocks(effect: Weighted, *, rows: int) -> Weighted:
    """Work an effect out for so many draws at a time: what stays in the processor is faster."""

    def weighted(counts: FloatArray) -> FloatArray:
        parts = [counts[start : start + rows] for start in range(0, len(counts), rows)]
        return np.concatenate([effect(part) for part in parts])

    return weighted
