"""CPU of one call, in each lane, beside bare aiohttp: what a model's adapter costs by itself.

Run as ``python benchmarks/client_cpu.py [CALLS]``. The server answers at once from a
process of its own, so its CPU is not counted; the prompt has 2,000 characters, the reply 400.
"""

import json
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from multiprocessing.connection import Connection

import aiohttp
import anyio
from anyio.abc import SocketAttribute, SocketStream

from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.judges.core import ChatModel, ChatRequest, Message, ModelOptions

ROUNDS = 5
PROMPT = "The judged text says this. " * 74
REQUEST = ChatRequest(messages=(Message(role="user", content=PROMPT),))
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": "loop",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "An error is here. " * 22},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 500, "completion_tokens": 100, "total_tokens": 600},
}

Call = Callable[[], Awaitable[object]]


def serve(sender: Connection) -> None:
    """Answer every request on a free port of 127.0.0.1, which is sent to `sender`."""
    body = json.dumps(COMPLETION).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    answer = f"{head}\r\n\r\n".encode() + body

    async def answer_all(stream: SocketStream) -> None:
        async with stream:
            received = b""
            async for part in stream:
                received += part
                if received.endswith(b"}"):
                    received = b""
                    await stream.send(answer)

    async def main() -> None:
        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            sender.send(listener.extra(SocketAttribute.local_port))  # noqa: S610 - not Django's
            await listener.serve(answer_all)

    anyio.run(main)


@asynccontextmanager
async def bare_aiohttp(base_url: str) -> AsyncIterator[Call]:
    """Send the same request with nothing around it."""
    body = {"model": "loop", "messages": [{"role": "user", "content": PROMPT}]}
    async with aiohttp.ClientSession() as session:

        async def call() -> object:
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                return await response.json()

        yield call


@asynccontextmanager
async def lane(opened: AbstractAsyncContextManager[ChatModel]) -> AsyncIterator[Call]:
    """Ask a model."""
    async with opened as model:
        yield lambda: model.complete(REQUEST)


async def measure(base_url: str, *, calls: int) -> dict[str, float]:
    """Return the CPU milliseconds of a call in each lane, the median of rounds that alternate."""
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
                await repeat(call, times=20)  # the first ones set up what is kept
                before = time.process_time()
                await repeat(call, times=calls)
                rounds[name].append((time.process_time() - before) / calls * 1_000)
    return {name: statistics.median(spent) for name, spent in rounds.items()}


async def repeat(call: Call, *, times: int) -> None:
    """Make one call after the other."""
    for _ in range(times):
        await call()


def main(calls: int) -> None:
    """Print what a call costs in each lane, and how many times bare aiohttp's that is."""
    for variable in ("OPENAI_API_KEY", "HOSTED_VLLM_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        os.environ[variable] = "none-needed"
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    server = spawn.Process(target=serve, args=(sender,), daemon=True)
    server.start()
    base_url = f"http://127.0.0.1:{receiver.recv()}/v1"
    try:
        spent = anyio.run(lambda: measure(base_url, calls=calls))
    finally:
        server.terminate()
        server.join()
    bare = spent["bare aiohttp"]
    print(f"{'client':<24}{'CPU ms a call':>14}{'times bare':>12}")
    for name, milliseconds in spent.items():
        print(f"{name:<24}{milliseconds:>14.3f}{milliseconds / bare:>12.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
