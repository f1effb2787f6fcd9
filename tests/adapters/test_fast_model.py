"""The lean client's own: how it is opened, what it sends, and what no server can make it do.

What it shares with other adapters is held to in ``test_model_contract.py``.
"""

import json
import sys

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from fakes.processes import completed
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loopback.answers import Answer, chat
from loopback.lanes import KEY, QUESTION, REQUEST
from loopback.server import LoopbackServer

from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.openai_reply import HttpAnswer, content_of, read_reply
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Decoding,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    PermanentModelError,
    Reply,
    ToolSpec,
    TransientModelError,
)

pytestmark = pytest.mark.asyncio_only

NAME = "openai-compatible/org/loop"
URL = "http://127.0.0.1:1/v1"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


async def ask(base_url: str, request: ChatRequest = REQUEST, *, patience: float = 20.0) -> Reply:
    async with open_fast(NAME, options=ModelOptions(base_url=base_url, timeout=patience)) as model:
        return await model.complete(request)


async def ask_for_bytes(answer: bytes) -> Reply | ModelError:
    """Return what becomes of a request that is answered `answer`, whatever that is."""

    async def serve(stream: SocketStream) -> None:
        async with stream:
            received = b""
            while not received.endswith(b"}"):
                received += await stream.receive()
            await stream.send(answer)

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    became: list[Reply | ModelError] = []
    async with listener, anyio.create_task_group() as serving:
        serving.start_soon(listener.serve, serve)
        port = listener.extra(SocketAttribute.local_port)
        try:
            became.append(await ask(f"http://127.0.0.1:{port}/v1"))
        except ModelError as error:
            became.append(error)
        serving.cancel_scope.cancel()
    return became[0]


def answered(body: bytes, *headers: str) -> bytes:
    head = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


def test_it_loads_neither_litellm_nor_openai() -> None:
    code = (
        "import sys, spanjury.adapters.models.fast_model;"
        "print(sorted({'litellm', 'openai', 'httpx'} & set(sys.modules)))"
    )
    run = completed([sys.executable, "-c", code])
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("name", ["openai-compatible", "openai-compatible/", "openai/loop", ""])
async def test_another_name_is_refused_when_it_is_opened(name: str) -> None:
    with pytest.raises(ConfigError, match="expected openai-compatible/NAME"):
        async with open_fast(name, options=ModelOptions(base_url=URL)):
            pytest.fail("opened")


@pytest.mark.parametrize(
    "base_url",
    [None, "", "localhost:8000/v1", "ftp://host/v1", "http://", "http://h:port/v1", f"{URL}?a=b"],
)
async def test_an_address_is_needed_that_can_be_called(base_url: str | None) -> None:
    with pytest.raises(ConfigError, match="http://localhost:8000/v1"):
        async with open_fast(NAME, options=ModelOptions(base_url=base_url)):
            pytest.fail("opened")


async def test_an_error_says_how_to_give_the_missing_address() -> None:
    with pytest.raises(ConfigError, match=r"--model-base-url, .*ModelConfig\(name=…, base_url=…\)"):
        async with open_fast(NAME, options=ModelOptions(base_url=None)):
            pytest.fail("opened")


@pytest.mark.parametrize(
    ("own", "shared", "shown"),
    [("own-key\n", KEY, "own-key"), ("", KEY, KEY), ("", "", "none-needed")],
)
async def test_a_key_is_shown_its_own_first(
    own: str, shared: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", own)
    monkeypatch.setenv("OPENAI_API_KEY", shared)
    with LoopbackServer(chat("fine")) as server:
        await ask(server.base_url)
        assert server.requests[0].headers["authorization"] == f"Bearer {shown}"


async def test_a_key_that_no_header_can_carry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "first\nsecond")
    with pytest.raises(ConfigError, match="OPENAI_COMPATIBLE_API_KEY contains") as caught:
        await ask(URL)
    assert "second" not in str(caught.value)


@pytest.mark.parametrize("slash", ["", "/"])
async def test_the_server_receives_its_own_name_of_the_model(slash: str) -> None:
    with LoopbackServer(chat("fine")) as server:
        await ask(f"{server.base_url}{slash}")
        received = server.requests[0]
    assert (received.path, received.body["model"]) == ("/v1/chat/completions", "org/loop")


async def test_a_grammar_is_put_in_the_words_of_every_server() -> None:
    grammar = 'root ::= "a"'
    with LoopbackServer(chat("fine")) as server:
        request = ChatRequest(messages=(QUESTION,), decoding=Decoding(grammar=grammar))
        await ask(server.base_url, request)
        body = server.requests[0].body
    assert (body["grammar"], body["ebnf"]) == (grammar, grammar)
    assert body["structured_outputs"] == {"grammar": grammar}


async def test_a_forced_reply_is_the_only_one_that_its_grammar_allows() -> None:
    with LoopbackServer(chat("fine")) as server:
        await ask(server.base_url, ChatRequest(messages=(QUESTION,), forced="fine"))
        body = server.requests[0].body
    assert body["grammar"] == 'root ::= "fine"'
    assert body["logprobs"] is True


async def test_a_tool_s_description_that_cannot_be_encoded_stops_nothing() -> None:
    tool = ToolSpec(name="look_up", description="odd \ud800")
    with LoopbackServer(chat("fine")) as server:
        await ask(server.base_url, ChatRequest(messages=(QUESTION,), tools=(tool,)))
        assert "odd ?" in json.dumps(server.requests[0].body["tools"])


async def test_proxies_and_cookies_of_the_host_are_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, URL)
    answer = chat("fine")
    with LoopbackServer(Answer(body=answer.body, headers={"Set-Cookie": "a=b"})) as server:
        async with open_fast(NAME, options=ModelOptions(base_url=server.base_url)) as model:
            await model.complete(REQUEST)
            await model.complete(REQUEST)
        assert all("cookie" not in request.headers for request in server.requests)


async def test_a_server_that_stalls_is_a_time_out() -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener:
        port = listener.extra(SocketAttribute.local_port)
        with pytest.raises(ModelTimeoutError, match=r"no complete reply within 0\.2 s"):
            await ask(f"http://127.0.0.1:{port}/v1", patience=0.2)


async def test_the_server_s_words_are_given_in_one_short_line() -> None:
    for body, words in (
        ('{"error": "out of\\nmemory"}', "out of memory"),
        ('{"message": "too long"}', "too long"),
        ('{"detail": [{"loc": "messages"}]}', '[{"loc": "messages"}]'),
        ("<html>Bad", "Bad Request"),
        ("[1]", "Bad Request"),
    ):
        with LoopbackServer(Answer(status=400, body=body)) as server:
            with pytest.raises(PermanentModelError) as caught:
                await ask(server.base_url)
            assert str(caught.value) == f"{NAME} at {server.base_url}: status 400: {words}"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.7\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 100_000 + b"\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        answered(b"no gzip", "Content-Encoding: gzip"),
        answered(b'{"choices": "\xff"}'),
        answered(b"\xed\xa0\x80"),
        answered(b'{"choices": "\xe2\x82'),
    ],
)
async def test_bytes_that_are_no_reply_are_transient(answer: bytes) -> None:
    assert type(await ask_for_bytes(answer)) is TransientModelError


@given(body=JSON)
@example(body={"choices": [{"message": {}, "logprobs": {"content": [{"logprob": 10**400}]}}]})
def test_any_json_is_a_reply_or_a_model_error(body: object) -> None:
    reply_or_error(body)


@settings(max_examples=300)
@given(data=st.data(), value=JSON)
def test_any_part_of_a_completion_may_be_anything(data: st.DataObject, value: object) -> None:
    called = {"id": "c1", "function": {"name": "look_up", "arguments": "{}"}}
    token = {"token": "a", "logprob": -0.1, "top_logprobs": [{"token": "a", "logprob": -0.1}]}
    answer = chat("fine", message={"tool_calls": [called]}, logprobs={"content": [token]})
    body = json.loads(answer.body)
    node = body
    while True:  # walk down to any depth, and put `value` there
        inner = list(node) if isinstance(node, dict) else list(range(len(node)))
        step = data.draw(st.sampled_from(inner))
        if not isinstance(node[step], dict | list) or not node[step] or data.draw(st.booleans()):
            node[step] = value
            break
        node = node[step]
    assert reply_or_error(body) == reply_or_error(content_of_bytes(json.dumps(body).encode()))


def content_of_bytes(body: bytes) -> object:
    """Return the completion in `body`, whose log-probabilities are decoded later."""
    try:
        answer = HttpAnswer(status=200, reason="", headers={}, body=body)
        return content_of(answer, source="loop", key="")
    except ModelError:
        return json.loads(body)  # what names a failure beside its choices


@pytest.mark.parametrize("near", [(), ("faulty", "overall score")])
def test_log_probabilities_near_words_alone_are_kept(near: tuple[str, ...]) -> None:
    words = [f"\u0120word{number}" for number in range(300)]
    words[100:104] = ["\u0120Fau", "lty", ":", "\u0120yes"]
    tokens = [
        {"token": word, "logprob": -0.5, "top_logprobs": [{"token": word, "logprob": -0.5}]}
        for word in words
    ]
    body = chat("fine", logprobs={"content": tokens}).body
    request = ChatRequest(messages=(), logprobs_near=near)
    read = [
        read_reply(content, request, source="loop").logprobs
        for content in (json.loads(body), content_of_bytes(body.encode()))
    ]
    assert read[0] == read[1]
    assert "Faulty:\u0120yes" in "".join(token.token for token in read[0])
    assert len(read[0]) == (300 if not near else 10)


def reply_or_error(body: object) -> Reply | None:
    """Read `body`, and see that a reply holds nothing but what its types say."""
    try:
        reply = read_reply(body, ChatRequest(messages=(), prefix="f"), source="loop")
    except TransientModelError:
        return None
    texts = [reply.text, reply.reasoning, *(call.arguments for call in reply.tool_calls)]
    "".join(texts).encode()  # fails for what cannot be written to a file
    assert min(reply.usage.prompt, reply.usage.completion) >= 0
    assert all(token.logprob == token.logprob for token in reply.logprobs)
    return reply
