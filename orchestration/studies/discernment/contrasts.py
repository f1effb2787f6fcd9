"""Contrasts: whether a condition made the scores on an aspect fall, how far, and if it should."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from spanjury.judges.core import Scale
from spanjury.perturbations.perturbation import Effect
from spanjury.stats.combination.combining import Combination
from spanjury.stats.combination.discernment import discernment_score
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
from spanjury.stats.resampling import Interval, bootstrap, percentile_interval
from spanjury.stats.significance.equivalence import Equivalence, equivalence
from spanjury.stats.significance.paired import PairedStatistic, PairedTest
from spanjury.stats.significance.sign_flip import paired_test
from spanjury.stats.significance.signed_rank import signed_rank
from spanjury.stats.weighted import net_drop

Mode = Literal["paper", "wilson", "calibrated"]

_MARGIN = 0.5
"""Points of the scale that a score may move on a text that did not get worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """The test of differences, and how the p-values of several aspects become one."""

    test: PairedStatistic
    combine: Combination


def _as_printed(differences: ArrayLike, /) -> PairedTest:
    return signed_rank(differences)


METHODS: Mapping[Mode, Method] = MappingProxyType(
    {
        "paper": Method(test=_as_printed, combine=harmonic_mean_paper),
        "wilson": Method(test=paired_test, combine=harmonic_mean_wilson),
        "calibrated": Method(test=paired_test, combine=harmonic_mean_calibrated),
    }
)
"""`paper` is DHP as printed, whose combined value is no p-value; `calibrated` is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """The effect of a condition on the scores on one aspect.

    Parameters
    ----------
    expected
        What the score should do; None where anything may happen.
    effects, interval
        Shares of scores that fell and rose; the 95 % interval of the first less the second.
        The mean drop is in points of the scale.
    on_scale
        The same against the ends of the scale.
    equivalence
        Whether the score stayed where it was, in points of the scale; None where it need not.
    """

    aspect: str
    expected: Effect | None
    test: PairedTest
    discernment: float
    effects: DifferenceEffects
    interval: tuple[float, float]
    on_scale: ScaleEffects
    equivalence: Equivalence | None


def contrasts(
    clean: NDArray[np.float64],
    damaged: NDArray[np.float64],
    *,
    scales: Mapping[str, Scale],
    expected: Callable[[str], Effect | None],
    method: Method,
    repeats: int,
    rng: Generator,
    draws: int,
) -> tuple[Contrast, ...]:
    """Describe what a condition did to the scores, aspect by aspect.

    Parameters
    ----------
    clean, damaged
        Shape ``(aspects, segments)``: sums of `repeats` scores, NaN where there is none.
    scales
        Aspect -> its scale, in the order of the arrays.
    rng, draws
        The bootstrap: the same state resamples the same segments for every condition.
    """
    differences = clean - damaged
    intervals = _intervals(differences, rng=rng, draws=draws)
    described = []
    for row, (aspect, scale) in enumerate(scales.items()):
        test = method.test(differences[row])
        spared = expected(aspect) == "unchanged"
        described.append(
            Contrast(
                aspect=aspect,
                expected=expected(aspect),
                test=test,
                discernment=float(discernment_score([test.log_p])[0]),
                effects=_effects(differences[row], repeats=repeats),
                interval=(float(intervals.low[row]), float(intervals.high[row])),
                on_scale=scale_effects(
                    clean[row] / repeats, damaged[row] / repeats, low=scale.low, high=scale.high
                ),
                equivalence=_equivalence(differences[row], repeats=repeats) if spared else None,
            )
        )
    return tuple(described)


def _effects(differences: NDArray[np.float64], *, repeats: int) -> DifferenceEffects:
    """Describe differences of sums, the mean as one of single scores."""
    effects = difference_effects(differences)
    return effects._replace(mean_drop=effects.mean_drop / repeats)


def _equivalence(differences: NDArray[np.float64], *, repeats: int) -> Equivalence:
    """Test the sums, in which ties are exact, and describe single scores."""
    of_sums = equivalence(differences, margin=_MARGIN * repeats)
    return of_sums._replace(
        estimate=of_sums.estimate / repeats,
        low=of_sums.low / repeats,
        high=of_sums.high / repeats,
    )


def _intervals(differences: NDArray[np.float64], *, rng: Generator, draws: int) -> Interval:
    resampled = bootstrap(net_drop(differences), items=differences.shape[-1], rng=rng, draws=draws)
    return percentile_interval(resampled)
