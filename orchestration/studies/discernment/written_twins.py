"""Written twins: how many a judge catches, and how many pairs it puts in the right order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Segment
from spanjury.orchestration.studies.discernment.score_arrays import ScoreArrays
from spanjury.orchestration.studies.judging import source_of
from spanjury.perturbations.pairs import Condition
from spanjury.stats.arrays import FloatArray
from spanjury.stats.resampling import Estimate, bootstrap, estimates
from spanjury.stats.roc import caught_effect
from spanjury.stats.weighted import Weighted, mean_drop

WRITTEN = "written"
"""Family of damage that people wrote."""
MOST_ALARMS = 0.1
"""Share of the right twins that may raise a false alarm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTwins:
    """The pairs of a right text and the wrong twin that a person wrote, of all kinds together.

    `pairs`, `sources`: those with both scores, and the sources that they are of.
    """

    pairs: int
    sources: int
    kinds: tuple[str, ...]
    """Names of the conditions."""
    aspects: tuple[str, ...]
    """On which the scores are: all that the twins harm."""
    false_alarms: float
    """Share of the right twins below the cut-off, which is the highest with `MOST_ALARMS` at
    most."""
    caught: Estimate
    """Share of the wrong twins below it."""
    in_order: Estimate
    """Share of the pairs of which the wrong twin scores lower, ties half; 0.5 is chance."""


def written_twins(
    scores: ScoreArrays,
    segments: Sequence[Segment],
    conditions: Sequence[Condition],
    *,
    seed: int,
    draws: int,
) -> WrittenTwins | None:
    """Return what a judge makes of the twins; None where there are none with scores."""
    rows = [
        number
        for number, condition in enumerate(conditions)
        if condition.perturbation.family == WRITTEN
    ]
    columns = [
        number
        for number, name in enumerate(scores.aspects)
        if rows and all(conditions[row].perturbation.effect_on(name) == "falls" for row in rows)
    ]
    right, wrong, owner = [], [], []
    for row in rows:
        for text in np.flatnonzero(scores.applied[row]).tolist():
            right.append(scores.clean[columns, text].sum())
            wrong.append(scores.damaged[row, columns, text].sum())
            owner.append(source_of(segments[text]))
    good, bad = np.array(right, dtype=np.float64), np.array(wrong, dtype=np.float64)
    defined = ~np.isnan(good + bad)
    if not columns or not defined.any():
        return None
    good, bad = good[defined], bad[defined]
    names, sources = np.unique(np.array(owner)[defined], return_inverse=True)
    # A lower score is more suspect; the right twins come first.
    suspicion = -np.concatenate([good, bad])
    faulty = np.repeat([0.0, 1.0], good.size)
    caught = caught_effect(suspicion, faulty, false_alarms=MOST_ALARMS)
    in_order = mean_drop(0.5 + 0.5 * np.sign(good - bad))

    def share(effect: Weighted) -> Estimate:
        rng = np.random.default_rng(seed)
        return estimates(bootstrap(effect, items=names.size, rng=rng, draws=draws))[0]

    return WrittenTwins(
        pairs=good.size,
        sources=names.size,
        kinds=tuple(conditions[row].name for row in rows),
        aspects=tuple(scores.aspects[column] for column in columns),
        false_alarms=_alarms(-good, -bad),
        caught=share(lambda counts: caught(np.tile(counts[:, sources], 2))),
        in_order=share(lambda counts: in_order(counts[:, sources])),
    )


def _alarms(good: FloatArray, bad: FloatArray) -> float:
    """Return the share of right twins at the cut-off that catches most with few false alarms."""
    levels = np.unique(np.concatenate([good, bad]))
    shares = np.array([(good >= level).mean() for level in levels])
    allowed = shares[shares <= MOST_ALARMS]
    return float(allowed.max()) if allowed.size else 0.0
