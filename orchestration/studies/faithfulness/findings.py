"""Findings: what a faithfulness exam says of a judge."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from spanjury.orchestration.studies.faithfulness.changes import Change, Push
from spanjury.orchestration.studies.faithfulness.consistency import (
    Consistency,
    consistencies,
)
from spanjury.orchestration.studies.faithfulness.outcomes import (
    MEASURES,
    Estimate,
    Excess,
    Rates,
    differences,
    excess_of,
    fates_of,
    rates,
)
from spanjury.orchestration.studies.faithfulness.score_arrays import (
    BoolArray,
    FloatArray,
    ScoreArrays,
    gathered,
)
from spanjury.stats.bootstrap import bootstrap, percentile_interval
from spanjury.stats.weighted import mean_drop

__all__ = ["Finding", "Findings", "found"]

_BASES = 4
"""All reports, those with errors, those with room, those with room the other way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one condition did to one judge's scores on one aspect of one dataset.

    Parameters
    ----------
    judge, dataset, aspect, condition, family, by, push, written_by
        As in `Change`.
    texts
        How many texts there are.
    absent, unscored
        Of these: not in the record, and without a score to begin with.
    error_free, clipped
        Of the rest: reports whose list could not be changed, without errors and with some.
    unchanged
        The same by all reasons that there are, each with how many.
    unwritten
        Reports left out of everything below, since the model that was to write their list
        did not: reason -> how many.
    overall
        Over all reports, as the paper counts: one that could not be changed has not changed.
    with_errors
        Over the reports that list errors.
    with_room
        Over those whose list was changed and whose score could move as it should.
    with_room_against
        Over those whose list was changed and whose score could move the other way.
    excess
        The same minus the null control; None without one, and for the control itself.
    """

    judge: str
    dataset: str
    aspect: str
    condition: str
    family: str
    by: int | None
    push: Push | None
    written_by: str
    is_control: bool
    texts: int
    absent: int
    unscored: int
    error_free: int
    clipped: int
    unchanged: Mapping[str, int]
    unwritten: Mapping[str, int]
    overall: Rates
    with_errors: Rates
    with_room: Rates
    with_room_against: Rates
    excess: Excess | None

    def toward(self, told: Rates) -> float:
        """Return the share of scores in `told` that moved as they should; NaN for a control."""
        return _share(told.fell if self.push == "falls" else told.rose, told, push=self.push)

    def against(self, told: Rates) -> float:
        """Return the share of scores in `told` that moved the other way; NaN for a control."""
        return _share(told.rose if self.push == "falls" else told.fell, told, push=self.push)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What an exam came to.

    Parameters
    ----------
    evidence
        The scores that it rests on, by judge, dataset and aspect.
    findings
        Condition by condition within these.
    consistencies
        Of conditions that come in one step and in two.
    seed, draws
        Of the bootstrap.
    """

    score_arrays: tuple[ScoreArrays, ...]
    findings: tuple[Finding, ...]
    consistencies: tuple[Consistency, ...]
    seed: int
    draws: int


def found(changes: Iterable[Change], *, seed: int = 1, draws: int = 2000) -> Findings:
    """Evaluate recorded changes, whoever recorded them.

    Parameters
    ----------
    changes
        Rows in any order.
    seed, draws
        Of the bootstrap of texts, which every condition shares.
    """
    score_arrays = gathered(changes)
    return Findings(
        score_arrays=score_arrays,
        findings=tuple(
            finding for one in score_arrays for finding in _findings(one, seed=seed, draws=draws)
        ),
        consistencies=tuple(told for one in score_arrays for told in consistencies(one)),
        seed=seed,
        draws=draws,
    )


def _findings(score_arrays: ScoreArrays, *, seed: int, draws: int) -> Iterator[Finding]:
    bases = _bases(score_arrays)
    fates = fates_of(score_arrays)
    estimates = _estimates(score_arrays, seed=seed, draws=draws)
    for row, treated in enumerate(score_arrays.conditions):
        told, became = estimates[row], fates[row]
        overall, with_errors, with_room, with_room_against = (
            rates(score_arrays.shifts[row], among[row], average=told[base])
            for base, among in enumerate(bases)
        )
        yield Finding(
            judge=score_arrays.judge,
            dataset=score_arrays.dataset,
            aspect=score_arrays.aspect,
            condition=treated.name,
            family=treated.family,
            by=treated.by,
            push=treated.push,
            written_by=treated.written_by,
            is_control=treated.is_control,
            texts=len(score_arrays.texts),
            absent=became.absent,
            unscored=became.unscored,
            error_free=became.error_free,
            clipped=became.clipped,
            unchanged=became.unchanged,
            unwritten=became.unwritten,
            overall=overall,
            with_errors=with_errors,
            with_room=with_room,
            with_room_against=with_room_against,
            excess=excess_of(score_arrays, row, estimates=told[_BASES:]),
        )


def _estimates(score_arrays: ScoreArrays, *, seed: int, draws: int) -> list[tuple[Estimate, ...]]:
    """Return for each condition the average change by base, and the excesses, by one bootstrap."""
    values = np.stack([_values(score_arrays, row) for row in range(len(score_arrays.conditions))])
    rng = np.random.default_rng(seed)
    resampled = bootstrap(mean_drop(values), items=len(score_arrays.texts), rng=rng, draws=draws)
    interval = percentile_interval(resampled)
    return [
        tuple(Estimate(*(float(part) for part in parts)) for parts in zip(*row, strict=True))
        for row in zip(resampled.estimate, interval.low, interval.high, strict=True)
    ]


def _values(score_arrays: ScoreArrays, row: int) -> FloatArray:
    """Return what is averaged, shape ``(bases + measures, texts)``."""
    shifts = [
        np.where(among[row], score_arrays.shifts[row], np.nan) for among in _bases(score_arrays)
    ]
    compared = differences(score_arrays, row)
    assert len(shifts) + len(compared) == _BASES + len(MEASURES)
    return np.concatenate([np.stack(shifts), compared])


def _bases(score_arrays: ScoreArrays) -> tuple[BoolArray, ...]:
    """Return which reports shares are taken over, in the order of the fields of `Finding`."""
    return (
        score_arrays.known,
        score_arrays.with_errors,
        score_arrays.with_room,
        score_arrays.with_room_against,
    )


def _share(count: int, told: Rates, *, push: Push | None) -> float:
    return count / told.scored if push is not None and told.scored else math.nan
