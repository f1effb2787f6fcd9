"""The service on a disk that is full: who hears of it, and what goes on once there is room."""

import json
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path

import httpx
import pytest
from fakes.service import Served, rows, serving
from loopback.chaos import ChaosServer, judged_text

URL = "/v1/batches?aspect=fluency"
NDJSON = {"Content-Type": "application/x-ndjson"}
CHECK = {"output": "It opened in 1935.", "task": "summarization", "aspects": ["fluency"]}
ROOM = 2**23


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk of `ROOM` bytes there, or skip the test."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(file: RawIOBase) -> None:
    while True:
        file.write(bytes(4_096))


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Leave no room on the disk of `folder` as long as this lasts."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        fill(file)
    try:
        yield
    finally:
        filler.unlink()


@contextmanager
def limited(served: Served) -> Iterator[None]:
    """Have no file of the service grow as long as this lasts."""
    limit = getattr(resource, "prlimit", None)
    if limit is None:
        pytest.skip("the limits of another process cannot be set here")
    limit(served.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        limit(
            served.process.pid,
            resource.RLIMIT_FSIZE,
            (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
        )


def judge_at(model: ChaosServer) -> tuple[str, ...]:
    return "--model", "openai-compatible/judge", "--model-base-url", model.base_url


def submitted(client: httpx.Client) -> str:
    """Submit texts, and return the address of their batch."""
    body = rows(*map(judged_text, range(8)))
    answer = client.post(URL, content=body, headers=NDJSON)
    assert answer.status_code == 202, answer.text
    return answer.headers["location"]


def ended(client: httpx.Client, batch: str) -> dict[str, object]:
    """Return a batch once it has ended."""
    assert "event: end" in client.get(f"{batch}/events").text
    return dict(client.get(batch).json())


def require_refusals(client: httpx.Client, fault: str) -> None:
    """Require that batches are refused and `/readyz` says why, while checks are answered."""
    batch = client.post(URL, content=rows("It opened."), headers=NDJSON)
    for answer in (batch, client.get("/readyz")):
        assert answer.status_code == 507
        assert answer.json()["type"] == "/problems/disk-not-writable"
        assert answer.json()["detail"] == fault
    assert client.get("/healthz").status_code == 200
    assert client.post("/v1/check", json=CHECK).status_code == 200


@pytest.mark.heavy
def test_a_full_disk_fails_a_batch_with_the_reason_until_there_is_room(tmp_path: Path) -> None:
    state, log = tmp_path / "state", tmp_path / "log.jsonl"
    with (
        small_disk(state),
        ChaosServer() as model,
        serving(tmp_path, "--log-file", str(log), judges=judge_at(model)) as served,
        served.client() as client,
    ):
        model.may_answer.clear()
        batch = submitted(client)
        with full(state):
            model.may_answer.set()
            failed = ended(client, batch)
            assert failed["state"] == "failed"
            assert failed["reason"] == (
                "the service could not write to its disk: No space left on device"
            )
            require_refusals(client, "No space left on device")
        assert client.get("/readyz").status_code == 200
        assert ended(client, submitted(client))["state"] == "finished"
    events = [json.loads(line) for line in log.read_text().splitlines()]
    reasons = {event["event"]: event["reason"] for event in events if event["level"] == "error"}
    assert {*reasons} == {"batch.failed", "batch.not_received"}
    assert all(reason.startswith(f"{state}/") for reason in reasons.values())
    assert "Traceback" not in log.read_text() + "".join(served.lines)


@pytest.mark.heavy
def test_files_that_may_not_grow_fail_a_batch_with_the_reason(tmp_path: Path) -> None:
    with (
        ChaosServer() as model,
        serving(tmp_path, judges=judge_at(model)) as served,
        served.client() as client,
    ):
        model.may_answer.clear()
        batch = submitted(client)
        with limited(served):
            model.may_answer.set()
            failed = ended(client, batch)
            assert failed["state"] == "failed"
            assert failed["reason"] == "the service could not write to its disk: File too large"
            require_refusals(client, "File too large")
        assert client.get("/readyz").status_code == 200
    assert "Traceback" not in "".join(served.lines)
