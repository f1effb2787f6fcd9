"""Rows to judge: summaries of articles of 2,400 characters, all different."""

import json
from collections.abc import Callable
from pathlib import Path

from spanjury import Segment, find_aspect
from spanjury.judges.llm.prompt import Prompt, PromptOptions, PromptWriter

__all__ = ["ASPECT", "segment", "write_calls", "write_rows"]

_TASK = "summarization"
ASPECT = "consistency"
"""The judged aspect."""
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
        _ARTICLE.format(number=number + index, year=year + index) for index in range(_PARAGRAPHS)
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
    _write_lines(path, _row, count)


def write_calls(path: Path, count: int) -> None:
    """Write a JSON Lines file with the request bodies that an annotator sends for `count` rows."""
    writer, aspect = PromptWriter(PromptOptions()), find_aspect(_TASK, ASPECT)
    _write_lines(path, lambda number: _call(writer.write(segment(number), aspect)), count)


def _write_lines(path: Path, fields: Callable[[int], object], count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(fields(number))}\n" for number in range(count))


def _row(number: int) -> object:
    row = segment(number)
    return {
        "id": row.segment_id,
        "output": row.output,
        "inputs": row.inputs,
        "task": row.task,
        "system": row.system,
    }


def _call(prompt: Prompt) -> object:
    return {
        "model": "stub",
        "temperature": 0.0,
        "max_tokens": 1024,
        "messages": [
            {"role": message.role, "content": message.content} for message in prompt.messages
        ],
    }
