"""What `spanjury exam card` does once its flags are read."""

from collections.abc import Sequence
from pathlib import Path

import typer

from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import GATE, say
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.exam_card import read_card, write_card
from spanjury.orchestration.studies.card import Card, Gate, card_report, parse_gate

__all__ = ["make_card"]


def make_card(*, folders: list[Path], require: list[str] | None, output: Path | None) -> None:
    """Join exams into a card, show it, and exit with 5 if a demand is not met."""
    gates = [parse_gate(text) for text in require or ()]
    card = read_card(folders)
    missed = _missed(card, gates)  # before anything is shown or written: a name may be unknown
    CleanConsole().print(report_view(card_report(card, gates=gates)))
    for path in write_card(output, card, gates=gates) if output else ():
        say(f"written: {path}")
    for gate in missed:
        values = ", ".join(measure.figure for measure in card.measures[gate.name])
        say(f"not met: {gate} (it is {values})")
    if missed:
        raise typer.Exit(GATE)


def _missed(card: Card, gates: Sequence[Gate]) -> list[Gate]:
    return [gate for gate in gates if not gate.is_passed(card.measures)]
