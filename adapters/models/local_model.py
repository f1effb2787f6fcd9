"""A model in this process: a trained folder, or any causal language model on this machine.

It is named ``local/FOLDER``, ``local/embedded`` or ``local/HUB_ID``. It runs in one thread, which
continues waiting prompts in batches. If vLLM loads the weights (`vllm_model`), the same thread
passes the batches to it.
"""

import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version

import anyio
import anyio.to_thread
from anyio import from_thread
from anyio.lowlevel import EventLoopToken, current_token
from transformers import PreTrainedModel

from spanjury.adapters.causal.attention import XFORMERS, best_attention
from spanjury.adapters.causal.base import context_of, is_out_of_memory
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.causal.low_rank import load_model
from spanjury.adapters.causal.writing import Prompt, Token, Written, score, write
from spanjury.adapters.models.model_errors import TOO_LONG
from spanjury.adapters.models.openai_reply import thought_and_text
from spanjury.adapters.torch_models import find_device
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Finish,
    Form,
    ModelError,
    ModelOptions,
    PermanentModelError,
    Reply,
    TemplateTokens,
    TokenLogprob,
    TokenPrice,
    Usage,
    signature,
)

_JOIN_LIMIT = 30.0  # seconds for a running batch to notice that it was dropped


@dataclass(slots=True, kw_only=True, eq=False)
class _Ticket:
    """A prompt whose caller is waiting."""

    prompt: Prompt
    loop: EventLoopToken
    done: anyio.Event
    dropped: bool = False
    outcome: Written | ModelError | None = None

    def settle(self, outcome: Written | ModelError) -> None:
        """Deliver the outcome; the caller's event loop may have ended."""
        self.outcome = outcome
        with suppress(RuntimeError, anyio.RunFinishedError):
            from_thread.run_sync(self.done.set, token=self.loop)


@dataclass(slots=True, kw_only=True, eq=False)
class Worker:
    """A thread that continues prompts until it is closed.

    `write` gets the prompts, and a function that tells by index whether a prompt was dropped. It
    raises a `ModelError` that concerns all prompts, or returns one in place of a prompt's result.

    A batch has at most `rows` prompts, and at most `tokens` tokens after padding to the longest
    prompt plus reply. None means no limit, for an engine that does not pad; then prompts of any
    length may be mixed. The first prompt waits `linger` seconds for others.
    """

    write: Callable[[Sequence[Prompt], Callable[[int], bool]], Sequence[Written | ModelError]]
    rows: int = 32
    tokens: int | None = 1 << 16
    linger: float = 0.01
    _waiting: deque[_Ticket] = field(default_factory=deque)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closed: bool = False
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._work, name="local-model", daemon=True)
        self._thread.start()

    async def ask(self, prompt: Prompt) -> Written:
        """Return the continuation of a prompt; may be cancelled at any time.

        Raises `ModelError` as `write` does.
        """
        ticket = _Ticket(prompt=prompt, loop=current_token(), done=anyio.Event())
        with self._changed:
            if self._closed:
                raise _closed_error()
            self._waiting.append(ticket)
            self._changed.notify()
        try:
            await ticket.done.wait()
        finally:
            ticket.dropped = True
        assert ticket.outcome is not None
        if isinstance(ticket.outcome, ModelError):
            raise ticket.outcome
        return ticket.outcome

    def close(self) -> None:
        """Stop the thread, and block until it has ended; remaining callers get an error."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join(_JOIN_LIMIT)

    def _work(self) -> None:
        while batch := self._next_batch():
            outcomes = self._written(batch)
            for ticket, outcome in zip(batch, outcomes, strict=True):
                ticket.settle(outcome)
        for ticket in self._waiting:
            ticket.settle(_closed_error())

    def _next_batch(self) -> list[_Ticket]:
        """Wait for prompts; return the first and those to batch with it, or none once closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._closed and len(self._waiting) < self.rows:
                    self._changed.wait_for(self._is_full, timeout=self.linger)
                if self._closed:
                    return []
                kept = [ticket for ticket in self._waiting if not ticket.dropped]
                self._waiting = deque(kept)
                if kept:
                    return self._taken()

    def _is_full(self) -> bool:
        return self._closed or len(self._waiting) >= self.rows

    def _taken(self) -> list[_Ticket]:
        """Dequeue the first prompt and those that may be batched with it."""
        rows, tokens = self.rows, self.tokens
        if tokens is None:
            return [self._waiting.popleft() for _ in range(min(rows, len(self._waiting)))]
        bucket = _bucket(self._waiting[0].prompt)
        batch: list[_Ticket] = []
        widest = 0
        for ticket in list(self._waiting):
            wide = max(widest, len(ticket.prompt.ids) + ticket.prompt.most)
            fits = not batch or wide * (len(batch) + 1) <= tokens
            if _bucket(ticket.prompt) == bucket and len(batch) < rows and fits:
                batch.append(ticket)
                widest = wide
                self._waiting.remove(ticket)
        return batch

    def _written(self, batch: Sequence[_Ticket]) -> Sequence[Written | ModelError]:
        """Continue a batch; an error becomes the outcome of every prompt."""
        try:
            written = self.write(
                [ticket.prompt for ticket in batch], lambda row: batch[row].dropped or self._closed
            )
        except ModelError as error:
            return [error] * len(batch)
        # A batch that was running when the model was closed may be cut off anywhere.
        return [_closed_error()] * len(batch) if self._closed else written


def _bucket(prompt: Prompt) -> tuple[bool, int]:
    """Return a key that is equal for prompts that may be batched: forced or not, and by length.

    Prompts with the same key differ in length by less than a factor of two.
    """
    return bool(prompt.forced), len(prompt.ids).bit_length()


def _closed_error() -> ModelError:
    return PermanentModelError("the local model has been closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A `ChatModel` over weights in this process, with which its worker generates.

    `chat` is the tokenizer, and `context` the maximum number of tokens of prompt and reply
    together. `forms` are those to which replies can be constrained, besides plain text.
    `signature` has the weights, and everything else that can change a reply.
    """

    chat: ChatTokens
    context: int
    forms: frozenset[Form] = frozenset()
    signature: str
    worker: Worker

    @property
    def price(self) -> TokenPrice:
        """Zero, since it runs locally."""
        return TokenPrice(prompt=0.0, completion=0.0)

    async def template_tokens(self) -> TemplateTokens:
        """Return the special tokens of the tokenizer in the model's folder."""
        return TemplateTokens(tokens=self.chat.special, source="the model's tokenizer")

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; for a forced reply, the log-probability of each token.

        Raises `PermanentModelError` if the request has tools or a form that the weights do not
        support, if the chat template refuses the conversation, if the prompt fills the context, or
        if memory is too small for it.
        """
        if request.forced:
            return await self._scored(request)
        prompt = self._prompt(request)
        written = await self.worker.ask(prompt)
        return self._reply(written, prompt=prompt)

    async def _scored(self, request: ChatRequest) -> Reply:
        """Score the forced reply; tokens of one character are merged, summing log-probabilities."""
        ids = self._ids(request)
        try:
            forced, pieces = self.chat.pieces(request.forced)
        except ConfigError as error:
            raise PermanentModelError(str(error)) from error
        self._room(len(ids) + len(forced) - 1)
        written = await self.worker.ask(Prompt(ids=ids, most=len(forced), forced=forced))
        tokens: list[TokenLogprob] = []
        for piece, scored in zip(pieces, written.tokens, strict=True):
            first = tokens.pop() if tokens and not piece else None
            logprob = scored.logprob + (first.logprob if first else 0.0)
            tokens.append(TokenLogprob(token=first.token if first else piece, logprob=logprob))
        usage = Usage(calls=1, prompt=len(ids) + len(forced))
        return Reply(text=request.forced, usage=usage, logprobs=tuple(tokens))

    def _prompt(self, request: ChatRequest) -> Prompt:
        decoding, ids = request.decoding, self._ids(request)
        return Prompt(
            ids=ids,
            most=min(decoding.max_tokens, self._room(len(ids))),
            temperature=decoding.temperature,
            seed=decoding.seed,
            rivals=decoding.logprobs,
            schema=decoding.schema.text if decoding.schema else "",
            grammar=decoding.grammar,
        )

    def _ids(self, request: ChatRequest) -> list[int]:
        """Return the tokens of the prompt."""
        if request.tools:
            raise PermanentModelError("a local model takes no tools")
        if request.form != "text" and request.form not in self.forms:
            raise PermanentModelError("this local model takes no schema or grammar")
        if any(message.tool_calls or message.role == "tool" for message in request.messages):
            raise PermanentModelError("a local model reads no calls of tools")
        if any(message.role == "document" for message in request.messages):
            raise PermanentModelError("a local model reads messages only, no documents")
        try:
            return self.chat.prompt(
                request.messages, prefix=request.prefix, reasoning=request.decoding.reasoning
            )
        except ConfigError as error:
            raise PermanentModelError(str(error)) from error

    def _room(self, taken: int) -> int:
        """Return the number of tokens left of the context, 1 or more; raise if there are none."""
        room = self.context - taken
        if room < 1:
            raise PermanentModelError(
                f"the prompt has {taken} tokens, and the model takes {self.context}"
                f" with the reply ({TOO_LONG})"
            )
        return room

    def _reply(self, written: Written, *, prompt: Prompt) -> Reply:
        reasoning, text = thought_and_text(self.chat.text(written.ids))
        return Reply(
            text=text,
            reasoning=reasoning,
            finish=Finish.STOP if written.ended else Finish.LENGTH,
            usage=Usage(
                calls=1, prompt=len(prompt.ids), completion=len(written.ids) + written.ended
            ),
            logprobs=tuple(
                _logprob(self.chat, token, scored)
                for token, scored in zip(written.ids, written.tokens, strict=bool(written.tokens))
            ),
        )


@asynccontextmanager
async def open_local(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Load a model; a plugin of the group ``spanjury.models``.

    It runs on a GPU if there is one.

    Raises `ConfigError` if a base URL is given, or there is no such model, or it has no chat
    template or no end token.
    """
    chat, model, named = await anyio.to_thread.run_sync(_load, folder_of(name, options=options))
    write = partial(_write, model=model, chat=chat)
    async with working(Worker(write=write)) as worker:
        yield LocalModel(chat=chat, context=context_of(model), signature=named, worker=worker)


def folder_of(name: str, *, options: ModelOptions) -> str:
    """Return the folder or the model id in `name`.

    Raises `ConfigError` if it has none, or a base URL is given.
    """
    prefix, _, folder = name.partition("/")
    if options.base_url is not None:
        raise ConfigError(f"{name!r} runs in this process and takes no base URL")
    if not folder:
        raise ConfigError(f"name the folder of the model: {prefix}/FOLDER")
    return folder


@asynccontextmanager
async def working(worker: Worker) -> AsyncIterator[Worker]:
    """Close the worker at the end of the context, also after an error."""
    try:
        yield worker
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(worker.close)


def _load(name: str) -> tuple[ChatTokens, PreTrainedModel, str]:
    """Return the tokenizer, the model and its signature."""
    device = find_device("auto")
    attention = best_attention(device)
    base, model = load_model(name, device=device, attention=attention)
    named = signature(
        "local",
        weights=base.identity,
        device=device.type,
        torch=version("torch"),
        transformers=version("transformers"),
        **({XFORMERS: version(XFORMERS)} if attention == XFORMERS else {}),
    )
    return ChatTokens(base.tokenizer(), name=name), model, named


def _write(
    prompts: Sequence[Prompt],
    dropped: Callable[[int], bool],
    *,
    model: PreTrainedModel,
    chat: ChatTokens,
) -> list[Written]:
    """Continue prompts; if they do not fit into memory together, continue each half by itself."""
    try:
        if prompts[0].forced:  # forced prompts are batched only with each other
            return [score(model, prompt) for prompt in prompts]
        ends = _ends(model, chat)
        return write(model, prompts, ends=ends, padding=chat.padding, dropped=dropped)
    except Exception as error:  # foreign code may raise anything, and callers wait for an outcome
        if not is_out_of_memory(error):
            raise PermanentModelError(f"the local model failed: {error!r}") from error
        if len(prompts) == 1:
            raise PermanentModelError(
                f"memory does not hold a prompt of {len(prompts[0].ids)} tokens"
            ) from error
    half = len(prompts) // 2
    first = _write(prompts[:half], dropped, model=model, chat=chat)
    rest = _write(prompts[half:], lambda row: dropped(row + half), model=model, chat=chat)
    return first + rest


def _ends(model: PreTrainedModel, chat: ChatTokens) -> frozenset[int]:
    """Return the tokens that end a reply: the tokenizer's, and any others that the model names."""
    end = getattr(model.generation_config, "eos_token_id", None)
    named = end if isinstance(end, list) else [end]
    return frozenset({chat.end, *(token for token in named if isinstance(token, int))})


def _logprob(chat: ChatTokens, token: int, scored: Token) -> TokenLogprob:
    top: dict[str, float] = {}
    for rival, logprob in scored.rivals:  # of tokens with the same text, keep the most likely
        top.setdefault(chat.text([rival]), logprob)
    return TokenLogprob(token=chat.text([token]), logprob=scored.logprob, top=top)
