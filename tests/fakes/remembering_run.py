"""A run of a remembering panel, for a process that is to be killed.

It tells ``asked WHOM`` before a judge is asked, ``kept KEY DIGEST`` once a put has
returned, and at the end a line ``row JSON`` for each result, without the seconds.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import anyio
from fakes.judges import panel_of

from spanjury.adapters.files.results.results import result_row
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import (
    Aspect,
    Memory,
    Outcome,
    ParseError,
    Report,
    Result,
    Segment,
    Task,
    Usage,
)
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.engine.memory import RememberedJudge
from spanjury.orchestration.engine.panel import Panel

Tell = Callable[[str], None]

SEGMENTS = 60
SEATS = 3
ASPECT = Aspect(
    name="consistency",
    task=Task(name="summarization", description="A summary."),
    definition="Facts agree.",
    kind="grounding",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowJudge:
    """Says what a digest of the segment and its own name tells it to, failures included."""

    signature: str
    tell: Tell

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        self.tell(f"asked {self.signature}/{segment.output}")
        digest = hashlib.sha256(f"{self.signature} {segment.output} {aspect.name}".encode())
        chance = digest.digest()[0]
        await anyio.sleep(chance / 256 * 0.02)
        if chance % 5 == 0:
            raise ParseError("no score", reply=f"{segment.output} \ud83d \x00")
        if chance % 7 == 0:
            return Report(outcome=Outcome.REFUSED, reason="no", usage=Usage(calls=1))
        return Report(score=1 + chance % 5, rationale=digest.hexdigest(), usage=Usage(calls=1))


@dataclass(frozen=True, slots=True)
class TellingMemory:
    """A memory that tells of every put that has returned."""

    memory: Memory
    tell: Tell

    def get(self, key: str) -> bytes | None:
        return self.memory.get(key)

    async def put(self, key: str, value: bytes) -> None:
        await self.memory.put(key, value)
        self.tell(f"kept {key} {hashlib.sha256(value).hexdigest()}")

    async def put_soon(self, key: str, value: bytes) -> None:
        await self.memory.put_soon(key, value)


def _panel(memory: Memory, tell: Tell) -> Panel:
    judges = [SlowJudge(signature=f"slow-{number}", tell=tell) for number in range(SEATS)]
    telling = TellingMemory(memory, tell)
    remembered = [RememberedJudge(judge, telling) for judge in judges]
    return panel_of(*remembered, names=[judge.signature for judge in judges])


def _pairs() -> Iterator[tuple[Segment, Aspect]]:
    for number in range(SEGMENTS):
        yield Segment(segment_id=str(number), output=f"Text {number}."), ASPECT


def _row_text(result: Result) -> str:
    row = result_row(result)
    seats = row["seats"]
    assert isinstance(seats, list)
    for seat in seats:
        del seat["seconds"]
    return json.dumps(row)


async def _judge(path: Path, tell: Tell) -> None:
    rows: list[str] = []
    with SqliteMemory(path) as memory:
        panel = _panel(memory, tell)
        await evaluate(panel, _pairs(), write=lambda result: rows.append(_row_text(result)))
    for row in rows:
        tell(f"row {row}")


def run(path: Path, pipe: Connection) -> None:
    """Judge with the memory `path`, and tell of it on `pipe`, line by line."""

    def tell(line: str) -> None:
        os.write(pipe.fileno(), f"{line}\n".encode())  # at once: a kill holds nothing back

    anyio.run(_judge, path, tell)
