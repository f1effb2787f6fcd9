"""Tenants of a service that starve others, and connections that hide that it is up.

The real command serves two tenants, one of them with few requests. It is harm if that tenant is
refused, if its batch waits for most of the other's batches, if a batch beyond the limit is
accepted, or if a health check fails.
"""

import json
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
import httpx
from benchmarks import batch_server
from benchmarks.serve import RULES, bodies, service
from benchmarks.serve_load import received_answer, request_of
from benchmarks.trials.trial import Harm, Trial

__all__ = ["trials"]

_GREEDY, _SMALL = "greedy-0123456789", "small-0123456789"
_CONNECTIONS, _CHECKS = 160, 50
_BATCHES, _MOST, _BATCHES_OF_OTHER = 110, 102, 10
_HALF_OPEN, _LOOKS = 1_200, 50
_TOO_MANY = 429
_OK, _ACCEPTED = 200, 202


def trials() -> list[Trial]:
    """Test each kind of crowd with a separate service."""
    return [_checks(), _batches(), _half_open()]


@contextmanager
def _shared(*flags: str) -> Iterator[int]:
    with tempfile.TemporaryDirectory(prefix="crowded-") as folder:
        tokens = Path(folder, "tokens")
        tokens.write_text(f"greedy:{_GREEDY}\nsmall:{_SMALL}\n")
        with service("--token-file", str(tokens), *flags) as (port, _):
            yield port


def _bearer(token: str) -> str:
    return f"Authorization: Bearer {token}\r\n"


def _checks() -> Trial:
    with _shared(*RULES) as port:
        statuses, seconds, greedy = anyio.run(_crowd, port)
    ordered = sorted(seconds)
    return Trial(
        harm=Harm.CROWDED,
        name=f"another tenant's check refused, beside {_CONNECTIONS} greedy connections",
        tries=_CHECKS,
        harmed=sum(status != _OK for status in statuses),
        note=f"in {1e3 * ordered[len(ordered) // 2]:.0f} ms, {1e3 * ordered[-1]:.0f} at most;"
        f" the other had {greedy} answered meanwhile",
    )


async def _crowd(port: int) -> tuple[list[int], list[float], int]:
    """Send requests on many connections as one tenant; return the results of another's checks."""
    greedy, statuses, seconds, asked = 0, list[int](), list[float](), bodies()

    async def ask_on(body: bytes) -> None:
        nonlocal greedy
        request = request_of(body, headers=_bearer(_GREEDY))
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            while True:
                await stream.send(request)
                answer = await received_answer(stream)
                greedy += answer.startswith(b"HTTP/1.1 200 ")

    async with anyio.create_task_group() as group:
        for number in range(_CONNECTIONS):
            group.start_soon(ask_on, asked[number % len(asked)])
        while greedy < _CONNECTIONS:  # noqa: ASYNC110  the crowd is there by then
            await anyio.sleep(0.05)
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            for number in range(_CHECKS):
                began = time.perf_counter()
                body = asked[number % len(asked)]
                await stream.send(request_of(body, headers=_bearer(_SMALL)))
                answer = await received_answer(stream)
                seconds.append(time.perf_counter() - began)
                statuses.append(int(answer.split(b" ", 2)[1]))
        group.cancel_scope.cancel()
    return statuses, seconds, greedy


def _batches() -> Trial:
    """Fill the queue as one tenant, then submit small batches as another, one after another."""
    with batch_server.served(delay=0.2) as address, ExitStack() as stack:
        model = ("--model", "openai-compatible/stub", "--model-base-url", f"{address}/v1")
        port = stack.enter_context(_shared(*model))
        greedy, small = (
            stack.enter_context(
                httpx.Client(
                    base_url=f"http://127.0.0.1:{port}",
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=60,
                )
            )
            for token in (_GREEDY, _SMALL)
        )
        taken = sum(_submitted(greedy, rows=20) != "" for _ in range(_BATCHES))
        harmed, done = max(0, taken - _MOST), 0
        for _ in range(_BATCHES_OF_OTHER):
            batch = _submitted(small, rows=1)
            harmed += not batch or not _ended(small, batch)
        states = [batch["state"] for batch in greedy.get("/v1/batches").json()["batches"]]
        done = states.count("finished")
    return Trial(
        harm=Harm.CROWDED,
        name=f"another tenant's batch refused or late, beside {_BATCHES}",
        tries=_BATCHES_OF_OTHER,
        harmed=min(harmed + (done > taken / 2), _BATCHES_OF_OTHER),
        note=f"{taken} of the {_BATCHES} taken, {done} of them done with the other's last",
    )


def _submitted(client: httpx.Client, *, rows: int) -> str:
    """Submit a batch; return its path, or "" if it is refused."""
    row = {"task": "summarization", "output": f"Text {time.monotonic_ns()}."}
    lines = (json.dumps({**row, "id": str(number)}) for number in range(rows))
    answer = client.post(
        "/v1/batches?aspect=fluency",
        content="\n".join(lines),
        headers={"Content-Type": "application/x-ndjson"},
    )
    if answer.status_code not in {_ACCEPTED, _TOO_MANY}:
        raise RuntimeError(answer.text)
    return str(answer.headers.get("location", ""))


def _ended(client: httpx.Client, batch: str) -> bool:
    """Wait for the end of a batch; return whether it was judged."""
    return '"state":"finished"' in client.get(f"{batch}/events").text.rpartition("data: ")[2]


def _half_open() -> Trial:
    harmed, longest = 0, 0.0
    with service(*RULES) as (port, _), ExitStack() as stack:
        address = ("127.0.0.1", port)
        for _ in range(_HALF_OPEN):
            half_open = stack.enter_context(socket.create_connection(address, timeout=20))
            half_open.sendall(b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\n")
        for _ in range(_LOOKS):
            began = time.perf_counter()
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
                harmed += client.get("/healthz").status_code != _OK
            longest = max(longest, time.perf_counter() - began)
    return Trial(
        harm=Harm.CROWDED,
        name=f"{_HALF_OPEN:,} half-open connections and health",
        tries=_LOOKS,
        harmed=harmed,
        note=f"answered in {1e3 * longest:.0f} ms at most",
    )
