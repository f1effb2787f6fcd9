"""Live traffic on disk: accepted traces, their scores, and what each sink has received.

Accepted traces survive kill -9 and power loss, and are judged. The rows of a trace are added in the
transaction that ends its wait, so that no trace gets them twice.
"""

import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec

from spanjury.adapters.runs.database import connected, lock_of, make_durable, naming, pragma
from spanjury.adapters.runs.run_lock import RunLock
from spanjury.adapters.runs.shared_commits import SharedCommits
from spanjury.judges.core import StoreError, TraceScore

_APPLICATION, _LAYOUT = 0x73707477, 1
"""The application id and layout in the header of the file."""
_TABLES = """
CREATE TABLE traces (
    trace TEXT PRIMARY KEY, due REAL, rooted INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    ended REAL
) WITHOUT ROWID;
CREATE INDEX waiting ON traces (due) WHERE due IS NOT NULL;
CREATE INDEX ended ON traces (ended) WHERE ended IS NOT NULL;
CREATE TABLE spans (
    trace TEXT NOT NULL, span TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (trace, span)
) WITHOUT ROWID;
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    made REAL NOT NULL, body BLOB NOT NULL, line BLOB
);
CREATE TABLE cursors (
    sink TEXT PRIMARY KEY, number INTEGER NOT NULL, size INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE refused (
    sink TEXT NOT NULL, number INTEGER NOT NULL, tries INTEGER NOT NULL, due REAL NOT NULL,
    PRIMARY KEY (sink, number)
) WITHOUT ROWID;
CREATE TABLE states (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
"""
_PUT_TRACE = """
INSERT INTO traces (trace, due, rooted) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET
    due = CASE WHEN rooted > excluded.rooted THEN due ELSE excluded.due END,
    rooted = max(rooted, excluded.rooted)
WHERE ended IS NULL AND tries = 0
"""
_PUT_SPAN = """
INSERT INTO spans SELECT ?, ?, ?
WHERE NOT EXISTS (SELECT 1 FROM traces WHERE trace = ? AND ended IS NOT NULL)
ON CONFLICT DO NOTHING
"""
_READY = "SELECT trace, tries FROM traces WHERE due <= ? ORDER BY due LIMIT ?"
_SPANS = "SELECT body FROM spans WHERE trace = ? ORDER BY span"
_END = "UPDATE traces SET due = NULL, ended = ? WHERE trace = ? AND ended IS NULL"
_AGAIN = "UPDATE traces SET due = ?, tries = tries + 1 WHERE trace = ?"
_PUT_OUT = """
INSERT OR IGNORE INTO outbox (id, kind, made, body, line) SELECT ?, ?, ?, ?, ?
WHERE EXISTS (SELECT 1 FROM traces WHERE trace = ? AND ended IS NULL)
"""
_PUT_STATE = "INSERT OR REPLACE INTO states VALUES (?, ?)"
_NEXT = """
SELECT number, kind, body, line, 0 FROM outbox
WHERE kind = ? AND number > ? ORDER BY number LIMIT ?
"""
_AGAIN_TO = """
SELECT number, kind, body, line, tries FROM refused JOIN outbox USING (number)
WHERE sink = ? AND due <= ? ORDER BY due LIMIT ?
"""
_PUT_CURSOR = "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)"
_PRUNE = """
DELETE FROM outbox WHERE kind = 'score' AND made < ? AND number <= ?
AND number NOT IN (SELECT number FROM refused)
"""
_LAST = 2**63 - 1
_SCORES = msgspec.json.Decoder(TraceScore)
_ENCODER = msgspec.json.Encoder()

_Change = tuple[str, Sequence[tuple[object, ...]]]
"""A statement, and the rows of values with which it is executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A span as received.

    `due` is when its trace may be judged, in seconds since 1970, if no other span arrives.
    `is_root` is True for a span that ends last: spans arriving after it delay nothing.
    """

    trace: str
    span: str
    body: bytes
    due: float
    is_root: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTrace:
    """A trace that waits to be judged, its spans, and the number of failed attempts."""

    trace: str
    bodies: tuple[bytes, ...]
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """An item to send: a score with its result row, or an alert.

    `kind` is ``score`` or ``alert``; `tries` is the number of times it was refused.
    """

    number: int = 0
    kind: str = "score"
    identity: str
    body: bytes
    line: bytes = b""
    tries: int = 0

    @property
    def score(self) -> TraceScore:
        """The decoded score in the body."""
        return _SCORES.decode(self.body)


def outgoing_score(score: TraceScore, line: bytes) -> Outgoing:
    """Return a score to send; `line` is its result row."""
    return Outgoing(identity=score.score_id, body=_ENCODER.encode(score), line=line)


class TrafficStore:
    """Stores live traffic in a file, as a context manager; one process at a time may open it.

    The writes of many tasks share a commit, which is on disk when they return. The file is created
    if it does not exist; beside it is a lock file (``.lock``).

    Raises `StoreError` on entry if another process has it open, or it is another kind of file. Any
    method raises it if the file can no longer be read or written (a full disk).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack = ExitStack()
        self._connection: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._commits = SharedCommits[list[_Change]](
            list, self._commit, kept=lambda _, newer: newer
        )

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(RunLock(lock_of(self._path)))
            with naming(self._path):
                self._writer = stack.enter_context(closing(connected(self._path, mode="rwc")))
                self._prepare(self._writer)
                self._connection = stack.enter_context(closing(connected(self._path, mode="ro")))
            self._stack = stack.pop_all()
        return self

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if not pragma(connection, "schema_version"):
            make_durable(connection, self._path)
            connection.executescript(
                f"BEGIN; {_TABLES} PRAGMA application_id = {_APPLICATION};"
                f" PRAGMA user_version = {_LAYOUT}; COMMIT"
            )
        numbers = (pragma(connection, "application_id"), pragma(connection, "user_version"))
        if numbers != (_APPLICATION, _LAYOUT):
            raise StoreError(f"{self._path}: holds no live traffic, or that of another spanjury")
        make_durable(connection, self._path)

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def accept(
        self, arrivals: Sequence[Arrival], *, states: Mapping[str, bytes] | None = None
    ) -> None:
        """Accept spans, and store named values; both in one transaction.

        Spans that are stored already, or of a trace already judged, are ignored.
        """
        await self._write(
            (_PUT_SPAN, [(span.trace, span.span, span.body, span.trace) for span in arrivals]),
            (_PUT_TRACE, [(span.trace, span.due, span.is_root) for span in arrivals]),
            (_PUT_STATE, [*(states or {}).items()]),
        )

    def ready(
        self, *, limit: int, without: Collection[str] = (), now: float | None = None
    ) -> list[WaitingTrace]:
        """Return traces that may be judged now, the longest overdue first, but not `without`."""
        moment = time.time() if now is None else now
        with naming(self._path):
            rows = self._reader.execute(_READY, (moment, limit + len(without))).fetchall()
            chosen = [(trace, tries) for trace, tries in rows if trace not in without][:limit]
            return [
                WaitingTrace(
                    trace=trace,
                    bodies=tuple(body for (body,) in self._reader.execute(_SPANS, (trace,))),
                    tries=tries,
                )
                for trace, tries in chosen
            ]

    async def end(
        self,
        trace: str,
        outgoing: Iterable[Outgoing] = (),
        *,
        states: Mapping[str, bytes] | None = None,
    ) -> None:
        """End the wait of a trace, storing its outgoing items; its spans are deleted."""
        now = time.time()
        await self._write(
            # First, while the trace waits: a trace that has ended already gets no more rows.
            (
                _PUT_OUT,
                [
                    (each.identity, each.kind, now, each.body, each.line or None, trace)
                    for each in outgoing
                ],
            ),
            (_END, [(now, trace)]),
            ("DELETE FROM spans WHERE trace = ?", [(trace,)]),
            (_PUT_STATE, [*(states or {}).items()]),
        )

    async def postpone(self, trace: str, *, due: float) -> None:
        """Postpone a trace that could not be judged until `due`."""
        await self._write((_AGAIN, [(due, trace)]))

    def state(self, name: str) -> bytes | None:
        """Return the last value stored under a name, or None."""
        value: bytes | None = self._first("SELECT value FROM states WHERE name = ?", name)
        return value

    def cursor(self, sink: str) -> int:
        """Return the number of the last item that a sink has received; 0 if there is none."""
        return self._first("SELECT number FROM cursors WHERE sink = ?", sink) or 0

    def file_size(self, sink: str) -> int | None:
        """Return the size of a sink's file after the last delivery; None if the sink is new."""
        size: int | None = self._first("SELECT size FROM cursors WHERE sink = ?", sink)
        return size

    def undelivered(self, sink: str, *, kind: str, limit: int) -> list[Outgoing]:
        """Return the next items for a sink, the oldest first."""
        return self._items(_NEXT, kind, self.cursor(sink), limit)

    def refused(self, sink: str, *, limit: int) -> list[Outgoing]:
        """Return items that a sink has refused and that may be sent again now."""
        return self._items(_AGAIN_TO, sink, time.time(), limit)

    def _items(self, query: str, *values: object) -> list[Outgoing]:
        with naming(self._path):
            rows = self._reader.execute(query, values).fetchall()
        return [
            Outgoing(
                number=number, kind=kind, identity="", body=body, line=line or b"", tries=tries
            )
            for number, kind, body, line, tries in rows
        ]

    async def deliver(
        self,
        sink: str,
        number: int,
        *,
        size: int = 0,
        refused: Mapping[int, float] | None = None,
    ) -> None:
        """Record that a sink, whose file has this `size`, has received all items up to `number`.

        `refused` has the numbers of those that it refused, with the time of the next attempt.
        """
        later = [(sink, each, due) for each, due in (refused or {}).items()]
        await self._write(
            (_PUT_CURSOR, [(sink, number, size)]),
            ("INSERT OR IGNORE INTO refused VALUES (?, ?, 1, ?)", later),
        )

    async def redeliver(self, sink: str, number: int, *, due: float | None) -> None:
        """Record that a sink has accepted a refused item, or has refused it again until `due`."""
        if due is None:
            query = "DELETE FROM refused WHERE sink = ? AND number = ?"
            await self._write((query, [(sink, number)]))
        else:
            query = "UPDATE refused SET tries = tries + 1, due = ? WHERE sink = ? AND number = ?"
            await self._write((query, [(due, sink, number)]))

    def waiting(self) -> int:
        """Return the number of traces waiting to be judged."""
        return self._first("SELECT count(*) FROM traces WHERE due IS NOT NULL") or 0

    def next_due(self) -> float | None:
        """Return the time, in seconds since 1970, of the next due trace; None if none waits."""
        due: float | None = self._first("SELECT min(due) FROM traces WHERE due IS NOT NULL")
        return due

    async def prune(self, sinks: Collection[str], *, before: float) -> None:
        """Delete traces that ended, and scores made, `before` a time, in seconds since 1970.

        Scores that one of `sinks` has not received yet, or has refused, are kept.
        """
        least = min((self.cursor(sink) for sink in sinks), default=_LAST)
        await self._write(
            ("DELETE FROM traces WHERE ended < ?", [(before,)]), (_PRUNE, [(before, least)])
        )

    @property
    def _reader(self) -> sqlite3.Connection:
        assert self._connection is not None, "used outside the context"
        return self._connection

    def _first(self, query: str, *values: object) -> Any:  # noqa: ANN401  the column's value
        with naming(self._path):
            row = self._reader.execute(query, values).fetchone()
        return None if row is None else row[0]

    async def _write(self, *changes: _Change) -> None:
        """Make changes together in the next commit; return once that is on disk."""
        self._commits.gathering.extend(changes)
        await self._commits.written()

    def _commit(self, changes: Iterable[_Change]) -> None:
        assert self._writer is not None
        with naming(self._path), self._writer:
            self._writer.execute("BEGIN IMMEDIATE")
            for statement, rows in changes:
                self._writer.executemany(statement, rows)
