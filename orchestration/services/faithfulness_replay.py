"""Replay: recorded scores before and after a change of the list, in the shapes they come in.

Three shapes are known, told apart by their first line:

- our own rows (`faithfulness_changes`);
- a label table: a header ``{"mods": [condition, ...]}``, then rows ``{"ds", "asp", "m", "id",
  "b": score or one a condition, "a": [score a condition]}``; 0 is an unreadable label, null a
  pair that is not there;
- replies: rows ``{"id", "model", "before": reply, "after": {"-1": reply, ...}}``; null where
  the list could not be changed. The replies are read as a judge's are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import DataError, Outcome, Scale
from spanjury.judges.llm.parse import ParsedReply, parse
from spanjury.orchestration.services.faithfulness_changes import (
    Row,
    json_rows,
    read_change_rows,
)
from spanjury.orchestration.studies.faithfulness.changes import (
    Change,
    ListOutcome,
    Direction,
    severity_moved,
)

__all__ = ["read_changes"]

_FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        "severity": "severity",
        "textsev": "explanation",
        "int_and_textsev": "both",
        "add_random_error": "addition",
        "add_critical_error": "critical",
    }
)
"""What label tables call the families."""
_STEPPED = frozenset({"severity", "explanation", "both"})
_NAME = re.compile(r"(?P<what>.*?)(?P<number>-?\d*)")
_SCALE = Scale()
_UNREADABLE = "the label could not be read"

T = TypeVar("T")
Rows = Iterable[tuple[str, Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pairs:
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


_PAIRS: TypeAdapter[_Pairs] = TypeAdapter(_Pairs)
_REPLIES: TypeAdapter[_Replies] = TypeAdapter(_Replies)
_NAMES: TypeAdapter[list[str]] = TypeAdapter(list[str])


def read_changes(path: Path) -> list[Change]:
    """Read a record, whatever its shape; ``.gz`` is unpacked.

    Raises
    ------
    DataError
        If it cannot be read, holds nothing, or a row is not of the shape that the first one
        has; names the line.
    """
    rows = json_rows(path)
    first = next(iter(rows), None)
    if first is None:
        raise DataError(f"{path}: there is nothing in it")
    told = first[1]
    if "mods" in told:
        changes = list(_from_labels(_names(first), rows))
    elif "before" in told and isinstance(told.get("after"), dict):
        changes = list(_from_replies(chain([first], rows), dataset=path.name.partition(".")[0]))
    else:
        changes = list(read_change_rows(chain([first], rows)))
    if not changes:
        raise DataError(f"{path}: there is no change in it")
    return changes


def _names(first: tuple[str, Row]) -> list[str]:
    place, row = first
    try:
        return _NAMES.validate_python(row["mods"])
    except ValidationError as error:
        raise DataError(f"{place}: the treatments must be strings") from error


def _from_labels(names: Sequence[str], rows: Rows) -> Iterator[Change]:
    conditions = [_condition(name) for name in names]
    for place, row in rows:
        told = _valid(_PAIRS, row, place)
        before = told.b if isinstance(told.b, list) else [told.b] * len(names)
        if not len(before) == len(told.a) == len(names):
            raise DataError(f"{place}: expected {len(names)} scores before and after")
        for treated, score, after in zip(conditions, before, told.a, strict=True):
            whose = replace(treated, judge=told.m, dataset=told.ds, aspect=told.asp, text=told.id)
            yield _of_labels(whose, score, after)


def _of_labels(change: Change, before: int, after: int | None) -> Change:
    if after is None:
        return replace(change, before=before or None, list_outcome=ListOutcome.ABSENT)
    if not before:
        return replace(change, list_outcome=ListOutcome.UNSCORED, outcome=Outcome.UNPARSEABLE, reason=_UNREADABLE)
    if not after:
        return replace(change, before=before, outcome=Outcome.UNPARSEABLE, reason=_UNREADABLE)
    return replace(change, before=before, after=after)


def _condition(name: str) -> Change:
    """Return a row with the condition filled in, and nobody's."""
    findings_of = _NAME.fullmatch(name)
    assert findings_of is not None  # the pattern takes anything
    family = _FAMILIES.get(findings_of["what"])
    if family is None:
        raise DataError(f"treatment {name!r} is none of {', '.join(sorted(_FAMILIES))}")
    return _named(family, int(findings_of["number"] or 1), name=name if family not in _STEPPED else "")


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
    for place, row in rows:
        told = _valid(_REPLIES, row, place)
        before = parse(told.before, scale=_SCALE)
        for by, reply in told.after.items():
            whose = replace(
                _named("explanation", by),
                judge=told.model,
                dataset=told.dataset or dataset,
                aspect=told.aspect,
                text=told.id,
                errors=len(before.errors),
            )
            yield _of_replies(whose, before, reply)


def _of_replies(change: Change, before: ParsedReply, reply: str | None) -> Change:
    if before.score is None:
        return replace(
            change, list_outcome=ListOutcome.UNSCORED, outcome=Outcome.UNPARSEABLE, reason=before.problem
        )
    if reply is None:
        list_outcome = ListOutcome.CLIPPED if before.errors else ListOutcome.ERROR_FREE
        return replace(change, before=before.score, list_outcome=list_outcome)
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


def _valid(adapter: TypeAdapter[T], row: Row, place: str) -> T:
    try:
        return adapter.validate_python(row)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise DataError(f"{place}: {where}: {first['msg']}") from error
