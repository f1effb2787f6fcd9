"""One run and two processes: the second is refused, and the first never notices."""

import socket
import threading
from pathlib import Path

from fakes.command import RESUME, call, complaint, evaluate, judged_rows, start, without_seconds
from loopback.chaos import ChaosServer

ROWS = 40


def test_a_second_process_names_the_holder_of_the_run_and_leaves_it_alone(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=ROWS)
    with ChaosServer() as server:
        server.may_answer.clear()
        first = start(tmp_path, *evaluate(server.base_url))
        tick = threading.Event()
        while not server.probes and first.poll() is None:
            tick.wait(0.01)
        second = call(tmp_path, *RESUME, code=1)
        again = call(tmp_path, *evaluate(server.base_url), code=1)
        server.may_answer.set()
        _, errors = first.communicate(timeout=120)
        assert (first.returncode, server.asked) == (0, ROWS), errors
        call(tmp_path, *evaluate(server.base_url, run="other"))
    holder = f"in use by process {first.pid} on {socket.gethostname()}"
    assert complaint(second.stderr).startswith(f"run/memory.sqlite3.lock: {holder}; wait for it")
    assert complaint(again.stderr).startswith("run already holds a run")
    other = without_seconds(tmp_path / "other" / "results.jsonl")
    assert without_seconds(tmp_path / "run" / "results.jsonl") == other
