"""Any model that LiteLLM can name, as a `ChatModel`. Needs asyncio.

One call is one request: the gateway does retries, and limits time and concurrency.
"""

import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import openai

from spanjury.adapters.models.batch_files import BatchAccess
from spanjury.adapters.models.connection_errors import (
    connection_problem,
    connection_problem_in_log,
)
from spanjury.adapters.models.litellm_backend import Backend, find_backend
from spanjury.adapters.models.litellm_library import Exchange, client_connections, guarded, litellm
from spanjury.adapters.models.model_errors import (
    error_by_status,
    names_policy,
    refused_form,
    retry_after,
    short_line,
)
from spanjury.adapters.models.openai_reply import GAVE_UP, read_reply
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
"""Providers whose batches LiteLLM sends in OpenAI's format; `_OF_ONE_MODEL` take one model each."""
_WITH_ADDRESS = frozenset({"openai"})
_NOWHERE = "http://localhost/v1"
# For a missing key LiteLLM reports the status of a server error, and for a wrong one Gemini
# reports that of a bad request, so these are recognised by their messages.
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
        # Without the address: a model is the same at any server, and a run may be resumed after its
        # server has moved.
        yield LiteLLMModel(
            backend=backend, timeout=options.timeout, signature=signature(backend.name)
        )


_SHORTEST = 4096  # characters, about 1,024 tokens: shorter prefixes are not cached
_MOST_SOURCES = 1000


class MarkedSources:
    """Marks recent sources in a model's prompts so that Anthropic and Bedrock cache them.

    Other servers cache prefixes of prompts by themselves. With these two, writing to the cache
    costs a quarter more than the plain price, and reading from it a tenth of that price. So a
    source is marked from its second request on, and a source with a single request costs no more.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[int, None] = OrderedDict()

    def mark(self, written: list[dict[str, Any]], messages: Sequence[Message]) -> None:
        """Mark those sources in `messages`, `written` for the server, that occurred before."""
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
    """A model behind LiteLLM, whose server may be silent for at most `timeout` seconds.

    `signature` includes everything that can change a reply.
    """

    backend: Backend
    timeout: float
    signature: str
    _sources: MarkedSources = field(
        default_factory=MarkedSources, init=False, repr=False, compare=False
    )

    @property
    def price(self) -> TokenPrice | None:
        """The price of tokens in LiteLLM's model list."""
        return self.backend.price

    @property
    def forms(self) -> frozenset[Form]:
        """The forms of constrained replies; the server may still refuse them."""
        return self.backend.forms

    async def template_tokens(self) -> TemplateTokens | None:
        """Return the special tokens of the model at a user's address.

        Returns None for a provider's own address. Raises `TransientModelError` as `ask_server`
        does.
        """
        backend = self.backend
        if backend.base_url is None:
            return None
        model = backend.name.partition("/")[2]
        return await ask_server(
            backend.base_url, model=model, key=backend.api_key or "", seconds=self.timeout
        )

    async def complete(self, request: ChatRequest) -> Reply:
        """Make one request.

        Raises `ModelError`, classified as by `error_by_status`, also if the backend does not
        support what the request needs.
        """
        backend, request = self.backend, unforced(request)
        arguments = _arguments(request, backend=backend)
        if backend.base_url is None and (missing := missing_key(backend.provider)):
            raise UnusableModelError(f"{backend}: {missing}")
        exchange = Exchange(
            decoding=request.decoding, source=str(backend), key=backend.api_key or ""
        )
        try:
            with translated(exchange):
                response = await self._asked(request, arguments)
                return _reply(response, request, source=str(backend))
        except ModelError as error:
            raise refused_form(error, request) from None

    @property
    def batch_access(self) -> BatchAccess | None:
        """The server of the model's batches; None if they are not in OpenAI's format."""
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
        """Return the JSON that `complete` would send; raise as it does if that is unsupported."""
        backend, request = self.backend, unforced(request)
        if backend.provider not in BATCHING:
            raise PermanentModelError(f"{backend}: {backend.provider} takes no files of requests")
        arguments = _arguments(request, backend=backend)
        exchange = Exchange(decoding=request.decoding, source=str(backend), is_unsent=True)
        try:
            with translated(exchange):
                await self._asked(request, arguments, unsent=True)
        except ModelError:  # also made of `UnsentError`
            if not exchange.body:
                raise
        return exchange.body

    async def _asked(
        self, request: ChatRequest, arguments: dict[str, Any], *, unsent: bool = False
    ) -> "litellm.ModelResponse":
        """Call LiteLLM; an unsent call needs neither address nor key."""
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
    """Return the arguments of ``litellm.acompletion`` for `request`.

    Raises `PermanentModelError` if the backend does not support a requested feature: a schema, a
    grammar, a prefix, or tools. Settings that do not change the meaning, such as a seed, are left
    out silently if they are unsupported.
    """
    arguments = chat_fields(request)
    extra: dict[str, object] = {}
    if request.decoding.schema is not None:
        arguments |= backend.schema_fields(request.decoding.schema)
    if request.decoding.grammar:
        extra |= backend.grammar_fields(request.decoding.grammar)
    if (reasoning := request.decoding.reasoning) is not None:
        named, further = backend.reasoning_fields(reasoning)
        arguments |= named
        extra |= further
        if "thinking" in named:  # Anthropic requires this temperature while thinking
            arguments["temperature"] = 1.0
    extra |= backend.document_fields(request)
    if request.prefix:
        marks, fields = backend.prefix_fields()
        arguments["messages"][-1] |= marks
        extra |= fields
    if request.tools:
        if not backend.takes_tools:
            raise PermanentModelError(f"{backend}: {backend.provider} takes no tools")
        # With any tools, LiteLLM imports its proxy, whose packages are not installed.
        arguments["_skip_mcp_handler"] = True
    if extra:
        arguments["extra_body"] = extra
    return arguments


def _reply(response: litellm.ModelResponse, request: ChatRequest, *, source: str) -> Reply:
    """Parse `response` as any server's reply; raise `TransientModelError` if it has no choice."""
    body: dict[str, Any] = response.model_dump(warnings=False)
    for choice in body["choices"]:
        message = choice["message"]
        # LiteLLM stores fields there that its own classes lack.
        own = message.get("provider_specific_fields") or {}
        message.setdefault("refusal", own.get("refusal"))
        native = (choice.get("provider_specific_fields") or {}).get("native_finish_reason")
        if native in GAVE_UP:  # LiteLLM makes a "stop" of it
            choice["finish_reason"] = native
    return read_reply(body, request, source=source)


@contextmanager
def translated(exchange: Exchange) -> Iterator[None]:
    """Make a call to LiteLLM within the limits of `exchange`; every error is a `ModelError`."""
    try:
        with guarded(exchange):
            yield
    except ModelError:
        raise
    except Exception as error:  # noqa: BLE001 - LiteLLM does not wrap all errors
        failure = exchange.refusal or model_error(error, source=exchange.source, key=exchange.key)
        # Not chained: the original message may contain a key, and a traceback would print it.
        raise failure from None


def model_error(error: Exception, *, source: str, key: str = "") -> ModelError:
    """Translate any error, whether from LiteLLM or `openai`, keeping `key` out of the message.

    A missing or wrong key becomes an `UnusableModelError`, and a time-out a `ModelTimeoutError`.
    The others are classified by status, as in `error_by_status`; if LiteLLM cannot read a response,
    its error has the response's status. If no connection could be made, the message says why, and
    has no status: LiteLLM's own is made up.
    """
    status = _status(error)
    problem = str(error).partition("Traceback (most recent call last)")[0].strip()
    unconnected = connection_problem(error)
    line = (
        short_line(unconnected, key=key)
        if unconnected
        else short_line(problem or type(error).__name__, status=status, key=key)
    )
    message = f"{source}: {line}"
    if _NO_KEY.search(problem):
        return UnusableModelError(message)
    wait = retry_after(_headers(error))
    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return ModelTimeoutError(message, retry_after=wait)
    refused = isinstance(error, litellm.exceptions.ContentPolicyViolationError)
    failure = error_by_status(
        message, status=status, wait=wait, refused=refused or names_policy(str(error))
    )
    failure.unconnected = connection_problem_in_log(error)
    return failure


def _status(error: Exception) -> int | None:
    """Return the status of the response, or None if the error is about something else."""
    status = getattr(error, "status_code", None)
    # A server's error code may replace the status, and may be a text.
    return status if isinstance(error, openai.APIError) and isinstance(status, int) else None


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the response's headers, which LiteLLM's own errors store apart from the response."""
    response = getattr(error, "response", None)
    return getattr(error, "litellm_response_headers", None) or getattr(response, "headers", {})
