"""The raw scores of an exam as a file: a line that says what it holds, then a line a row."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import DataError
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.wiring.runs import MEMORY_NAME

SCORES = "scores.jsonl"
"""Name of the file in an exam's folder."""

_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamScores:
    """The contents of an exam's file of scores.

    Parameters
    ----------
    data, recipe, seed
        On which texts, and how they were damaged.
    """

    examinee: Examinee
    data: str
    recipe: str
    seed: int
    rows: Sequence[ScoreRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """The first line."""

    format: int
    judge: str
    seats: dict[str, str]
    data: str
    recipe: str
    seed: int
    rows: int


_HEAD: TypeAdapter[_Head] = TypeAdapter(_Head)
_ROW: TypeAdapter[ScoreRow] = TypeAdapter(ScoreRow)


def write_scores(path: Path, scores: ExamScores) -> None:
    """Write the scores of an exam as JSON Lines.

    Raise `StoreError` if the file cannot be written; what was there stays.
    """
    head = _Head(
        format=_FORMAT,
        judge=scores.examinee.signature,
        seats=dict(scores.examinee.seats),
        data=scores.data,
        recipe=scores.recipe,
        seed=scores.seed,
        rows=len(scores.rows),
    )
    lines = (_HEAD.dump_json(head), *(_ROW.dump_json(row) for row in scores.rows))
    write_whole(path, b"".join(line + b"\n" for line in lines))


def read_scores(folder: Path) -> ExamScores:
    """Read the scores that an exam has left in its folder.

    Raise `DataError` if there are none, or they cannot be read; the message says what to
    do.
    """
    path = folder / SCORES
    try:
        first, *lines = path.read_bytes().splitlines() or [b""]
    except OSError as error:
        raise DataError(_absent(folder)) from error
    head = _head(first, path)
    if len(lines) != head.rows:
        raise DataError(f"{path} is cut short: it has {len(lines)} of {head.rows} rows")
    return ExamScores(
        examinee=Examinee(signature=head.judge, seats=head.seats),
        data=head.data,
        recipe=head.recipe,
        seed=head.seed,
        rows=[_row(line, f"{path}:{number}") for number, line in enumerate(lines, start=2)],
    )


def _absent(folder: Path) -> str:
    """Say why there are no scores in `folder`."""
    if not folder.is_dir():
        return f"{folder} is not the folder of an exam"
    again = "run it again with the same command: no question is asked twice"
    if (folder / "findings.json").exists():
        return f"{folder} holds an exam without readable {SCORES}: {again}"
    if (folder / MEMORY_NAME).exists():
        return f"{folder} holds an exam that has not ended: {again}"
    return f"{folder} holds no exam: there is no {SCORES} in it"


def _head(line: bytes, path: Path) -> _Head:
    try:
        head = json.loads(line)
    except ValueError as error:
        raise DataError(f"{path} holds no scores of an exam: its first line is not JSON") from error
    version = head.get("format") if isinstance(head, dict) else None
    if version != _FORMAT:
        raise DataError(
            f"{path} has format {version!r}, expected {_FORMAT}: it was written by another version"
        )
    try:
        return _HEAD.validate_python(head)
    except ValidationError as error:
        raise DataError(f"{path}:1: {_problem(error)}") from error


def _row(line: bytes, where: str) -> ScoreRow:
    try:
        row = json.loads(line)
        if isinstance(row, dict) and "treatment" in row:  # as releases until 0.2 wrote it
            row["condition"] = row.pop("treatment")
        return _ROW.validate_python(row)
    except ValidationError as error:
        raise DataError(f"{where}: {_problem(error)}") from error


def _problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
