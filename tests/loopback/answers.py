"""Answers of the loopback server: replies as servers write them, and every way to fail."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

_JSON = {"Content-Type": "application/json"}


class Fault(Enum):
    """Faults in the transfer of an answer."""

    NONE = auto()
    HALF = auto()
    """The connection closes in the middle of the body."""
    TRICKLE = auto()
    """Half the body, then a blank every 50 ms, for ever."""
    RESET = auto()
    """The connection is reset before anything is sent."""
    RESET_HALF = auto()
    """The connection is reset in the middle of the body."""
    STALL = auto()
    """Nothing is sent until the client hangs up."""
    HELD = auto()
    """Nothing is sent until the server's `released` is set, and then all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer; ``{authorization}`` in the body becomes what the request's header said.

    Bytes that are no UTF-8 stand in the body as ``surrogateescape`` has them.
    """

    status: int = 200
    body: str
    headers: Mapping[str, str] = field(default_factory=lambda: dict(_JSON))
    fault: Fault = Fault.NONE


def completion(choices: Sequence[object], usage: Mapping[str, object]) -> str:
    """Write the body of a chat completion."""
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "loopback",
            "choices": choices,
            "usage": usage,
        }
    )


def chat(
    text: str | None,
    *,
    finish: str = "stop",
    message: Mapping[str, object] | None = None,
    logprobs: Mapping[str, object] | None = None,
    usage: Mapping[str, object] | None = None,
) -> Answer:
    """Answer `text`, with whatever else `message` adds to or replaces in the message."""
    message_sent = {"role": "assistant", "content": text, **(message or {})}
    choice = {"index": 0, "message": message_sent, "finish_reason": finish, "logprobs": logprobs}
    spent = usage or {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Answer(body=completion([choice], spent))


def completion_with(**parts: object) -> Answer:
    """Answer a completion of which `parts`, by name, are replaced or added."""
    return Answer(body=json.dumps({**json.loads(chat("fine").body), **parts}))


def failure(status: int, message: str = "no", *, retry_after: str | None = None) -> Answer:
    """Fail as an OpenAI-compatible server does, with `status`."""
    headers = _JSON if retry_after is None else {**_JSON, "Retry-After": retry_after}
    error = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return Answer(status=status, body=json.dumps(error), headers=headers)


ECHO_KEY = failure(401, "Incorrect API key provided: {authorization}")
EMPTY_CHOICES = Answer(body=completion([], {"prompt_tokens": 7, "total_tokens": 7}))
HALF_BODY = Answer(body=chat("Half a loaf").body, fault=Fault.HALF)
HELD = Answer(body=chat("No Error\n\nOverall score: Good").body, fault=Fault.HELD)
HTML = Answer(body="<html><h1>Welcome</h1></html>", headers={"Content-Type": "text/html"})
NO_MESSAGE = Answer(body=completion([{"index": 0, "finish_reason": "stop"}], {}))
RESET = Answer(body="", fault=Fault.RESET)
RESET_HALF = Answer(body=chat("Half a loaf").body, fault=Fault.RESET_HALF)
STALL = Answer(body="", fault=Fault.STALL)
TRICKLE = Answer(body=chat("Wait for it").body, fault=Fault.TRICKLE)
