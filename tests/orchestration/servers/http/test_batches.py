"""Batches that end in other ways than well, and how what comes of them is followed."""

import threading
from pathlib import Path

import anyio
import pytest
from fakes.http_app import CHECK, NDJSON, asking, ended, held_service, open_service, problem, until
from fakes.service import rows
from loopback.answers import HELD
from loopback.chaos import ChaosServer, judged_text
from loopback.server import LoopbackServer, unreachable_url

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.servers.http import batches
from spanjury.orchestration.servers.http.batches import read_results
from spanjury.orchestration.services.serving.batches import jobs
from spanjury.orchestration.services.serving.batches.batch import Batch, BatchPlan
from spanjury.orchestration.services.serving.batches.records import (
    BatchFolder,
    BatchRecord,
    BatchState,
    BatchStore,
    now,
)

pytestmark = pytest.mark.asyncio_only

URL = "/v1/batches?aspect=fluency"
TEXTS = rows(*map(judged_text, range(8)))


def batch_in(folder: Path) -> Batch:
    record = BatchRecord(
        id="0123456789abcdef",
        owner="local",
        panel="default",
        created=now(),
        rows=2,
        assessments=2,
        state=BatchState.RUNNING,
    )
    return Batch(record=record, folder=BatchFolder(folder))


async def test_a_batch_whose_model_cannot_be_reached_fails_and_says_why(tmp_path: Path) -> None:
    plan = BatchPlan(panels={}, failures=FailurePolicy(max_outage=0))
    panel = asking(unreachable_url())
    async with open_service(tmp_path, panel=panel, plan=plan) as client:
        batch = (await client.post(URL, content=TEXTS, headers=NDJSON)).json()
        last = await ended(client, batch["id"])
        assert (last["state"], last["done"]) == ("failed", 0)
        assert "openai-compatible/judge" in str(last["reason"])
        check = await client.post("/v1/check", json={**CHECK, "aspects": ["fluency"]})
        (result,) = check.json()["results"]
        assert (result["outcome"], result["score"]) == ("backend_failed", None)
        assert (await client.get("/readyz")).is_success


async def test_a_limit_stops_a_batch_and_its_results_so_far_are_there(tmp_path: Path) -> None:
    plan = BatchPlan(panels={}, limits=Limits(max_calls=4))  # one of them to try the model
    with ChaosServer() as judge:
        async with open_service(
            tmp_path, panel=asking(judge.base_url, attempts=4), plan=plan
        ) as client:
            batch = (await client.post(URL, content=TEXTS, headers=NDJSON)).json()
            last = await ended(client, batch["id"])
            results = await client.get(f"/v1/batches/{batch['id']}/results")
    assert last["state"] == "stopped"
    assert "4 is the limit" in str(last["reason"])
    assert judge.asked == 3
    assert len(results.text.splitlines()) == last["done"] == judge.asked


async def test_the_number_of_waiting_batches_is_limited(tmp_path: Path) -> None:
    plan = BatchPlan(panels={}, most_running=1, most_waiting=1)
    with ChaosServer() as judge:
        judge.may_answer.clear()
        async with open_service(
            tmp_path, panel=asking(judge.base_url, attempts=4), plan=plan
        ) as client:
            first = (await client.post(URL, content=TEXTS, headers=NDJSON)).json()
            await until(lambda: judge.probes > 0)
            second = (await client.post(URL, content=TEXTS, headers=NDJSON)).json()
            third = await client.post(URL, content=TEXTS, headers=NDJSON)
            assert (problem(third), third.status_code) == ("too-busy", 429)
            assert int(third.headers["retry-after"]) > 0
            for batch in (first, second):
                await client.delete(f"/v1/batches/{batch['id']}")
            assert (await client.get("/v1/batches")).json() == {"batches": []}
            judge.may_answer.set()
    assert judge.asked == 0
    assert not list((tmp_path / "state" / "batches").iterdir())


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_a_batch_that_is_about_to_end_is_cancelled_and_removed_without_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    is_ending, may_end, write = threading.Event(), threading.Event(), BatchFolder.write

    def slow(folder: BatchFolder, record: BatchRecord) -> None:
        if record.state.is_end:
            is_ending.set()
            assert may_end.wait(30)
        write(folder, record)

    monkeypatch.setattr(BatchFolder, "write", slow)
    async with open_service(tmp_path) as client:
        batch = (await client.post(URL, content=TEXTS, headers=NDJSON)).json()
        await until(is_ending.is_set)
        address = f"/v1/batches/{batch['id']}"
        asked = f"{address}/cancel" if method == "POST" else address
        assert (await client.request(method, asked)).is_success
        may_end.set()
        if method == "POST":
            assert (await ended(client, batch["id"]))["state"] == "finished"
        else:
            assert (await client.get(address)).status_code == 404
    kept = [BatchFolder(path).read() for path in (tmp_path / "state" / "batches").iterdir()]
    states = [record.state.value for record in kept if record is not None]
    assert states == (["finished"] if method == "POST" else [])


async def test_a_batch_that_the_closing_service_has_stopped_is_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "GRACE", 0.0)
    with LoopbackServer(HELD) as judge:
        async with held_service(tmp_path, panel=asking(judge.base_url)) as (client, service):
            batch = (await client.post(URL, content=TEXTS, headers=NDJSON)).json()
            await until(lambda: bool(judge.requests))
            (held,) = service.jobs
            service.drain()
            await until(lambda: held.stop_token is None)
            answer = await client.post(f"/v1/batches/{batch['id']}/cancel")
            judge.released.set()
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    record = held.folder.read()
    assert record is not None
    assert record.state is BatchState.CANCELLED


async def test_a_panel_that_is_closed_under_a_check_makes_no_report(tmp_path: Path) -> None:
    with LoopbackServer(HELD) as judge:
        async with held_service(tmp_path, panel=asking(judge.base_url, attempts=4)) as (
            client,
            service,
        ):
            answers = []

            async def check() -> None:
                request = {**CHECK, "aspects": ["fluency", "coherence"]}
                answers.append(await client.post("/v1/check", json=request))

            async with anyio.create_task_group() as group:
                group.start_soon(check)
                await until(lambda: bool(judge.requests))
                service.close()
                await anyio.sleep(0.1)
                judge.released.set()
            (answer,) = answers
    assert (problem(answer), answer.status_code) == ("service-closing", 503)
    assert len(judge.requests) == 1


async def test_events_begin_with_what_is_not_known_and_are_kept_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "KEEP_ALIVE", 0.01)
    batch, draining = batch_in(tmp_path), anyio.Event()
    stream = batches.events(batch, lambda: "{}", after="", draining=draining)
    assert await anext(stream) == b"id: running-0\nevent: progress\ndata: {}\n\n"
    assert await anext(stream) == b": still there\n\n"
    batch.summary.whole.total = 1
    batch.note()
    assert await anext(stream) == b"id: running-1\nevent: progress\ndata: {}\n\n"
    draining.set()
    assert [piece async for piece in stream] == []
    known = batches.events(batch, lambda: "{}", after="running-1", draining=draining)
    assert [piece async for piece in known] == [b": still there\n\n"]


async def test_results_that_are_being_written_are_read_in_whole_lines(tmp_path: Path) -> None:
    folder = BatchFolder(tmp_path)
    assert [piece async for piece in read_results(folder)] == []
    folder.run.path.mkdir()
    part = folder.run.results.with_name("results.jsonl.part")
    long = b"x" * 200_000 + b"\n"
    part.write_bytes(long + b'{"id": 1}\n{"id": ')
    assert b"".join([piece async for piece in read_results(folder)]) == long + b'{"id": 1}\n'
    part.write_bytes(b"torn")
    assert [piece async for piece in read_results(folder)] == []


async def test_a_record_that_cannot_be_read_costs_its_own_batch_only(tmp_path: Path) -> None:
    with BatchStore(tmp_path) as store:
        for name, text in (("0123456789abcdef", "{"), ("not-a-batch", "{}")):
            folder = tmp_path / "batches" / name
            folder.mkdir()
            (folder / "batch.json").write_text(text)
        received = store.receive("fedcba9876543210")
        received.write(batch_in(tmp_path).record)
        store.keep(received)
        assert [folder.path.name for folder, _ in store.kept()] == ["fedcba9876543210"]
