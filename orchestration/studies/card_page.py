"""A card as a page to read, and as plain values for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.studies.card import Card, ExamRecord, Gate, Measure
from spanjury.orchestration.studies.markdown_rows import bold, head, row

__all__ = ["card_json", "card_markdown", "interval", "number"]


def card_json(card: Card, *, gates: Sequence[Gate]) -> dict[str, object]:
    """Return `card` as objects, lists, strings, numbers and nulls."""
    return {
        "exams": [
            {**asdict(record), "measures": [asdict(measure) for measure in record.measures]}
            for record in card.records
        ],
        "gates": [{"gate": str(gate), "passed": gate.is_passed(card.measures)} for gate in gates],
    }


def card_markdown(card: Card, *, gates: Sequence[Gate]) -> str:
    """Return `card` as Markdown."""
    return "\n".join([*_head(card), *_gates(card, gates), *_exams(card)])


def _head(card: Card) -> Iterator[str]:
    yield "# Judge card"
    yield ""
    seats = {name: told for record in card.records for name, told in record.seats.items()}
    for name, told in seats.items():
        yield f"- {markdown(name)}: {code_span(told)}"
    yield ""


def _gates(card: Card, gates: Sequence[Gate]) -> Iterator[str]:
    if not gates:
        return
    yield "## Demands"
    yield ""
    yield from head("demand", "is", "")
    for gate in gates:
        values = ", ".join(number(told.value) for told in card.measures[gate.name])
        passed = gate.is_passed(card.measures)
        yield row(str(gate), values, "met" if passed else bold("not met"))
    yield ""


def _exams(card: Card) -> Iterator[str]:
    for record in card.records:
        yield f"## {markdown(record.exam.capitalize())}"
        yield ""
        yield (
            f"{code_span(record.signature)} on {code_span(record.data)}, {markdown(record.date)};"
            f" {markdown(_versions(record))}."
        )
        yield ""
        yield from head("measure", "value", "95 % interval", "of", "")
        for one in record.measures:
            yield row(one.name, number(one.value), interval(one), str(one.count), one.says)
        yield ""
        for caution in record.cautions:
            yield f"- {markdown(caution)}"
        if record.cautions:
            yield ""


def _versions(record: ExamRecord) -> str:
    return ", ".join(f"{name} {version}" for name, version in record.versions.items())


def number(value: float | None) -> str:
    """Format a measure's value; `-` where it is not defined."""
    return "-" if value is None else f"{value:.3g}"


def interval(measure: Measure) -> str:
    """Format the interval of a measure; `-` where there is none."""
    if measure.low is None or measure.high is None:
        return "-"
    return f"{measure.low:.3g} to {measure.high:.3g}"
