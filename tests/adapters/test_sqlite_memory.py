import hashlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path
from threading import Event

import anyio
import pytest
from fakes.logs import capture_logs
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.adapters.runs import shared_commits, sqlite_memory
from spanjury.adapters.runs.memory_form import checksum_of, packed, unpacked
from spanjury.adapters.runs.repair import Repaired, repair
from spanjury.adapters.runs.sqlite_memory import SqliteMemory, open_kept_memory
from spanjury.judges.core import ErrorSpan, Memory, Report, StoreError
from spanjury.orchestration.engine.memory_codec import written

KEPT = 60
WRITE = """
import hashlib, os, resource, signal, sys
from pathlib import Path
import anyio
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import StoreError

async def main(path, what):
    with SqliteMemory(Path(path)) as memory:
        if what == "full":
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            for number in range(60 if what == "kill" else 10_000):
                await memory.put(f"key {number}", hashlib.shake_256(b"%d" % number).digest(1000))
                print(number, flush=True)
        except StoreError as error:
            print(error, flush=True)
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main, *sys.argv[1:])
"""


"""The number of values that `WRITE` puts, each in a commit of its own."""


def _value(number: int) -> bytes:
    """Return bytes that cannot be compressed, so that a page holds few values."""
    return hashlib.shake_256(b"%d" % number).digest(1000)


def _written(path: Path, what: str) -> list[str]:
    """Return the output of a process that put value upon value until `what` ended it."""
    command = [sys.executable, "-c", WRITE, str(path), what]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == (-signal.SIGKILL if what == "kill" else 0)
    return ended.stdout.splitlines()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a memory?#%.db"


async def test_a_put_value_is_there_at_once_and_after_reopening(path: Path) -> None:
    with SqliteMemory(path) as memory:
        port: Memory = memory
        assert port.get("a") is None
        await port.put("a", b"")
        await port.put("b", b"\x00\xff")
        await port.put("b", b"newer")
        assert (port.get("a"), port.get("b")) == (b"", b"newer")
    with SqliteMemory(path) as memory:
        assert (memory.get("a"), memory.get("b"), memory.get("c")) == (b"", b"newer", None)
    assert {each.name for each in path.parent.iterdir()} == {path.name, f"{path.name}.lock"}


async def test_puts_of_many_tasks_share_few_commits_and_are_all_kept(path: Path) -> None:
    commits: list[str] = []
    with SqliteMemory(path) as memory:
        assert memory._writer is not None
        memory._writer.set_trace_callback(commits.append)
        async with anyio.create_task_group() as putting:
            for number in range(100):
                putting.start_soon(memory.put, str(number), _value(number))
        assert sum(line.startswith("COMMIT") for line in commits) < 10
    with SqliteMemory(path) as memory:
        assert all(memory.get(str(number)) == _value(number) for number in range(100))


async def test_puts_of_one_key_gather_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_commit = anyio.Event()
    monkeypatch.setattr(shared_commits, "sleep", lambda _: may_commit.wait())
    commits: list[str] = []
    with SqliteMemory(path) as memory:
        assert memory._writer is not None
        memory._writer.set_trace_callback(commits.append)
        async with anyio.create_task_group() as putting:
            for number in range(5):
                putting.start_soon(memory.put, "ledger", _value(number))
        async with anyio.create_task_group() as putting:
            for number in range(5, 8):
                putting.start_soon(memory.put, "ledger", _value(number))
                await anyio.wait_all_tasks_blocked()
            may_commit.set()
        assert sum(line.startswith("COMMIT") for line in commits) == 2
        assert memory.get("ledger") == _value(7)


def _held(memory: SqliteMemory) -> Event:
    """Hold every commit until the event is set."""
    assert memory._writer is not None
    goes_on = Event()
    memory._writer.set_trace_callback(lambda _: _wait_for(goes_on))
    return goes_on


def _wait_for(event: Event) -> None:
    assert event.wait(60)


async def test_an_uncommitted_value_can_be_read(path: Path) -> None:
    with SqliteMemory(path) as memory:
        goes_on = _held(memory)
        async with anyio.create_task_group() as putting:
            putting.start_soon(memory.put, "a", b"1")
            await anyio.wait_all_tasks_blocked()
            putting.start_soon(memory.put, "b", b"2")
            await anyio.wait_all_tasks_blocked()
            assert (memory.get("a"), memory.get("b"), memory.get("c")) == (b"1", b"2", None)
            goes_on.set()
        assert (memory.get("a"), memory.get("b")) == (b"1", b"2")


@pytest.mark.parametrize("most", [0, 2, 100])
async def test_values_put_into_an_empty_file_are_found_ever_after(
    path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_memory, "_MOST_KEYS", most)
    for first in (0, 5):
        with SqliteMemory(path) as memory:
            for number in range(first, first + 5):
                assert memory.get(str(number)) is None
                await memory.put(str(number), b"%d" % number)
                await memory.put_soon(f"soon {number}", b"x")
                assert memory.get(f"soon {number}") == b"x"
            assert [memory.get(str(n)) for n in range(first + 5)] == [
                b"%d" % n for n in range(first + 5)
            ]
    with SqliteMemory(path) as memory:
        assert memory.get("soon 9") == b"x"


async def test_more_than_may_wait_is_put_now(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_memory, "_MOST_WAITING", 2)
    with SqliteMemory(path) as memory:
        for number in range(3):
            await memory.put_soon(str(number), b"x")
        assert memory._commits.gathering.values == {}
        assert [memory.get(str(number)) for number in range(3)] == [b"x"] * 3


async def test_a_cancelled_put_loses_no_other_and_is_kept_itself_at_the_end(path: Path) -> None:
    with SqliteMemory(path) as memory:
        goes_on = _held(memory)
        async with anyio.create_task_group() as putting:
            putting.start_soon(memory.put, "a", b"1")
            await anyio.wait_all_tasks_blocked()
            putting.start_soon(memory.put, "b", b"2")
            await anyio.wait_all_tasks_blocked()
            putting.cancel_scope.cancel()
            goes_on.set()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await memory.put("c", b"3")
        assert scope.cancelled_caught
    with SqliteMemory(path) as memory:
        assert [memory.get(key) for key in "abc"] == [b"1", b"2", b"3"]


async def test_values_put_soon_outlive_a_failed_commit(path: Path) -> None:
    with SqliteMemory(path) as memory:
        assert memory._writer is not None
        memory._writer.execute("PRAGMA query_only = ON")
        for key in "abc":
            await memory.put_soon(key, b"1")
        with pytest.raises(StoreError):
            await memory.put("c", b"2")
        assert [memory.get(key) for key in "abc"] == [b"1", b"1", None]
        await memory.put_soon("a", b"3")
        with pytest.raises(StoreError):
            await memory.put("d", b"4")
        memory._writer.execute("PRAGMA query_only = OFF")
    with SqliteMemory(path) as memory:
        assert [memory.get(key) for key in "abcd"] == [b"3", b"1", None, None]


async def test_leaving_says_that_values_put_soon_cannot_be_written(path: Path) -> None:
    with pytest.raises(StoreError), SqliteMemory(path) as memory:  # noqa: PT012
        await memory.put_soon("a", b"1")
        assert memory._writer is not None
        memory._writer.execute("PRAGMA query_only = ON")


async def test_a_failed_commit_is_reported_to_all_in_it_and_the_next_succeeds(path: Path) -> None:
    errors: list[str] = []

    async def put(key: str) -> None:
        try:
            await memory.put(key, b"1")
        except StoreError as error:
            errors.append(str(error))

    with SqliteMemory(path) as memory:
        await memory.put("before", b"1")
        assert memory._writer is not None
        memory._writer.execute("PRAGMA query_only = ON")
        async with anyio.create_task_group() as putting:
            for key in "abc":
                putting.start_soon(put, key)
        assert len(errors) == 3
        assert all(str(path) in line for line in errors)
        assert (memory.get("a"), memory.get("before")) == (None, b"1")
        memory._writer.execute("PRAGMA query_only = OFF")
        await memory.put("a", b"2")
        assert memory.get("a") == b"2"


def test_a_full_disk_is_reported_and_stored_values_stay(path: Path) -> None:
    *kept, problem = _written(path, "full")
    assert problem.startswith(f"{path}: cannot be read or written: ")
    assert len(kept) > 10
    with SqliteMemory(path) as memory:
        assert all(memory.get(f"key {number}") == _value(int(number)) for number in kept)
        assert memory.get(f"key {len(kept)}") is None


def test_a_second_process_learns_who_has_the_memory_open(path: Path) -> None:
    hold = "import sys; from pathlib import Path\n"
    hold += "from spanjury.adapters.runs.sqlite_memory import SqliteMemory\n"
    hold += "with SqliteMemory(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        expected = f"in use by process {holder.pid} on {socket.gethostname()}"
        expected += "; wait for it to end, or use another memory: shards that run at once"
        with pytest.raises(StoreError, match=expected), SqliteMemory(path):
            pass
        holder.kill()
        holder.wait()
        with SqliteMemory(path) as memory:
            assert memory.get("a") is None


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory whose process was killed: its values are in the log."""
    path = tmp_path_factory.mktemp("killed") / "memory.db"
    assert _written(path, "kill") == [str(number) for number in range(KEPT)]
    assert _log(path).stat().st_size > KEPT * 500
    return path


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _copied(killed: Path, folder: Path) -> Path:
    """Copy a memory with its log, but without the index of the log, as after power loss."""
    path = folder / killed.name
    for each in (path, _log(path)):
        each.unlink(missing_ok=True)
        shutil.copy(killed.with_name(each.name), each)
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    return path


def _there(path: Path) -> list[bool]:
    """Say which values are there, none of them other than it was put."""
    with SqliteMemory(path) as memory:
        values = [memory.get(f"key {number}") for number in range(KEPT)]
    assert all(value in {None, _value(number)} for number, value in enumerate(values))
    return [value is not None for value in values]


@given(where=st.floats(0, 1), garbage=st.one_of(st.none(), st.binary(min_size=1, max_size=9000)))
@settings(max_examples=60)
def test_a_damaged_log_loses_what_lies_in_the_damage_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, killed: Path, where: float, garbage: bytes | None
) -> None:
    path = _copied(killed, tmp_path_factory.getbasetemp())
    log = _log(path)
    size = log.stat().st_size
    offset = int(where * size)
    with log.open("r+b") as file:
        if garbage is None:
            file.truncate(offset)
        else:
            file.seek(offset)
            file.write(garbage)
    lost = _there(path).count(False)
    # A commit took a page of 4096 bytes or more behind a header of 24; a page holds 5 values.
    damaged = (size - offset if garbage is None else min(len(garbage), size - offset)) // 4120 + 2
    assert lost <= (damaged if garbage is None else 5 * damaged)
    assert not (garbage is None and offset == size) or lost == 0


@given(where=st.floats(0, 1), garbage=st.binary(min_size=1, max_size=5000))
@settings(max_examples=60)
def test_a_damaged_file_is_reported_or_gives_the_stored_values(
    tmp_path_factory: pytest.TempPathFactory, killed: Path, where: float, garbage: bytes
) -> None:
    path = _copied(killed, tmp_path_factory.getbasetemp())
    _there(path)  # the log is now in the file
    data = bytearray(path.read_bytes())
    offset = int(where * (len(data) - 1))
    data[offset : offset + len(garbage)] = garbage
    path.write_bytes(data)
    try:
        _there(path)
    except StoreError as error:
        assert str(path) in str(error)  # noqa: PT017


def test_a_damaged_file_is_refused_and_not_written_over(tmp_path: Path, killed: Path) -> None:
    path = _copied(killed, tmp_path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * 4096)
    _log(path).unlink()  # it holds the page that was just damaged, too
    before = path.read_bytes()
    with pytest.raises(StoreError, match="memory.db: is damaged"), SqliteMemory(path):
        pass
    assert path.read_bytes() == before


def test_a_log_beside_a_refused_file_is_left_as_it_is(tmp_path: Path, killed: Path) -> None:
    path = _copied(killed, tmp_path)
    with closing(sqlite3.connect(_copied(killed, tmp_path))) as other:
        other.execute("PRAGMA user_version = 3")
        shutil.copy(path, tmp_path / "newer.db")
        shutil.copy(_log(path), tmp_path / "newer.db-wal")
    before = (tmp_path / "newer.db").read_bytes(), (tmp_path / "newer.db-wal").read_bytes()
    with pytest.raises(StoreError, match="has layout 3"), SqliteMemory(tmp_path / "newer.db"):
        pass
    after = (tmp_path / "newer.db").read_bytes(), (tmp_path / "newer.db-wal").read_bytes()
    assert after == before


@pytest.mark.parametrize("content", [b"", None])
def test_an_empty_file_beside_a_full_log_is_damage(
    tmp_path: Path, killed: Path, content: bytes | None
) -> None:
    path = _copied(killed, tmp_path)
    before = _log(path).read_bytes()
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(StoreError, match="its log memory.db-wal is not"), SqliteMemory(path):
        pass
    assert _log(path).read_bytes() == before


def test_a_value_that_changed_on_disk_is_forgotten_alone_and_with_one_warning(path: Path) -> None:
    with SqliteMemory(path) as memory:
        anyio.run(memory.put, "a", b"Score: Good")
        anyio.run(memory.put, "b", b"Score: Fair")
    path.write_bytes(path.read_bytes().replace(b"Score: Good", b"Score: Poor"))
    with capture_logs() as logs, SqliteMemory(path) as memory:
        assert [memory.get(key) for key in "aab"] == [None, None, b"Score: Fair"]
        anyio.run(memory.put, "a", b"Score: Good")
        assert memory.get("a") == b"Score: Good"
    assert [entry["event"] for entry in logs] == ["memory.value_damaged"]


async def test_a_file_of_the_first_layout_is_read_and_an_older_release_then_refuses_it(
    path: Path,
) -> None:
    values = {"short": b"none", "long": b'{"score": 3} ' * 50, "new": b'{"score": 4} ' * 50}
    with closing(sqlite3.connect(path)) as file:
        file.executescript(
            "CREATE TABLE memory (key TEXT PRIMARY KEY, value BLOB NOT NULL,"
            " checksum INTEGER NOT NULL) STRICT;"
            " PRAGMA application_id = 1399868013; PRAGMA user_version = 1"
        )
        for key in ("short", "long"):
            checksum = zlib.crc32(values[key], zlib.crc32(key.encode()))
            file.execute("INSERT INTO memory VALUES (?, ?, ?)", (key, values[key], checksum))
        file.commit()
    assert repair(path) == Repaired(saved=2, lost=0, kept=None)
    with SqliteMemory(path) as memory:
        assert {key: memory.get(key) for key in values} == {**values, "new": None}
        await memory.put("new", values["new"])
    with SqliteMemory(path) as memory:
        assert {key: memory.get(key) for key in values} == values
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (2,)


@given(value=st.one_of(st.binary(), st.binary(min_size=1, max_size=3).map(lambda part: part * 99)))
def test_every_value_is_what_was_put_and_takes_hardly_more_room(value: bytes) -> None:
    key, stored, checksum = packed("key", value)
    assert unpacked(key, stored, checksum) == value
    assert unpacked(key, stored, checksum + 1) is None
    assert len(stored) <= len(value) + 1


def test_a_compressed_report_takes_a_fraction_of_its_size() -> None:
    spans = [ErrorSpan(text="in 1999", explanation="It was 1932.", severity=4)] * 3
    report = written(Report(score=2, spans=tuple(spans), rationale="A wrong year."))
    assert len(packed("key", report)[1]) < len(report) / 4


def test_a_compressed_value_that_ends_early_is_not_returned() -> None:
    _, stored, _ = packed("key", b"a sentence that comes again " * 40)
    short = stored[:-3]
    assert unpacked("key", short, checksum_of("key", short)) is None


def test_another_program_s_database_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE memory (key)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="no memory of spanjury"), SqliteMemory(path):
        pass
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_text("id,output\n" * 1000)
    with pytest.raises(StoreError, match="is damaged, or of another program"), SqliteMemory(path):
        pass
    assert path.read_text() == "id,output\n" * 1000


def test_a_making_that_was_cut_off_is_made_again(path: Path) -> None:
    path.touch()
    path.with_name(f"{path.name}.new").write_bytes(b"half")
    with SqliteMemory(path) as memory:
        assert memory.get("a") is None


def test_a_memory_where_no_file_can_be_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"), SqliteMemory(tmp_path / "no" / "m.db"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match="folder: cannot be"), SqliteMemory(tmp_path / "folder"):
        pass


def test_leaving_by_an_error_keeps_the_error(path: Path) -> None:
    async def fill(memory: SqliteMemory) -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await memory.put("a", b"1")

    with pytest.raises(KeyError), SqliteMemory(path) as memory:  # noqa: PT012
        anyio.run(fill, memory)
        assert memory._writer is not None
        memory._writer.execute("PRAGMA query_only = ON")
        raise KeyError


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
