"""Detection: which damaged texts the scores on an aspect catch without their clean versions.

A judge in use sees one text and not its clean version. So a cut-off is set for each aspect that
flags at most 5 % or 10 % of the texts that are not worse, and damaged texts below it are caught.
Texts that are not worse are the clean ones and those after a harmless change. A damaged text
without a score is not caught: no alarm is raised on it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.judges.core import Scale
from spanjury.orchestration.studies.discernment.score_arrays import (
    Judgements,
    ScoreArrays,
    is_harmless,
)
from spanjury.orchestration.studies.estimates import numbered, resampled
from spanjury.perturbations.pairs import Condition, PerturbedPair
from spanjury.stats.arrays import FloatArray, mean_of_defined
from spanjury.stats.flagging import auroc_of_drops, cutoff, flagged, most_by_chance
from spanjury.stats.proportions import clustered_proportion
from spanjury.stats.resampling import Estimate, Resampled, bootstrap, estimates
from spanjury.stats.spans.localisation import Localisation, localisation, new_spans, pooled
from spanjury.stats.weighted import Weighted, by_owner, mean_drop

STRICT, USUAL = 0.05, 0.1
"""The rates of false alarms."""
_DRAWS = 1000
"""Bootstrap draws that are enough for intervals."""
_BLOCK = 250_000
"""Counts of texts, clean and harmlessly changed, that are added up at a time."""
_HALF = 0.5
"""Nearer than this to the best score, the label is the best one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """Spans on one aspect beside the damage of one condition."""

    claims_spans: bool
    """True if the judge marks anything in any text on this aspect."""
    localisation: Localisation

    @property
    def misses(self) -> bool:
        """True if the judge marks spans, and there is damage to mark, but none touches it."""
        spans = self.localisation
        return self.claims_spans and spans.damaged > 0 and not spans.hits


def marked_places(
    pairs: Sequence[PerturbedPair], aspects: Sequence[str], judgements: Judgements
) -> Localisation:
    """Compare what is marked, on any of `aspects`, in damaged texts only with the damage."""
    return pooled(marked_in(pair, aspects, judgements) for pair in pairs)


def markings(
    pairs: Sequence[PerturbedPair], aspects: Sequence[str], judgements: Judgements
) -> tuple[Marking, ...]:
    """Compare what is marked with the damage, aspect by aspect."""
    marking = {aspect for (_, aspect), judgement in judgements.items() if judgement.spans}
    marked = [marked_places(pairs, [aspect], judgements) for aspect in aspects]
    return tuple(
        Marking(claims_spans=aspect in marking, localisation=there)
        for aspect, there in zip(aspects, marked, strict=True)
    )


def marked_in(pair: PerturbedPair, aspects: Sequence[str], judgements: Judgements) -> Localisation:
    """Compare what is marked in one damaged text, and not in its clean version, with its damage."""
    spans = [span for aspect in aspects for span in _new(pair, aspect, judgements)]
    return localisation(_rows(spans), _rows(pair.damage.places), length=len(pair.damaged.output))


def _new(pair: PerturbedPair, aspect: str, judgements: Judgements) -> Iterator[tuple[int, int]]:
    now = judgements[pair.damaged.segment_id, aspect].spans
    before = judgements[pair.clean.segment_id, aspect].spans
    carried = [pair.damage.carried(*span) for span in before]
    for start, end in new_spans(_rows(now), _rows(carried)):
        yield int(start), int(end)


def _rows(intervals: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(intervals, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Detection of one condition by the scores on one aspect, text by text.

    `caught_5`, `caught_10`: share below the cut-off that at most 5 % (10 %) of the clean and the
    harmlessly changed texts are below; NaN where the texts are too few to state the rate. The share
    is of all damaged texts; where the score should stay, of those with a score.
    """

    aspect: str
    texts: int
    """Changed texts with a score."""
    unscored: int
    """Changed texts without a score."""
    share_of: int
    """Number of texts that the shares are of."""
    caught_5: Estimate
    caught_10: Estimate
    of_clean_10: Estimate
    """The same where at most 10 % of the clean texts alone are."""
    by_chance: int
    """As many of the texts lie below this cut-off at most by chance, 95 % interval. Texts of one
    source count as lying on the same side of it."""
    auroc: Estimate
    """Area under the ROC curve, damaged against clean and harmlessly changed texts; of a harmless
    condition against the clean ones."""
    mean_drop: Estimate
    """Clean less changed score, in steps of the scale."""
    harmless_drop: float
    """The largest mean drop of a harmless condition on the aspect; 0 without one."""
    still_top: float
    """Share of the changed texts whose score still has the best label."""

    @property
    def flags(self) -> int:
        """Number of texts below the cut-off of 10 % of the clean ones; 0 without one."""
        share = self.of_clean_10.value
        return 0 if math.isnan(share) else round(share * self.share_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarms:
    """Cut-offs of an aspect, and what they flag of the texts that are not worse.

    `clean`, `harmless`: texts with a score, clean and harmlessly changed.
    `cutoff_5`, `cutoff_10`: scores below are flagged; NaN where the clean texts are too few to
    state the rate.
    `flagged_5`, `flagged_10`: share of all these texts that is flagged, at most the rate: ties make
    it less.
    """

    aspect: str
    clean: int
    harmless: int
    cutoff_5: float
    cutoff_10: float
    flagged_5: float
    flagged_10: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaughtMean:
    """Mean of `caught_10` over conditions and the aspects that they harm.

    `value`, `low`, `high`: not defined where no rate of false alarms can be stated.
    `texts`, `unscored`: damaged texts, and those of them without a score, which are not caught. A
    text counts once for each condition and aspect.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    texts: int = 0
    unscored: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Detections:
    """Detections of an exam."""

    alarms: tuple[Alarms, ...]
    by_condition: tuple[tuple[Detection, ...], ...]
    """Condition by condition, aspect by aspect."""
    caught: CaughtMean


def fewest_texts(rate: float) -> int:
    """Return the number of clean texts below which a rate of false alarms cannot be stated."""
    return math.ceil(1 / rate - 1e-9)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AspectScores:
    """Scores on one aspect, NaN where missing.

    `clean`, `changed`: shape ``(texts,)``, and ``(conditions, texts)``.
    `applied`, `counted`: shape ``(conditions, texts)``: whether there is a changed text, and
    whether a caught share counts it.
    `pooled`, `spared`: shape ``(conditions,)``: whether a flag is a false alarm, and whether the
    score should stay.
    """

    clean: FloatArray
    changed: FloatArray
    applied: NDArray[np.bool_]
    counted: NDArray[np.bool_]
    owner: NDArray[np.intp]
    """Shape ``(texts,)``: number of each text's source."""
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

    def most_by_chance(self, scored: NDArray[np.bool_]) -> int:
        """Return how many of the `scored` texts lie below that cut-off by chance; all without one.

        Each source is one trial: all of its texts, or none, are taken to lie below.
        """
        texts, sources = int(np.count_nonzero(scored)), np.unique(self.owner[scored]).size
        clean = np.unique(self.owner[~np.isnan(self.clean)]).size
        if not clean or not sources:
            return texts
        return most_by_chance(sources, clean=clean, rate=USUAL) * texts // sources

    def effect(self) -> Weighted:
        """Return all figures as one effect, shape ``(draws, figures, conditions)``."""
        clean = self.clean[np.newaxis]
        beside_pool = auroc_of_drops(self.pool, self.changed)
        beside_clean = auroc_of_drops(clean, self.changed)
        return stacked(
            [
                flagged(self.pool, self.changed, rate=STRICT, among=self.counted),
                flagged(self.pool, self.changed, rate=USUAL, among=self.counted),
                flagged(clean, self.changed, rate=USUAL, among=self.counted),
                lambda counts: np.where(self.spared, beside_clean(counts), beside_pool(counts)),
                mean_drop(self.clean - self.changed),
            ]
        )


def detections(
    score_arrays: ScoreArrays,
    conditions: Sequence[Condition],
    *,
    scales: Mapping[str, Scale],
    seed: int,
    draws: int,
) -> Detections:
    """Set the cut-offs of each aspect, and count what they catch of each condition.

    `conditions`, `scales`: in the order of the arrays.
    `seed`, `draws`: seed and number of resamples of sources, each with all its texts and what was
    made of them.
    """
    rules, shape = [each.perturbation for each in conditions], (len(conditions), len(scales))
    effects = np.array([[rule.effect_on(name) for name in scales] for rule in rules], dtype=object)
    falls, stays = ((effects == word).reshape(shape) for word in ("falls", "unchanged"))
    harmless = np.array([is_harmless(rule, aspects=[*scales]) for rule in rules], dtype=np.bool_)
    once, owner = score_arrays.single(), score_arrays.owner
    spared = np.asarray(stays.all(axis=1))
    aspects = [
        AspectScores(
            clean=once.clean[row],
            changed=once.damaged[:, row],
            applied=once.applied,
            counted=np.where(stays[:, [row]], ~np.isnan(once.damaged[:, row]), once.applied),
            owner=owner,
            pooled=harmless,
            spared=spared,
        )
        for row in range(len(once.aspects))
    ]
    effect = by_owner(stacked([aspect.effect() for aspect in aspects]), owner)
    rows = max(1, _BLOCK // (len(once.segments) * (1 + int(harmless.sum()))))
    items, rng = len({*once.sources}), np.random.default_rng(seed)
    in_blocks = _in_blocks(effect, rows=rows)
    drawn = bootstrap(in_blocks, items=items, rng=rng, draws=min(draws, _DRAWS))

    def in_cell(row: int, column: int) -> Detection:
        name = once.aspects[row]
        cell = drawn._replace(
            estimate=drawn.estimate[row, :, column], draws=drawn.draws[:, row, :, column]
        )
        return _detection(name, aspects[row], cell, column=column, scale=scales[name])

    stated = [[aspect.can_state(USUAL)] for aspect in aspects]
    return Detections(
        alarms=tuple(map(_alarms, once.aspects, aspects)),
        by_condition=tuple(
            tuple(in_cell(row, column) for row in range(len(aspects)))
            for column in range(len(conditions))
        ),
        caught=_mean_caught(aspects, drawn, falls.T & np.array(stated, dtype=bool)),
    )


def _mean_caught(
    aspects: Sequence[AspectScores], drawn: Resampled, caught: NDArray[np.bool_]
) -> CaughtMean:
    """Return the mean share over cells; `caught` has the shape ``(aspects, conditions)``."""
    cells = [
        (row, column)
        for row, column in np.argwhere(caught).tolist()
        if aspects[row].counted[column].any()
    ]
    if not cells:
        return CaughtMean()
    counted = np.array([aspects[row].counted[column] for row, column in cells])
    changed = np.array([aspects[row].changed[column] for row, column in cells])
    cuts = np.array([[aspects[row].cutoff(USUAL)] for row, _ in cells])
    rows, columns = np.transpose(cells)
    means = mean_of_defined(drawn.draws[:, rows, 1, columns])  # a draw may lack all texts
    mean = drawn._replace(estimate=np.full(1, np.nan), draws=means[:, np.newaxis])
    # Texts weighted so that all cells weigh the same: the share is then the mean of the shares.
    weights = counted.sum() / (len(cells) * counted.sum(axis=1, keepdims=True))
    share = _widened(
        estimates(mean)[0],
        np.sum(weights * (changed < cuts), axis=0),
        np.sum(weights * counted, axis=0),
        owner=aspects[0].owner,
    )
    return CaughtMean(
        **share._asdict(),
        texts=int(counted.sum()),
        unscored=int(np.count_nonzero(counted & np.isnan(changed))),
    )


def _detection(
    name: str, aspect: AspectScores, figures: Resampled, *, column: int, scale: Scale
) -> Detection:
    scores, owner, counted = aspect.changed[column], aspect.owner, aspect.counted[column]
    sources = [np.unique(owner[texts]).size for texts in (counted, ~np.isnan(scores))]
    strict, usual, of_clean, auroc, drop = estimates(figures, items=np.repeat(sources, [3, 2]))
    scored = scores[~np.isnan(scores)]
    caught = partial(_share, scores=scores, among=counted, owner=owner)
    of_clean_cut = cutoff(aspect.clean, rate=USUAL) if aspect.can_state(USUAL) else math.nan
    return Detection(
        aspect=name,
        texts=scored.size,
        unscored=int(np.count_nonzero(aspect.applied[column])) - scored.size,
        share_of=int(np.count_nonzero(counted)),
        caught_5=caught(strict, cut=aspect.cutoff(STRICT)),
        caught_10=caught(usual, cut=aspect.cutoff(USUAL)),
        of_clean_10=caught(of_clean, cut=of_clean_cut),
        by_chance=aspect.most_by_chance(~np.isnan(scores)),
        auroc=auroc,
        mean_drop=drop,
        harmless_drop=aspect.harmless_drop,
        still_top=float(np.mean(scored >= scale.high - _HALF)) if scored.size else math.nan,
    )


def _share(
    drawn: Estimate,
    *,
    scores: FloatArray,
    among: NDArray[np.bool_],
    cut: float,
    owner: NDArray[np.intp],
) -> Estimate:
    """Return the share below the cut-off of the texts `among` all; not defined without one."""
    return Estimate() if math.isnan(cut) else _widened(drawn, scores < cut, among, owner=owner)


def _widened(
    drawn: Estimate, hits: ArrayLike, trials: ArrayLike, *, owner: NDArray[np.intp]
) -> Estimate:
    """Widen the interval by Wilson's: where all texts go one way, no draw of them differs."""
    wilson = clustered_proportion(np.bincount(owner, hits), np.bincount(owner, trials))
    return Estimate(
        value=wilson.value,
        low=float(np.fmin(drawn.low, wilson.low)),
        high=float(np.fmax(drawn.high, wilson.high)),
    )


def _alarms(name: str, aspect: AspectScores) -> Alarms:
    pool = aspect.pool
    scored = pool[~np.isnan(pool)]
    cuts = [aspect.cutoff(rate) for rate in (STRICT, USUAL)]
    shares = [math.nan if math.isnan(cut) else float(np.mean(scored < cut)) for cut in cuts]
    clean = int(np.count_nonzero(~np.isnan(aspect.clean)))
    return Alarms(
        aspect=name,
        clean=clean,
        harmless=scored.size - clean,
        cutoff_5=cuts[0],
        cutoff_10=cuts[1],
        flagged_5=shares[0],
        flagged_10=shares[1],
    )


def stacked(effects: Sequence[Callable[[FloatArray], FloatArray]]) -> Weighted:
    """Join effects of one shape along a new axis behind the draws."""
    return lambda counts: np.stack([effect(counts) for effect in effects], axis=1)


def _in_blocks(effect: Weighted, *, rows: int) -> Weighted:
    """Work an effect out for so many draws at a time: what stays in the processor is faster."""

    def weighted(counts: FloatArray) -> FloatArray:
        parts = [counts[start : start + rows] for start in range(0, len(counts), rows)]
        return np.concatenate([effect(part) for part in parts])

    return weighted


WRITTEN = "written"
"""Family of damage that people wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTwins:
    """The pairs of a right text and the wrong version that a person wrote, of all kinds together.

    `pairs`, `sources`: those with both scores, and the sources that they are of.
    `wrong`, `unscored`: all wrong versions, and those without a score, which are not caught.
    """

    pairs: int
    sources: int
    wrong: int
    unscored: int
    kinds: tuple[str, ...]
    aspects: tuple[str, ...]
    """On which the scores are: all that the wrong versions harm."""
    false_alarms: float
    """Share of the right versions with a score below the cut-off, which is the highest with `USUAL`
    at most; NaN where they are too few to state the rate."""
    caught: Estimate
    """Share of all wrong versions below it; undefined if there is none."""
    in_order: Estimate
    """Share of the pairs with both scores of which the wrong version scores lower, ties half; 0.5
    is chance."""


def written_twins(
    scores: ScoreArrays, conditions: Sequence[Condition], *, seed: int, draws: int
) -> WrittenTwins | None:
    """Return the figures of the written pairs; None if there are none with scores."""
    rules = [condition.perturbation for condition in conditions]
    rows = [number for number, rule in enumerate(rules) if rule.family == WRITTEN]
    columns = [
        number
        for number, name in enumerate(scores.aspects)
        if rows and all(rules[row].effect_on(name) == "falls" for row in rows)
    ]
    kinds, texts = np.nonzero(scores.applied[rows])
    good = scores.clean[columns][:, texts].sum(axis=0)
    bad = scores.damaged[rows][:, columns][kinds, :, texts].sum(axis=1)
    is_pair = ~np.isnan(good + bad)
    if not columns or not is_pair.any():
        return None
    sources, names = numbered([scores.sources[text] for text in texts])
    all_wrong, right_scores = np.ones(bad.size, dtype=np.bool_), good[~np.isnan(good)]
    can_state = right_scores.size >= fewest_texts(USUAL)
    cut = cutoff(right_scores, rate=USUAL) if can_state else math.nan
    in_order = 0.5 + 0.5 * np.sign(good - bad)
    paired = np.unique(sources[is_pair]).size

    def drawn(effect: Weighted, *, items: int) -> Estimate:
        return estimates(resampled(effect, sources, seed=seed, draws=draws), items=items)[0]

    caught = flagged(good[np.newaxis], bad, rate=USUAL, among=all_wrong)
    below, ordered = drawn(caught, items=len(names)), drawn(mean_drop(in_order), items=paired)
    return WrittenTwins(
        pairs=int(np.count_nonzero(is_pair)),
        sources=paired,
        wrong=bad.size,
        unscored=int(np.count_nonzero(np.isnan(bad))),
        kinds=tuple(conditions[row].name for row in rows),
        aspects=tuple(scores.aspects[column] for column in columns),
        false_alarms=math.nan if math.isnan(cut) else float(np.mean(right_scores < cut)),
        caught=_share(below, scores=bad, among=all_wrong, cut=cut, owner=sources),
        in_order=_widened(ordered, np.nan_to_num(in_order), is_pair, owner=sources),
    )
