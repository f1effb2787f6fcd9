"""Texts sampled for people to mark, and the probability of each to be sampled."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import DataError, Segment
from spanjury.judges.text import folded_words
from spanjury.stats.arrays import FloatArray
from spanjury.stats.sampling_design import stratified

SAMPLING = "sampling"
"""Key of `meta`."""
INCLUSION = "inclusion"
Purpose = Literal["calibration", "disagreement", "audit"]

_MOST_TIERS = 5
_PER_STRATUM = 2
"""Texts of a stratum, at least, so that what varies in it can be seen."""
_FLOOR = 0.25
"""Weight of a text on which seats agree, as a share of the mean."""
_NOVEL = 2.0
"""Weight of a text that is unlike others, where one that is not has 1."""
_SHARED = -1
"""Stands for several sources."""


def chance_of(segment: Segment) -> float | None:
    """Return the chance with which `segment` was drawn; None for a text of no sample.

    Raise `DataError` if it is no number above 0 and at most 1.
    """
    sampling = segment.meta.get(SAMPLING)
    if sampling is None:
        return None
    chance = sampling.get(INCLUSION) if isinstance(sampling, Mapping) else None
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 < chance <= 1:
        raise DataError(
            f"{segment.segment_id}: meta.{SAMPLING}.{INCLUSION} must be above 0 and at most 1,"
            f" got {chance!r}"
        )
    return float(chance)


def which_count(chances: Sequence[float | None]) -> list[bool]:
    """Say of each marked text whether its marks count, by the chances of all.

    Where any has a chance, those without one do not: no one knows for how many texts they stand.
    """
    is_sample = any(chance is not None for chance in chances)
    return [chance is not None or not is_sample for chance in chances]


def left_out_note(texts: int) -> str:
    """Say that marks without a chance are left out."""
    return (
        f"{texts} marked texts are left out: other texts have a chance with which they were"
        " drawn, but theirs is unknown"
    )


def unequal_chances_note(chances: Sequence[float | None]) -> str:
    """Say that agreement is of the drawn texts alone; empty where all had the same chance.

    It names Kish's effective number of texts [1]_: on how few a figure would rest that weighs
    texts by their chances.

    References
    ----------
    .. [1] Kish (1965), Survey Sampling, section 11.7
    """
    drawn = [chance for chance in chances if chance is not None]
    if len(set(drawn)) < 2:  # noqa: PLR2004  one chance is no difference
        return ""
    weights = 1 / np.array(drawn)
    effective = weights.sum() ** 2 / (weights**2).sum()
    return (
        f"{len(drawn)} texts were drawn for people with different chances, but each counts once in"
        " figures of agreement, so these describe the sample, whose scores may vary more or less"
        " than those of all texts; weighted by the chances, the figures would rest on about"
        f" {effective:.0f} texts"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextFeatures:
    """Features of a run's texts, each of the shape ``(texts,)``."""

    quality: FloatArray
    """The panel's score, in [0, 1]; NaN for a text without one."""
    spread: FloatArray
    """By how much the scores of its seats vary; NaN where fewer than two scored it."""
    novelty: FloatArray
    """As `features.novelty` has it."""


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

    `stratum`, `inclusion`: those of each text, drawn or not; no chance is 0.
    """

    chosen: NDArray[np.intp]
    """Numbers of the texts, ascending."""
    stratum: Sequence[str]
    inclusion: FloatArray

    def strata(self) -> Iterator[Stratum]:
        """Yield each stratum, by name."""
        texts = Counter(self.stratum)
        drawn = Counter(self.stratum[text] for text in self.chosen)
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
    words = np.where(_is_novel(features), "novel", "usual")
    return [f"{name}, {word}" for name, word in zip(by_score, words, strict=True)]


def _named(what: str, values: FloatArray, count: int) -> list[str]:
    numbers = tiers(values, count)
    most = max(numbers)
    return [f"{what}: part {tier} of {most}" if tier else f"no {what}" for tier in numbers]


def _is_novel(features: TextFeatures) -> NDArray[np.bool_]:
    return features.novelty > np.median(features.novelty)


def _weights(features: TextFeatures, strata: Sequence[str], *, purpose: Purpose) -> FloatArray:
    """Return how much is to be learnt of each text."""
    if purpose == "calibration":  # each part of the scale alike
        sizes = Counter(strata)
        return np.array([1 / sizes[name] for name in strata])
    if purpose == "audit":
        return np.where(_is_novel(features), _NOVEL, 1.0)
    spread = features.spread[~np.isnan(features.spread)]
    mean = float(spread.mean()) if spread.size else 0.0
    if not mean:
        return np.ones(features.spread.size)
    return np.where(np.isnan(features.spread), mean, features.spread) + _FLOOR * mean


def novelty(texts: Iterable[str], sources: Sequence[str]) -> FloatArray:
    """Return which share of each text's pairs of words no text for another source holds.

    The shape is ``(texts,)``, values are in [0, 1]; 1 for a text of fewer than two words.

    `texts`: outputs.
    `sources`: the source of each: texts for one of them say much the same, and make none common.
    """
    pairs = [{*pairwise(folded_words(text))} for text in texts]
    numbers = {source: number for number, source in enumerate(dict.fromkeys(sources))}
    holders: dict[tuple[str, str], int] = {}
    for own, source in zip(pairs, sources, strict=True):
        for pair in own:
            if holders.setdefault(pair, numbers[source]) != numbers[source]:
                holders[pair] = _SHARED
    return np.array(
        [sum(holders[pair] != _SHARED for pair in own) / len(own) if own else 1.0 for own in pairs],
        dtype=np.float64,
    )


def mean_over_aspects(values: FloatArray) -> FloatArray:
    """Return the mean of each text's values, shape ``(aspects, texts)``; NaN where all are."""
    counts = np.count_nonzero(~np.isnan(values), axis=0)
    return np.asarray(np.nansum(values, axis=0) / np.where(counts, counts, np.nan))


def tiers(values: FloatArray, count: int) -> list[int]:
    """Return the tier of each value, from 1 for the lowest; 0 for NaN.

    A value that as many texts have as a tier would hold is a tier of its own, so that a heap of
    best scores leaves tiers for the others. Equal values are never parted.

    `count`: about how many tiers there are to be, at least 1.
    """
    defined = ~np.isnan(values)
    if not defined.any():
        return [0] * values.size
    _, inverse, sizes = np.unique(values[defined], return_inverse=True, return_counts=True)
    heavy = sizes * count >= max(2, defined.sum())
    light = np.where(heavy, 0, sizes)
    below = np.cumsum(light) - light
    parts = max(1, count - int(heavy.sum()))
    part = np.floor(below * parts / max(1, light.sum())).astype(np.intp)
    steps = np.stack([np.cumsum(heavy) + np.cumsum(heavy) - heavy, np.where(heavy, 0, part)])
    starts = np.any(np.diff(steps, axis=1) != 0, axis=0)
    tier = np.concatenate([[1], 1 + np.cumsum(starts)])
    numbers = np.zeros(values.size, dtype=np.intp)
    numbers[defined] = tier[inverse]
    return [int(number) for number in numbers]
