"""Scores of metrics as a file: a line that describes the metrics, then a line a segment."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ValidationError

from spanjury.judges.core import VERSION, DataError, stamped
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.services.judging.metrics import Scored

Format = Literal["spanjury metric scores 1"]


class _Described(BaseModel):
    """A metric of the file; `corpus` is None where the score is undefined."""

    signature: str
    better: Literal["higher", "lower", "neither"]
    corpus: float | None


class MetricHead(BaseModel):
    """The first line: which metrics, and how many rows follow."""

    format: Format
    spanjury: str
    rows: int
    metrics: dict[str, _Described]


class MetricRow(BaseModel):
    """The scores of one segment; None where one is undefined."""

    id: str
    system: str = ""
    scores: dict[str, float | None]


Parsed = TypeVar("Parsed", bound=BaseModel)


def write_metric_scores(path: Path, scored: Scored) -> None:
    """Write the scores of all segments as JSON Lines.

    Raise `StoreError` if the file cannot be written; what was there stays.
    """
    described = {
        score.named.name: _Described(
            signature=stamped(score.named.signature),
            better=score.named.card.direction,
            corpus=_number(score.corpus),
        )
        for score in scored.scores
    }
    head = MetricHead(
        format="spanjury metric scores 1",
        spanjury=VERSION,
        rows=len(scored.segments),
        metrics=described,
    )
    lines = [head.model_dump_json(), *(row.model_dump_json() for row in _rows(scored))]
    write_whole(path, "".join(f"{line}\n" for line in lines).encode())


def read_metric_scores(path: Path) -> tuple[MetricHead, list[MetricRow]]:
    """Read a file of scores.

    Raise `DataError` if it cannot be read, is not one or is cut short; the message names
    the line.
    """
    try:
        first, *lines = path.read_bytes().rstrip(b"\n").split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    head = _line(first, MetricHead, f"{path}:1")
    rows = [_line(line, MetricRow, f"{path}:{number}") for number, line in enumerate(lines, 2)]
    if len(rows) != head.rows:
        raise DataError(f"{path} is cut short: it has {len(rows)} of {head.rows} rows")
    return head, rows


def are_metric_scores(path: Path) -> bool:
    """Say whether a file holds scores of metrics, by its first line."""
    try:
        with path.open("rb") as file:
            MetricHead.model_validate_json(file.readline())
    except (OSError, ValidationError):
        return False
    return True


def _line(line: bytes, kind: type[Parsed], where_from: str) -> Parsed:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"{where_from}: {where}: {first['msg']}".replace(": :", ":")) from error


def _rows(scored: Scored) -> Iterator[MetricRow]:
    for index, segment in enumerate(scored.segments):
        scores = {
            score.named.name: _number(score.segments[index])
            for score in scored.scores
            if score.segments is not None
        }
        yield MetricRow(id=segment.segment_id, system=segment.system, scores=scores)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
