"""Findings: the evaluation of an exam, condition by condition and contrast by contrast.

Texts about one source are correlated, so intervals and tests treat each source as one observation:
a test takes the sum of the differences of each.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Scale
from spanjury.orchestration.studies.discernment.detection import (
    Alarms,
    CaughtMean,
    Detection,
    Marking,
    WrittenTwins,
    detections,
    marked_places,
    markings,
    written_twins,
)
from spanjury.orchestration.studies.discernment.score_arrays import Judgements, ScoreArrays
from spanjury.orchestration.studies.estimates import grouped, resampled
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped
from spanjury.perturbations.perturbation import Effect
from spanjury.stats.arrays import cluster_sums
from spanjury.stats.combination.combining import Combination
from spanjury.stats.combination.discernment import (
    LevelBalanced,
    discernment_score,
    level_balanced,
    linear_pool,
    target_contrast,
)
from spanjury.stats.combination.harmonic_mean import (
    harmonic_mean_calibrated,
    harmonic_mean_paper,
    harmonic_mean_wilson,
)
from spanjury.stats.effects import (
    DifferenceEffects,
    ScaleEffects,
    difference_effects,
    scale_effects,
)
from spanjury.stats.resampling import estimates
from spanjury.stats.significance.equivalence import Equivalence, equivalence
from spanjury.stats.significance.joint import joint_sign_flip
from spanjury.stats.significance.paired import PairedStatistic, PairedTest
from spanjury.stats.significance.sign_flip import paired_test
from spanjury.stats.significance.signed_rank import signed_rank
from spanjury.stats.spans.localisation import Localisation
from spanjury.stats.weighted import net_drop

Mode = Literal["paper", "wilson", "calibrated"]

_MARGIN = 0.5
"""Points of the scale that a score may move on a text that did not get worse."""
_MOST = 0.5
"""The share of the weights that must be on aspects with scores."""
_SMALL = 0.2
"""Weights below this are set to 0 in the ablation: a small one moves a harmonic mean much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """The test of differences, and how the p-values of several aspects become one."""

    test: PairedStatistic
    combine: Combination


METHODS: Mapping[Mode, Method] = {
    "paper": Method(test=signed_rank, combine=harmonic_mean_paper),
    "wilson": Method(test=paired_test, combine=harmonic_mean_wilson),
    "calibrated": Method(test=paired_test, combine=harmonic_mean_calibrated),
}
"""`paper` is DHP as printed, whose combined value is no p-value; `calibrated` is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The effect of a condition on the scores on one aspect.

    `effects`, `interval`: shares of scores that fell and rose; the 95 % interval of the first less
    the second. The mean drop is in points of the scale.
    """

    aspect: str
    expected: Effect | None
    """The expected movement of the score; None where anything may happen."""
    test: PairedTest
    """Its counts are of sources."""
    discernment: float
    effects: DifferenceEffects
    interval: tuple[float, float]
    on_scale: ScaleEffects
    """The same against the ends of the scale."""
    equivalence: Equivalence | None
    """The test that the score stayed the same, in points of the scale; None where it need not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the evaluation."""

    mode: Mode = "calibrated"
    """The test of differences, and how the p-values of several aspects become one."""
    test: str = ""
    """Name of the statistic that stands in for the mode's test of differences; empty for that."""
    seed: int = 1
    """Seed of the damage and of the bootstrap."""
    draws: int = 10_000


def contrasts(
    clean: NDArray[np.float64],
    damaged: NDArray[np.float64],
    *,
    owner: NDArray[np.intp],
    scales: Mapping[str, Scale],
    expected: Callable[[str], Effect | None],
    method: Method,
    repeats: int,
    settings: Settings,
) -> Iterator[Contrast]:
    """Yield what a condition did to the scores, aspect by aspect.

    `clean`, `damaged`: shape ``(aspects, segments)``: sums of `repeats` scores, NaN where there is
    none.
    `owner`: shape ``(segments,)``: number of each segment's source.
    `scales`: aspect -> its scale, in the order of the arrays.
    `settings`: of the bootstrap, which resamples the same sources for every condition.
    """
    differences = clean - damaged
    sums = cluster_sums(differences, owner)
    drawn = resampled(net_drop(differences), owner, seed=settings.seed, draws=settings.draws)
    drops = estimates(drawn, items=np.count_nonzero(~np.isnan(sums), axis=-1))
    for row, ((aspect, scale), drop) in enumerate(zip(scales.items(), drops, strict=True)):
        test = method.test(sums[row])
        effects = difference_effects(differences[row])
        spared = expected(aspect) == "unchanged"
        yield Contrast(
            aspect=aspect,
            expected=expected(aspect),
            test=test,
            discernment=float(discernment_score([test.log_p])[0]),
            effects=effects._replace(mean_drop=effects.mean_drop / repeats),  # as of single scores
            interval=drop[1:],
            on_scale=scale_effects(
                clean[row] / repeats, damaged[row] / repeats, low=scale.low, high=scale.high
            ),
            equivalence=_equivalence(differences[row], owner, repeats=repeats) if spared else None,
        )


def _equivalence(
    differences: NDArray[np.float64], owner: NDArray[np.intp], *, repeats: int
) -> Equivalence:
    """Test the sums of repeats, in which ties are exact, and describe single scores."""
    of_sums = equivalence(differences, margin=_MARGIN * repeats, clusters=owner)
    return of_sums._replace(
        estimate=of_sums.estimate / repeats, low=of_sums.low / repeats, high=of_sums.high / repeats
    )


class OnAspect(NamedTuple):
    """The effect of a condition on one aspect: on scores, on what they catch, and on spans."""

    contrast: Contrast
    detection: Detection
    marking: Marking


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one condition.

    `condition`, `family`, `level`: what was done.
    `weighted`, `ablated`: D with the weights of the recipe or of the user, and with the small ones
    set to 0; NaN without weights. An aspect without scores is skipped and the others' weights are
    scaled up; NaN if less than half of the weight is left.
    `unscored_weights`: aspect -> its weight, for aspects with a weight and without scores.
    `detections`, `markings`: aspect by aspect: what the scores catch without the clean version, and
    whether spans lie where the damage is.
    """

    condition: str
    family: str
    level: str
    written_by: str
    """Name of the model that did it; empty for a rule."""
    damaged: int
    skipped: Mapping[str, int]
    """Why others were not, and how often."""
    contrasts: tuple[Contrast, ...]
    discernment: float
    """D of all aspects together on which there are scores; NaN where no score should fall."""
    weighted: float
    ablated: float
    unscored_weights: Mapping[str, float]
    pooled: float
    """Weighted mean of the aspects' D; NaN without weights."""
    target_contrast: float
    """By how much D is higher on the aspects that should fall than on the others."""
    joint: float
    """D of one test over the aspects that should fall and have scores, all counting alike; where
    none should, over those that may. It assumes nothing about how aspects are correlated. It is
    drawn, and ends at ``log_0.05(1 / (draws + 1))``, 3.07 for 10,000 draws. NaN where no score
    should fall."""
    localisation: Localisation
    """Overlap of the judge's new spans with the damage."""
    detections: tuple[Detection, ...]
    markings: tuple[Marking, ...]

    @property
    def on_aspects(self) -> tuple[OnAspect, ...]:
        """The effect on each aspect."""
        return tuple(map(OnAspect, self.contrasts, self.detections, self.markings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of an exam.

    `overall`, `weighted`: D of the conditions after which a score should fall: average over levels
    and minimum.
    """

    settings: Settings
    segments: int
    sources: int
    repeats: int
    control: tuple[Contrast, ...]
    """The clean texts against themselves: nothing should fall here."""
    findings: tuple[Finding, ...]
    overall: LevelBalanced
    weighted: LevelBalanced
    alarms: tuple[Alarms, ...]
    """Cut-offs and false alarms, aspect by aspect."""
    caught: CaughtMean
    """The caught share at 10 % false alarms."""
    twins: WrittenTwins | None
    """Those that people wrote; None if there are none with scores."""


def evaluate_scores(
    score_arrays: ScoreArrays,
    conditions: Sequence[Condition],
    pairs: Sequence[PerturbedPair | Skipped],
    *,
    judgements: Judgements,
    scales: Mapping[str, Scale],
    settings: Settings,
    method: Method | None = None,
) -> Findings:
    """Evaluate an exam.

    `conditions`, `pairs`: ways of damage, in the order of the arrays, and the texts damaged or
    skipped.
    `scales`: aspect -> its scale, in the order of the arrays.
    `method`: by default that of the mode.
    """
    method = method or METHODS[settings.mode]
    owner, seed, draws = score_arrays.owner, settings.seed, settings.draws
    described = partial(
        contrasts,
        score_arrays.clean,
        owner=owner,
        scales=scales,
        method=method,
        repeats=score_arrays.repeats,
        settings=settings,
    )
    detected = detections(score_arrays, conditions, scales=scales, seed=seed, draws=draws)
    finding_of = partial(_finding, judgements=judgements, method=method, settings=settings)
    by_condition = grouped(pairs, lambda pair: pair.condition)
    findings = tuple(
        finding_of(
            condition,
            tuple(described(damaged, expected=condition.perturbation.effect_on)),
            by_condition.get(condition.name, []),
            sums=cluster_sums(score_arrays.clean - damaged, owner),
            detected=by_aspect,
        )
        for condition, damaged, by_aspect in zip(
            conditions, score_arrays.damaged, detected.by_condition, strict=True
        )
    )
    averaged = partial(level_balanced, levels=[finding.level for finding in findings])
    return Findings(
        settings=settings,
        segments=len(score_arrays.segments),
        sources=len({*score_arrays.sources}),
        repeats=score_arrays.repeats,
        control=tuple(described(score_arrays.control, expected=lambda _: "unchanged")),
        findings=findings,
        overall=averaged([finding.discernment for finding in findings]),
        weighted=averaged([finding.weighted for finding in findings]),
        alarms=detected.alarms,
        caught=detected.caught,
        twins=written_twins(score_arrays, conditions, seed=seed, draws=draws),
    )


def _finding(
    condition: Condition,
    described: tuple[Contrast, ...],
    pairs: Sequence[PerturbedPair | Skipped],
    *,
    sums: NDArray[np.float64],
    detected: tuple[Detection, ...],
    judgements: Judgements,
    method: Method,
    settings: Settings,
) -> Finding:
    aspects = [contrast.aspect for contrast in described]
    damaged = [pair for pair in pairs if isinstance(pair, PerturbedPair)]
    scored = [contrast for contrast in described if not np.isnan(contrast.test.log_p)]
    harmful = any(contrast.expected != "unchanged" for contrast in scored)
    log_p = np.array([contrast.test.log_p for contrast in scored])
    scores = np.array([contrast.discernment for contrast in scored])
    weighed = {contrast.aspect for contrast in scored}
    weights = _shares([condition.weights.get(contrast.aspect, 0.0) for contrast in scored])
    big = _shares([weight if weight >= _SMALL else 0.0 for weight in weights])
    targeted = np.array([contrast.expected == "falls" for contrast in scored], dtype=bool)
    return Finding(
        condition=condition.name,
        family=condition.perturbation.family,
        level=condition.level,
        written_by=pairs[0].written_by,
        damaged=len(damaged),
        skipped=Counter(pair.reason for pair in pairs if isinstance(pair, Skipped)),
        contrasts=described,
        discernment=_combined(log_p, None, method) if harmful else np.nan,
        weighted=_combined(log_p, weights, method) if weights.any() else np.nan,
        ablated=_combined(log_p, big, method) if big.any() else np.nan,
        unscored_weights={
            name: weight
            for name, weight in condition.weights.items()
            if weight and name not in weighed
        },
        pooled=float(linear_pool(scores, weights=weights)) if weights.any() else np.nan,
        target_contrast=float(target_contrast(scores, targeted=targeted)) if scored else np.nan,
        joint=_joint(sums, described, settings),
        localisation=marked_places(damaged, aspects, judgements),
        detections=detected,
        markings=markings(damaged, aspects, judgements),
    )


def _shares(weights: Sequence[float]) -> NDArray[np.float64]:
    """Scale weights to a sum of 1; to none if most of them is gone."""
    values = np.array(weights, dtype=np.float64)
    total = values.sum()
    return values / total if total >= _MOST else np.zeros_like(values)


def _combined(
    log_p: NDArray[np.float64], weights: NDArray[np.float64] | None, method: Method
) -> float:
    return float(discernment_score([method.combine(log_p, weights=weights)])[0])


def _joint(sums: NDArray[np.float64], described: Sequence[Contrast], settings: Settings) -> float:
    """Return D of the aspects that should fall, with one sign a source for all of them."""
    scored = [not np.isnan(contrast.test.log_p) for contrast in described]
    falls = [contrast.expected == "falls" for contrast in described]
    may_fall = falls if any(falls) else [contrast.expected is None for contrast in described]
    counted = np.array(scored) & np.array(may_fall)
    if not counted.any():
        return np.nan
    rng = np.random.default_rng(settings.seed)
    drawn = joint_sign_flip(sums[counted], rng=rng, draws=settings.draws)
    return float(discernment_score([drawn.log_p])[0])
