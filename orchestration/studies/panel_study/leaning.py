"""Lean of judges: by how much a judge prefers the texts of its own family's systems."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from spanjury.orchestration.engine.families import Families
from spanjury.orchestration.studies.panel_study.agreement import Estimate, Settings
from spanjury.orchestration.studies.panel_study.seats import PanelSeats, mean_scores
from spanjury.stats.arrays import FloatArray, safe_divide
from spanjury.stats.resampling import bootstrap, percentile_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Lean:
    """The lean of a seat towards systems of its own family, on the scale of its scores.

    Parameters
    ----------
    systems
        Those of its family.
    texts
        Theirs that it scored.
    beyond_people
        By how much its scores of its family's texts are above what people's scores of them
        predict, less the same of other texts.
    beyond_seats
        The same, beside the mean of the seats of other families; NaN without any.
    """

    seat: str
    family: str
    systems: tuple[str, ...]
    texts: int
    beyond_people: Estimate
    beyond_seats: Estimate

    @property
    def is_shown(self) -> bool:
        """True if it leans to its own by either measure, beyond chance."""
        return self.beyond_people.low > 0 or self.beyond_seats.low > 0


def leans(seats: PanelSeats, settings: Settings, families: Families) -> Iterator[Lean]:
    """Yield the lean of each seat that judged systems of its own family and others."""
    of_system = [families.of(name) for name in seats.system_names]
    of_seat = [families.of(model) for model in seats.models]
    for number, family in enumerate(of_seat):
        own_systems = np.array([family is not None and other == family for other in of_system])
        own = own_systems[seats.systems]
        if not own.any() or own.all():
            continue
        scores = seats.scores[number]
        others = [other for other, its in enumerate(of_seat) if its != family]
        beside = mean_scores(seats.scores[others]) if others else np.full(seats.texts, np.nan)
        yield Lean(
            seat=seats.names[number],
            family=family or "",
            systems=tuple(
                name for name, is_own in zip(seats.system_names, own_systems, strict=True) if is_own
            ),
            texts=int((own & ~np.isnan(scores)).sum()),
            beyond_people=_contrast(seats, _beyond(scores, seats.human), own, settings=settings),
            beyond_seats=_contrast(seats, scores - beside, own, settings=settings),
        )


def _beyond(scores: FloatArray, people: FloatArray) -> FloatArray:
    """Return what a line through people's scores does not predict of a seat's."""
    scored = ~np.isnan(scores + people)
    if scored.sum() < 2 or np.ptp(people[scored]) == 0:  # noqa: PLR2004  a line takes two points
        return scores - np.nanmean(scores) if scored.any() else scores
    slope, start = np.polyfit(people[scored], scores[scored], 1)
    left: FloatArray = scores - (start + slope * people)
    return left


def _contrast(
    seats: PanelSeats, values: FloatArray, own: NDArray[np.bool_], *, settings: Settings
) -> Estimate:
    """Return the mean over own texts less that over others, with sources drawn again."""
    scored = ~np.isnan(values)
    sources = int(seats.sources.max()) + 1
    parts = np.zeros((4, sources))
    for line, side in ((0, own & scored), (2, ~own & scored)):
        np.add.at(parts[line], seats.sources[side], values[side])
        np.add.at(parts[line + 1], seats.sources[side], 1.0)

    def effect(counts: FloatArray) -> FloatArray:
        mine, mine_count, others, others_count = (counts @ part for part in parts)
        return safe_divide(mine, mine_count) - safe_divide(others, others_count)

    drawn = bootstrap(
        effect, items=sources, rng=default_rng(settings.seed), draws=max(settings.draws, 1)
    )
    bounds = percentile_interval(drawn)
    return Estimate(float(drawn.estimate), float(bounds.low), float(bounds.high))
