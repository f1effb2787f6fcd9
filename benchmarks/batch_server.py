"""A stub of a model's server, in a process of its own: it answers every chat completion alike.

It speaks just enough HTTP to be asked on connections that stay open, so that it takes
little of the machine from the client that is measured.
"""

import asyncio  # noqa: TID251 - bare protocols answer 10,000 calls a second on one core
import json
import multiprocessing
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from multiprocessing.connection import Connection

__all__ = ["reply", "served"]

_NUMBER = "@@@@@@@"
"""Stands for the number of the answer: no two replies are alike, as with a real model."""

_REVIEW = f"""Error 1:
Location: "was opened by the mayor"
Explanation: Sentence {_NUMBER} of the article says that the premier opened the bridge.
Severity: 4

Error 2:
Location: "cost nine million pounds"
Explanation: The article gives no figure in pounds; number {_NUMBER} is another one altogether.
Severity: 3

Overall score: Fair
Explanation of the score: Two facts are not those of article {_NUMBER}, the others are."""

_GRADE = {"reason": f"Two facts are not those of article {_NUMBER}.", "score": 6, "pass": True}
_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "final_result", "arguments": json.dumps(_GRADE)},
}
_MESSAGES: Mapping[str, Mapping[str, object]] = {
    "": {"role": "assistant", "content": _REVIEW},
    "/json": {"role": "assistant", "content": json.dumps(_GRADE)},
    "/tool": {"role": "assistant", "content": None, "tool_calls": [_CALL]},
}
"""The answer below each path: a review, a grade as JSON, a grade by a call of a tool."""

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length:"


def reply(number: int) -> str:
    """Return what the model says of a row of `batch_rows`."""
    return _REVIEW.replace(_NUMBER, f"{number:07}")


@contextmanager
def served(*, delay: float) -> Iterator[str]:
    """Run the server; every answer takes `delay` seconds.

    The value is its address: ``/v1`` follows it, or ``/json/v1`` or ``/tool/v1``.
    """
    spawn = multiprocessing.get_context("spawn")
    receiver, sender = spawn.Pipe(duplex=False)
    server = spawn.Process(target=_serve, args=(delay, sender), daemon=True)
    server.start()
    try:
        yield f"http://127.0.0.1:{receiver.recv()}"
    finally:
        server.terminate()
        server.join()


def _serve(delay: float, sender: Connection) -> None:
    answers = {f"POST {path}/v1/".encode(): _answer(said) for path, said in _MESSAGES.items()}
    numbers = count()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: _Answering(answers, delay=delay, numbers=numbers), "127.0.0.1", 0
        )
        sender.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def _answer(message: Mapping[str, object]) -> bytes:
    finish = "tool_calls" if "tool_calls" in message else "stop"
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1100, "completion_tokens": 100, "total_tokens": 1200},
    }
    body = json.dumps(completion)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n{body}".encode()


class _Answering(asyncio.Protocol):
    """One connection: answers each request that has arrived in full."""

    def __init__(
        self, answers: Mapping[bytes, bytes], *, delay: float, numbers: Iterator[int]
    ) -> None:
        self._answers = answers
        self._delay = delay
        self._numbers = numbers
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep where answers go."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take a part of a request, or several."""
        self._received += data
        while (size := _size(self._received)) and len(self._received) >= size:
            answer = next(
                answer for path, answer in self._answers.items() if self._received.startswith(path)
            )
            self._received = self._received[size:]
            asyncio.get_running_loop().call_later(self._delay, self._send, answer)

    def _send(self, answer: bytes) -> None:
        assert self._transport is not None
        number = f"{next(self._numbers) % 10_000_000:07}"
        self._transport.write(answer.replace(_NUMBER.encode(), number.encode()))


def _size(received: bytes) -> int:
    """Return the bytes of the first request; 0 while its head is not whole."""
    head = received.find(_END_OF_HEAD)
    if head < 0:
        return 0
    lines = received[:head].lower().split(b"\r\n")
    length = next((line for line in lines if line.startswith(_LENGTH)), _LENGTH + b"0")
    return head + len(_END_OF_HEAD) + int(length.removeprefix(_LENGTH))
