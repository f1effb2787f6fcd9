"""The file of people's marks: nothing that was answered is lost, no put hides another."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from spanjury.adapters.runs.marks_store import (
    MarkConflictError,
    MarkKey,
    MarksStore,
    read_marks,
)
from spanjury.judges.core import StoreError

KEY = MarkKey(
    annotator="anna", segment="1", system="bart", task="story", aspect="fluency", version="v"
)
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


def test_a_put_on_an_old_revision_changes_nothing_and_shows_the_mark_as_it_is(
    tmp_path: Path,
) -> None:
    with MarksStore(tmp_path / "m") as tab, MarksStore(tmp_path / "m") as other_tab:
        tab.put(KEY, "first", based_on=0)
        with pytest.raises(MarkConflictError) as conflict:
            other_tab.put(KEY, "second", based_on=0)

        assert conflict.value.current is not None
        assert conflict.value.current.content == "first"
        assert other_tab.put(KEY, "second", based_on=1) == 2
        found = tab.get(KEY)
        assert found is not None
        assert found.content == "second"


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
    assert kept.damaged == 0


def test_two_processes_that_put_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite3"
    with (
        putting(path, "anna", then="end") as one,
        putting(path, "ben", then="end") as other,
    ):
        assert (one.wait(), other.wait()) == (0, 0)

    kept = read_marks(path)
    assert len(kept.marks) == 40
    assert {mark.key.annotator for mark in kept.marks} == {"anna", "ben"}


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
def test_a_foreign_or_newer_file_is_refused_in_one_line(
    tmp_path: Path, statement: str, problem: str
) -> None:
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
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(StoreError, match=r"^\S+m: "):
        read_marks(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == content


def test_a_damaged_mark_costs_itself_only_and_can_be_put_again(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with MarksStore(path) as store:
        store.put(KEY, "one", based_on=0)
        store.put(replace(KEY, segment="2"), "two", based_on=0)
    edit(path, "UPDATE marks SET content = 'forged' WHERE segment = '1'")

    with MarksStore(path) as store:
        assert [mark.content for mark in store.all().marks] == ["two"]
        assert store.all().damaged == 1
        assert store.get(KEY) is None
        assert store.put(KEY, "again", based_on=0) == 1
        assert store.all().damaged == 0


def test_a_damaged_page_costs_the_marks_on_it_only(tmp_path: Path) -> None:
    path, page = tmp_path / "m", 4096
    with MarksStore(path) as store:
        for number in range(60):
            store.put(replace(KEY, segment=f"{number:02}"), "x" * 500, based_on=0)
    content = bytearray(path.read_bytes())
    hit = content.index(b"x" * 500) // page * page
    content[hit : hit + page] = b"\xee" * page
    path.write_bytes(content)

    kept = read_marks(path)

    assert kept.damaged > 0
    assert len(kept.marks) + kept.damaged == 60
    assert len(kept.marks) > 40


def test_a_full_disk_is_said_and_the_mark_before_stays(tmp_path: Path) -> None:
    with MarksStore(tmp_path / "m") as store:
        store.put(KEY, "kept", based_on=0)
        edit(tmp_path / "m", FULL)
        with pytest.raises(StoreError, match="is the disk full"):
            store.put(KEY, "lost", based_on=1)
        found = store.get(KEY)
        assert found is not None
        assert found.content == "kept"
