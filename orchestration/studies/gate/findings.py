"""Findings: the measures of all judges that a gate examines, and the results of its demands."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from spanjury.orchestration.studies.card import Card, Measure
from spanjury.orchestration.studies.gate.demands import DemandResult
from spanjury.orchestration.studies.held_out.cases import ALL
from spanjury.orchestration.studies.held_out.findings import FIGURES, measure_name, split_name

_SIZE = "reports.parsed"
"""The figure that is made of every example of a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """One measure: its name, its meaning, and that of each judge; None for one without it."""

    name: str
    says: str
    measures: tuple[Measure | None, ...]

    @property
    def counts(self) -> str:
        """Of how many examples, texts or conditions it is made; once where judges agree."""
        counts = (str(measure.count) for measure in self.measures if measure is not None)
        return ", ".join(dict.fromkeys(counts))


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFindings:
    """The result of a gate.

    Parameters
    ----------
    cards
        Role -> the exams of its judge; ``distilled`` is there, ``base`` and ``teacher`` may be.
    """

    model: str
    data: tuple[str, ...]
    cards: Mapping[str, Card]
    demands: tuple[DemandResult, ...]
    cautions: tuple[str, ...]

    @property
    def missed(self) -> tuple[DemandResult, ...]:
        """The demands that are not met."""
        return tuple(demand for demand in self.demands if not demand.met)

    def rows(self) -> Iterator[MeasureRow]:
        """Yield every measure, without those of groups that hold all examples anyway."""
        by_role = {
            role: {name: measures[0] for name, measures in card.measures.items()}
            for role, card in self.cards.items()
        }
        names = dict.fromkeys(name for measures in by_role.values() for name in measures)
        hidden = set(_redundant(by_role["distilled"]))
        for name in names:
            if name not in hidden:
                measures = tuple(measures.get(name) for measures in by_role.values())
                known = [measure for measure in measures if measure is not None]
                says = next((one for one in known if one.value is not None), known[0]).says
                yield MeasureRow(name=name, says=says, measures=measures)


def _redundant(measures: Mapping[str, Measure]) -> Iterator[str]:
    """Yield the names of the measures of groups that hold every example."""
    whole = measures[measure_name(_SIZE, ALL)].count
    for name, measure in measures.items():
        figure, group = split_name(name)
        if figure == _SIZE and group != ALL and measure.count == whole:
            yield from (measure_name(figure, group) for figure in FIGURES)
