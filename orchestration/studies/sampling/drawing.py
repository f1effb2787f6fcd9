"""Texts drawn for people to mark: strata by what the marks are for, and every text's chance."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.sampling.features import tiers
from spanjury.stats.arrays import FloatArray
from spanjury.stats.sampling_design import stratified

Purpose = Literal["calibration", "disagreement", "audit"]

_MOST_TIERS = 5
_PER_STRATUM = 2
"""Texts of a stratum, at least, so that what varies in it can be seen."""
_FLOOR = 0.25
"""Weight of a text on which seats agree, as a share of the mean."""
_NOVEL = 2.0
"""Weight of a text that is unlike others, where one that is not has 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextFeatures:
    """Features of a run's texts, each of the shape ``(texts,)``.

    Parameters
    ----------
    quality
        The panel's score, in [0, 1]; NaN for a text without one.
    spread
        By how much the scores of its seats vary; NaN where fewer than two scored it.
    novelty
        As `features.novelty` has it.
    """

    quality: FloatArray
    spread: FloatArray
    novelty: FloatArray


class Stratum(NamedTuple):
    """A stratum: its texts, and those that were drawn of it."""

    name: str
    texts: int
    drawn: int

    @property
    def inclusion(self) -> float:
        """The chance of each of its texts."""
        return self.drawn / self.texts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """Texts that were drawn.

    Parameters
    ----------
    chosen
        Numbers of the texts, ascending.
    stratum, inclusion
        Of each text, drawn or not; no chance is 0.
    """

    chosen: NDArray[np.intp]
    stratum: Sequence[str]
    inclusion: FloatArray

    def strata(self) -> Iterator[Stratum]:
        """Yield each stratum, by name."""
        texts = Counter(self.stratum)
        drawn = Counter(self.stratum[one] for one in self.chosen)
        for name in sorted(texts):
            yield Stratum(name, texts[name], drawn[name])


def draw_sample(features: TextFeatures, *, size: int, purpose: Purpose, seed: int) -> Sample:
    """Draw texts for people to mark; raise `ValueError` if there are fewer than `size`, or none."""
    strata = _strata(features, size=size, purpose=purpose)
    sample = stratified(
        strata,
        size=size,
        rng=np.random.default_rng(seed),
        weights=_weights(features, strata, purpose=purpose),
    )
    return Sample(chosen=sample.chosen, stratum=strata, inclusion=sample.inclusion)


def _strata(features: TextFeatures, *, size: int, purpose: Purpose) -> list[str]:
    """Return the stratum of each text: as many strata as leave a few texts of each."""
    for count in range(_MOST_TIERS, 0, -1):
        names = _names(features, count, purpose=purpose)
        if len(set(names)) * _PER_STRATUM <= size:
            return names
    return ["all texts"] * features.quality.size


def _names(features: TextFeatures, count: int, *, purpose: Purpose) -> list[str]:
    if purpose == "disagreement":
        return _named("disagreement", features.spread, count)
    by_score = _named("score", features.quality, count)
    if purpose == "calibration":
        return by_score
    novel = _is_novel(features)
    return [
        f"{name}, {'novel' if new else 'usual'}" for name, new in zip(by_score, novel, strict=True)
    ]


def _named(what: str, values: FloatArray, count: int) -> list[str]:
    found = tiers(values, count)
    most = max(found)
    return [f"{what}: part {tier} of {most}" if tier else f"no {what}" for tier in found]


def _is_novel(features: TextFeatures) -> NDArray[np.bool_]:
    return features.novelty > np.median(features.novelty)


def _weights(features: TextFeatures, strata: Sequence[str], *, purpose: Purpose) -> FloatArray:
    """Return how much is to be learnt of each text."""
    if purpose == "calibration":  # each part of the scale alike
        sizes = Counter(strata)
        return np.array([1 / sizes[name] for name in strata])
    if purpose == "audit":
        return np.where(_is_novel(features), _NOVEL, 1.0)
    known = features.spread[~np.isnan(features.spread)]
    mean = float(known.mean()) if known.size else 0.0
    if not mean:
        return np.ones(features.spread.size)
    return np.where(np.isnan(features.spread), mean, features.spread) + _FLOOR * mean
