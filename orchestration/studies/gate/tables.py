"""Tables: a gate's findings as they are read, and as values for programs."""

from collections.abc import Iterator
from dataclasses import asdict

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Column,
    Prose,
    Report,
    Row,
    Section,
    Table,
    code,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.gate.findings import GateFindings, MeasureRow
from spanjury.orchestration.studies.held_out.findings import split_name


def gate_report(findings: GateFindings) -> Report:
    """Return `findings` as a report: the measures of all judges side by side."""
    data = [part for name in findings.data for part in (", ", code(name))]
    seats = (
        prose("{}, {}: {}", role, seat, code(signature))
        for role, card in findings.cards.items()
        for seat, signature in card.records[0].seats.items()
    )
    return Report(
        title=f"Gate: {'not passed' if findings.missed else 'passed'}",
        facts=[(code(findings.model), " on ", *data[1:])],
        sections=[
            Bullets([*_demands(findings)], only="page"),
            Section("Measures", [_table(findings)]),
            Bullets([*seats, *findings.cautions], only="page"),
        ],
    )


def _demands(findings: GateFindings) -> Iterator[Prose]:
    for result in findings.demands:
        yield f"met: {result.line}" if result.met else prose("**not met**: {}", result.line)


def _table(findings: GateFindings) -> Table:
    """Tabulate measures; on a terminal that of a group stands below that of all examples."""
    columns = (
        Column("measure", only="page"),
        Column("measure", wrap=False, only="terminal"),
        *numeric(*findings.cards, "of"),
        Column("", only="page"),
    )
    return table(columns, _rows([*findings.rows()]))


def _rows(rows: list[MeasureRow]) -> Iterator[Row]:
    """Yield a row for each measure, with a rule below the last one of a topic."""
    topics = [one.name.partition(".")[0] for one in rows]
    for one, topic, following in zip(rows, topics, [*topics[1:], None], strict=True):
        figure, group = split_name(one.name)
        yield row(
            one.name,
            f"  {group}" if group else figure,
            *map(_cell, one.measures),
            one.counts,
            one.says,
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
