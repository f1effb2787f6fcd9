"""Calls of a model without a run around them: bare aiohttp, the lean client, and LiteLLM."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import aiohttp
import anyio
from benchmarks.batch_process import Spent, apart, spending
from benchmarks.batch_rows import segment
from benchmarks.batch_runs import CONNECTIONS

from spanjury import find_aspect
from spanjury.judges.core import ChatRequest
from spanjury.judges.llm.prompt import PromptOptions, render
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.models import open_model

__all__ = ["BARE", "LANES", "measured_calls", "prompt"]

_WARM_UP = 200
_PROMPTS = 200

Call = Callable[[ChatRequest], Awaitable[object]]


@asynccontextmanager
async def _bare(base_url: str) -> AsyncIterator[Call]:
    """Send the same messages with nothing around them."""
    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def call(request: ChatRequest) -> object:
            messages = [{"role": said.role, "content": said.content} for said in request.messages]
            body = {"model": "stub", "messages": messages, "temperature": 0, "max_tokens": 1024}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                return await response.json()

        yield call


@asynccontextmanager
async def _gateway(base_url: str, *, name: str) -> AsyncIterator[Call]:
    """Ask a model as a run does."""
    config = ModelConfig(name=name, base_url=base_url, max_connections=CONNECTIONS)
    async with open_model(config) as model:
        yield model.complete


Lane = Callable[[str], AbstractAsyncContextManager[Call]]

BARE = "bare aiohttp"
LANES: dict[str, Lane] = {
    BARE: _bare,
    "gateway, openai-compatible/": partial(_gateway, name="openai-compatible/stub"),
    "gateway, LiteLLM hosted_vllm/": partial(_gateway, name="hosted_vllm/stub"),
}


def measured_calls(lane: str, *, address: str, calls: int) -> Spent:
    """Make `calls` calls, as many at once as there are connections, in a process of its own."""
    return apart(_measure, lane, address, calls=calls)


def _measure(lane: str, address: str, *, calls: int) -> Spent:
    for variable in ("OPENAI_COMPATIBLE_API_KEY", "HOSTED_VLLM_API_KEY"):
        os.environ[variable] = "none-needed"
    requests = _requests()

    async def main() -> Spent:
        async with LANES[lane](f"{address}/v1") as call:
            await _ask(call, requests, calls=_WARM_UP)
            with spending() as spent:
                await _ask(call, requests, calls=calls)
        return spent

    return anyio.run(main)


def prompt() -> str:
    """Return what an annotator tells a model of one row, in one text."""
    return "\n\n".join(said.content for said in _requests()[0].messages)


def _requests() -> Sequence[ChatRequest]:
    """Return what an annotator asks of some rows."""
    aspect = find_aspect("summarization", "consistency")
    return [
        ChatRequest(messages=render(segment(number), aspect, PromptOptions()))
        for number in range(_PROMPTS)
    ]


async def _ask(call: Call, requests: Sequence[ChatRequest], *, calls: int) -> None:
    numbers = iter(range(calls))
    async with anyio.create_task_group() as asking:
        for _ in range(CONNECTIONS):
            asking.start_soon(_ask_in_turn, call, requests, numbers)


async def _ask_in_turn(call: Call, requests: Sequence[ChatRequest], numbers: Iterator[int]) -> None:
    for number in numbers:
        await call(requests[number % len(requests)])
