"""Summaries of three systems that people scored, some with a wrong year, and quick seats."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fakes.rows import summary

_TOWNS = ("Halvern", "Milde", "Orsa", "Tornby", "Kesswil", "Lannoy", "Perth")
_SOURCES = 20
_YEAR = re.compile(r"\b1[89]\d\d\b")

SEATS = """
seats = [
    { name = "reader", judge = "rouge-2" },
    { name = "grounding", judge = "grounding" },
    { name = "gemma", judge = "rouge-l" },
    { name = "nemotron", judge = "bleu" },
    { name = "qwen", judge = "chrf" },
    { name = "mistral", judge = "rouge-1" },
]
"""
"""A panel file: rules and metrics, which ask no model, under the names of judges."""


def _texts() -> list[dict[str, object]]:
    return [_text(number, system) for number in range(_SOURCES) for system in range(3)]


def _text(number: int, system: int) -> dict[str, object]:
    """Return a summary; in every fifth to second of a system's, the year is wrong."""
    town, year, cost = _TOWNS[number % len(_TOWNS)], 1850 + 7 * number, number + 12
    article = (
        f"The bridge of {town} was opened in {year}. It cost {cost} million crowns. Engineers warn"
        " that its cables rust, and the council will vote on repairs in May."
    )
    is_wrong = number % (system + 2) == 0
    stated_year = year + 3 if is_wrong else year
    outputs = (
        f"The bridge of {town} was opened in {stated_year} and cost {cost} million crowns.",
        f"The council of {town} will vote in May on repairs of the bridge of {stated_year}.",
        f"Engineers warn that the cables of the bridge of {town}, opened in {stated_year}, rust.",
    )
    return summary(
        f"bridge-{number}/{system}",
        outputs[system],
        article=article,
        system=("bart", "t5", "pegasus")[system],
        corpus=("old", "new")[number % 2],
        references=[f"The bridge of {town}, opened in {year}, rusts, and may be repaired."],
        human={"consistency": 2 if is_wrong else 5 - (number + system) % 4 // 3},
    )


TEXTS: Sequence[Mapping[str, object]] = _texts()


def review(summary: str, prompt: str) -> str:
    """Say as a model does whether the year of a summary is the article's."""
    years = _YEAR.findall(summary)  # none where the model is only asked whether it is there
    is_right = all(prompt.count(year) > 1 for year in years)
    return f"No Error\n\nOverall score: {'Good' if is_right else 'Poor'}"


def write_lines(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write JSON Lines."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_lines(path: Path) -> list[dict[str, object]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
