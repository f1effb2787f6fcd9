"""Segments in the order of their sources, however many there are."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from spanjury.adapters.files.scratch import open_scratch
from spanjury.judges.core import DataError, ErrorSpan, Evidence, Located, Segment

_TABLES = """
CREATE TABLE sources (number INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, inputs BLOB);
CREATE TABLE segments (number INTEGER PRIMARY KEY, source INTEGER NOT NULL, rest BLOB NOT NULL);
"""
_PUT_SOURCE = "INSERT OR IGNORE INTO sources VALUES (?, ?, ?)"
_PUT_SEGMENT = "INSERT INTO segments SELECT ?, number, ? FROM sources WHERE digest = ?"
_INDEX = "CREATE INDEX by_source ON segments (source)"
_SOURCES = "SELECT number, inputs FROM sources ORDER BY number"
_SEGMENTS = "SELECT rest FROM segments WHERE source = ? ORDER BY number"
_FIELDS = tuple(field.name for field in fields(Segment) if field.name != "inputs")


def by_source(segments: Iterator[Segment]) -> Iterator[Segment]:
    """Yield `segments` so that those with the same inputs follow one another.

    A server that keeps the beginning of a prompt, where the inputs are, then reads each source
    once. Sources come in the order in which they were first seen, the segments of one in the order
    in which they came. Inputs in another order are another source: they make another prompt. All
    segments are read before the first is yielded.

    Raises `DataError` if a segment holds what JSON cannot, as a date in its meta; names the row.
    Raises `StoreError` if the temporary file that holds the segments meanwhile cannot be written.
    It takes about as much room as the texts, each source once.
    """
    with open_scratch(_TABLES) as scratch:
        for number, segment in enumerate(segments):
            _put(scratch, segment, number)
        scratch.execute(_INDEX)
        for source, written in scratch.execute(_SOURCES):
            inputs: Mapping[str, str] = _value(written)
            for (row,) in scratch.execute(_SEGMENTS, (source,)):
                yield _segment(_value(row), inputs)


def _put(scratch: sqlite3.Connection, segment: Segment, number: int) -> None:
    inputs, row = _written(segment)
    digest = blake2b(inputs, digest_size=16).digest()
    scratch.execute(_PUT_SOURCE, (number, digest, inputs))
    scratch.execute(_PUT_SEGMENT, (number, row, digest))


def _written(segment: Segment) -> tuple[bytes, bytes]:
    """Write the inputs and the rest of a segment."""
    try:
        if segment.meta and _value(_json(segment.meta)) != segment.meta:  # a tuple, a key 1
            raise _not_json(segment, "its meta does not read the same again")
        row = {name: getattr(segment, name) for name in _FIELDS}
        return _json(segment.inputs), _json(row)
    except (TypeError, ValueError, RecursionError) as error:
        raise _not_json(segment, str(error)) from error


def _not_json(segment: Segment, problem: str) -> DataError:
    return DataError(f"row {segment.segment_id!r} holds what JSON cannot: {problem}")


def _segment(row: dict[str, Any], inputs: Mapping[str, str]) -> Segment:
    gold = [
        ErrorSpan(
            **{
                **span,
                "located": Located(span["located"]),
                "found_by": tuple(span["found_by"]),
                "evidence": tuple(Evidence(**evidence) for evidence in span["evidence"]),
            }
        )
        for span in row["gold"]
    ]
    values = {**row, "references": tuple(row["references"]), "gold": tuple(gold)}
    return Segment(inputs=inputs, **values)


def _json(value: object) -> bytes:
    """Write `value` so that it is read again as it was, lone surrogates included."""
    return _JSON.encode(value).encode("utf-8", "surrogatepass")


def _value(written: bytes) -> Any:  # noqa: ANN401  JSON holds anything
    return json.loads(written.decode("utf-8", "surrogatepass"))


def _plain(value: object) -> object:
    """Return a mapping or a dataclass as a dict."""
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value):
        return {part.name: getattr(value, part.name) for part in fields(value)}
    raise TypeError(f"there is {value!r}")


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain)
