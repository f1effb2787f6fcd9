"""Agreement of panels with people: values, intervals, differences, and folds by source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng

from spanjury.orchestration.report import Cell, between, figure
from spanjury.orchestration.studies.panel_study.seats import IntArray, PanelSeats, mean_scores
from spanjury.orchestration.studies.sampling import unequal_chances_note
from spanjury.stats.arrays import FloatArray
from spanjury.stats.correlations.correlation import Method
from spanjury.stats.correlations.grouping import Level, level_correlations
from spanjury.stats.correlations.resampled_correlations import resampled_correlations
from spanjury.stats.correlations.weighted_correlation import WeighedMethod, weighted_correlation
from spanjury.stats.resampling import Estimate, Resampled, bootstrap, estimates


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of a study of a panel."""

    level: Level | None = None
    """Over what a correlation is taken; None for ``by-input`` where inputs have outputs of several
    systems, and else ``pooled``."""
    method: Method = "spearman"
    folds: int = 5
    """Into which the sources are dealt, where something is chosen or fitted."""
    draws: int = 1000
    """Number of bootstrap resamples; 0 for no intervals."""
    seed: int = 1


class Agreement:
    """The agreement of scores with people's, within groups and averaged over them."""

    def __init__(self, seats: PanelSeats, settings: Settings) -> None:
        self.seats = seats
        self.settings = settings
        self._estimates: dict[bytes, Estimate] = {}
        self.level: Level = settings.level or (
            "by-input" if seats.has_several_systems else "pooled"
        )

    @property
    def blocks(self) -> IntArray:
        """The texts among which the level compares: those of a source, or of a group."""
        return self.seats.sources if self.level == "by-input" else self.seats.groups

    def of(self, scores: FloatArray) -> FloatArray:
        """Return the agreement of scores of shape ``(..., texts)``."""
        parts = [
            level_correlations(
                within_group.human,
                within_group.scores,
                level=self.level,
                method=self.settings.method,
            ).value
            for within_group in self.seats.within_groups(scores)
        ]
        return mean_scores(np.array(parts))

    def estimates(self, scores: FloatArray) -> list[Estimate]:
        """Return the agreement of scores of shape ``(many, texts)``, each with its interval."""
        values = self.of(scores)
        for value, line in zip(values, scores, strict=True):
            if line.tobytes() not in self._estimates:  # one panel is on several tables
                self._estimates[line.tobytes()] = self._estimate(float(value), line[np.newaxis])
        return [self._estimates[line.tobytes()] for line in scores]

    def gains(self, scores: FloatArray, *, base: FloatArray) -> list[Estimate]:
        """Return by how much each agrees more than `base`, on the texts that both have."""
        gains = []
        for line in scores:
            both = np.where(np.isnan(base + line), np.nan, np.array([base, line]))
            values = self.of(both)
            gains.append(self._estimate(float(values[1] - values[0]), both))
        return gains

    def _estimate(self, value: float, scores: FloatArray) -> Estimate:
        """Add the interval of the agreement of one line of scores, or of the gain of the second."""
        if not self.settings.draws:
            return Estimate(value)
        draws = self.drawn(scores, draws=self.settings.draws).draws
        gained = draws[:, -1] - draws[:, 0] if len(scores) > 1 else draws[:, 0]
        return estimates(Resampled(np.asarray(value), gained))[0]

    def drawn(self, scores: FloatArray, *, draws: int) -> Resampled:
        """Resample inputs, group by group, for scores of shape ``(many, texts)``.

        All meet the same draws, on the texts that all of them have.
        """
        rng = default_rng(self.settings.seed)
        parts = [
            resampled_correlations(
                within_group.human,
                within_group.scores,
                level=self.level,
                method=self.settings.method,
                rng=rng,
                over="both" if self.seats.has_several_systems else "inputs",
                draws=draws,
            )
            for within_group in self.seats.within_groups(scores)
        ]
        return Resampled(
            mean_scores(np.array([part.estimate for part in parts])),
            mean_scores(np.array([part.draws for part in parts])),
        )


def source_folds(seats: PanelSeats, settings: Settings) -> IntArray:
    """Deal the sources of each group into folds; return the fold of each text."""
    rng = default_rng(settings.seed)
    order = rng.permutation(int(seats.sources.max(initial=-1)) + 1)
    group_of = np.zeros(order.size, dtype=np.intp)
    group_of[seats.sources] = seats.groups
    dealt = order[np.argsort(group_of[order], kind="stable")]
    fold = np.empty(order.size, dtype=np.intp)
    fold[dealt] = np.arange(order.size) % min(settings.folds, max(order.size, 1))
    of_texts: IntArray = fold[seats.sources]
    return of_texts


def splits(folds: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the numbers of the texts to fit to, and of those of one fold, fold by fold."""
    for number in np.unique(folds):
        yield np.flatnonzero(folds != number), np.flatnonzero(folds == number)


VALUE = ".3f"
_DIGITS = 9
_MOST_SEATS = 8


def chances_notes(
    seats: PanelSeats, settings: Settings, *, chances: Sequence[float | None]
) -> Iterator[str]:
    """Say that agreement is of drawn texts, and how large it is weighed by their chances.

    Nothing is said where all texts had the same chance. Agreement within inputs or of systems is
    not weighed, nor is a correlation that compares texts two by two.

    `chances`: chances of the texts of `seats`, in their order; if one is None, nothing is weighted.
    """
    note = unequal_chances_note(chances)
    if note:
        yield note
    is_pooled = Agreement(seats, settings).level == "pooled"
    is_known = bool(seats.names) and None not in chances
    if note and is_known and is_pooled and settings.method in {"pearson", "spearman"}:
        yield _over_all_texts(seats, settings, 1 / np.array(chances, dtype=np.float64))


def _over_all_texts(seats: PanelSeats, settings: Settings, weights: FloatArray) -> str:
    whole = weighed(
        seats.mean_of(range(len(seats.names))), seats, weights=weights, settings=settings
    )
    alone = replace(settings, draws=0)
    values = {
        name: weighed(line, seats, weights=weights, settings=alone).value
        for name, line in zip(seats.names, seats.scores, strict=True)
    }
    defined = {name: value for name, value in values.items() if not np.isnan(value)}
    best = sorted(defined, key=lambda name: -defined[name])[:_MOST_SEATS]
    interval = between(whole.low, whole.high, VALUE)
    ends = "" if interval == "-" else f" ({interval})"
    each = ", ".join(f"{name} by {figure(defined[name], VALUE)}" for name in best)
    return (
        "weighed by the chances, as an estimate for all texts, the mean of all seats agrees by"
        f" {figure(whole.value, VALUE)}{ends}; alone, {each}"
    )


def weighed(
    scores: FloatArray, seats: PanelSeats, *, weights: FloatArray, settings: Settings
) -> Estimate:
    """Return the agreement of scores, shape ``(texts,)``, with people's, each text by its weight.

    It is taken within groups and averaged, on the texts that have a score; the interval draws
    sources again.
    """
    method: WeighedMethod = "pearson" if settings.method == "pearson" else "spearman"
    scored = ~np.isnan(scores + seats.human)
    parts = [np.flatnonzero(scored & (seats.groups == n)) for n in np.unique(seats.groups)]

    def agreement(counts: FloatArray) -> FloatArray:
        values = [within(part, counts) for part in parts if part.size]
        return np.asarray(np.mean(values, axis=0))

    def within(part: IntArray, counts: FloatArray) -> FloatArray:
        times = counts[:, seats.sources[part]] * weights[part]
        return weighted_correlation(scores[part], seats.human[part], weights=times, method=method)

    sources = int(seats.sources.max()) + 1
    value = float(agreement(np.ones((1, sources)))[0])
    if not settings.draws:
        return Estimate(value)
    rng = default_rng(settings.seed)
    draws = bootstrap(agreement, items=sources, rng=rng, draws=settings.draws).draws
    return estimates(Resampled(np.asarray(value), draws))[0]


def estimate_cell(estimate: Estimate, spec: str = VALUE) -> Cell:
    """Return an estimate with its interval."""
    # Rounding errors would be shown as a negative nothing.
    value, low, high = (round(number, _DIGITS) + 0.0 for number in estimate)
    return Cell(value, spec, interval=(low, high))
