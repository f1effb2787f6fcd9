"""A model in this process: a folder that was trained, or any causal language model that is here.

``local/FOLDER``, ``local/embedded`` and ``local/HUB_ID`` name one. It runs in one thread, which
continues together what waits together.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import anyio
import anyio.to_thread
from transformers import PreTrainedModel

from spanjury.adapters.causal.attention import XFORMERS, best_attention
from spanjury.adapters.causal.base import is_out_of_memory
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.causal.low_rank import load_model
from spanjury.adapters.causal.writing import Prompt, Token, Written, score, write
from spanjury.adapters.models.local_worker import Batching, Worker
from spanjury.adapters.models.model_errors import TOO_LONG
from spanjury.adapters.torch_models import find_device
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Finish,
    ModelOptions,
    PermanentModelError,
    Reply,
    TemplateTokens,
    TokenLogprob,
    TokenPrice,
    Usage,
    signature,
)

_PREFIX = "local"
_DEFAULT_CONTEXT = 2048  # where the model does not know its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model, its tokenizer and what tells it from others."""

    identity: str
    chat: ChatTokens
    model: PreTrainedModel

    @property
    def context(self) -> int:
        """Tokens of prompt and reply together, at most."""
        return getattr(self.model.config, "max_position_embeddings", None) or _DEFAULT_CONTEXT

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a reply: the tokenizer's, and what the model names besides."""
        end = getattr(self.model.generation_config, "eos_token_id", None)
        named = end if isinstance(end, list) else [end]
        return frozenset({self.chat.end, *(token for token in named if isinstance(token, int))})


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A `ChatModel` over a model of transformers; opened by `open_local`."""

    loaded: Loaded
    worker: Worker

    @property
    def price(self) -> TokenPrice:
        """Nothing: it runs here."""
        return TokenPrice(prompt=0.0, completion=0.0)

    @property
    def signature(self) -> str:
        """The weights, and what else decides what they say."""
        attends = getattr(self.loaded.model.config, "_attn_implementation", "")
        return signature(
            _PREFIX,
            weights=self.loaded.identity,
            device=self.loaded.model.device.type,
            torch=version("torch"),
            transformers=version("transformers"),
            **({XFORMERS: version(XFORMERS)} if attends == XFORMERS else {}),
        )

    async def template_tokens(self) -> TemplateTokens:
        """Return the special tokens of the tokenizer in the model's folder."""
        return TemplateTokens(tokens=self.loaded.chat.special, source="the model's tokenizer")

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; one that is forced, with the log-probability of each token.

        Raises `PermanentModelError` if tools, a schema or a grammar are asked for, the conversation
        is none that the chat template takes or is as long as the context, or memory does not hold
        it.
        """
        if request.forced:
            return await self._scored(request)
        prompt = self._prompt(request)
        written = await self.worker.ask(prompt)
        return self._reply(written, prompt=prompt)

    async def _scored(self, request: ChatRequest) -> Reply:
        """Return the forced reply; what holds a part of a character is one with its first."""
        ids = self._ids(request)
        try:
            forced, pieces = self.loaded.chat.pieces(request.forced)
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
        )

    def _ids(self, request: ChatRequest) -> list[int]:
        """Return the tokens of the prompt."""
        chat = self.loaded.chat
        if request.tools or request.form != "text":
            raise PermanentModelError("a local model takes neither tools nor a schema or grammar")
        if any(message.tool_calls or message.role == "tool" for message in request.messages):
            raise PermanentModelError("a local model reads no calls of tools")
        if any(message.role == "document" for message in request.messages):
            raise PermanentModelError("a local model reads no documents beside messages")
        try:
            return chat.prompt(request.messages, prefix=request.prefix)
        except ConfigError as error:
            raise PermanentModelError(str(error)) from error

    def _room(self, taken: int) -> int:
        """Return how many tokens fit behind those that are taken, 1 or more."""
        room = self.loaded.context - taken
        if room < 1:
            raise PermanentModelError(
                f"the prompt has {taken} tokens, and the model takes {self.loaded.context}"
                f" with the reply ({TOO_LONG})"
            )
        return room

    def _reply(self, written: Written, *, prompt: Prompt) -> Reply:
        chat = self.loaded.chat
        return Reply(
            text=chat.text(written.ids),
            finish=Finish.STOP if written.ended else Finish.LENGTH,
            usage=Usage(
                calls=1, prompt=len(prompt.ids), completion=len(written.ids) + written.ended
            ),
            logprobs=tuple(
                _logprob(chat, token, scored)
                for token, scored in zip(written.ids, written.tokens, strict=bool(written.tokens))
            ),
        )


@asynccontextmanager
async def open_local(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Load a model; a plugin of the group ``spanjury.models``.

    It runs on a GPU if there is one.

    Raises `ConfigError` if a base URL is given, or there is no such model, or it cannot converse.
    """
    if options.base_url is not None:
        raise ConfigError(f"{name!r} runs in this process and takes no base URL")
    folder = name.partition("/")[2]
    if not folder:
        raise ConfigError(f"name what is to be loaded: {_PREFIX}/FOLDER")
    loaded = await anyio.to_thread.run_sync(_load, folder)
    worker = Worker(write=partial(_write, loaded), batching=Batching())
    try:
        yield LocalModel(loaded=loaded, worker=worker)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(worker.close)


def _load(name: str) -> Loaded:
    device = find_device("auto")
    base, model = load_model(name, device=device, attention=best_attention(device))
    chat = ChatTokens(base.tokenizer(), name=name)
    return Loaded(identity=base.identity, chat=chat, model=model)


def _write(
    loaded: Loaded, prompts: Sequence[Prompt], dropped: Callable[[int], bool]
) -> list[Written]:
    """Continue prompts; those that do not fit into memory together, in halves."""
    try:
        if prompts[0].forced:  # the worker puts no others beside them
            return [score(loaded.model, prompt) for prompt in prompts]
        return write(
            loaded.model, prompts, ends=loaded.ends, padding=loaded.chat.padding, dropped=dropped
        )
    except Exception as error:  # it runs code that is not ours, and a caller waits for an answer
        if not is_out_of_memory(error):
            raise PermanentModelError(f"the local model failed: {error!r}") from error
        if len(prompts) == 1:
            raise PermanentModelError(
                f"memory does not hold a prompt of {len(prompts[0].ids)} tokens"
            ) from error
    half = len(prompts) // 2
    first = _write(loaded, prompts[:half], dropped)
    return first + _write(loaded, prompts[half:], lambda row: dropped(row + half))


def _logprob(chat: ChatTokens, token: int, scored: Token) -> TokenLogprob:
    top: dict[str, float] = {}
    for rival, logprob in scored.rivals:  # the likeliest of those that are written alike
        top.setdefault(chat.text([rival]), logprob)
    return TokenLogprob(token=chat.text([token]), logprob=scored.logprob, top=top)
