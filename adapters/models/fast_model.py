"""A model behind any OpenAI-compatible server, called with minimal overhead. Needs asyncio.

vLLM, SGLang, llama.cpp, TGI and Ollama's ``/v1`` all speak this protocol. One call is one request:
the gateway does retries, and limits time and concurrency.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import anyio
import msgspec
from yarl import URL

from spanjury.adapters.models.batch_files import BatchAccess
from spanjury.adapters.models.connection_errors import (
    connection_problem,
    connection_problem_in_log,
)
from spanjury.adapters.models.event_loop import asyncio_loop
from spanjury.adapters.models.model_errors import refused_form, short_line
from spanjury.adapters.models.openai_reply import HttpAnswer, content_of, is_success, read_reply
from spanjury.adapters.models.openai_request import (
    CONTINUE_LAST_MESSAGE,
    chat_fields,
    documents_of,
    llama_cpp_grammar,
    response_format,
    template_fields,
    unforced,
    vllm_grammar,
    wellformed,
)
from spanjury.adapters.models.reply_bytes import IDENTITY, ReplyBytes
from spanjury.adapters.models.server_address import (
    PLACEHOLDER_KEY,
    key_from,
    refuse_credentials,
    refuse_redirect,
)
from spanjury.adapters.models.server_tokens import ask_server
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Decoding,
    Form,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    Reply,
    TemplateTokens,
    TransientModelError,
    effort_of,
    scrub,
    signature,
    without_secrets,
)

_PREFIX = "openai-compatible"
_FORMS: frozenset[Form] = frozenset({"bounded-schema", "schema", "grammar"})
_KEYS = ("OPENAI_COMPATIBLE_API_KEY", "OPENAI_API_KEY")
_CLOSING_SECONDS = 5.0


@asynccontextmanager
async def open_fast(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Open ``openai-compatible/NAME``; a plugin of the group ``spanjury.models``.

    The key comes from the environment: ``OPENAI_COMPATIBLE_API_KEY`` or ``OPENAI_API_KEY``. Proxies
    set in the environment are not used, redirects are not followed, and cookies are not kept.

    Raises `ConfigError` if the name does not have that form, there is no usable base URL, the key
    cannot be sent in a header, or the event loop is not asyncio's.

    Examples
    --------
    ::

        options = ModelOptions(base_url="http://localhost:8000/v1")
        async with open_fast("openai-compatible/Qwen/Qwen3-8B", options=options) as model:
            reply = await model.complete(request)
    """
    prefix, _, model = name.partition("/")
    if prefix != _PREFIX or not model:
        raise ConfigError(f"model {scrub(name)!r}: expected {_PREFIX}/NAME")
    url = _completions_url(options.base_url)
    key = next(filter(None, map(key_from, _KEYS)), PLACEHOLDER_KEY)
    asyncio_loop("the lean client is built on aiohttp")
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=options.max_connections),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=options.timeout),
        auto_decompress=False,  # aiohttp would decompress a whole answer at once
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json", **IDENTITY},
    )
    try:
        yield FastModel(
            model=model,
            source=f"{name} at {without_secrets(str(options.base_url))}",
            url=url,
            session=session,
            timeout=options.timeout,
            api_key=key,
            # No address, as with LiteLLM: a run may be resumed after its server has moved.
            signature=signature(name),
        )
    finally:
        with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
            await session.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class FastModel:
    """A model behind an OpenAI-compatible server.

    `source` is its name and address, for messages, which must not contain `api_key`. Whoever opened
    the session closes it. `timeout` is the session's limit, in seconds from request to last byte.
    `signature` includes everything that can change a reply.
    """

    model: str
    source: str
    url: URL
    session: aiohttp.ClientSession = field(repr=False)
    timeout: float
    api_key: str = field(repr=False)
    signature: str

    @property
    def longest_call(self) -> float:
        """The session's time limit, from the request to the last byte."""
        return self.timeout

    @property
    def forms(self) -> frozenset[Form]:
        """Schemas and grammars; whether the server supports them shows at the first call."""
        return _FORMS

    @property
    def batch_access(self) -> BatchAccess:
        """The same server, which also takes the batches."""
        return BatchAccess(
            provider="openai",
            source=self.source,
            base_url=str(self.url.parent.parent),
            api_key=self.api_key,
        )

    async def body(self, request: ChatRequest) -> bytes:
        """Return the JSON that `complete` would send."""
        return _body(unforced(request), model=self.model)

    async def complete(self, request: ChatRequest) -> Reply:
        """Make one request.

        Raises `ModelError`, classified as by `model_errors.error_by_status`. Without a complete
        answer, it raises `ModelTimeoutError` or `TransientModelError`.
        """
        request = unforced(request)
        body = _body(request, model=self.model)
        try:
            answer = await self._post(body, decoding=request.decoding)
            content = content_of(answer, source=self.source, key=self.api_key)
            return read_reply(content, request, source=self.source)
        except ModelError as error:
            raise refused_form(error, request) from None
        except TimeoutError:
            raise ModelTimeoutError(
                f"{self.source}: no complete reply within {self.timeout:g} s"
            ) from None
        except aiohttp.ClientConnectorError as error:
            problem = short_line(connection_problem(error), key=self.api_key)
            unreached = TransientModelError(f"{self.source}: {problem}")
            unreached.unconnected = connection_problem_in_log(error)
            unreached.was_sent = False
            raise unreached from None
        except Exception as error:  # noqa: BLE001 - aiohttp does not wrap all errors
            # Not chained: the original message may contain a key, and a traceback would print it.
            problem = short_line(f"{type(error).__name__}: {error}", key=self.api_key)
            raise TransientModelError(f"{self.source}: {problem}") from None

    async def template_tokens(self) -> TemplateTokens | None:
        """Return the model's special tokens; raise `TransientModelError` as `ask_server` does."""
        base = str(self.url.parent.parent)
        return await ask_server(base, model=self.model, key=self.api_key, seconds=self.timeout)

    async def _post(self, body: bytes, *, decoding: Decoding) -> HttpAnswer:
        """Send `body` and receive the answer, completely if it is a reply."""
        async with self.session.post(self.url, data=body, allow_redirects=False) as response:
            refuse_redirect(
                response.status,
                response.headers,
                asked=str(self.url),
                source=self.source,
                key=self.api_key,
            )
            return HttpAnswer(
                status=response.status,
                reason=response.reason or "",
                headers=response.headers,
                body=await self._read(response, decoding=decoding),
            )

    async def _read(self, response: aiohttp.ClientResponse, *, decoding: Decoding) -> bytes:
        """Read the body to its end, or to the limit of its useful length."""
        body = ReplyBytes(
            response.headers,
            succeeded=is_success(response.status),
            decoding=decoding,
            source=self.source,
        )
        received = bytearray()
        async for chunk in response.content.iter_any():
            received += body.receive(chunk)
            if body.is_full:
                response.close()  # the unread rest would keep the connection busy
                break
        return bytes(received)


def _body(request: ChatRequest, *, model: str) -> bytes:
    """Encode `request` with every server's own fields; each server ignores the others'."""
    fields = {"model": model, **chat_fields(request)}
    grammar, schema = request.decoding.grammar, request.decoding.schema
    if schema is not None:
        fields |= response_format(schema)
    if grammar:
        fields |= llama_cpp_grammar(grammar) | vllm_grammar(grammar)
        fields["ebnf"] = wellformed(grammar)  # for SGLang
    reasoning = request.decoding.reasoning
    fields |= template_fields(reasoning=reasoning, documents=documents_of(request))
    if reasoning not in {None, "none"}:  # few of these servers accept "none" as an effort
        fields["reasoning_effort"] = effort_of(reasoning)
    if request.prefix:
        fields |= CONTINUE_LAST_MESSAGE
    try:
        return _ENCODER.encode(fields)
    except _UNFIT:  # a tool's description may contain values that msgspec refuses
        return json.dumps(fields, ensure_ascii=False).encode(errors="replace")


_ENCODER = msgspec.json.Encoder()
_UNFIT = (msgspec.MsgspecError, TypeError, ValueError, OverflowError)


def _completions_url(base_url: str | None) -> URL:
    """Return the URL for chat completions."""
    example = "as http://localhost:8000/v1"
    if base_url is None:
        raise ConfigError(
            f"{_PREFIX}/… needs the server's base URL, {example}: give it as --model-base-url, in"
            " Python as ModelConfig(name=…, base_url=…), and in a panel file as base_url"
        )
    refuse_credentials(base_url)
    try:
        url = URL(base_url)
    except ValueError:
        url = URL()
    if url.scheme not in {"http", "https"} or not url.host or url.query_string or url.fragment:
        raise ConfigError(f"base URL {scrub(base_url)!r}: expected a plain address, {example}")
    return url / "chat" / "completions"
