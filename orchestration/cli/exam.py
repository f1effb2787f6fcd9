"""The parts that the commands of exams share: their texts, their output and their ending."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import Aspect, ConfigError, Segment
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag
from spanjury.orchestration.cli.exits import GATE, say
from spanjury.orchestration.cli.flags.data import DataFlags

with lazily():
    from spanjury.orchestration.services import discernment
    from spanjury.orchestration.studies import card

Output = Annotated[Path, Flag("Folder for the findings; it allows to resume.", "FOLDER", also="-o")]
Recipe = Annotated[
    str, Flag("Recipe of the damage, as dhp/summarization, or a TOML file.", env=True)
]
Require = Annotated[
    tuple[str, ...],
    Flag("Exit with 5 if a measure is not so (>=, <=, >, <); repeatable.", "MEASURE>=NUMBER"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamTextFlags(DataFlags):
    """The flags that name the texts of an exam."""

    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="Good texts: a JSONL, CSV or TSV file."),
    ] = None
    demo: Annotated[bool, Flag("Use texts that come with spanjury.")] = False

    @property
    def file(self) -> Path:
        """The file of the texts.

        Raises
        ------
        ConfigError
            If there is none, or two.
        """
        if (self.data is None) != self.demo:
            raise ConfigError("name a file of good texts, or --demo, and not both")
        return self.data or discernment.DEMO


def say_scope(texts: Sequence[Segment], aspects: Sequence[Aspect], *, parts: str) -> None:
    """Say what an exam is about, before it begins."""
    names = ", ".join(aspect.name for aspect in aspects)
    say(f"{len(texts)} texts, {parts}, {len(aspects)} aspects: {names}")


def known_gates(required: Sequence[str], known: Sequence[str]) -> "list[card.Gate]":
    """Read requirements; raise `ConfigError` for a measure that the exam will not give."""
    gates = [card.parse_gate(text) for text in required]
    for gate in gates:
        if gate.name not in known:
            raise ConfigError(f"no such measure {gate.name!r}; there are {', '.join(known)}")
    return gates


def missed_gates(gates: "Sequence[card.Gate]", measures: "Sequence[card.Measure]") -> Iterator[str]:
    """Yield the requirements that are not met, with what was measured."""
    measured = {measure.name: [measure] for measure in measures}
    for gate in gates:  # there may have been nothing to measure
        nothing = card.Measure(name=gate.name, value=None, says="", count=0)
        one = measured.setdefault(gate.name, [nothing])
        if not gate.is_passed(measured):
            yield f"{gate} (it is {one[0].figure})"


def exit_if_missed(missed: Iterable[str]) -> None:
    """Say which requirements are not met, and exit with 5 if there are any."""
    lines = list(missed)
    for line in lines:
        say(f"not met: {line}")
    if lines:
        raise typer.Exit(GATE)
