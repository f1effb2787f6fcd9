"""A shard: the result rows of one chunk, named after all that can change them."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import Aspect, Outcome, Segment, Usage, unstamped
from spanjury.judges.core.keys import canonical

Pairs = Sequence[tuple[Segment, Aspect]]
"""Segments and aspects, in the order of their rows."""

_LAYOUT = 1
"""Raised when keys or shards change: what was written the old way is then not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seat:
    outcome: Outcome
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """The part of a result row by which it is kept and counted."""

    id: str
    aspect: str
    signature: str
    outcome: Outcome
    seats: list[_Seat]


_ROW = TypeAdapter(_Row)


def shard_key(signature: str, pairs: Pairs) -> str:
    """Return 32 hexadecimal digits that change when a result of `pairs` could.

    Parameters
    ----------
    pairs
        All of the chunk. What judges never see of a segment (ratings, marked spans,
        meta) does not count.
    """
    asked = {id(aspect): aspect for _, aspect in pairs}  # the same few come with every segment
    aspects = {name: canonical(aspect).decode() for name, aspect in asked.items()}
    digest = hashlib.blake2b(json.dumps([_LAYOUT, signature]).encode(), digest_size=16)
    for segment, aspect in pairs:
        judged = [
            aspects[id(aspect)],
            segment.segment_id,
            segment.output,
            list(segment.inputs.items()),
            segment.task,
            segment.references,
            segment.system,
        ]
        digest.update(json.dumps(judged).encode())
    return digest.hexdigest()


def rows_of(shard: bytes) -> list[bytes]:
    """Return the rows of a shard, each with its line end; half a row at the end is dropped."""
    return [row + b"\n" for row in shard.split(b"\n")[:-1]]


def aligned_rows(shard: bytes | None, pairs: Pairs, *, signature: str) -> list[bytes | None]:
    """Return for each pair its row in `shard`, or None if there is none.

    That is so if the pair was not judged before the run was stopped, or the shard was damaged.
    """
    rows: dict[tuple[str, str, str], bytes] = {}
    for row in rows_of(shard or b""):
        if (read := _read(row)) is not None:
            rows[_named(read)] = row
    return [rows.get((segment.segment_id, aspect.name, signature)) for segment, aspect in pairs]


def is_kept(row: bytes, *, again: frozenset[Outcome]) -> bool:
    """Say whether neither the panel nor a seat came to one of the outcomes `again`."""
    return not again & _outcomes(_ROW.validate_json(row))


def outcomes_of(rows: Iterable[bytes]) -> Mapping[Outcome, int]:
    """Count the outcomes of the panel."""
    return Counter(_ROW.validate_json(row).outcome for row in rows)


def usage_of(rows: Iterable[bytes]) -> Usage:
    """Return the usage of all seats."""
    seats = (seat for row in rows for seat in _ROW.validate_json(row).seats)
    return sum((seat.usage for seat in seats), Usage())


def _named(row: _Row) -> tuple[str, str, str]:
    """Return whose row it is; by which release of the same panel does not matter."""
    return row.id, row.aspect, unstamped(row.signature)


def _read(row: bytes) -> _Row | None:
    try:
        return _ROW.validate_json(row)
    except ValidationError:
        return None


def _outcomes(row: _Row) -> set[Outcome]:
    return {row.outcome, *(seat.outcome for seat in row.seats)}
