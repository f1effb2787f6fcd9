"""Gains: by how much a judge is better than a baseline on the texts that both have answered."""

from collections.abc import Mapping

from spanjury.orchestration.studies.agreement.spans.estimates import Effects, Estimate, Settings
from spanjury.orchestration.studies.span_bench.arrays import Arrays
from spanjury.orchestration.studies.span_bench.figures import effects_of, estimated
from spanjury.stats.arrays import FloatArray
from spanjury.stats.weighted import Weighted

GAINS = ("characters.f1", "score.auroc", "decision.balanced_accuracy")
"""The figures that are compared."""


def gains_of(judge: Arrays, baseline: Arrays, *, settings: Settings) -> Mapping[str, Estimate]:
    """Return the differences of `GAINS`; both sides meet the same draws of sources."""
    both = judge.judged & baseline.judged
    sides = [effects_of(side.only(both)) for side in (judge, baseline)]
    differences: Effects = {
        (name,): _difference(sides[0][names], sides[1][names], at=names.index(name))
        for names in sides[0]
        for name in GAINS
        if name in names
    }
    return estimated(differences, judge, settings=settings)


def _difference(first: Weighted, second: Weighted, *, at: int) -> Weighted:
    """Return by how much one of the figures of an effect is greater."""

    def weighted(counts: FloatArray) -> FloatArray:
        shape = (len(counts), -1)
        return (first(counts).reshape(shape) - second(counts).reshape(shape))[:, at]

    return weighted
