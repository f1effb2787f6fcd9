"""Runs: where they lie, how they are named, and who holds them."""

import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from spanjury.adapters.runs.run_folder import HOME_VARIABLE, RunFolder, find_run, new_run, runs_home
from spanjury.adapters.runs.run_lock import RunLock, is_locked
from spanjury.judges.core import StoreError

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
HOLD = """
import sys
from pathlib import Path
from spanjury.adapters.runs.run_lock import RunLock
with RunLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
LOOK = """
import sys
from pathlib import Path
from spanjury.adapters.runs.run_lock import is_locked
print("looking", flush=True)
while True:
    is_locked(Path(sys.argv[1]))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


def test_without_a_variable_it_is_among_the_users_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOME_VARIABLE)
    assert runs_home().parts[-2:] == ("spanjury", "runs")
    assert runs_home().is_absolute()


def test_runs_that_begin_in_one_second_have_folders_of_their_own(home: Path) -> None:
    def begin(_: int) -> RunFolder:
        return new_run("rows", now=NOW)

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(begin, range(20)))
    names = {run.path.name for run in runs}
    assert len(names) == 20
    assert "2026-03-04-050607-rows" in names
    assert all(run.path.parent == home for run in runs)


@pytest.mark.usefixtures("home")
def test_a_run_is_found_by_its_name_and_by_its_folder() -> None:
    run = new_run("rows", now=NOW)
    with pytest.raises(StoreError, match="there is no run .*: 'spanjury runs' lists them"):
        find_run(Path(run.path.name))
    run.create({})
    assert find_run(Path(run.path.name)) == find_run(run.path) == run


def test_a_home_that_cannot_be_made_is_reported(home: Path) -> None:
    home.write_text("no folder")
    with pytest.raises(StoreError, match="cannot be made"):
        new_run("rows", now=NOW)


def test_looking_whether_a_run_is_at_work_keeps_no_run_from_beginning(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with RunLock(path):
        pass
    command = [sys.executable, "-c", LOOK, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as looking:
        assert looking.stdout is not None
        assert looking.stdout.readline() == b"looking\n"
        try:
            for _ in range(300):
                with RunLock(path):
                    assert is_locked(path)
        finally:
            looking.kill()


def test_a_lock_names_its_holder_and_is_free_again_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with RunLock(path):
        assert json.loads(path.read_text()) == {"pid": os.getpid(), "host": socket.gethostname()}
    with RunLock(path):
        pass


def test_one_process_cannot_hold_a_lock_twice(tmp_path: Path) -> None:
    with (
        RunLock(tmp_path / "lock"),
        pytest.raises(StoreError, match=f"lock: in use by process {os.getpid()} on "),
        RunLock(tmp_path / "lock"),
    ):
        pass


def test_a_second_process_learns_who_holds_the_lock_and_gets_it_on_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        expected = f"in use by process {holder.pid} on {socket.gethostname()}"
        with pytest.raises(StoreError, match=expected), RunLock(path):
            pass
        assert json.loads(path.read_text())["pid"] == holder.pid
        holder.kill()
        holder.wait()
        with RunLock(path):
            assert json.loads(path.read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"pid": 1'])
def test_a_holder_without_a_written_name_is_another_process(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lock"
    with RunLock(path):
        path.write_bytes(content)
        with pytest.raises(StoreError, match="in use by another process"), RunLock(path):
            pass


def test_a_lock_where_no_file_can_be_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"), RunLock(tmp_path / "no" / "lock"):
        pass
    with pytest.raises(StoreError, match="null"), RunLock(Path("a\0b")):
        pass


def test_a_disk_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="cannot be locked: Function not"), RunLock(tmp_path / "l"):
        pass
