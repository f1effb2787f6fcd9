"""CPU cost of one call through each model adapter, compared with bare aiohttp.

Run as ``python -m benchmarks.client_cpu [CALLS]``. The server answers at once from its own process,
so its CPU is not counted; the prompt has 2,000 characters, the reply 900.
"""

import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import aiohttp
import anyio
from benchmarks.batch_server import served

from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.judges.core import ChatModel, ChatRequest, Message, ModelOptions

ROUNDS = 5
PROMPT = "The judged text says this. " * 74
REQUEST = ChatRequest(messages=(Message(role="user", content=PROMPT),))
Call = Callable[[], Awaitable[object]]


@asynccontextmanager
async def bare_aiohttp(base_url: str) -> AsyncIterator[Call]:
    """Yield a function that sends the request with bare aiohttp."""
    body = {"model": "loop", "messages": [{"role": "user", "content": PROMPT}]}
    async with aiohttp.ClientSession() as session:

        async def call() -> object:
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                return await response.json()

        yield call


@asynccontextmanager
async def lane(opened: AbstractAsyncContextManager[ChatModel]) -> AsyncIterator[Call]:
    """Open a model, and yield a function that calls it."""
    async with opened as model:
        yield lambda: model.complete(REQUEST)


async def measure(base_url: str, *, calls: int) -> dict[str, float]:
    """Return the CPU milliseconds per call of each adapter, the median of alternating rounds."""
    options = ModelOptions(base_url=base_url)
    lanes: dict[str, Callable[[], AbstractAsyncContextManager[Call]]] = {
        "bare aiohttp": lambda: bare_aiohttp(base_url),
        "openai-compatible/": lambda: lane(open_fast("openai-compatible/loop", options=options)),
        "litellm hosted_vllm/": lambda: lane(open_litellm("hosted_vllm/loop", options=options)),
        "litellm openai/": lambda: lane(open_litellm("openai/loop", options=options)),
    }
    rounds: dict[str, list[float]] = {name: [] for name in lanes}
    for _ in range(ROUNDS):
        for name, opened in lanes.items():
            async with opened() as call:
                await repeat(call, times=20)  # the first calls fill caches
                before = time.process_time()
                await repeat(call, times=calls)
                rounds[name].append((time.process_time() - before) / calls * 1_000)
    return {name: statistics.median(spent) for name, spent in rounds.items()}


async def repeat(call: Call, *, times: int) -> None:
    """Make calls one after another."""
    for _ in range(times):
        await call()


def main(calls: int) -> None:
    """Print the cost of a call through each adapter, and its ratio to bare aiohttp."""
    for variable in ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        os.environ[variable] = "none-needed"
    with served(delay=0.0) as address:
        spent = anyio.run(lambda: measure(f"{address}/v1", calls=calls))
    bare = spent["bare aiohttp"]
    print("| client | CPU ms a call | times bare |\n|---|---|---|")
    for name, milliseconds in spent.items():
        print(f"| {name} | {milliseconds:.2f} | {milliseconds / bare:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
