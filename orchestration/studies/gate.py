"""A gate: a distilled judge's measures beside its base's and teacher's, and requirements."""

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Column,
    Report,
    Row,
    Section,
    code,
    figure,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.studies.card import (
    Card,
    DemandResult,
    Gate,
    Measure,
    measures_called,
    unproven,
)
from spanjury.orchestration.studies.held_out import ALL, FIGURES, measure_name, split_name

MeasuresByName = Mapping[str, Sequence[Measure]]
"""Name -> the measure in each exam that has it."""

_SPEC = ".3g"
_LESS_IS_BETTER = (
    "severity.apart",
    "score.error",
    "discernment.false_alarms",
    "discernment.harmless_disturbed",
    "retest.moved",
    "invariance.moved",
    "bias.moved",
    "faithfulness.against",
    "faithfulness.null_adjusted_against",
    "faithfulness.null_moved",
    "robustness.attack_success",
    "robustness.net_success",
    "robustness.weakest_seat",
    "robustness.repeat",
    "robustness.plain-addition",
    "robustness.denied",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverBase:
    """A measure that must be better than the base's: higher, or lower where less is better.

    Where the base's is not defined, as without a readable report, it must be above 0, or
    defined where less is better.
    """

    name: str

    def result(self, distilled: MeasuresByName, base: MeasuresByName) -> DemandResult:
        """Compare the two; raise `ConfigError` if one has no such measure."""
        value, bound = (
            measures_called(self.name, measures)[0].value for measures in (distilled, base)
        )
        # In a group of examples as well, whose measure has one more part in its name.
        less = any(f"{self.name}.".startswith(f"{topic}.") for topic in _LESS_IS_BETTER)
        if bound is None:
            met = value is not None and (less or value > 0)
            relation = ", which the base does not have" if less else " > 0, as the base has none"
        else:
            better = operator.lt if less else operator.gt
            met = value is not None and better(value, bound)
            relation = f" {'<' if less else '>'} {figure(bound, _SPEC)}, the base's"
        reason = unproven(self.name, distilled)
        return DemandResult(
            demand=f"{self.name}{relation}", values=(value,), met=met and not reason, reason=reason
        )


def demand_results(
    gates: Sequence[Gate],
    over_base: Sequence[OverBase],
    *,
    distilled: MeasuresByName,
    base: MeasuresByName,
) -> tuple[DemandResult, ...]:
    """Compare a distilled judge with all requirements.

    Raise `ConfigError` if no exam has a measure; the message lists those that there are.
    """
    return (
        *(gate.result(distilled) for gate in gates),
        *(gate.result(distilled, base) for gate in over_base),
    )


_SIZE = "reports.parsed"
"""The figure that is made of every example of a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFindings:
    """The result of a gate."""

    model: str
    data: tuple[str, ...]
    cards: Mapping[str, Card]
    """Role -> the exams of its judge; ``distilled`` is there, ``base`` and ``teacher`` may be."""
    demands: tuple[DemandResult, ...]
    cautions: tuple[str, ...]

    @property
    def missed(self) -> tuple[DemandResult, ...]:
        """The requirements that are not met."""
        return tuple(demand for demand in self.demands if not demand.met)

    def rows(self) -> dict[str, tuple[Measure | None, ...]]:
        """Return name -> the measure of each judge, without groups that hold all examples anyway.

        It is None for a judge without it.
        """
        by_role = {
            role: {name: measures[0] for name, measures in card.measures.items()}
            for role, card in self.cards.items()
        }
        names = dict.fromkeys(name for measures in by_role.values() for name in measures)
        hidden = set(_redundant(by_role["distilled"]))
        return {
            name: tuple(measures.get(name) for measures in by_role.values())
            for name in names
            if name not in hidden
        }


def _redundant(measures: Mapping[str, Measure]) -> Iterator[str]:
    whole = measures[measure_name(_SIZE, ALL)].count
    for name, measure in measures.items():
        figure, group = split_name(name)
        if figure == _SIZE and group != ALL and measure.count == whole:
            yield from (measure_name(figure, group) for figure in FIGURES)


def gate_report(findings: GateFindings) -> Report:
    """Return `findings` as a report: the measures of all judges side by side."""
    data = [part for name in findings.data for part in (", ", code(name))]
    seats = (
        prose("{}, {}: {}", role, seat, code(signature))
        for role, card in findings.cards.items()
        for seat, signature in card.records[0].seats.items()
    )
    columns = (
        Column("measure", only="page"),
        Column("measure", wrap=False, only="terminal"),
        *numeric(*findings.cards, "of"),
        Column("", only="page"),
    )
    return Report(
        title=f"Gate: {'not passed' if findings.missed else 'passed'}",
        answer=f"The model meets {len(findings.demands) - len(findings.missed)} of"
        f" {len(findings.demands)} requirements.",
        facts=[(code(findings.model), " on ", *data[1:])],
        sections=[
            Bullets(
                [
                    f"met: {each.line}" if each.met else prose("**not met**: {}", each.line)
                    for each in findings.demands
                ],
                only="page",
            ),
            # On a terminal, the measure of a group is below that of all examples.
            Section("Measures", [table(columns, _rows(findings.rows()))]),
            Bullets([*seats, *findings.cautions], only="page"),
        ],
    )


def _rows(measures: Mapping[str, Sequence[Measure | None]]) -> Iterator[Row]:
    """Yield a row for each measure, with a rule below the last one of a topic.

    Its counts are one number if all judges agree.
    """
    topics = [name.partition(".")[0] for name in measures]
    for name, topic, following in zip(measures, topics, [*topics[1:], None], strict=True):
        figure, group = split_name(name)
        present = [measure for measure in measures[name] if measure is not None]
        yield row(
            name,
            f"  {group}" if group else figure,
            *map(_cell, measures[name]),
            ", ".join(dict.fromkeys(str(measure.count) for measure in present)),
            next((each for each in present if each.value is not None), present[0]).says,
            ruled=following not in {topic, None},
        )


def _cell(measure: Measure | None) -> Cell:
    if measure is None:
        return Cell(None)
    low, high = measure.low, measure.high
    interval = None if low is None or high is None else (low, high)
    return Cell(measure.value, ".3g", interval=interval)


def gate_json(findings: GateFindings) -> dict[str, object]:
    """Return `findings` as objects, lists, strings, numbers and nulls."""
    return {
        "model": findings.model,
        "data": list(findings.data),
        "passed": not findings.missed,
        "demands": [asdict(demand) for demand in findings.demands],
        "judges": {
            role: [asdict(measure) for record in card.records for measure in record.measures]
            for role, card in findings.cards.items()
        },
        "cautions": list(findings.cautions),
    }
