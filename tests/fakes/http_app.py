"""The application of the service, held open in this process."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import httpx

from spanjury.orchestration.servers.http.app import create_app
from spanjury.orchestration.servers.http.limits import ServiceLimits
from spanjury.orchestration.servers.http.service import Service
from spanjury.orchestration.servers.http.settings import ServiceSettings
from spanjury.orchestration.servers.tokens import Tokens
from spanjury.orchestration.services.serving.batches.batch import BatchPlan
from spanjury.orchestration.services.serving.batches.records import BatchStore
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

RULES = PanelConfig(seats=(SeatConfig(judge="grounding"), SeatConfig(judge="form")))
CHECK = {
    "output": "The bridge opened in 1935.",
    "source": "The bridge was opened in 1932.",
    "aspects": ["consistency"],
}
NDJSON = {"Content-Type": "application/x-ndjson"}
TOKEN = "0123456789abcdef"


@asynccontextmanager
async def open_service(
    folder: Path,
    *,
    limits: ServiceLimits | None = None,
    tokens: Tokens | None = None,
    panel: PanelConfig = RULES,
    plan: BatchPlan | None = None,
) -> AsyncIterator[httpx.AsyncClient]:
    """Open a service with the panels `default` and `form`, and yield a client of it."""
    async with held_service(folder, limits=limits, tokens=tokens, panel=panel, plan=plan) as (
        client,
        _,
    ):
        yield client


@asynccontextmanager
async def held_service(
    folder: Path,
    *,
    limits: ServiceLimits | None = None,
    tokens: Tokens | None = None,
    panel: PanelConfig = RULES,
    plan: BatchPlan | None = None,
) -> AsyncIterator[tuple[httpx.AsyncClient, Service]]:
    """Open a service, and yield a client of it and the service itself."""
    panels = {"default": panel, "form": PanelConfig(seats=(SeatConfig(judge="form"),))}
    settings = ServiceSettings(
        batches=replace(plan or BatchPlan(panels={}), panels=panels),
        state=folder / "state",
        tokens=tokens or Tokens(),
        limits=limits or ServiceLimits(),
    )
    service, opened = Service(settings), anyio.Event()
    transport = httpx.ASGITransport(create_app(service), raise_app_exceptions=True)
    with BatchStore(settings.state) as store:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: service.hold(store, opened=opened.set))
            await opened.wait()
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1"
            ) as client:
                yield client, service
            service.close()


def asking(url: str, *, connections: int = 1, attempts: int = 1) -> PanelConfig:
    """Return a panel that asks the model at `url`."""
    model = ModelConfig(
        name="openai-compatible/judge",
        base_url=url,
        max_connections=connections,
        attempts=attempts,
    )
    return PanelConfig(models=(model,))


async def until(holds: Callable[[], bool]) -> None:
    """Wait until a thread has made it so."""
    with anyio.fail_after(30):
        while not holds():  # noqa: ASYNC110  a thread makes it so
            await anyio.sleep(0.01)


def problem(answer: httpx.Response) -> str:
    """Return the kind of a problem, having checked its form."""
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == answer.status_code
    kind = str(body["type"])
    assert kind.startswith("/problems/")
    return kind.removeprefix("/problems/")


async def ended(client: httpx.AsyncClient, batch: str) -> dict[str, object]:
    """Return a batch once it has ended."""
    async with client.stream("GET", f"/v1/batches/{batch}/events") as stream:
        text = "".join([piece async for piece in stream.aiter_text()])
    *_, last = text.strip().split("\n\n")
    assert "event: end" in last
    return dict(json.loads(last.partition("data: ")[2]))
