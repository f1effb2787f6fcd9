"""Findings of a study of a panel's seats, aspect by aspect."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import VERSION, DataError
from spanjury.orchestration.engine.families import Families
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.panel_study.agreement import Agreement, Settings
from spanjury.orchestration.studies.panel_study.costs import SeatPrices, Unit
from spanjury.orchestration.studies.panel_study.frontier import Frontier, frontier
from spanjury.orchestration.studies.panel_study.leaning import Lean, leans
from spanjury.orchestration.studies.panel_study.redundancy import (
    RedundancyFindings,
    redundancy_findings,
)
from spanjury.orchestration.studies.panel_study.seats import PanelSeats
from spanjury.orchestration.studies.panel_study.subsets import SubsetFindings, subset_findings
from spanjury.orchestration.studies.panel_study.weights import Weighing, weighings
from spanjury.stats.correlations.grouping import Level

FEWEST_TEXTS = 5
"""Texts with people's scores from which on something is said of seats."""
_FEW_TEXTS = 50
_LEAST_SEATS = 2
_NEARLY_ALL = 0.98
"""Share of texts from which on what a seat did not score is not worth a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectStudy:
    """Findings on the seats of a panel on one aspect.

    Parameters
    ----------
    texts, sources
        That people scored, and what they were made from.
    groups
        Within which agreement is taken, where there are several.
    families
        Seat -> the family of its model, where it is known.
    prices
        By which dollars are counted.
    notes
        What a reader must know of these figures.
    """

    aspect: str
    seats: tuple[str, ...]
    texts: int
    sources: int
    groups: tuple[str, ...]
    level: Level
    subsets: SubsetFindings
    redundancy: RedundancyFindings | None
    families: Mapping[str, str]
    leans: tuple[Lean, ...]
    weighings: tuple[Weighing, ...]
    frontier: Frontier
    prices: SeatPrices
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFindings:
    """Findings on all aspects, and where the scores are from."""

    settings: Settings
    results: tuple[str, ...]
    human: str
    aspects: tuple[AspectStudy, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The unit in which cost is counted, and what may be spent; None for what suits, and nothing.

    Parameters
    ----------
    budget
        In the unit.
    """

    unit: Unit | None = None
    budget: float | None = None


def study_aspect(
    seats: PanelSeats,
    settings: Settings,
    *,
    families: Families,
    spending: Spending,
    judged: int | None = None,
    notes: Sequence[str] = (),
) -> AspectStudy:
    """Study the seats of a panel on one aspect.

    Raise `DataError` if too little is known: fewer than `FEWEST_TEXTS` texts, fewer than two
    seats with scores, people's scores that are all alike.

    Parameters
    ----------
    judged
        The number of the run's texts, also of those that people did not score; None for those
        of `seats`.
    """
    _check(seats)
    agreement = Agreement(seats, settings)
    compared = subset_findings(agreement)
    if np.isnan(compared.whole.value):
        raise DataError(
            f"the agreement with people on {seats.aspect} is not defined at the level"
            f" {agreement.level}: too few texts, or all scores are alike"
        )
    priced = frontier(
        agreement, compared.subsets, unit=spending.unit, budget=spending.budget, texts=judged
    )
    of_seats = {
        name: families.of(model) for name, model in zip(seats.names, seats.models, strict=True)
    }
    return AspectStudy(
        aspect=seats.aspect,
        seats=seats.names,
        texts=seats.texts,
        sources=int(seats.sources.max()) + 1,
        groups=seats.group_names if len(seats.group_names) > 1 else (),
        level=agreement.level,
        subsets=compared,
        redundancy=redundancy_findings(agreement, families),
        families={name: family for name, family in of_seats.items() if family},
        leans=tuple(leans(seats, settings, families)),
        weighings=weighings(agreement),
        frontier=priced,
        prices=SeatPrices.of(seats.names, seats.costs),
        notes=(*notes, *_notes(seats), *_about_families(seats, families)),
    )


def _check(seats: PanelSeats) -> None:
    if seats.texts < FEWEST_TEXTS:
        raise DataError(
            f"people scored {seats.texts} of the texts on {seats.aspect}: a study of seats needs "
            f"at least {FEWEST_TEXTS}"
        )
    if len(seats.names) < _LEAST_SEATS:
        raise DataError(
            f"a study compares seats, but only {', '.join(seats.names) or 'none'} gave scores of "
            f"{seats.aspect}"
        )
    if np.ptp(seats.human) == 0:
        raise DataError(
            f"people gave all {seats.texts} texts the score {seats.human[0]:g} on {seats.aspect}: "
            "agreement needs texts with different scores"
        )


def _notes(seats: PanelSeats) -> Iterator[str]:
    if seats.texts < _FEW_TEXTS:
        yield (
            f"{seats.texts} texts are few: the intervals show how uncertain the figures are, and "
            "the choice of the best subset is the least certain"
        )
    for name, line in zip(seats.names, seats.scores, strict=True):
        scored = int((~np.isnan(line)).sum())
        if scored < _NEARLY_ALL * seats.texts:
            yield f"{name} scored {scored} of {seats.texts} texts; its figures are about these"


def _about_families(seats: PanelSeats, families: Families) -> Iterator[str]:
    of_seats = [families.of(model) for model in seats.models]
    for family in dict.fromkeys(of_seat for of_seat in of_seats if of_seat):
        own = [name for name, its in zip(seats.names, of_seats, strict=True) if its == family]
        systems = [
            system_name for system_name in seats.system_names if families.of(system_name) == family
        ]
        if len(own) > 1:
            yield f"{', '.join(own)} are of one family, {family}: they tend to vote like one"
        if systems:
            yield f"{', '.join(own)} judge systems of their own family: {', '.join(systems)}"


def study_json(findings: StudyFindings) -> dict[str, object]:
    """Return the findings for a machine; None for what is undefined."""
    return {
        "spanjury": VERSION,
        "results": list(findings.results),
        "human": findings.human,
        "settings": plain(findings.settings),
        "aspects": plain(findings.aspects),
    }
