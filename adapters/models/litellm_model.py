"""Any model that LiteLLM can name, as a `ChatModel`. Needs asyncio.

One call is one request: retries, limits of time and of concurrency are the gateway's.
"""

import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import openai

from spanjury.adapters.models.batch_files import BatchAccess
from spanjury.adapters.models.litellm_backend import Backend, find_backend
from spanjury.adapters.models.litellm_library import Exchange, client_connections, guarded, litellm
from spanjury.adapters.models.model_errors import (
    error_by_status,
    names_policy,
    refused_form,
    retry_after,
    short_line,
)
from spanjury.adapters.models.openai_reply import read_reply
from spanjury.adapters.models.openai_request import chat_fields, unforced
from spanjury.adapters.models.server_address import PLACEHOLDER_KEY, missing_key
from spanjury.adapters.models.server_tokens import ask_server
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Form,
    Message,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    PermanentModelError,
    Reply,
    TemplateTokens,
    TokenPrice,
    UnusableModelError,
    signature,
)

_OF_ONE_MODEL = frozenset({"mistral"})
BATCHING = frozenset({"openai", "azure", "hosted_vllm", "litellm_proxy", *_OF_ONE_MODEL})
"""Providers whose batches LiteLLM sends in OpenAI's form, and those of them for one model each."""
_WITH_ADDRESS = frozenset({"openai"})
_NOWHERE = "http://localhost/v1"
# LiteLLM gives a key that is not there the status of a server that broke, and Gemini gives a
# wrong one the status of a bad request.
_NO_KEY = re.compile(
    r"missing credentials|missing [\w ]*api.?key|api_key client option|_api_key is not set"
    r"|api_key_invalid|api key not valid",
    re.IGNORECASE,
)


@asynccontextmanager
async def open_litellm(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Open the model that LiteLLM calls `name`; a plugin of the group ``spanjury.models``.

    Raises `ConfigError` if LiteLLM knows no provider for the name, or the event loop is not
    asyncio's.

    Examples
    --------
    ::

        async with open_litellm("ollama/qwen3:8b", options=ModelOptions()) as model:
            reply = await model.complete(request)
    """
    backend = find_backend(name, base_url=options.base_url)
    async with client_connections():
        # Without the address: a model is the same wherever it is served, and a run may be
        # resumed when its server has moved.
        yield LiteLLMModel(
            backend=backend,
            timeout=options.timeout,
            signature=signature(backend.name),
        )


_SHORTEST = 4096  # characters of about 1,024 tokens: nothing shorter is kept
_MOST_SOURCES = 1000


class MarkedSources:
    """The sources of a model's latest requests, marked so that Anthropic and Bedrock cache them.

    Other servers cache the beginnings of prompts by themselves. Here writing to the cache costs a
    quarter of the price more, and reading from it a tenth. So a source is marked from the second
    request about it on, and a source with a single request costs what it always did.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[int, None] = OrderedDict()

    def mark(self, written: list[dict[str, Any]], messages: Sequence[Message]) -> None:
        """Mark the sources in `messages`, as `written` for the server, that were there before."""
        for fields, message in zip(written, messages, strict=False):
            text = fields["content"]
            source, rest = text[: message.shared], text[message.shared :]
            if len(source) >= _SHORTEST and rest and self._is_known(source):
                fields["content"] = [
                    {"type": "text", "text": source, "cache_control": {"type": "ephemeral"}},
                    {"type": "text", "text": rest},
                ]

    def _is_known(self, source: str) -> bool:
        key = hash(source)
        is_known = key in self._seen
        self._seen[key] = None
        self._seen.move_to_end(key)
        if len(self._seen) > _MOST_SOURCES:
            self._seen.popitem(last=False)
        return is_known


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteLLMModel:
    """A model behind LiteLLM, whose server may stay silent for `timeout` seconds.

    `signature` holds everything that can change a reply.
    """

    backend: Backend
    timeout: float
    signature: str
    _sources: MarkedSources = field(
        default_factory=MarkedSources, init=False, repr=False, compare=False
    )

    @property
    def price(self) -> TokenPrice | None:
        """The price of tokens in LiteLLM's list of models."""
        return self.backend.price

    @property
    def forms(self) -> frozenset[Form]:
        """The forms that can be asked for; the server tells whether it takes them."""
        return self.backend.forms

    async def template_tokens(self) -> TemplateTokens | None:
        """Return the special tokens of the model at an address that the user gave.

        None elsewhere. Raises `TransientModelError` as `ask_server` does.
        """
        backend = self.backend
        if backend.base_url is None:
            return None
        model = backend.name.partition("/")[2]
        return await ask_server(backend.base_url, model=model, key=backend.api_key or "")

    async def complete(self, request: ChatRequest) -> Reply:
        """Ask once.

        Raises `ModelError` as `error_by_status` sorts them; also if the backend cannot do what the
        request asks.
        """
        backend, request = self.backend, unforced(request)
        arguments = _arguments(request, backend=backend)
        if backend.base_url is None and (missing := missing_key(backend.provider)):
            raise UnusableModelError(f"{backend}: {missing}")
        exchange = Exchange(
            decoding=request.decoding, source=str(backend), key=backend.api_key or ""
        )
        try:
            with guarded(exchange):
                response = await self._asked(request, arguments)
            return _reply(response, request, source=str(backend))
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - LiteLLM lets through whatever went wrong
            # Not chained: the foreign message may hold a key, and a traceback prints it.
            failure = exchange.refusal or model_error(
                error, source=str(backend), key=backend.api_key or ""
            )
            raise refused_form(failure, request) from None

    @property
    def batch_access(self) -> BatchAccess | None:
        """The server of the model's batches; None if not in OpenAI's form."""
        backend = self.backend
        if backend.provider not in BATCHING:
            return None
        return BatchAccess(
            provider=backend.provider,
            source=str(backend),
            model=backend.name.partition("/")[2] if backend.provider in _OF_ONE_MODEL else "",
            base_url=backend.base_url,
            api_key=backend.api_key,
        )

    async def body(self, request: ChatRequest) -> bytes:
        """Return the JSON that `complete` sends; raise as it does if the backend cannot do so."""
        backend, request = self.backend, unforced(request)
        if backend.provider not in BATCHING:
            raise PermanentModelError(f"{backend}: {backend.provider} takes no files of requests")
        arguments = _arguments(request, backend=backend)
        exchange = Exchange(decoding=request.decoding, source=str(backend), is_unsent=True)
        try:
            with guarded(exchange):
                await self._asked(request, arguments, unsent=True)
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - LiteLLM makes some error of the unsent call
            if not exchange.body:
                raise model_error(error, source=str(backend)) from None
        return exchange.body

    async def _asked(
        self, request: ChatRequest, arguments: dict[str, Any], *, unsent: bool = False
    ) -> "litellm.ModelResponse":
        """Make LiteLLM's call; one that is not sent needs no address and no key."""
        backend = self.backend
        base_url, key = backend.base_url, backend.api_key
        if unsent:
            key = key or PLACEHOLDER_KEY
            base_url = base_url or (_NOWHERE if backend.provider not in _WITH_ADDRESS else None)
        if backend.keeps_marked:
            self._sources.mark(arguments["messages"], request.messages)
        return await litellm.acompletion(
            model=backend.name,
            base_url=base_url,
            api_key=key,
            timeout=self.timeout,
            num_retries=0,
            max_retries=0,
            caching=False,
            drop_params=True,
            **arguments,
        )


def _arguments(request: ChatRequest, *, backend: Backend) -> dict[str, Any]:
    """Return the arguments of ``litellm.acompletion`` that say what `request` says.

    Raises `PermanentModelError` if the backend cannot do what is asked: follow a schema or a
    grammar, continue from a prefix, call tools. Left out without a word is what changes no meaning,
    as a seed.
    """
    arguments = chat_fields(request)
    extra: dict[str, object] = {}
    if request.decoding.schema is not None:
        arguments |= backend.schema_fields(request.decoding.schema)
    if request.decoding.grammar:
        extra |= backend.grammar_fields(request.decoding.grammar)
    if (reasoning := request.decoding.reasoning) is not None:
        named, beside = backend.reasoning_fields(reasoning)
        arguments |= named
        extra |= beside
        if "thinking" in named:  # Anthropic takes no other temperature then
            arguments["temperature"] = 1.0
    extra |= backend.document_fields(request)
    if request.prefix:
        marks, fields = backend.prefix_fields()
        arguments["messages"][-1] |= marks
        extra |= fields
    if request.tools:
        if not backend.takes_tools:
            raise PermanentModelError(f"{backend}: {backend.provider} takes no tools")
        # Any tool at all makes LiteLLM import its proxy, whose packages are not installed.
        arguments["_skip_mcp_handler"] = True
    if extra:
        arguments["extra_body"] = extra
    return arguments


def _reply(response: litellm.ModelResponse, request: ChatRequest, *, source: str) -> Reply:
    """Read `response` as other servers' replies; raise `TransientModelError` without a choice."""
    body: dict[str, Any] = response.model_dump(warnings=False)
    for choice in body["choices"]:
        message = choice["message"]
        # LiteLLM puts away there what it has no field for.
        own = message.get("provider_specific_fields") or {}
        message.setdefault("refusal", own.get("refusal"))
    return read_reply(body, request, source=source)


def model_error(error: Exception, *, source: str, key: str = "") -> ModelError:
    """Translate an error, LiteLLM's, `openai`'s or any other, without `key` in its message.

    A key that is missing or wrong is an `UnusableModelError`; a time-out is a `ModelTimeoutError`;
    the rest is sorted by status as `error_by_status` does. LiteLLM gives a body that it cannot
    read the status that it came with.
    """
    status = _status(error)
    problem = str(error).partition("Traceback (most recent call last)")[0].strip()
    message = f"{source}: {short_line(problem or type(error).__name__, status=status, key=key)}"
    if _NO_KEY.search(problem):
        return UnusableModelError(message)
    wait = retry_after(_headers(error))
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return ModelTimeoutError(message, retry_after=wait)
    refused = isinstance(error, litellm.exceptions.ContentPolicyViolationError)
    return error_by_status(
        message, status=status, wait=wait, refused=refused or names_policy(str(error))
    )


def _status(error: Exception) -> int | None:
    """Return the status of the reply, or None where LiteLLM stumbled over something else."""
    status = getattr(error, "status_code", None)
    # A server's error code takes the status's place, and may be a word.
    return status if isinstance(error, openai.APIError) and isinstance(status, int) else None


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the reply's headers; LiteLLM's own errors carry them apart from the response."""
    response = getattr(error, "response", None)
    return getattr(error, "litellm_response_headers", None) or getattr(response, "headers", {})
