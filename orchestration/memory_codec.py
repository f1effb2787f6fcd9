"""What a memory holds: reports, rescorings and replies as JSON.

Written by field name, read by hand: JSON that a validator reads cannot carry the lone
surrogates and the numbers that are not finite, which models and broken judges give.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache

from spanjury.judges.core import (
    ErrorSpan,
    Finish,
    Located,
    Outcome,
    Reply,
    Report,
    Rescoring,
    Road,
    StoreError,
    TokenLogprob,
    ToolCall,
    Usage,
)

__all__ = ["read_reply", "read_report", "read_rescoring", "written"]


def written(said: Report | Rescoring | Reply) -> bytes:
    """Return every field of `said` as JSON, those that are added to its type later, too.

    Examples
    --------
    >>> written(Reply(text="Score: Good"))[:40]
    b'{"text": "Score: Good", "finish": "stop"'
    """
    return json.dumps(said, default=_plain).encode()


def read_report(value: bytes) -> Report:
    """Return the report that was written; raise `StoreError` if it is none."""
    with _reading("report"):
        row = json.loads(value)
        row["outcome"] = Outcome(row["outcome"])
        for span in row["spans"]:
            span["located"] = Located(span["located"])
            span["found_by"] = tuple(span["found_by"])
        row["spans"] = tuple(ErrorSpan(**span) for span in row["spans"])
        row["usage"] = Usage(**row["usage"])
        return Report(**row)


def read_rescoring(value: bytes) -> Rescoring:
    """Return the rescoring that was written; raise `StoreError` if it is none."""
    with _reading("rescoring"):
        row = json.loads(value)
        row["report"] = read_report(json.dumps(row["report"]).encode())
        row["road"] = Road(row["road"])
        return Rescoring(**row)


def read_reply(value: bytes) -> Reply:
    """Return the reply that was written; raise `StoreError` if it is none."""
    with _reading("reply"):
        row = json.loads(value)
        row["finish"] = Finish(row["finish"])
        row["usage"] = Usage(**row["usage"])
        row["logprobs"] = tuple(TokenLogprob(**token) for token in row["logprobs"])
        row["tool_calls"] = tuple(ToolCall(**call) for call in row["tool_calls"])
        return Reply(**row)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"what is remembered is no {what}: {error!r}") from error


def _plain(value: object) -> object:
    """Return a dataclass or a mapping as a dict, a member of an enumeration as its value."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    names = _names(type(value))  # type: ignore[arg-type]  # a class is hashable whatever its objects
    return {name: getattr(value, name) for name in names}


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of a dataclass's fields."""
    if not is_dataclass(kind):
        raise TypeError(f"JSON cannot hold {kind.__name__}")
    return tuple(told.name for told in fields(kind))
