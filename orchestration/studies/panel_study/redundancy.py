"""Redundancy of seats: agreement beyond what people explain, within families and between them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from scipy.stats import rankdata

from spanjury.orchestration.engine.families import Families
from spanjury.orchestration.studies.panel_study.agreement import Agreement, Estimate
from spanjury.orchestration.studies.panel_study.seats import IntArray
from spanjury.stats.arrays import FloatArray
from spanjury.stats.redundancy import rater_redundancy


@dataclass(frozen=True, slots=True, kw_only=True)
class RedundantPair:
    """Two seats, and how far they agree where people's scores do not explain it.

    Parameters
    ----------
    family
        That of both; None where they are of different ones or a model's family is unknown.
    """

    first: str
    second: str
    family: str | None
    texts: int
    partial: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RedundancyFindings:
    """Redundancy of all pairs of seats, the most redundant first.

    Parameters
    ----------
    effective
        The number of independent seats that would err as little together: a lower bound, as
        what people's noisy scores miss counts as the seats' redundancy.
    within, between
        Mean partial correlation of pairs of one family, and of different known families; NaN
        without any.
    """

    pairs: tuple[RedundantPair, ...]
    effective: Estimate
    within: float
    between: float


def redundancy_findings(agreement: Agreement, families: Families) -> RedundancyFindings | None:
    """Measure redundancy where the level compares texts; None for fewer than two seats."""
    seats, settings = agreement.seats, agreement.settings
    if len(seats.names) < 2:  # noqa: PLR2004  a pair
        return None
    shared = rater_redundancy(
        _ranked_within(seats.human, agreement.blocks),
        np.array([_ranked_within(line, agreement.blocks) for line in seats.scores]),
        rng=default_rng(settings.seed),
        clusters=seats.sources,
        draws=max(settings.draws, 1),
    )
    of_seat = [families.of(model) for model in seats.models]
    cells = list(zip(*np.triu_indices(len(seats.names), k=1), strict=True))
    pairs = [
        RedundantPair(
            first=seats.names[row],
            second=seats.names[column],
            family=of_seat[row] if of_seat[row] == of_seat[column] else None,
            texts=int(shared.items[row, column]),
            partial=Estimate(*(float(part[row, column]) for part in shared[:3])),
        )
        for row, column in cells
    ]
    apart = [
        pair.partial.value
        for pair, (row, column) in zip(pairs, cells, strict=True)
        if of_seat[row] and of_seat[column] and of_seat[row] != of_seat[column]
    ]
    return RedundancyFindings(
        pairs=tuple(sorted(pairs, key=lambda pair: _first_greatest(pair.partial.value))),
        effective=Estimate(shared.effective, shared.effective_low, shared.effective_high),
        within=_mean(pair.partial.value for pair in pairs if pair.family),
        between=_mean(apart),
    )


def _ranked_within(values: FloatArray, blocks: IntArray) -> FloatArray:
    """Return ranks within each block as shares: what differs between blocks is no agreement."""
    if not blocks.any():
        return values
    ranked = np.full(values.shape, np.nan)
    for block in np.unique(blocks):
        here = (blocks == block) & ~np.isnan(values)
        ranked[here] = rankdata(values[here]) / max(int(here.sum()), 1)
    return ranked


def _first_greatest(value: float) -> float:
    return np.inf if np.isnan(value) else -value


def _mean(values: Iterable[float]) -> float:
    defined: FloatArray = np.array([value for value in values if not np.isnan(value)])
    return float(defined.mean()) if defined.size else np.nan
