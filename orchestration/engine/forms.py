"""A model that is asked in the best form that its server takes.

A judge that wants a reply of some form says so in `ChatRequest.variants`: held to a JSON schema, to
a grammar, and the request itself by words alone. No list says what a server takes, and LiteLLM's
denies it of vLLM, Ollama and llama.cpp. So the best form is tried, and the next one where the
server refuses the request. The form of the first reply is kept, in the memory where there is one:
a run that goes on sends the same requests. A server that refuses log-probabilities is asked without
them, and whether a model gives any is said once.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Literal, cast, get_args

from anyio import Lock, move_on_after

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    EventLog,
    Form,
    FormRefusedError,
    LogprobsRefusedError,
    Memory,
    Reply,
)
from spanjury.judges.core.keys import digest

log = EventLog()

Logprobs = Literal["given", "none", "refused"]
"""Answer of a server to a wish for log-probabilities: given, left out, or refused."""

_REFUSAL_SECONDS = 1.0
"""A server that refuses a form says so at once; one that takes it may write for long."""


class FormingModel:
    """A model that finds out which form its server takes, for each kind of reply.

    Parameters
    ----------
    takes
        The forms that its server may take besides words.
    memory
        Keeps what was found out; or None.
    recalls
        Says whether the reply to a request is remembered. A run that was begun without schemas goes
        on without them, and pays for nothing twice.
    note
        Is called with the form of each kind of reply, once it is known.
    note_logprobs
        Is called with what the server does with a wish for log-probabilities, once it had one.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        takes: frozenset[Form],
        memory: Memory | None,
        recalls: Callable[[ChatRequest], bool],
        note: Callable[[Mapping[str, Form]], None],
        note_logprobs: Callable[[Logprobs], None],
    ) -> None:
        self.model = model
        self._takes = takes
        self._memory = memory
        self._recalls = recalls
        self._note = note
        self._note_logprobs = note_logprobs
        self._logprobs: Logprobs | None = None
        self._is_otherwise_refused = False
        self._accepted: dict[str, Form] = {}
        self._fruitless: set[str] = set()
        self._finding: dict[str, Lock] = {}

    @property
    def signature(self) -> str:
        """The signature of the model; the form is part of what it is asked."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply to one variant of `request`, or to the request itself.

        Raise `ModelError` as the model raises it; what it says to the last form, if it refuses all.
        """
        if not request.decoding.logprobs:
            return await self._formed(request)
        if self._logprobs is None:
            self._recall_logprobs()
        if self._logprobs == "refused":
            return await self._formed(without_logprobs(request))
        try:
            reply = await self._formed(request)
        except LogprobsRefusedError as error:
            without = without_logprobs(request)
            if not error.names_them:
                if self._logprobs is not None or self._is_otherwise_refused:
                    raise
                self._is_otherwise_refused = True  # unless the plainest request of all is taken
                await self.model.complete(replace(without, variants=()))
                self._is_otherwise_refused = False
                self._fruitless.clear()  # the forms were not what was refused
            reply = await self._formed(without)
            await self._learn_logprobs("refused")
        else:
            await self._learn_logprobs("given" if reply.logprobs else "none")
        return reply

    def _recall_logprobs(self) -> None:
        """Take over what an earlier run learnt of this model."""
        kept = None if self._memory is None else self._memory.get(self._key("logprobs"))
        if kept is not None and (state := kept.decode()) in get_args(Logprobs):
            self._logprobs = cast("Logprobs", state)  # it is one of them
            self._note_logprobs(self._logprobs)

    async def _learn_logprobs(self, state: Logprobs) -> None:
        """Keep what the first reply shows; say so where there are none."""
        if self._logprobs is not None and state != "refused":
            return
        self._logprobs = state
        self._note_logprobs(state)
        if state != "given":
            log.warning("logprobs.absent", model=self.signature, refused=state == "refused")
        if self._memory is not None:
            await self._memory.put_soon(self._key("logprobs"), state.encode())

    async def _formed(self, request: ChatRequest) -> Reply:
        """Return the reply in the best form that the server takes."""
        if not request.variants:
            return await self.model.complete(request)
        variants = [variant for variant in request.variants if variant.form in self._takes]
        kind = _kind(request)
        if (form := self._accepted.get(kind)) is not None:
            chosen = next((variant for variant in variants if variant.form == form), request)
            return await self.model.complete(chosen)
        async with self._turn(kind):
            if kind not in self._accepted:
                return await self._first_accepted(kind, request, variants)
        return await self._formed(request)

    @asynccontextmanager
    async def _turn(self, kind: str) -> AsyncIterator[None]:
        """Let one call find the form; the others wait for it, for as long as a refusal takes."""
        lock = self._finding.setdefault(kind, Lock())
        has_turn = False
        with move_on_after(_REFUSAL_SECONDS):
            await lock.acquire()
            has_turn = True
        try:
            yield
        finally:
            if has_turn:
                lock.release()

    async def _first_accepted(
        self, kind: str, request: ChatRequest, variants: list[ChatRequest]
    ) -> Reply:
        """Return the reply in the first form that is not refused, and keep this form."""
        tried = _from(self._begin(kind, request), variants)
        if kind in self._fruitless:  # all were refused, so that the reason is another
            tried = tried[:1]
        for variant in tried:
            try:
                reply = await self.model.complete(variant)
            except FormRefusedError as error:
                log.info(
                    "form.refused", model=self.signature, form=variant.form, status=error.status
                )
            else:
                await self._learn(kind, variant.form)
                return reply
        self._fruitless.add(kind)
        reply = await self.model.complete(request)
        await self._learn(kind, request.form)
        return reply

    def _begin(self, kind: str, request: ChatRequest) -> Form | None:
        """Return the form that an earlier run came to; None where nothing is known of it."""
        if self._memory is None:
            return None
        kept = (self._memory.get(self._key("form", kind)) or b"").decode()
        if kept in get_args(Form):
            return cast("Form", kept)  # it is one of them
        return "text" if self._recalls(request) else None

    async def _learn(self, kind: str, form: Form) -> None:
        """Keep `form`, unless another task has learnt one meanwhile."""
        if kind in self._accepted:
            return
        self._accepted[kind] = form
        self._note(self._accepted)
        if self._memory is not None:
            await self._memory.put_soon(self._key("form", kind), form.encode())

    def _key(self, what: str, *more: str) -> str:
        return digest(what, self.signature, *more)


def without_logprobs(request: ChatRequest) -> ChatRequest:
    """Return `request` and its variants without the wish for log-probabilities."""
    return replace(
        request,
        decoding=replace(request.decoding, logprobs=0),
        variants=tuple(map(without_logprobs, request.variants)),
    )


def _kind(request: ChatRequest) -> str:
    """Return the name of the schema among the variants; empty where there is none."""
    schemas = (variant.decoding.schema for variant in request.variants)
    return next((schema.name for schema in schemas if schema is not None), "")


def _from(form: Form | None, variants: list[ChatRequest]) -> list[ChatRequest]:
    """Return `variants` from `form` on: all of them for None, none for a form that none has."""
    if form is None:
        return variants
    return variants[[*(variant.form for variant in variants), form].index(form) :]
