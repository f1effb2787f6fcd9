"""What a gate came to: judges side by side, and demands met or not, to read and for programs."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.studies.card import Card, Measure
from spanjury.orchestration.studies.card_page import interval, number
from spanjury.orchestration.studies.gate.demands import DemandResult
from spanjury.orchestration.studies.held_out.cases import ALL
from spanjury.orchestration.studies.held_out.findings import FIGURES, measure_name, split_name
from spanjury.orchestration.studies.markdown_rows import head, row

__all__ = ["GateFindings", "Row", "gate_json", "gate_markdown"]

_SIZE = "reports.parsed"
"""The figure that is made of every example of a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measure: its name, what it is, and what each judge has; None for one without it."""

    name: str
    says: str
    measures: tuple[Measure | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFindings:
    """What a gate came to.

    Parameters
    ----------
    model, data
        Which model, on which training sets.
    cards
        Role -> the exams of who has it; ``distilled`` is there, ``base`` and ``teacher`` may be.
    verdicts
        What became of each demand on the distilled judge.
    cautions
        What is to be kept in mind.
    """

    model: str
    data: tuple[str, ...]
    cards: Mapping[str, Card]
    demand_results: tuple[DemandResult, ...]
    cautions: tuple[str, ...]

    @property
    def missed(self) -> tuple[DemandResult, ...]:
        """The demands that are not met."""
        return tuple(one for one in self.demand_results if not one.met)

    def rows(self) -> Iterator[Row]:
        """Yield every measure, without those of groups that hold all examples anyway."""
        told = {
            role: {name: measures[0] for name, measures in card.measures.items()}
            for role, card in self.cards.items()
        }
        names = dict.fromkeys(name for measures in told.values() for name in measures)
        hidden = set(_redundant(told["distilled"]))
        for name in names:
            if name not in hidden:
                measures = tuple(measures.get(name) for measures in told.values())
                there = [one for one in measures if one is not None]
                says = next((one for one in there if one.value is not None), there[0]).says
                yield Row(name=name, says=says, measures=measures)


def gate_json(findings: GateFindings) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls."""
    return {
        "model": findings.model,
        "data": list(findings.data),
        "passed": not findings.missed,
        "demands": [asdict(one) for one in findings.demand_results],
        "judges": {
            role: [asdict(measure) for record in card.records for measure in record.measures]
            for role, card in findings.cards.items()
        },
        "cautions": list(findings.cautions),
    }


def gate_markdown(findings: GateFindings) -> str:
    """Return `findings` as Markdown."""
    return "\n".join([*_head(findings), *_table(findings), *_end(findings)])


def _cell(measure: Measure | None) -> str:
    """Format a measure with its interval; `-` where it is not defined."""
    if measure is None or measure.value is None:
        return "-"
    told = interval(measure)
    return number(measure.value) if told == "-" else f"{number(measure.value)} ({told})"


def _head(findings: GateFindings) -> Iterator[str]:
    yield f"# Gate: {'not passed' if findings.missed else 'passed'}"
    yield ""
    yield f"{code_span(findings.model)} on {', '.join(map(code_span, findings.data))}"
    yield ""
    for result in findings.demand_results:
        yield f"- {'met' if result.met else '**not met**'}: {markdown(result.line)}"
    yield ""


def _table(findings: GateFindings) -> Iterator[str]:
    roles = list(findings.cards)
    yield from head("measure", *roles, "of", "")
    for told in findings.rows():
        counts = dict.fromkeys(str(one.count) for one in told.measures if one is not None)
        yield row(told.name, *map(_cell, told.measures), ", ".join(counts), told.says)
    yield ""


def _end(findings: GateFindings) -> Iterator[str]:
    for role, card in findings.cards.items():
        for seat, signature in card.records[0].seats.items():
            yield f"- {role}, {markdown(seat)}: {code_span(signature)}"
    for caution in findings.cautions:
        yield f"- {markdown(caution)}"
    yield ""


def _redundant(measures: Mapping[str, Measure]) -> Iterator[str]:
    """Yield the names of the measures of groups that hold every example."""
    whole = measures[measure_name(_SIZE, ALL)].count
    for name, measure in measures.items():
        figure, group = split_name(name)
        if figure == _SIZE and group != ALL and measure.count == whole:
            yield from (measure_name(figure, group) for figure in FIGURES)
