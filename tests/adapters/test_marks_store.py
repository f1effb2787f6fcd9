"""The file of people's marks: nothing that was answered is lost, no put hides another."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from fakes.logs import capture_logs
from numpy.random import Generator

from spanjury.adapters.runs.marks_store import (
    MarkConflictError,
    MarkKey,
    MarksStore,
    backup_of,
    read_marks,
)
from spanjury.adapters.runs.repair import repair
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import StoreError

KEY = MarkKey(
    annotator="anna", segment="1", system="bart", task="story", aspect="fluency", version="v"
)
PAGE = 4096
FULL_SYNC = 2
FULL = """CREATE TRIGGER full BEFORE UPDATE ON marks
BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"""
PUT_AND_WAIT = """
import sys, time
from pathlib import Path
from spanjury.adapters.runs.marks_store import MarkKey, MarksStore
with MarksStore(Path(sys.argv[1])) as store:
    for number in range(20):
        key = MarkKey(annotator=sys.argv[2], segment=str(number), system="", task="t",
                      aspect="a", version="v")
        store.put(key, f"mark {number}", based_on=0)
        print(number, flush=True)
    if sys.argv[3] == "wait":
        sys.stdin.read()
"""


def putting(path: Path, who: str, *, then: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PUT_AND_WAIT, str(path), who, then],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_mark_is_read_as_it_was_put_with_its_revision(tmp_path: Path) -> None:
    with MarksStore(tmp_path / "marks.sqlite3") as store:
        assert store.get(KEY) is None
        assert store.put(KEY, "one", based_on=0) == 1
        assert store.put(KEY, "two", based_on=1) == 2
    (mark,) = read_marks(tmp_path / "marks.sqlite3").marks
    assert (mark.key, mark.revision, mark.content) == (KEY, 2, "two")


def test_a_put_on_an_old_revision_changes_nothing_and_shows_the_mark(tmp_path: Path) -> None:
    with MarksStore(tmp_path / "m") as tab, MarksStore(tmp_path / "m") as other_tab:
        tab.put(KEY, "first", based_on=0)
        with pytest.raises(MarkConflictError, match="it has the revision 0 now"):
            tab.put(replace(KEY, segment="2"), "other", based_on=1)
        with pytest.raises(MarkConflictError, match="it has the revision 1 now") as conflict:
            other_tab.put(KEY, "second", based_on=0)
        assert conflict.value.current is not None
        assert conflict.value.current.content == "first"
        assert other_tab.put(KEY, "second", based_on=1) == 2
        mark = tab.get(KEY)
        assert mark is not None
        assert mark.content == "second"


def test_another_version_of_the_text_has_a_mark_of_its_own(tmp_path: Path) -> None:
    with MarksStore(tmp_path / "m") as store:
        store.put(KEY, "of the first text", based_on=0)
        store.put(replace(KEY, version="w"), "of the second", based_on=0)
        assert [mark.content for mark in store.all().marks] == [
            "of the first text",
            "of the second",
        ]


def test_a_killed_process_loses_no_mark_that_was_answered(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    with putting(path, "anna", then="wait") as process:
        assert process.stdout is not None
        answered = [process.stdout.readline() for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
    assert answered[-1] == "19\n"
    kept = read_marks(path)
    assert [mark.content for mark in kept.marks] == [f"mark {number}" for number in range(20)]
    assert kept.damaged == ()


def test_two_processes_that_put_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    with putting(path, "anna", then="end") as mark, putting(path, "ben", then="end") as other:
        assert (mark.wait(), other.wait()) == (0, 0)
    kept = read_marks(path)
    assert (len(kept.marks), {mark.key.annotator for mark in kept.marks}) == (40, {"anna", "ben"})


def test_a_file_that_many_make_at_once_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"

    def put(number: int) -> int:
        with MarksStore(path) as store:
            return store.put(replace(KEY, segment=str(number)), "kept", based_on=0)

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(put, range(16))] == [1] * 16
    assert len(read_marks(path).marks) == 16
    assert not [*tmp_path.glob("*.new*")]


def test_no_file_is_no_marks_and_reading_makes_none(tmp_path: Path) -> None:
    assert read_marks(tmp_path / "marks.sqlite3").marks == ()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("PRAGMA user_version = 2", "has layout 2, and this spanjury reads layout 1"),
        ("PRAGMA application_id = 7", "holds no marks of spanjury"),
    ],
)
def test_a_foreign_or_newer_file_is_refused(tmp_path: Path, statement: str, problem: str) -> None:
    path = tmp_path / "m"
    with MarksStore(path) as store:
        store.put(KEY, "kept", based_on=0)
    edit(path, statement)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=problem) as refused:
        read_marks(path)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"no database at all, but a text" * 40])
def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(StoreError, match=r"^\S+m: "):
        read_marks(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == content


def fill(path: Path, count: int = 60) -> None:
    with MarksStore(path) as store:
        for number in range(count):
            store.put(numbered(number), content_of(number), based_on=0)


def numbered(number: int) -> MarkKey:
    return replace(KEY, segment=f"{number:02}")


def content_of(number: int) -> str:
    return f"{number} " * 150


def is_whole(path: Path, count: int = 60) -> bool:
    kept = read_marks(path)
    contents = {mark.key: mark.content for mark in kept.marks}
    return contents == {numbered(n): content_of(n) for n in range(count)} and not kept.damaged


def test_a_mark_that_is_changed_on_disk_is_mended_from_the_backup(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with MarksStore(path) as store:
        store.put(KEY, "one", based_on=0)
        edit(path, "UPDATE marks SET content = 'forged', revision = 0")
        assert store.all().damaged == ("anna: 1, bart, fluency",)
        with pytest.raises(MarkConflictError) as conflict:
            store.put(KEY, "again", based_on=0)
        assert conflict.value.current is not None
        assert conflict.value.current.content == "one"
    edit(path, "UPDATE marks SET content = 'forged'")
    assert [mark.content for mark in read_marks(path).marks] == ["one"]


def test_a_mark_that_is_nowhere_else_costs_only_itself_and_can_return(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    with MarksStore(path) as store:
        store.put(KEY, "one", based_on=0)
        store.put(replace(KEY, segment="2"), "two", based_on=0)
    edit(path, "UPDATE marks SET content = 'forged' WHERE segment = '1'")
    backup_of(path).unlink()
    with MarksStore(path) as store:
        assert [mark.content for mark in store.all().marks] == ["two"]
        assert store.all().damaged == ("anna: 1, bart, fluency",)
        assert store.get(KEY) is None
        assert store.put(KEY, "again", based_on=0) == 1
        assert store.all().damaged == ()
    path.unlink()
    repair(path)
    assert {mark.content for mark in read_marks(path).marks} == {"again", "two"}


def test_a_damaged_file_is_refused_if_all_marks_are_needed_else_logged(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    fill(path, 7)
    assert len(read_marks(path, are_whole=True).marks) == 7
    backup_of(path).unlink()
    edit(path, "UPDATE marks SET content = 'forged' WHERE segment < '05'")
    with pytest.raises(StoreError, match="5 marks are damaged: anna: 00.*; anna: 04[^;]*; save"):
        read_marks(path, are_whole=True)
    edit(path, "UPDATE marks SET content = 'forged'")
    with pytest.raises(StoreError, match="7 marks are damaged: .*anna: 04.* and 2 more; save"):
        read_marks(path, are_whole=True)
    with capture_logs() as logs:
        assert len(read_marks(path).damaged) == 7
    (entry,) = logs
    assert (entry["event"], entry["path"], entry["marks"]) == ("marks.damaged", str(path), 7)


def test_the_backup_has_one_line_for_each_mark_that_was_put(tmp_path: Path) -> None:
    fill(tmp_path / "m", 3)
    lines = backup_of(tmp_path / "m").read_bytes().split(b"\n")
    assert [bool(line) for line in lines] == [True, True, True, False]


def test_a_file_without_a_backup_has_one_from_its_next_mark_on(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    fill(path)
    backup_of(path).unlink()
    with MarksStore(path) as store:
        store.put(numbered(60), content_of(60), based_on=0)
    path.unlink()
    with pytest.raises(StoreError, match="is gone, but its backup is not; save what can be read"):
        read_marks(path)
    assert repair(path).saved == 61
    assert is_whole(path, 61)


def test_half_a_line_in_the_backup_costs_no_other_mark(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    fill(path, 2)
    with backup_of(path).open("ab") as file:
        file.write(b'["anna", "02", "ba')
    with MarksStore(path) as store:
        store.put(numbered(2), content_of(2), based_on=0)
    path.unlink()
    assert repair(path).saved == 3
    assert is_whole(path, 3)


def flip(data: bytearray, chance: Generator) -> None:
    for _ in range(chance.choice((1, 20))):
        data[chance.integers(len(data))] ^= 1 << chance.integers(8)


def blank(data: bytearray, chance: Generator) -> None:
    page = chance.integers(len(data) // PAGE)
    data[PAGE * page : PAGE * page + PAGE] = bytes([chance.choice((0, 0xEE))]) * PAGE


def cut(data: bytearray, chance: Generator) -> None:
    del data[chance.integers(len(data)) :]


def spoil_header(data: bytearray, chance: Generator) -> None:
    for _ in range(chance.choice((1, 8))):
        data[chance.integers(100)] = chance.integers(256)


@pytest.mark.heavy
@pytest.mark.parametrize("has_backup", [True, False])
@pytest.mark.parametrize("damage", [flip, blank, cut, spoil_header])
def test_every_mark_of_a_damaged_file_is_read_saved_or_named(
    tmp_path: Path, damage: Callable[[bytearray, Generator], None], has_backup: bool
) -> None:
    fill(tmp_path / "whole")
    for turn in range(10):
        path = tmp_path / f"{turn}.marks.sqlite3"
        data = bytearray((tmp_path / "whole").read_bytes())
        damage(data, np.random.default_rng(turn))
        path.write_bytes(data)
        if has_backup:
            shutil.copy(backup_of(tmp_path / "whole"), backup_of(path))
        try:
            kept = read_marks(path)
        except StoreError as error:
            assert f"spanjury runs repair {path}" in str(error)  # noqa: PT017
            outcome = repair(path)
            assert (outcome.rows, outcome.lost) == ("marks", len(outcome.names))
            kept = read_marks(path)
            assert len(kept.marks) == outcome.saved
            assert outcome.may_lack_others is not has_backup
            damaged, is_known = outcome.names, has_backup
        else:
            damaged, is_known = kept.damaged, True
        assert all(mark.content == content_of(int(mark.key.segment)) for mark in kept.marks)
        if has_backup:
            assert is_whole(path)
        assert len(kept.marks) + len(damaged) == 60 or not is_known


def test_a_repair_is_refused_while_the_marks_are_open(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    fill(path, 2)
    with MarksStore(path), pytest.raises(StoreError, match="in use by process"):
        repair(path)
    outcome = repair(path)
    assert (outcome.saved, outcome.lost, outcome.kept, outcome.rows) == (2, 0, None, "marks")


def test_every_commit_is_synchronous(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library may be compiled to sync less: here it is, and only what is asked for counts."""
    opened: list[sqlite3.Connection] = []
    synced: list[Path] = []
    sync = os.fsync

    class Careless(sqlite3.Connection):
        def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401  the library's own
            super().__init__(*args, **kwargs)
            self.execute("PRAGMA synchronous = OFF")
            opened.append(self)

    def noted(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        sync(descriptor)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Careless))
    monkeypatch.setattr(os, "fsync", noted)
    with MarksStore(tmp_path / "m") as store:
        store.put(KEY, "kept", based_on=0)
        assert settings(opened) == {(FULL_SYNC, "wal")}
        assert synced == [backup_of(tmp_path / "m")]
    with SqliteMemory(tmp_path / "memory") as memory:
        anyio.run(memory.put, "key", b"value")
        # The connection that only reads commits nothing.
        assert settings(opened) == {(FULL_SYNC, "wal"), (0, "wal")}


def settings(opened: Sequence[sqlite3.Connection]) -> set[tuple[int, str]]:
    """Return how the connections that are open commit."""
    mark = set()
    for connection in opened:
        with suppress(sqlite3.ProgrammingError):  # it is closed
            (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
            (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
            mark.add((synchronous, journal))
    return mark


def test_a_full_disk_is_reported_and_the_former_mark_stays(tmp_path: Path) -> None:
    with MarksStore(tmp_path / "m") as store:
        store.put(KEY, "kept", based_on=0)
        edit(tmp_path / "m", FULL)
        with pytest.raises(StoreError, match="is the disk full"):
            store.put(KEY, "lost", based_on=1)
        mark = store.get(KEY)
        assert mark is not None
        assert mark.content == "kept"
