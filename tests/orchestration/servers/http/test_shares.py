"""Shares of a service: what one tenant asks for takes nothing from another."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import anyio
import httpx
import pytest
from fakes.http_app import (
    CHECK,
    NDJSON,
    TOKEN,
    asking,
    ended,
    held_service,
    open_service,
    problem,
    until,
)
from fakes.service import rows, serving
from loopback.answers import HELD
from loopback.chaos import ChaosServer, judged_text
from loopback.server import LoopbackServer

from spanjury.judges.core import ConfigError
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.tokens import Tokens, read_tokens
from spanjury.orchestration.services.serving.batches.batch import BatchPlan

pytestmark = pytest.mark.asyncio_only

ANN = {"Authorization": f"Bearer {TOKEN}-ann"}
BOB = {"Authorization": f"Bearer {TOKEN}-bob"}
FLUENCY = {**CHECK, "aspects": ["fluency"]}
ROW = rows(judged_text(0))
BATCHES = "/v1/batches?aspect=fluency"


def tenants(folder: Path, *, ann: str = "", bob: str = "") -> Tokens:
    """Return the tokens of two tenants, with these limits."""
    file = folder / "tokens"
    file.write_text(f"ann:{TOKEN}-ann {ann}\nbob:{TOKEN}-bob {bob}\n")
    return read_tokens(None, file)


@pytest.mark.heavy
async def test_160_checks_of_one_tenant_leave_room_for_50_of_another(tmp_path: Path) -> None:
    answered: dict[str, list[int]] = {"ann": [], "bob": []}
    limits = ServiceLimits(max_checks=100)
    with LoopbackServer(HELD) as judge:
        opening = held_service(
            tmp_path,
            limits=limits,
            tokens=tenants(tmp_path),
            panel=asking(judge.base_url, connections=200),
        )
        async with opening as (client, service), anyio.create_task_group() as group:

            async def check(name: str, headers: dict[str, str], number: int) -> None:
                request = {**FLUENCY, "output": f"It opened in {number}."}
                answer = await client.post("/v1/check", json=request, headers=headers)
                answered[name].append(answer.status_code)

            for number in range(160):
                group.start_soon(check, "ann", ANN, number)
            await until(lambda: service.requests + len(answered["ann"]) == 160)
            for number in range(50):
                group.start_soon(check, "bob", BOB, 1_000 + number)
            await until(lambda: service.requests + sum(map(len, answered.values())) == 210)
            assert answered["bob"] == []
            judge.released.set()
    assert answered["bob"] == [200] * 50


@pytest.mark.heavy
async def test_110_batches_of_one_tenant_leave_room_and_a_turn_for_another(tmp_path: Path) -> None:
    with ChaosServer() as judge:
        judge.may_answer.clear()
        opening = open_service(
            tmp_path,
            tokens=tenants(tmp_path),
            panel=asking(judge.base_url),
            plan=BatchPlan(panels={}),
        )
        async with opening as client:
            made = [
                await client.post(BATCHES, content=ROW, headers={**NDJSON, **ANN})
                for _ in range(110)
            ]
            taken = [answer.json()["id"] for answer in made if answer.status_code == 202]
            assert {problem(answer) for answer in made if not answer.is_success} == {"too-busy"}
            other = await client.post(BATCHES, content=ROW, headers={**NDJSON, **BOB})
            assert other.status_code == 202
            judge.may_answer.set()
            client.headers.update(BOB)
            assert (await ended(client, other.json()["id"]))["state"] == "finished"
            listed = (await client.get("/v1/batches", headers=ANN)).json()["batches"]
            assert sum(batch["state"] == "queued" for batch in listed) > len(taken) / 2


async def test_batches_with_rows_on_their_way_count_before_their_arrival(tmp_path: Path) -> None:
    plan, may_arrive = BatchPlan(panels={}, most_running=1, most_waiting=2), anyio.Event()
    statuses: list[int] = []

    async def late() -> AsyncIterator[bytes]:
        await may_arrive.wait()
        yield ROW

    with ChaosServer() as judge:
        judge.may_answer.clear()
        async with open_service(tmp_path, panel=asking(judge.base_url), plan=plan) as client:

            async def submit() -> None:
                body = httpx.Request("POST", "http://x", content=late()).stream
                answer = await client.post(BATCHES, content=body, headers=NDJSON)
                statuses.append(answer.status_code)

            async with anyio.create_task_group() as group:
                for _ in range(6):
                    group.start_soon(submit)
                await until(lambda: len(statuses) == 3)
                assert statuses == [429] * 3
                may_arrive.set()
            assert sorted(statuses) == [202] * 3 + [429] * 3
            judge.may_answer.set()


@pytest.mark.heavy
async def test_half_open_connections_do_not_hide_that_the_service_is_up(tmp_path: Path) -> None:
    flags = ("--max-http-connections", "100")
    with serving(tmp_path, *flags) as served:
        address = ("127.0.0.1", served.port)
        with ExitStack() as stack:
            for number in range(1_200):
                half_open = stack.enter_context(socket.create_connection(address, timeout=20))
                if number > 1_100:
                    half_open.sendall(b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\n")
            async with httpx.AsyncClient(base_url=served.url) as client:
                assert (await client.get("/healthz")).status_code == 200
                assert (await client.post("/v1/check", json=CHECK)).status_code == 200


async def test_a_quota_of_calls_holds_for_checks_batches_and_restarts(tmp_path: Path) -> None:
    tokens = tenants(tmp_path, ann="calls=4")
    with ChaosServer() as judge:
        panel = asking(judge.base_url)
        text = {**FLUENCY, "output": judged_text(0)}
        async with open_service(tmp_path, tokens=tokens, panel=panel) as client:
            for _ in range(2):
                answer = await client.post("/v1/check", json=text, headers=ANN)
                assert answer.status_code == 200
            client.headers.update(ANN)
            body = rows(*map(judged_text, range(5)))
            batch = (await client.post(BATCHES, content=body, headers=NDJSON)).json()
            last = await ended(client, batch["id"])
            assert last["state"] == "stopped"
            assert "your quota of calls: 4 calls are spent, and 4 is the limit" in str(
                last["reason"]
            )
            assert judge.asked + judge.probes == 4
        async with open_service(tmp_path, tokens=tokens, panel=panel) as client:
            refused = await client.post("/v1/check", json=text, headers=ANN)
            assert (problem(refused), refused.status_code) == ("quota-used-up", 403)
            assert refused.json()["quota"] == "calls"
            assert judge.asked + judge.probes == 4
            assert (await client.post("/v1/check", json=text, headers=BOB)).status_code == 200


async def test_a_quota_of_a_period_says_when_it_is_free_again(tmp_path: Path) -> None:
    tokens = tenants(tmp_path, ann="rows=3 per=day")
    two = rows(judged_text(0), judged_text(1))
    async with open_service(tmp_path, tokens=tokens) as client:
        client.headers.update(ANN)
        assert (await client.post(BATCHES, content=two, headers=NDJSON)).status_code == 202
        refused = await client.post(BATCHES, content=two, headers=NDJSON)
        assert (problem(refused), refused.status_code) == ("quota-reached", 429)
        assert refused.json()["quota"] == "rows"
        assert 0 < int(refused.headers["retry-after"]) <= 86_400
        wrong = await client.post("/v1/check", json={**CHECK, "task": "nothing"})
        assert problem(wrong) == "request-not-understood"  # and takes no row
        assert (await client.post("/v1/check", json=CHECK)).status_code == 200
        refused = await client.post("/v1/check", content=b"whatever")
        assert problem(refused) == "quota-reached"
        free_again = datetime.fromisoformat(refused.json()["free_again"])
        assert (free_again.hour, free_again.minute) == (0, 0)


async def test_a_quota_of_disk_is_free_again_once_a_batch_is_removed(tmp_path: Path) -> None:
    tokens = tenants(tmp_path, ann=f"disk={3 * len(ROW)}")
    async with open_service(tmp_path, tokens=tokens) as client:
        client.headers.update(ANN)

        async def pieces(body: bytes) -> AsyncIterator[bytes]:
            yield body

        large = await client.post(BATCHES, content=ROW * 4, headers=NDJSON)
        assert (problem(large), large.status_code) == ("quota-used-up", 403)
        large = await client.post(BATCHES, content=pieces(ROW * 4), headers=NDJSON)
        assert problem(large) == "body-too-large"
        made = await client.post(BATCHES, content=ROW, headers=NDJSON)
        await ended(client, made.json()["id"])  # its results are more than the rest
        refused = await client.post(BATCHES, content=ROW, headers=NDJSON)
        assert (problem(refused), refused.json()["quota"]) == ("quota-reached", "disk")
        await client.delete(made.headers["location"])
        assert (await client.post(BATCHES, content=ROW, headers=NDJSON)).status_code == 202


async def test_a_quota_of_dollars_needs_the_prices_of_all_models(tmp_path: Path) -> None:
    tokens = tenants(tmp_path, ann="dollars=1")
    opening = open_service(tmp_path, tokens=tokens, panel=asking("http://127.0.0.1:9/v1"))
    with pytest.raises(ExceptionGroup) as raised:
        async with opening:
            pass
    assert "needs the prices of all models" in str(raised.value.exceptions)


@pytest.mark.parametrize(
    "quotas", ["calls=x", "calls=0", "per=week", "coins=1", "calls=1 calls=2", "calls=1\nann:x"]
)
def test_quotas_that_cannot_be_read_are_named_by_their_line(tmp_path: Path, quotas: str) -> None:
    with pytest.raises(ConfigError, match=r"tokens, line [12]: ") as raised:
        tenants(tmp_path, ann=quotas)
    assert TOKEN not in str(raised.value)


@pytest.mark.heavy
async def test_connections_of_one_tenant_leave_room_for_another(tmp_path: Path) -> None:
    tenants(tmp_path)
    with LoopbackServer(HELD) as judge:
        model = ("--model", "openai-compatible/judge", "--model-base-url", judge.base_url)
        flags = ("--max-http-connections", "8", "--token-file", "tokens", "--max-connections", "8")
        with serving(tmp_path, *flags, judges=model) as served, ExitStack() as stack:
            answered: list[int] = []

            async def check(headers: dict[str, str]) -> None:
                async with httpx.AsyncClient(base_url=served.url, timeout=30) as client:
                    answer = await client.post("/v1/check", json=FLUENCY, headers=headers)
                    answered.append(answer.status_code)

            async with anyio.create_task_group() as group:
                for _ in range(6):
                    group.start_soon(check, ANN)
                await until(lambda: len(judge.requests) + len(answered) == 6)
                assert answered == [429] * 2
                for _ in range(20):  # and as many that send nothing
                    address = ("127.0.0.1", served.port)
                    stack.enter_context(socket.create_connection(address, timeout=20))
                group.start_soon(check, BOB)
                await until(lambda: len(judge.requests) == 5)
                judge.released.set()
            assert sorted(answered) == [200] * 5 + [429] * 2


async def test_an_idle_connection_of_the_tenant_that_holds_most_gives_way(tmp_path: Path) -> None:
    tenants(tmp_path)
    flags = ("--max-http-connections", "3", "--token-file", "tokens")
    with serving(tmp_path, *flags) as served, ExitStack() as stack:
        address, idle = ("127.0.0.1", served.port), []
        for headers in (ANN, ANN, BOB):
            connection = stack.enter_context(socket.create_connection(address, timeout=20))
            token = f"Authorization: {headers['Authorization']}\r\n\r\n"
            connection.sendall(b"HEAD /v1/nothing HTTP/1.1\r\nHost: x\r\n" + token.encode())
            assert connection.recv(65_536).startswith(b"HTTP/1.1 404 ")
            idle.append(connection)
        stack.enter_context(socket.create_connection(address, timeout=20))
        first, second, other = idle
        assert first.recv(1) == b""
        for connection in (second, other):
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):
                connection.recv(1)


async def test_a_connection_on_which_a_refused_head_came_again_keeps_its_next_check(
    tmp_path: Path,
) -> None:
    tenants(tmp_path)
    body = json.dumps(FLUENCY).encode()
    head = f"POST /v1/check HTTP/1.1\r\nHost: x\r\nAuthorization: {ANN['Authorization']}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    check = head.encode() + body
    with LoopbackServer(HELD) as judge, ExitStack() as stack:
        model = ("--model", "openai-compatible/judge", "--model-base-url", judge.base_url)
        flags = (
            *("--max-checks", "2", "--max-check-wait", "0", "--token-file", "tokens"),
            *("--max-http-connections", "6", "--max-connections", "2"),
        )
        served = stack.enter_context(serving(tmp_path, *flags, judges=model))

        def connected() -> socket.socket:
            address = ("127.0.0.1", served.port)
            return stack.enter_context(socket.create_connection(address, timeout=20))

        first, second, third = connected(), connected(), connected()
        first.sendall(check)
        await until(lambda: len(judge.requests) == 1)
        for refused in (second, third):  # the second time by the bytes of its head
            refused.sendall(check)
            assert refused.recv(65_536).startswith(b"HTTP/1.1 429 ")
        judge.released.set()
        assert first.recv(65_536).startswith(b"HTTP/1.1 200 ")
        judge.released.clear()
        third.sendall(check)
        await until(lambda: len(judge.requests) == 2)
        for _ in range(4):
            connected()
        judge.released.set()
        assert third.recv(65_536).startswith(b"HTTP/1.1 200 ")
