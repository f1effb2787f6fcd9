"""A memory that is only read: beside a run that holds it, damaged, or not there."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from spanjury.adapters.runs.kept_memory import open_kept_memory
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import StoreError


async def test_values_are_read_while_a_run_puts_more(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with SqliteMemory(path) as memory:
        await memory.put("a", b"1")
        with open_kept_memory(path) as kept:
            assert (kept.get("a"), kept.get("b")) == (b"1", None)
            await memory.put("b", b"2")
            assert kept.get("b") == b"2"


async def test_values_put_into_a_kept_memory_are_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with SqliteMemory(path) as memory:
        await memory.put("a", b"1")
    before = path.read_bytes()
    with open_kept_memory(path) as kept:
        await kept.put("a", b"2")
        await kept.put_soon("b", b"3")
        assert (kept.get("a"), kept.get("b")) == (b"1", None)
    assert path.read_bytes() == before


async def test_a_damaged_value_counts_as_never_put(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with SqliteMemory(path) as memory:
        await memory.put("a", b"1")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE memory SET value = x'32'")
    with open_kept_memory(path) as kept:
        assert kept.get("a") is None


def test_a_memory_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no memory"), open_kept_memory(tmp_path / "no"):
        pass
    assert list(tmp_path.iterdir()) == []
