"""A memory that forgets all when the process ends, and the values in the file of a real one."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import anyio.lowlevel

from spanjury.adapters.runs.memory_form import unpacked


@dataclass(slots=True)
class DictMemory:
    """A `Memory` in a dict; a put lets other tasks run, as one that writes to disk does."""

    values: dict[str, bytes] = field(default_factory=dict)

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    async def put(self, key: str, value: bytes) -> None:
        self.values[key] = value  # in the order of the puts, and there for gets at once
        await anyio.lowlevel.checkpoint()

    async def put_soon(self, key: str, value: bytes) -> None:
        self.values[key] = value


def values_in(path: Path) -> Mapping[str, bytes]:
    """Return every sound value in the file of a memory, also while a run goes on."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
        rows = file.execute("SELECT key, value, checksum FROM memory").fetchall()
    values = {key: unpacked(key, stored, checksum) for key, stored, checksum in rows}
    return {key: value for key, value in values.items() if value is not None}
