"""Rows to be judged: summaries of articles of 2,400 characters, no two alike."""

import json
from collections.abc import Iterator
from pathlib import Path

from spanjury import Segment

__all__ = ["segment", "write_rows"]

_TASK = "summarization"
_ARTICLE = (
    "The bridge over the harbour was opened in {year} by the premier of the state, after eight"
    " years of work that had cost sixteen men their lives and the state more than it could"
    " afford. Visitor {number} said that the crowd had been waiting since the early morning. "
)
_SUMMARY = (
    "The harbour bridge number {number} was opened by the mayor in {year} after eight years of"
    " work, and it cost nine million pounds. A large crowd had waited since the morning."
)
_PARAGRAPHS = 10


def segment(number: int) -> Segment:
    """Return one row as a segment."""
    year = 1900 + number % 100
    paragraphs = (
        _ARTICLE.format(number=number + place, year=year + place) for place in range(_PARAGRAPHS)
    )
    return Segment(
        segment_id=f"row-{number}",
        output=_SUMMARY.format(number=number, year=year),
        inputs={"Article": "".join(paragraphs)},
        task=_TASK,
        system=f"system-{number % 7}",
    )


def write_rows(path: Path, count: int) -> None:
    """Write a JSON Lines file of `count` rows."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_lines(count))


def _lines(count: int) -> Iterator[str]:
    for row in map(segment, range(count)):
        fields = {
            "id": row.segment_id,
            "output": row.output,
            "inputs": row.inputs,
            "task": row.task,
            "system": row.system,
        }
        yield f"{json.dumps(fields)}\n"
