"""Two judges compared: by the difference of their effects on the same texts, never by their D.

Texts about one source are correlated, so intervals and tests treat each source as one observation.

Judges are also compared by the damaged texts that each catches without their clean versions.
Each judge has a cut-off of its own on each aspect, which at most 10 % of the clean and the
harmlessly changed texts are below that both exams have shown. Every draw of texts sets it again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import ConfigError
from spanjury.orchestration.studies.discernment.detection import USUAL, fewest_texts, stacked
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.studies.estimates import (
    LEVEL,
    grouped,
    holm_adjusted,
    numbered,
    resampled,
)
from spanjury.perturbations.perturbation import Effect
from spanjury.stats.arrays import FloatArray, cluster_sums, mean_of_defined
from spanjury.stats.flagging import cutoff, flagged
from spanjury.stats.resampling import Resampled, estimates, two_sided_p
from spanjury.stats.significance.sign_flip import paired_test
from spanjury.stats.weighted import Weighted, mean_drop


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A condition on an aspect; the condition is None where the clean text is judged twice."""

    condition: str | None
    aspect: str
    expected: Effect | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshared:
    """Parts of two exams that are not compared; pairs are of the first and of the second.

    `texts`, `conditions`, `aspects`: names that one exam has and the other has not.
    """

    texts: tuple[tuple[str, ...], tuple[str, ...]]
    conditions: tuple[tuple[str, ...], tuple[str, ...]]
    aspects: tuple[tuple[str, ...], tuple[str, ...]]
    differing_texts: tuple[str, ...]
    """Names under which the exams showed different clean texts."""
    damages: tuple[int, int]
    """Number of texts that only one exam could damage, by condition."""
    differing_damages: int
    """Number of texts that were damaged in different ways under one name."""
    differing_effects: int
    """Number of conditions with another expected effect on an aspect."""
    unscored: tuple[int, int]
    """Number of shared rows without a score of this judge."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shared:
    """Scores of two judges on the same texts.

    `contrasts`, `texts`: the names along the axes; every contrast has a text with a drop from both
    judges.
    `clean`, `changed`: of the shape of `differences`: the scores that they are made of.
    """

    contrasts: tuple[Contrast, ...]
    texts: tuple[str, ...]
    owner: NDArray[np.intp]
    """Shape ``(texts,)``: number of each text's source."""
    knows_sources: bool
    """False if a file, of a release until 0.2, does not say which texts share a source: each then
    counts as its own."""
    differences: NDArray[np.float64]
    """Shape ``(2, contrasts, texts)``: clean minus damaged scores, summed over each judge's
    repeats. NaN where one of the judges has none."""
    clean: NDArray[np.float64]
    changed: NDArray[np.float64]
    harmless: NDArray[np.bool_]
    """Shape ``(contrasts,)``: whether a flag on the changed texts is a false alarm."""
    unshared: Unshared


_Key = tuple[str, str | None, str]
_Rows = Mapping[_Key, ScoreRow]
_SHOWN = attrgetter("clean_digest", "damaged_digest", "expected")
"""Digests of the shown texts, and the effect that an exam expects."""


def share(first: Sequence[ScoreRow], second: Sequence[ScoreRow]) -> Shared:
    """Put side by side what two exams have in common.

    Raise `ConfigError` if there is no text with a drop from both judges under any
    condition.
    """
    exams: tuple[_Rows, _Rows] = (
        {(row.text, row.condition, row.aspect): row for row in first},
        {(row.text, row.condition, row.aspect): row for row in second},
    )
    in_both = [key for key in exams[0] if key in exams[1]]
    keys = [key for key in in_both if _SHOWN(exams[0][key]) == _SHOWN(exams[1][key])]
    differences = {key: (_drop(exams[0][key]), _drop(exams[1][key])) for key in keys}
    both = [key for key in keys if None not in differences[key]]
    if all(condition is None for _, condition, _ in both):
        raise ConfigError(_nothing(exams))
    contrasts = dict.fromkeys(_contrast(exams[0][key]) for key in both)
    numbers = {contrast: number for number, contrast in enumerate(contrasts)}
    texts = {text: number for number, text in enumerate(sorted({key[0] for key in both}))}
    values = np.full((3, 2, len(contrasts), len(texts)), np.nan)
    for key in both:
        rows = [exam[key] for exam in exams]
        scores = (differences[key], [row.clean for row in rows], [row.damaged for row in rows])
        values[:, :, numbers[_contrast(rows[0])], texts[key[0]]] = scores
    harmless = _harmless(exams[0])
    sources = {row.text: row.source for exam in exams for row in exam.values() if row.source}
    return Shared(
        contrasts=tuple(contrasts),
        texts=tuple(texts),
        owner=numbered([sources.get(text, text) for text in texts])[0],
        knows_sources=texts.keys() <= sources.keys(),
        differences=values[0],
        clean=values[1],
        changed=values[2],
        harmless=np.array([contrast.condition in harmless for contrast in contrasts], dtype=bool),
        unshared=_unshared(exams, differences.values()),
    )


def _contrast(row: ScoreRow) -> Contrast:
    return Contrast(condition=row.condition, aspect=row.aspect, expected=row.expected)


def _drop(row: ScoreRow) -> float | None:
    if row.clean is None or row.damaged is None:
        return None
    return row.clean - row.damaged


def _harmless(exam: _Rows) -> set[str | None]:
    """Return the conditions after which a flag is a false alarm.

    Files of releases until 0.2 do not say: there it is those after which no score should move.
    """
    return {
        name
        for name, rows in grouped(exam.values(), lambda row: row.condition).items()
        if name is not None
        and all(row.expected == "unchanged" for row in rows)
        and not any(row.harmless is False for row in rows)
    }


def _unshared(
    exams: tuple[_Rows, _Rows], differences: Iterable[tuple[float | None, float | None]]
) -> Unshared:
    texts = [{row.text: row.clean_digest for row in exam.values()} for exam in exams]
    conditions = [
        dict.fromkeys(row.condition for row in exam.values() if row.condition is not None)
        for exam in exams
    ]
    aspects = [dict.fromkeys(row.aspect for row in exam.values()) for exam in exams]
    damages = [_damages(exam, texts=texts, conditions=conditions) for exam in exams]
    in_both = damages[0].keys() & damages[1].keys()
    effects = [{(row.condition, row.aspect): row.expected for row in e.values()} for e in exams]
    first, second = zip(*differences, strict=True)
    return Unshared(
        texts=_apart(*texts),
        conditions=_apart(*conditions),
        aspects=_apart(*aspects),
        differing_texts=tuple(
            name for name, was in texts[0].items() if texts[1].get(name, was) != was
        ),
        damages=(len(damages[0].keys() - in_both), len(damages[1].keys() - in_both)),
        differing_damages=sum(damages[0][key] != damages[1][key] for key in in_both),
        differing_effects=sum(
            effects[0][key] != effects[1][key] for key in effects[0].keys() & effects[1].keys()
        ),
        unscored=(first.count(None), second.count(None)),
    )


def _damages(
    exam: _Rows, *, texts: Sequence[Mapping[str, str]], conditions: Sequence[Mapping[str, None]]
) -> dict[tuple[str, str], str]:
    """Return the damaged texts of the clean ones and the conditions that both exams have."""
    return {
        (row.text, row.condition): row.damaged_digest
        for row in exam.values()
        if row.condition is not None
        and all(row.condition in names for names in conditions)
        and all(digests.get(row.text) == row.clean_digest for digests in texts)
    }


def _apart(
    first: Mapping[str, object], second: Mapping[str, object]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (
        tuple(name for name in first if name not in second),
        tuple(name for name in second if name not in first),
    )


def _nothing(exams: tuple[_Rows, _Rows]) -> str:
    """Say what it is that two exams do not have in common."""
    for part in ("text", "condition", "aspect"):
        first, second = ({getattr(row, part) for row in exam.values()} for exam in exams)
        if not first & second - {None}:
            return f"the exams share no {part}, so there is nothing to compare"
    return (
        "the exams share no damaged text with scores of both judges, so that there is nothing "
        "to compare"
    )


class Preference(StrEnum):
    """The better of two judges, if either is shown to be."""

    FIRST = "first"
    SECOND = "second"
    NOT_SHOWN = "not shown"
    """It is not shown that they differ: they do not, or the texts are too few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The effects on two judges.

    `first`, `second`: P(drop) - P(rise), or, of what should not move, P(drop) + P(rise); on those
    texts only that have scores of both judges.
    `difference`, `low`, `high`: the first less the second, and the bounds of its 95 % interval.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    """Two-sided: the larger of the bootstrap's and an exact one. By itself the bootstrap is too
    sure where the judges differ on a few texts only, since it draws no others."""
    adjusted: float
    """The same, held for all that is compared, by Holm."""
    texts: int
    sources: int
    preference: Preference
    """The judge that does better, by the adjusted p-value."""


def preference_of(better: float, *, p: float) -> Preference:
    """Say which judge does better, by how much the first does."""
    if p <= LEVEL:
        return Preference.FIRST if better > 0 else Preference.SECOND
    return Preference.NOT_SHOWN


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Cell:
    """Scores of one judge in one contrast, and of all that is not worse on its aspect."""

    pool: FloatArray
    scores: FloatArray

    def effect(self) -> Weighted:
        """Return the caught share."""
        return flagged(self.pool, self.scores, rate=USUAL)

    def flags(self) -> FloatArray:
        """Return 1 for a text that is caught, 0 for another, NaN without a score."""
        caught = self.scores < cutoff(self.pool.ravel(), rate=USUAL)
        return np.where(np.isnan(self.scores), np.nan, caught)


def _catches(
    shared: Shared, draw: Callable[[Weighted], Resampled]
) -> tuple[Compared | None, tuple[tuple[Contrast, Compared], ...]]:
    """Compare the caught shares, as `Comparison` says: their mean, and each contrast with damage.

    `draw`: resamples the same sources for every effect.
    """
    numbers = [n for n, contrast in enumerate(shared.contrasts) if contrast.expected == "falls"]
    stated = [n for n in numbers if np.sum(~np.isnan(_clean(shared, n)[0])) >= fewest_texts(USUAL)]
    cells = [_cells(shared, n) for n in stated]
    if not cells:
        return None, ()
    drawn = draw(stacked([stacked([pair[judge].effect() for pair in cells]) for judge in (0, 1)]))
    flags = np.array([[cell.flags() for cell in pair] for pair in cells])
    apart = flags[:, 0] - flags[:, 1]
    mean = drawn._replace(estimate=drawn.estimate.mean(axis=-1), draws=mean_of_defined(drawn.draws))
    stays = np.zeros(len(cells), dtype=bool)
    compared = _one_by_one(drawn, apart, owner=shared.owner, stays=stays)
    contrasts = zip([shared.contrasts[n] for n in stated], compared, strict=True)
    return _compared(mean, _summed(apart), owner=shared.owner), tuple(contrasts)


def _cells(shared: Shared, number: int) -> tuple[_Cell, _Cell]:
    aspect = shared.contrasts[number].aspect
    spared = [
        n for n, each in enumerate(shared.contrasts) if each.aspect == aspect and shared.harmless[n]
    ]
    first, second = (
        _Cell(pool=np.concatenate([clean[np.newaxis], changed[spared]]), scores=changed[number])
        for clean, changed in zip(_clean(shared, number), shared.changed, strict=True)
    )
    return first, second


def _clean(shared: Shared, number: int) -> FloatArray:
    """Return the clean scores of both judges on the aspect of a contrast, wherever they stand."""
    aspect = shared.contrasts[number].aspect
    same = [n for n, contrast in enumerate(shared.contrasts) if contrast.aspect == aspect]
    clean = shared.clean[:, same]
    return np.where(
        np.isnan(clean).all(axis=1), np.nan, np.max(np.nan_to_num(clean, nan=-np.inf), axis=1)
    )


def _compared(effects: Resampled, apart: FloatArray, *, owner: NDArray[np.intp]) -> Compared:
    """Compare two effects.

    `apart`: shape ``(texts,)``: what the first judge has more of each text.
    `owner`: number of each text's source.
    """
    first, second = (float(effect) for effect in effects.estimate)
    difference = effects._replace(
        estimate=np.array([first - second]),
        draws=(effects.draws[:, 0] - effects.draws[:, 1])[:, np.newaxis],
    )
    by_source = cluster_sums(apart, owner)
    sources = int(np.count_nonzero(~np.isnan(by_source)))
    (estimate,) = estimates(difference, items=sources)
    exact = min(1.0, 2 * min(paired_test(by_source).p, paired_test(-by_source).p))
    p = float(np.fmax(two_sided_p(difference)[0], exact))
    return Compared(
        first=first,
        second=second,
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        p=p,
        adjusted=p,
        texts=int(np.count_nonzero(~np.isnan(apart))),
        sources=sources,
        preference=preference_of(estimate.value, p=p),
    )


def _one_by_one(
    drawn: Resampled, apart: FloatArray, *, owner: NDArray[np.intp], stays: NDArray[np.bool_]
) -> Iterator[Compared]:
    """Compare contrast by contrast, all held together to the level by Holm.

    `drawn`: of the shape ``(2, contrasts)``.
    `apart`: shape ``(contrasts, texts)``; `owner` as in `_compared`.
    `stays`: shape ``(contrasts,)``: where the smaller effect is the better one.
    """
    rows = [
        _compared(
            drawn._replace(estimate=drawn.estimate[:, n], draws=drawn.draws[:, :, n]),
            each,
            owner=owner,
        )
        for n, each in enumerate(apart)
    ]
    adjusted = holm_adjusted([row.p for row in rows]).tolist()
    for row, p, stay in zip(rows, adjusted, stays, strict=True):
        better = -row.difference if stay else row.difference
        yield replace(row, adjusted=p, preference=preference_of(better, p=p))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The results of a comparison.

    `caught`, `caught_contrasts`: the same of the share of damaged texts that are caught without
    their clean versions at a false-alarm rate of 10 %; None, or empty, if the clean texts are too
    few to state it.
    """

    seed: int
    draws: int
    repeats: tuple[int, int]
    summary: Compared | None
    """Mean over conditions and the aspects that they damage, each pair of these counting alike;
    None if the exams share none with scores of both. Its texts are those with a score in any of
    them, and its p-value is adjusted for nothing."""
    contrasts: tuple[tuple[Contrast, Compared], ...]
    """Condition by condition and aspect by aspect: where scores should stay, less movement is
    better, elsewhere a larger effect."""
    caught: Compared | None
    caught_contrasts: tuple[tuple[Contrast, Compared], ...]
    knows_sources: bool
    """As in `Shared`."""
    unshared: Unshared


def compare(
    first: Sequence[ScoreRow], second: Sequence[ScoreRow], *, seed: int = 1, draws: int = 10_000
) -> Comparison:
    """Compare two judges by their effects on what both exams have shown.

    Sources are drawn with all their texts, conditions and aspects, the same for both judges.

    Raise `ConfigError` if the exams have nothing in common.
    """
    shared = share(first, second)
    stays, falls = (
        np.array([contrast.expected == effect for contrast in shared.contrasts])
        for effect in ("unchanged", "falls")
    )
    signs = np.sign(shared.differences)
    moves = np.where(stays[:, np.newaxis], np.abs(signs), signs)
    apart = moves[0] - moves[1]

    draw = partial(resampled, owner=shared.owner, seed=seed, draws=draws)
    summary = None
    if falls.any():
        # In each draw over the contrasts that it holds a text of.
        by_contrast = mean_drop(moves[:, falls])
        drawn = draw(lambda counts: mean_of_defined(by_contrast(counts)))
        summary = _compared(drawn, _summed(apart[falls]), owner=shared.owner)
    compared = _one_by_one(draw(mean_drop(moves)), apart, owner=shared.owner, stays=stays)
    caught, caught_contrasts = _catches(shared, draw)
    return Comparison(
        seed=seed,
        draws=draws,
        repeats=(first[0].repeats, second[0].repeats),
        summary=summary,
        contrasts=tuple(zip(shared.contrasts, compared, strict=True)),
        caught=caught,
        caught_contrasts=caught_contrasts,
        knows_sources=shared.knows_sources,
        unshared=shared.unshared,
    )


def _summed(apart: FloatArray) -> FloatArray:
    """Return the sums over contrasts, text by text: in sums, not in means, ties are exact."""
    return np.where(np.isnan(apart).all(axis=0), np.nan, np.nansum(apart, axis=0))
