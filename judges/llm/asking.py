"""Ask a model, and retry once if its reply cannot be used; common to the judges of this package.

After an unreadable reply, the second request says what was wrong with it. After a reply that broke
off, it allows twice the tokens, and tokens for reasoning if the model had reasoned. After an empty
reply, it repeats the first request, sampled at random. A refusal that the server reports is final.
If a judge needs several replies at once, the calls run concurrently.
"""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from anyio import Lock, create_task_group

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Decoding,
    DeferredError,
    Finish,
    Message,
    ModelError,
    Outcome,
    PermanentModelError,
    Reply,
    Report,
    UnusableModelError,
    Usage,
    first_error_alone,
)
from spanjury.judges.llm.lines import without_reasoning
from spanjury.judges.text import defused
from spanjury.judges.text.non_answers import REFUSAL, non_answer

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

THOUGHT = 8192
"""Reasoning tokens added for a model whose reply broke off while, or after, it was reasoning."""

_AGAIN = 0.7
"""Temperature of a second reply to the same request, which at 0 would equal the first."""


class AskedOnce(Generic[K, V]):
    """Values that are made once: concurrent and later callers of a key share the same value.

    The failure of a call is not stored: the next caller tries again.

    Parameters
    ----------
    most
        Maximum number of values held; the oldest is dropped first. None for no limit.
    """

    def __init__(self, *, most: int | None = None) -> None:
        self._most = most
        self._values: dict[K, V] = {}
        self._locks: dict[K, Lock] = {}

    async def value(self, key: K, make: Callable[[], Awaitable[V]]) -> tuple[V, bool]:
        """Return the value of `key`, and whether it was made just now."""
        lock = self._locks.setdefault(key, Lock())
        try:
            async with lock:
                if key in self._values:
                    return self._values[key], False
                value = self._values[key] = await make()
                if self._most is not None and len(self._values) > self._most:
                    del self._values[next(iter(self._values))]
                return value, True
        finally:
            if not lock.locked():  # drop the unused lock, which belongs to one event loop
                self._locks.pop(key, None)

    def forget(self, key: K) -> None:
        """Drop the value of `key`, so that the next caller makes it again."""
        self._values.pop(key, None)


class Reading(Protocol):
    """Content read from a reply."""

    @property
    def problem(self) -> str:
        """Reason why the reply cannot be used; empty if it can."""
        ...


R = TypeVar("R", bound=Reading)


async def asked_together(calls: Sequence[Callable[[], Awaitable[V]]]) -> list[V]:
    """Return the values of all calls, in order; the calls run concurrently.

    Raises the first `ModelError` or `DeferredError` once all calls have ended, because the others
    may already be paid for.
    """
    values: dict[int, V] = {}
    failures: list[ModelError | DeferredError] = []

    async def call(number: int) -> None:
        try:
            values[number] = await calls[number]()
        except (ModelError, DeferredError) as error:
            failures.append(error)

    with first_error_alone():
        async with create_task_group() as group:
            for number in range(len(calls)):
                group.start_soon(call, number)
    if failures:
        raise failures[0]
    return [values[number] for number in range(len(calls))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[R]):
    """The last reply of a model, and the content read from it."""

    reply: Reply
    reading: R
    usage: Usage

    @property
    def outcome(self) -> Outcome:
        """Outcome of the request; `Outcome.SCORED` if the reply can be used."""
        if self.reply.finish is Finish.REFUSAL:
            return Outcome.REFUSED
        if not self.reading.problem:
            return Outcome.SCORED
        if self.reply.finish is Finish.LENGTH:
            return Outcome.TRUNCATED
        declines = (answer := non_answer(self.reply.text, {})) and answer.category == REFUSAL
        return Outcome.REFUSED if declines else Outcome.UNPARSEABLE

    @property
    def reason(self) -> str:
        """Reason why the reply cannot be used; empty if it can."""
        match self.outcome:
            case Outcome.REFUSED:
                return "the model declined to answer"
            case Outcome.TRUNCATED if not self.reply.text.strip() and _has_thought(self.reply):
                return "the model used up its tokens on reasoning"
            case Outcome.TRUNCATED:
                return "the reply broke off before the score"
            case Outcome.UNPARSEABLE if not self.reply.text.strip():
                return _written_instead(self.reply)
            case _:
                return self.reading.problem

    @property
    def unscored(self) -> Report:
        """The report of a judge that got no usable reply; raises `ValueError` if there is one."""
        return Report(
            outcome=self.outcome, reason=self.reason, reply=self.reply.text, usage=self.usage
        )


async def ask(
    model: ChatModel,
    request: ChatRequest,
    *,
    read: Callable[[Reply], R],
    reask: Callable[[str], Message] | None,
    reask_in_json: Callable[[str], Message] | None = None,
) -> Answer[R]:
    """Ask `model` until its reply can be read, at most twice.

    Raises `ModelError` if the model gives no reply. A reply that broke off stands if the server
    refuses the request for more room.

    Parameters
    ----------
    read
        Reads a reply; raises nothing.
    reask
        Writes the message of the second request, from the problem of the first reply. None repeats
        the first request, for models that know only one form of request.
    reask_in_json
        Writes it for a variant that asks for a JSON object.
    """
    model = defused(model)
    reply = await model.complete(request)
    reading, usage = read(reply), reply.usage
    again = _second_request(
        request, reply, problem=reading.problem, reask=reask, in_json=reask_in_json or reask
    )
    if again is not None:
        try:
            reply = await model.complete(again)
        except PermanentModelError as error:
            # A server that reads no more tokens refuses twice the room.
            if reply.finish is not Finish.LENGTH or isinstance(error, UnusableModelError):
                raise
        else:
            reading, usage = read(reply), usage + reply.usage
    return Answer(reply=reply, reading=reading, usage=usage)


def _second_request(
    request: ChatRequest,
    reply: Reply,
    *,
    problem: str,
    reask: Callable[[str], Message] | None,
    in_json: Callable[[str], Message] | None,
) -> ChatRequest | None:
    """Return the request after a reply with a `problem`, or None if the reply is final."""
    if not problem or reply.finish is Finish.REFUSAL:
        return None
    if reply.finish is Finish.LENGTH:
        thought = THOUGHT if _has_thought(reply) else 0
        return redrawn(
            request, lambda drawn: replace(drawn, max_tokens=2 * drawn.max_tokens + thought)
        )
    if reask is None or in_json is None or not reply.text.strip():  # servers refuse an empty turn
        return redrawn(
            request, lambda drawn: replace(drawn, temperature=max(_AGAIN, drawn.temperature))
        )
    message = Message(role="assistant", content=reply.text)

    def asked_again(variant: ChatRequest) -> ChatRequest:
        words = in_json(problem) if variant.decoding.schema else reask(problem)
        return replace(variant, messages=(*variant.messages, message, words))

    variants = tuple(map(asked_again, request.variants))
    return replace(asked_again(request), variants=variants)


def _written_instead(reply: Reply) -> str:
    """Say what an empty reply holds in place of an answer."""
    if reply.tool_calls:
        return f"the reply calls a tool, {', '.join(repr(call.name) for call in reply.tool_calls)}"
    if reply.reasoning:
        return "the reply is empty: the server hands over all of its text as reasoning"
    return "the reply is empty"


def _has_thought(reply: Reply) -> bool:
    """Return whether the model reasoned, in a separate field or before its reply."""
    return bool(
        reply.reasoning or reply.usage.reasoning or without_reasoning(reply.text) != reply.text
    )


def redrawn(request: ChatRequest, change: Callable[[Decoding], Decoding]) -> ChatRequest:
    """Return `request` and its variants with another decoding."""
    variants = tuple(redrawn(variant, change) for variant in request.variants)
    return replace(request, decoding=change(request.decoding), variants=variants)
