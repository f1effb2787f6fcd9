"""Records of changes: those of an exam, and those of others in the shapes that are known.

The first line of a record tells its shape:

- our own rows: a line with the number of rows, then a JSON object with the fields of `Change`
  for every report and condition. What is null or has its default may be missing, and so may
  the first line, so that any record can be written this way;
- a label table: a header ``{"mods": [condition, ...]}``, then rows ``{"ds", "asp", "m", "id",
  "b": score or one a condition, "a": [score a condition]}``; 0 is an unreadable label, null a
  pair that is not there;
- replies: rows ``{"id", "model", "before": reply, "after": {"-1": reply, ...}}``; null where
  the list could not be changed. The replies are read as a judge's are.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import VERSION, DataError, Outcome, Scale, first_problem
from spanjury.judges.llm.parse import parse
from spanjury.judges.llm.parsed import ParsedReply
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.studies.faithfulness.outcomes import (
    Change,
    Direction,
    ListOutcome,
    severity_moved,
)

CHANGES = "changes.jsonl"
"""Name of the file in an exam's folder."""

_FORMAT = 1
_RENAMED = {"road": "method", "treatment": "condition", "push": "direction", "fate": "list_outcome"}
"""Names of fields until release 0.2, and from then on."""
_UNWRITTEN = "unwritten"
"""Name of `ListOutcome.FAILED` until release 0.2."""

_FAMILIES: Mapping[str, str] = {
    "severity": "severity",
    "textsev": "explanation",
    "int_and_textsev": "both",
    "add_random_error": "addition",
    "add_critical_error": "critical",
}
"""Names of the families in label tables, and ours."""
_STEPPED = frozenset({"severity", "explanation", "both"})
_NAME = re.compile(r"(?P<family>.*?)(?P<number>-?\d*)")
_SCALE = Scale()
_UNREADABLE = "the label could not be read"

T = TypeVar("T")
Row = dict[str, object]
Rows = Iterable[tuple[str, Row]]
"""Rows, each with its file and line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    """A row of a label table."""

    ds: str
    asp: str
    m: str
    id: str
    b: int | list[int]
    a: list[int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replies:
    """A row of replies."""

    id: str
    model: str
    before: str
    after: dict[int, str | None]
    dataset: str = ""
    aspect: str = ""


_CHANGE: TypeAdapter[Change] = TypeAdapter(Change)
_LABELS: TypeAdapter[_Labels] = TypeAdapter(_Labels)
_REPLIES: TypeAdapter[_Replies] = TypeAdapter(_Replies)
_NAMES: TypeAdapter[list[str]] = TypeAdapter(list[str])


def write_changes(path: Path, changes: Sequence[Change]) -> None:
    """Write the changes of an exam, so that it can be analysed without a judge.

    Raise `StoreError` if the file cannot be written; what was there stays.
    """
    head = json.dumps({"format": _FORMAT, "spanjury": VERSION, "rows": len(changes)}).encode()
    lines = (head, *(_CHANGE.dump_json(change, exclude_defaults=True) for change in changes))
    write_whole(path, b"".join(line + b"\n" for line in lines))


def read_changes(path: Path) -> list[Change]:
    """Read a record, whatever its shape; ``.gz`` is unpacked.

    Raise `DataError` if it cannot be read, holds nothing, or a row is not of the shape that
    the first one has; the message names the line.
    """
    rows = _json_rows(path)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path}: there is nothing in it")
    row = first[1]
    if "mods" in row:
        changes = list(_from_labels(_names(first), rows))
    elif "before" in row and isinstance(row.get("after"), dict):
        changes = list(_from_replies(chain([first], rows), dataset=path.name.partition(".")[0]))
    else:
        changes = list(_from_own(chain([first], rows)))
    if not changes:
        raise DataError(f"{path}: there is no change in it")
    return changes


def _json_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield each line of a JSONL file, or a gzipped one, with its file and number."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield f"{path}:{number}", _object(line, f"{path}:{number}")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error


def _object(line: str, where: str) -> Row:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DataError(f"{where}: no JSON: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f"{where}: expected an object, got {type(value).__name__}")
    return value


def _from_own(rows: Rows) -> Iterator[Change]:
    """Read rows of our own format; raise `DataError` if the file is cut short."""
    promised: object = None
    read = 0
    for where, row in rows:
        if "format" in row:
            if row["format"] != _FORMAT:
                raise DataError(f"{where}: format {row['format']!r}, expected {_FORMAT}")
            promised = row.get("rows")
            continue
        renamed = {_RENAMED.get(name, name): value for name, value in row.items()}
        if renamed.get("list_outcome") == _UNWRITTEN:
            renamed["list_outcome"] = ListOutcome.FAILED
        yield _valid(_CHANGE, renamed, where)
        read += 1
    if isinstance(promised, int) and read != promised:
        raise DataError(f"the record is cut short: it has {read} of {promised} rows")


def _names(first: tuple[str, Row]) -> list[str]:
    where, row = first
    try:
        return _NAMES.validate_python(row["mods"])
    except ValidationError as error:
        raise DataError(f"{where}: the conditions must be strings") from error


def _from_labels(names: Sequence[str], rows: Rows) -> Iterator[Change]:
    conditions = [_condition(name) for name in names]
    for where, row in rows:
        labels = _valid(_LABELS, row, where)
        before = labels.b if isinstance(labels.b, list) else [labels.b] * len(names)
        if not len(before) == len(labels.a) == len(names):
            raise DataError(f"{where}: expected {len(names)} scores before and after")
        for condition, score, after in zip(conditions, before, labels.a, strict=True):
            change = replace(
                condition, judge=labels.m, dataset=labels.ds, aspect=labels.asp, text=labels.id
            )
            unreadable = replace(change, outcome=Outcome.UNPARSEABLE, reason=_UNREADABLE)
            if after is None:
                yield replace(change, before=score or None, list_outcome=ListOutcome.ABSENT)
            elif not score:
                yield replace(unreadable, list_outcome=ListOutcome.UNSCORED)
            elif not after:
                yield replace(unreadable, before=score)
            else:
                yield replace(change, before=score, after=after)


def _condition(name: str) -> Change:
    """Return a row with the condition filled in, and without judge and text."""
    parts = _NAME.fullmatch(name)
    assert parts is not None  # the pattern takes anything
    family = _FAMILIES.get(parts["family"])
    if family is None:
        raise DataError(f"condition {name!r} is none of {', '.join(sorted(_FAMILIES))}")
    number = int(parts["number"] or 1)
    return _named(family, number, name=name if family not in _STEPPED else "")


def _named(family: str, number: int, *, name: str = "") -> Change:
    direction: Direction = "falls" if number > 0 else "rises"
    return Change(
        judge="",
        dataset="",
        aspect="",
        text="",
        condition=name or f"{family}{number:+d}",
        family=family,
        by=number if family in _STEPPED else None,
        direction=direction,
    )


def _from_replies(rows: Rows, *, dataset: str) -> Iterator[Change]:
    for where, row in rows:
        replies = _valid(_REPLIES, row, where)
        before = parse(replies.before, scale=_SCALE)
        for by, reply in replies.after.items():
            change = replace(
                _named("explanation", by),
                judge=replies.model,
                dataset=replies.dataset or dataset,
                aspect=replies.aspect,
                text=replies.id,
                errors=len(before.errors),
            )
            yield _of_replies(change, before, reply)


def _of_replies(change: Change, before: ParsedReply, reply: str | None) -> Change:
    if before.score is None:
        unparseable = Outcome.UNPARSEABLE
        unscored = ListOutcome.UNSCORED
        return replace(change, list_outcome=unscored, outcome=unparseable, reason=before.problem)
    if reply is None:
        outcome = ListOutcome.CLIPPED if before.errors else ListOutcome.ERROR_FREE
        return replace(change, before=before.score, list_outcome=outcome)
    after = parse(reply, scale=_SCALE)
    return replace(
        change,
        before=before.score,
        after=after.score,
        outcome=Outcome.UNPARSEABLE if after.score is None else Outcome.SCORED,
        reason=after.problem,
        errors_after=len(after.errors),
        severity_change=severity_moved(
            (error.severity for error in before.errors), by=change.by or 0
        ),
    )


def _valid(adapter: TypeAdapter[T], row: Row, where: str) -> T:
    try:
        return adapter.validate_python(row)
    except ValidationError as error:
        raise DataError(f"{where}: {first_problem(error)}") from error
