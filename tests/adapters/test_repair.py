"""Damaged memories: what is not in the damage is there again, and nothing is ever wrong."""

import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import anyio
import numpy as np
import pytest
from numpy.random import Generator

from spanjury.adapters.runs.repair import Repaired, repair
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import StoreError

COUNT = 300
PAGE = 4096
KILLED = """
import hashlib, os, signal, sys
from pathlib import Path
import anyio
from spanjury.adapters.runs.sqlite_memory import SqliteMemory

def value_of(number, size):
    return b"value %d " % number + hashlib.shake_256(b"%d" % number).digest(size)

async def main(path):
    with SqliteMemory(Path(path)) as memory:
        for number in range(int(sys.argv[2]), int(sys.argv[3])):
            size = 20_000 if number % 50 == 0 else 700
            await memory.put(f"key {number}", value_of(number, size))
        os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main, sys.argv[1])
"""
Damage = Callable[[bytearray, Generator], None]


def value_of(number: int) -> bytes:
    """Return bytes that cannot be compressed, so that values fill pages."""
    size = 20_000 if number % 50 == 0 else 700
    return b"value %d " % number + hashlib.shake_256(b"%d" % number).digest(size)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory of a killed process: half its values in the file, half in the log."""
    path = tmp_path_factory.mktemp("killed") / "memory.sqlite3"
    for first, last in ((0, COUNT // 2), (COUNT // 2, COUNT)):
        command = [sys.executable, "-c", KILLED, str(path), str(first), str(last)]
        assert subprocess.run(command, check=False).returncode < 0
        if first == 0:
            with SqliteMemory(path):  # the log goes into the file
                pass
    assert log_of(path).stat().st_size > COUNT // 2 * PAGE
    return path


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def copied(killed: Path, folder: Path) -> Path:
    folder.mkdir()
    path = folder / killed.name
    shutil.copy(killed, path)
    shutil.copy(log_of(killed), log_of(path))
    return path


def sound_copy(killed: Path, folder: Path) -> Path:
    """Copy a memory, its log written to the file."""
    path = copied(killed, folder)
    with SqliteMemory(path):
        pass
    return path


def missing(path: Path) -> list[int]:
    """Return the numbers of the values that a memory lacks; it holds no wrong one."""
    with SqliteMemory(path) as memory:
        kept = [memory.get(f"key {number}") for number in range(COUNT)]
    assert all(value in {None, value_of(number)} for number, value in enumerate(kept))
    return [number for number, value in enumerate(kept) if value is None]


def undamaged_pages(before: bytes, after: bytes, *, in_log: bool) -> bytes:
    """Return the pages that are as they were, one after the other."""
    first, size = (32, 24 + PAGE) if in_log else (0, PAGE)
    pages = (slice(start, start + size) for start in range(first, len(before), size))
    return b"".join(before[page] for page in pages if before[page] == after[page])


def flip(data: bytearray, chance: Generator) -> None:
    for _ in range(chance.choice((1, 1, 5))):
        data[chance.integers(len(data))] ^= 1 << chance.integers(8)


def zero_pages(data: bytearray, chance: Generator) -> None:
    page = chance.integers(-(-len(data) // PAGE))
    start, end = PAGE * page, min(len(data), PAGE * (page + chance.choice((1, 3))))
    data[start:end] = bytes(end - start)


def cut(data: bytearray, chance: Generator) -> None:
    del data[chance.integers(len(data)) :]


def spoil_header(data: bytearray, chance: Generator) -> None:
    for _ in range(chance.choice((1, 8))):
        data[chance.integers(100)] = chance.integers(256)


@pytest.mark.heavy
@pytest.mark.parametrize("damage", [flip, zero_pages, cut, spoil_header])
def test_a_damaged_memory_opens_or_is_repaired_and_lacks_only_what_was_in_the_damage(
    tmp_path: Path, killed: Path, damage: Damage
) -> None:
    harmed = 0
    for turn in range(12):
        in_log = turn % 2 == 1
        path = (copied if in_log else sound_copy)(killed, tmp_path / str(turn))
        hit = log_of(path) if in_log else path
        before = hit.read_bytes()
        data = bytearray(before)
        damage(data, np.random.default_rng(turn))
        hit.write_bytes(data)
        try:
            lacking = missing(path)
        except StoreError as error:
            assert f"spanjury runs repair {path.parent}" in str(error)  # noqa: PT017
            harmed += 1
            outcome = repair(path)
            assert outcome.kept is not None
            lacking = missing(path)
            assert outcome.saved == COUNT - len(lacking)
        harmed += len(lacking)
        whole = undamaged_pages(before, bytes(data), in_log=in_log)
        assert not [number for number in lacking if value_of(number) in whole], turn
    assert harmed


def test_a_value_of_many_pages_is_saved_beside_a_torn_page(tmp_path: Path, killed: Path) -> None:
    path = sound_copy(killed, tmp_path / "a")
    data = bytearray(path.read_bytes())
    offset = data.index(value_of(7))
    data[offset // PAGE * PAGE : offset // PAGE * PAGE + 12] = b"\xff" * 12
    path.write_bytes(data)
    outcome = repair(path)
    lacking = missing(path)
    assert 7 in lacking
    assert not {0, 50, 100} & set(lacking)
    assert outcome == Repaired(
        saved=COUNT - len(lacking),
        lost=len(lacking),
        kept=path.with_name("memory.sqlite3.damaged-1"),
    )
    assert outcome.kept is not None
    assert outcome.kept.read_bytes() == data


def test_a_lost_entry_of_the_index_hides_no_value(tmp_path: Path, killed: Path) -> None:
    path = sound_copy(killed, tmp_path / "a")
    data = path.read_bytes()
    ends = [match.end() for match in re.finditer(b"key 123", data)]
    (entry,) = (end for end in ends if not data[end:].startswith(b"value"))
    path.write_bytes(data[: entry - 1] + b"?" + data[entry:])
    with pytest.raises(StoreError, match="spanjury runs repair"), SqliteMemory(path):
        pass
    outcome = repair(path)
    assert (outcome.saved, outcome.lost) == (COUNT, 0)
    assert missing(path) == []


def test_a_sound_memory_is_left_as_it_is(tmp_path: Path, killed: Path) -> None:
    path = sound_copy(killed, tmp_path / "a")
    before = path.read_bytes()
    assert repair(path) == Repaired(saved=COUNT, lost=0, kept=None)
    assert path.read_bytes() == before


def test_all_can_be_lost_and_the_memory_is_of_use_again(tmp_path: Path, killed: Path) -> None:
    path = copied(killed, tmp_path / "a")
    path.write_bytes(bytes(path.stat().st_size))
    log_of(path).unlink()
    assert repair(path).saved == 0
    with SqliteMemory(path) as memory:
        anyio.run(memory.put, "a", b"1")
    assert len(missing(path)) == COUNT


def test_a_file_that_is_gone_is_made_again_of_its_log(tmp_path: Path, killed: Path) -> None:
    path = copied(killed, tmp_path / "a")
    path.unlink()
    with pytest.raises(StoreError, match="spanjury runs repair"), SqliteMemory(path):
        pass
    assert repair(path).saved >= COUNT // 2
    assert all(number < COUNT // 2 for number in missing(path))


def test_a_broken_off_repair_is_finished_by_the_next_process(tmp_path: Path, killed: Path) -> None:
    for turn, (log_moved, file_moved) in enumerate(((0, 0), (1, 0), (1, 1))):
        path = copied(killed, tmp_path / f"b{turn}")
        kept = path.with_name("memory.sqlite3.damaged-1")
        with SqliteMemory(path.with_name("new")) as memory:
            anyio.run(memory.put, "key 1", value_of(1))
        path.with_name("new").rename(path.with_name("memory.sqlite3.repaired"))
        if log_moved:
            log_of(path).rename(log_of(kept))
        if file_moved:
            path.rename(kept)
        assert len(missing(path)) == COUNT - 1
        assert len(missing(kept)) == 0


def test_a_memory_in_use_and_a_foreign_database_are_refused(tmp_path: Path, killed: Path) -> None:
    path = copied(killed, tmp_path / "a")
    with SqliteMemory(path), pytest.raises(StoreError, match=f"in use by process {os.getpid()}"):
        repair(path)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE poems (verse TEXT)")
    before = other.read_bytes()
    with pytest.raises(StoreError, match="no memory of spanjury"):
        repair(other)
    assert other.read_bytes() == before
    with pytest.raises(StoreError, match="there is no such memory"):
        repair(tmp_path / "absent")


@pytest.mark.parametrize("name", ["rows.jsonl", "memory.sqlite3"])
def test_a_file_of_text_is_refused_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text('{"id": "1", "output": "A text."}\n' * 500)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is a file of text, and no memory of spanjury's"):
        repair(path)
    assert path.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {name, f"{name}.lock"}


def test_the_newer_of_two_values_of_a_key_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with SqliteMemory(path) as memory:
        for number in range(40):
            anyio.run(memory.put, f"key {number % 4}", value_of(number + 1))
    with path.open("r+b") as file:
        file.write(bytes(16))
    repair(path)
    with SqliteMemory(path) as memory:
        assert [memory.get(f"key {number}") for number in range(4)] == [
            value_of(number + 37) for number in range(4)
        ]
    with suppress(FileNotFoundError):
        log_of(path).unlink()
