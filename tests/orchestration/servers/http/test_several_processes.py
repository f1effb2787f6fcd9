"""Several processes behind one port: all answer checks, and one of them everything else."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from fakes.service import Served, rows, serving, started
from loopback.answers import HELD
from loopback.chaos import ChaosServer, judged_text
from loopback.server import LoopbackServer

TWO = ("--workers", "2")
CHECK = {"output": "The bridge opened in 1935.", "source": "The bridge was opened in 1932."}
NDJSON = {"Content-Type": "application/x-ndjson"}
MODEL = ("--model", "openai-compatible/judge", "--max-connections", "1", "--model-base-url")


def until(holds: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Return once something holds."""
    tick, end = threading.Event(), time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        tick.wait(0.05)


def children(served: Served) -> list[int]:
    """Return the processes that serve; the first of them is the one that has the batches."""
    process = served.process.pid
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    kept = [int(pid) for pid in found if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    (holder,) = (pid for pid in kept if str(pid) in lock(served))
    return sorted(kept, key=lambda pid: pid != holder)


def lock(served: Served) -> str:
    (state,) = (served.folder / "state").glob("serve.lock")
    return state.read_text()


@contextmanager
def stopped(process: int) -> Iterator[None]:
    """Keep a process from doing anything."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def counted(served: Served, name: str) -> float:
    text = httpx.get(f"{served.url}/metrics", timeout=60).text
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def test_each_process_answers_checks_and_one_has_the_batches(tmp_path: Path) -> None:
    with serving(tmp_path, *TWO) as served:
        first, other = children(served)
        answers = []
        for process in (first, other):
            with stopped(process):
                answers.append(served.check(CHECK))
        with ThreadPoolExecutor(16) as pool:
            answers += pool.map(served.check, [CHECK] * 30)
        assert {answer.status_code for answer in answers} == {200}
        assert {answer.json()["decision"] for answer in answers} == {"faulty"}
        with served.client(seconds=60) as client:
            body = rows(*["The bridge opened in 1935." * 20] * 1_000)
            assert len(body) > 2**18
            batch = client.post("/v1/batches?aspect=fluency", content=body, headers=NDJSON)
            assert batch.status_code == 202, batch.text
            assert client.post("/v1/check", json=CHECK).status_code == 200
            assert client.get(batch.headers["location"]).json()["total"] == 1_000
            assert client.get("/readyz").status_code == 200
            assert client.delete(batch.headers["location"]).status_code == 204
        name = 'spanjury_http_requests_total{method="POST",route="/v1/check",status="200"}'
        assert counted(served, name) == 33
        served.process.terminate()
        assert served.wait() == 0
        assert not any(Path(f"/proc/{process}").exists() for process in (first, other))


def test_a_process_that_dies_is_replaced_and_its_batch_goes_on(tmp_path: Path) -> None:
    count = 12
    with (
        ChaosServer(seconds=0.1) as judge,
        serving(tmp_path, *TWO, judges=(*MODEL, judge.base_url)) as served,
    ):
        with served.client(seconds=60) as client:
            body = rows(*map(judged_text, range(count)))
            batch = client.post("/v1/batches?aspect=fluency", content=body, headers=NDJSON)
            until(lambda: judge.asked >= 4)
        first, other = children(served)
        os.kill(first, signal.SIGKILL)
        served.wait_until(f"process {first} has died; another one takes its place")

        def last() -> httpx.Response:
            return httpx.get(f"{served.url}{batch.headers['location']}", timeout=60)

        until(lambda: last().status_code == 200 and last().json()["state"] == "finished")
        assert last().json()["outcomes"] == {"scored": count}
        assert judge.asked - count in {0, 1}  # a call that was under way was paid for, and is lost
        served.process.kill()
        until(lambda: not alive(other))
        until(lambda: refused(served))


def alive(process: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def refused(served: Served) -> bool:
    try:
        httpx.get(f"{served.url}/healthz", timeout=60)
    except httpx.ConnectError:
        return True
    except httpx.TransportError:
        return False
    return False


def test_a_second_signal_ends_all_processes_at_once(tmp_path: Path) -> None:
    with LoopbackServer(HELD) as judge, ThreadPoolExecutor() as pool:
        served = started(tmp_path, *TWO, "--drain-seconds", "600", judges=(*MODEL, judge.base_url))
        processes = children(served)
        request = {"output": "It opened.", "task": "summarization", "aspects": ["fluency"]}
        under_way = pool.submit(served.check, request)
        until(lambda: bool(judge.requests))
        served.process.terminate()
        served.wait_until("running work has 600 s to finish")
        assert served.process.poll() is None
        served.process.terminate()
        assert served.wait() == 128 + signal.SIGTERM
        assert not any(map(alive, processes))
        assert isinstance(under_way.exception(), httpx.TransportError)


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("--judge", "nothing"), 2, "there is no judge"),
        (("--token-file", "tokens"), 2, "one process counts the quotas"),
    ],
)
def test_a_service_of_several_that_cannot_begin_says_why_once(
    tmp_path: Path, flags: tuple[str, ...], code: int, words: str
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ann:0123456789abcdef rows=1 per=day\n")
    tokens.chmod(0o600)
    ended = started(tmp_path, *TWO, *flags)
    assert ended.wait() == code
    (line,) = (line for line in ended.lines if line.startswith("spanjury: "))
    assert words in line
