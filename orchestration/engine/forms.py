"""A model that receives requests in the best form that its server accepts.

A judge that wants a reply of some form says so in `ChatRequest.variants`: constrained by a JSON
schema or by a grammar, or requested in words alone. No list says which forms a server accepts, and
LiteLLM's list denies them to vLLM, Ollama and llama.cpp. So the best form is tried first, and the
next one if the server refuses the request. The form of the first reply is kept, in the memory if
there is one: a resumed run then sends the same requests. If a server refuses log-probabilities, the
requests are sent without them, and a warning says once if a model returns none.
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
"""A server's answer to a request for log-probabilities: returned, omitted, or refused."""

_REFUSAL_SECONDS = 1.0
"""A server that refuses a form answers at once; one that accepts it may write for long."""


class FormingModel:
    """A model that finds out which form its server accepts, for each kind of reply.

    Parameters
    ----------
    takes
        The forms besides words that its server may accept.
    memory
        Stores the findings; None to store nothing.
    recalls
        Returns whether the reply to a request is remembered. A run that began without schemas
        continues without them, and a reply given before the server refused log-probabilities is
        used, so that no reply is paid for twice.
    note
        Called with the form of each kind of reply, once it is known.
    note_logprobs
        Called with the server's answer to a request for log-probabilities, once it is known, and
        again if the server refuses them later.
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
        """The signature of the model; the form is part of the request."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply to one variant of `request`, or to the request itself.

        Raise the model's `ModelError`, or its last one if it refuses all forms.
        """
        if not request.decoding.logprobs:
            return await self._formed(request)
        if self._logprobs is None:
            self._recall_logprobs()
        asked_before = (request, *request.variants)
        if self._logprobs == "refused" and not any(map(self._recalls, asked_before)):
            return await self._formed(without_logprobs(request))
        try:
            reply = await self._formed(request)
        except LogprobsRefusedError as error:
            without = without_logprobs(request)
            if not error.names_them:
                if self._logprobs is not None or self._is_otherwise_refused:
                    raise
                self._is_otherwise_refused = True  # unless it accepts the plainest request
                await self.model.complete(replace(without, variants=()))
                self._is_otherwise_refused = False
                self._fruitless.clear()  # log-probabilities were refused, not the forms
            reply = await self._formed(without)
            await self._learn_logprobs("refused")
        else:
            await self._learn_logprobs("given" if reply.logprobs else "none")
        return reply

    def _recall_logprobs(self) -> None:
        """Restore what an earlier run learned about this model."""
        kept = None if self._memory is None else self._memory.get(self._key("logprobs"))
        if kept is not None and (state := kept.decode()) in get_args(Logprobs):
            self._logprobs = cast("Logprobs", state)  # it is one of them
            self._note_logprobs(self._logprobs)

    async def _learn_logprobs(self, state: Logprobs) -> None:
        """Store what the first reply shows; warn if there are no log-probabilities."""
        if self._logprobs is not None and state != "refused":
            return
        self._logprobs = state
        self._note_logprobs(state)
        if state != "given":
            log.warning("logprobs.absent", model=self.signature, refused=state == "refused")
        if self._memory is not None:
            await self._memory.put_soon(self._key("logprobs"), state.encode())

    async def _formed(self, request: ChatRequest) -> Reply:
        """Return the reply in the best form that the server accepts."""
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
        """Have one call find the form; the others wait, but no longer than a refusal takes."""
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
        """Return the reply in the first form that is not refused, and store this form."""
        tried = _from(self._begin(kind, request), variants)
        if kind in self._fruitless:  # all were refused, so the form is not the reason
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
        """Return the form that an earlier run found; None if it found none."""
        if self._memory is None:
            return None
        kept = (self._memory.get(self._key("form", kind)) or b"").decode()
        if kept in get_args(Form):
            return cast("Form", kept)  # it is one of them
        return "text" if self._recalls(request) else None

    async def _learn(self, kind: str, form: Form) -> None:
        """Store `form`, unless another task has learned one meanwhile."""
        if kind in self._accepted:
            return
        self._accepted[kind] = form
        self._note(self._accepted)
        if self._memory is not None:
            await self._memory.put_soon(self._key("form", kind), form.encode())

    def _key(self, what: str, *more: str) -> str:
        return digest(what, self.signature, *more)


def without_logprobs(request: ChatRequest) -> ChatRequest:
    """Return `request` and its variants without the request for log-probabilities."""
    return replace(
        request,
        decoding=replace(request.decoding, logprobs=0),
        variants=tuple(map(without_logprobs, request.variants)),
    )


def _kind(request: ChatRequest) -> str:
    """Return the name of the schema among the variants; empty if there is none."""
    schemas = (variant.decoding.schema for variant in request.variants)
    return next((schema.name for schema in schemas if schema is not None), "")


def _from(form: Form | None, variants: list[ChatRequest]) -> list[ChatRequest]:
    """Return `variants` from `form` on: all of them for None, none if no variant has the form."""
    if form is None:
        return variants
    return variants[[*(variant.form for variant in variants), form].index(form) :]
