"""A stub of a model server in its own process, which answers all chat completions alike.

It implements only the HTTP needed for persistent connections, so that it takes little CPU from
the measured client. It counts the calls, so that additional or missing ones are noticed.
"""

import asyncio  # noqa: TID251 - bare protocols answer 10,000 calls a second on one core
import json
import multiprocessing
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection

__all__ = ["ERRORS", "Counts", "counts", "served"]

ERRORS = 3
"""Number of errors in each review; all their quotes are in the judged text."""
_NUMBER = "@@@@@@@"
"""Placeholder for the answer's number, so that, as with a real model, no two replies are equal."""
_MARK = " (@mark@)"
"""Placeholder for the mark that a prompt asks to repeat after each label."""

_REVIEW = f"""Error 1{_MARK}:
Location{_MARK}: "was opened by the mayor"
Explanation{_MARK}: Sentence {_NUMBER} of the article says that the premier opened the bridge.
Severity{_MARK}: 4

Error 2{_MARK}:
Location{_MARK}: "cost nine million pounds"
Explanation{_MARK}: The article gives no figure in pounds; number {_NUMBER} is another one.
Severity{_MARK}: 3

Error 3{_MARK}:
Location{_MARK}: "since the morning"
Explanation{_MARK}: Visitor {_NUMBER} says that the crowd had waited since the early morning.
Severity{_MARK}: 1

Overall score{_MARK}: Fair
Explanation of the score{_MARK}: Two facts are not those of article {_NUMBER}, the others are."""

_GRADE = {"reason": f"Two facts are not those of article {_NUMBER}.", "score": 6, "pass": True}
_RUBRIC = {"criterion_status": "MET", "explanation": _GRADE["reason"]}
_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "final_result", "arguments": json.dumps(_GRADE)},
}
_MESSAGES: Mapping[str, Mapping[str, object]] = {
    "": {"role": "assistant", "content": _REVIEW},
    "/json": {"role": "assistant", "content": json.dumps(_GRADE)},
    "/rubric": {"role": "assistant", "content": json.dumps(_RUBRIC)},
    "/tool": {"role": "assistant", "content": None, "tool_calls": [_CALL]},
}
"""Path prefix -> its answer: a review, a grade as JSON or by a tool call, a rubric's verdict."""

_END_OF_HEAD = b"\r\n\r\n"
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0" + _END_OF_HEAD
_LENGTH = b"content-length:"
_FIRST_LABEL = b"Error 1 ("


@dataclass(slots=True)
class Counts:
    """Number of calls so far, and total size of their bodies in bytes."""

    calls: int = 0
    size: int = 0


@contextmanager
def served(*, delay: float) -> Iterator[str]:
    """Run the server; every answer takes `delay` seconds.

    Yields its address, to which ``/v1``, ``/json/v1``, ``/rubric/v1`` or ``/tool/v1`` is appended.
    Calls to other paths are refused; any GET returns the counts.
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


def counts(address: str) -> Counts:
    """Fetch the counts of the server at `address`."""
    with urllib.request.urlopen(f"{address}/counts") as answer:  # noqa: S310 - our own address
        return Counts(**json.load(answer))


def _serve(delay: float, sender: Connection) -> None:
    answers = {f"POST {path}/v1/".encode(): _answer(message) for path, message in _MESSAGES.items()}
    answering = partial(_Answering, answers, delay=delay, asked=Counts())

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(answering, "127.0.0.1", 0)
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
    return json.dumps(completion).encode()


def _with_head(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + _END_OF_HEAD + body


class _Answering(asyncio.Protocol):
    """One connection: answers each request that has arrived in full."""

    def __init__(self, answers: Mapping[bytes, bytes], *, delay: float, asked: Counts) -> None:
        self._answers = answers
        self._delay = delay
        self._asked = asked
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport for answers."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request, or several requests."""
        self._received += data
        while (size := _size(self._received)) and len(self._received) >= size:
            request, self._received = self._received[:size], self._received[size:]
            if request.startswith(b"GET "):
                self._send(_with_head(json.dumps(asdict(self._asked)).encode()))
            else:
                answer = self._answer_to(request)
                asyncio.get_running_loop().call_later(self._delay, self._send, answer)

    def _answer_to(self, request: bytes) -> bytes:
        """Count a call, and return the answer for its path."""
        self._asked.calls += 1
        self._asked.size += len(request) - request.index(_END_OF_HEAD) - len(_END_OF_HEAD)
        bodies = (body for path, body in self._answers.items() if request.startswith(path))
        if not (body := next(bodies, b"")):
            return _NOT_FOUND
        number = f"{self._asked.calls % 10_000_000:07}".encode()
        body = body.replace(_NUMBER.encode(), number).replace(_MARK.encode(), _mark(request))
        return _with_head(body)

    def _send(self, answer: bytes) -> None:
        assert self._transport is not None
        self._transport.write(answer)


def _mark(request: bytes) -> bytes:
    """Return the mark that the prompt puts after the first label; empty if there is none."""
    label = request.rfind(_FIRST_LABEL)
    if label < 0:
        return b""
    begin = label + len(_FIRST_LABEL)
    return b" (" + request[begin : request.index(b")", begin) + 1]


def _size(received: bytes) -> int:
    """Return the size of the first request in bytes; 0 until its head is complete."""
    head = received.find(_END_OF_HEAD)
    if head < 0:
        return 0
    lines = received[:head].lower().split(b"\r\n")
    length = next((line for line in lines if line.startswith(_LENGTH)), _LENGTH + b"0")
    return head + len(_END_OF_HEAD) + int(length.removeprefix(_LENGTH))
