"""The effects on two judges side by side, and which of the judges does better."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.random import Generator

from spanjury.stats.arrays import FloatArray
from spanjury.stats.significance.sign_flip import paired_test

LEVEL = 0.05
"""Above this p-value no difference is shown."""


class Preference(StrEnum):
    """The better of two judges, if either is shown to be."""

    FIRST = "first"
    SECOND = "second"
    NOT_SHOWN = "not shown"
    """It is not shown that they differ: they do not, or the texts are too few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The effects on two judges.

    Parameters
    ----------
    first, second
        P(drop) - P(rise), or, of what should not move, P(drop) + P(rise); on those texts
        only that have scores of both judges.
    difference, low, high
        The first less the second, and the bounds of its 95 % interval.
    p
        Two-sided: the larger of the bootstrap's and an exact one. By itself the bootstrap is
        too sure where the judges differ on a few texts only, since it draws no others.
    adjusted
        The same, held for all that is compared, by Holm.
    preference
        The judge that does better, by the adjusted p-value.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    texts: int
    preference: Preference


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """Resampling of texts: the same ones for every effect."""

    seed: int
    draws: int

    def rng(self) -> Generator:
        """Return a generator that draws the same texts each time."""
        return np.random.default_rng(self.seed)


def exact_p(apart: FloatArray) -> float:
    """Test, in both directions, whether it matters which judge said what of a text."""
    return min(1.0, 2 * min(paired_test(apart).p, paired_test(-apart).p))


def preference_of(better: float, *, p: float) -> Preference:
    """Say which judge does better, by how much the first does."""
    if p > LEVEL:
        return Preference.NOT_SHOWN
    return Preference.FIRST if better > 0 else Preference.SECOND
