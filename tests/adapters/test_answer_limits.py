"""No road follows a redirect, and none receives more of an answer than its request allows."""

import gzip

import anyio
import httpx
import pytest
from loopback.answers import Answer, chat
from loopback.endless import EndlessServer
from loopback.lanes import KEY, LANES, QUESTION, REQUEST, Lane, ask, failing
from loopback.server import LoopbackServer

from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.models.litellm_library import Exchange, guarded
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.adapters.models.reply_bytes import most_bytes
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Decoding,
    ModelError,
    ModelOptions,
    PermanentModelError,
    TransientModelError,
    UnusableModelError,
)

pytestmark = pytest.mark.asyncio_only

PROVIDERS = ("anthropic", "custom_openai", "litellm_proxy", "ollama")
ROADS = (*LANES, *(Lane(name=f"{name}/loop") for name in PROVIDERS))
SHORT = ChatRequest(messages=(QUESTION,), decoding=Decoding(max_tokens=16))
SIZE = 50 * 2**20
BUFFERS = 40 * 2**20  # what both sides of a connection may hold at most, unread, on Linux


@pytest.fixture(params=ROADS, ids=lambda method: method.name.partition("/")[0])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Lane:
    for name in ("ANTHROPIC", "OPENAI", "HOSTED_VLLM", "OPENAI_COMPATIBLE", "LITELLM_PROXY"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    assert isinstance(request.param, Lane)
    return request.param


async def test_no_redirect_is_followed_to_any_host(method: Lane) -> None:
    with LoopbackServer(chat("Overall score: Excellent")) as elsewhere:
        for status in (301, 302, 303, 307, 308):
            target = f"{elsewhere.base_url}/sk-secret-0123456789abcdef?key={KEY}"
            error = await failing(
                method, Answer(status=status, body="", headers={"Location": target})
            )
            host = elsewhere.base_url.removesuffix("/v1")
            assert isinstance(error, PermanentModelError)
            assert f"status {status}: redirects are not followed" in str(error)
            assert f"it leads to {host}: give the server's final address" in str(error)
            assert KEY not in str(error)
            assert "secret" not in str(error)
        assert not elsewhere.requests


async def test_no_redirect_is_followed_within_a_host_or_to_nowhere(lane: Lane) -> None:
    for location, target in (
        ("/v2/chat/completions", "http://127.0.0.1:"),
        ("", "an address that it does not name"),
    ):
        headers = {"Location": location} if location else {}
        error = await failing(lane, Answer(status=307, body="", headers=headers))
        assert type(error) is UnusableModelError
        assert f"it leads to {target}" in str(error)


async def test_a_redirect_to_what_is_no_address_is_refused_too() -> None:
    error = await failing(LANES[-1], Answer(status=307, body="", headers={"Location": "http://["}))
    assert "it leads to an address that it does not name" in str(error)


async def test_a_client_of_litellm_s_that_would_follow_redirects_is_refused() -> None:
    options = ModelOptions(base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ConfigError, match="name it openai-compatible/loop"):
        async with open_litellm("aiohttp_openai/loop", options=options):
            pass


async def test_an_overlong_reply_is_cut_and_not_asked_for_again(lane: Lane) -> None:
    with EndlessServer(size=SIZE) as server:
        options = ModelOptions(base_url=server.base_url)
        async with lane.open(lane.name, options=options) as model:
            with pytest.raises(PermanentModelError) as caught:
                await Gateway(model, options=options).complete(SHORT)
    assert f"longer than {most_bytes(SHORT.decoding)} bytes, more than 16 tokens" in str(
        caught.value
    )
    assert len(server.sent) == 1
    assert server.sent[0] < BUFFERS


async def test_a_packed_reply_is_cut_before_it_is_unpacked(lane: Lane) -> None:
    packed = gzip.compress(b" " * SIZE, 9)
    body = (packed * 2).decode(errors="surrogateescape")
    answer = Answer(body=body, headers={"Content-Encoding": "gzip"})
    error = await failing(lane, answer)
    assert isinstance(error, PermanentModelError)
    assert f"longer than {most_bytes(REQUEST.decoding)} bytes" in str(error)


async def test_no_packed_reply_is_asked_for_and_a_plain_one_is_read_too(lane: Lane) -> None:
    plain = chat("Well packed").body.encode()
    halves = gzip.compress(plain[:50]) + gzip.compress(plain[50:])
    body = halves.decode(errors="surrogateescape")
    with LoopbackServer(Answer(body=body, headers={"Content-Encoding": "gzip"})) as server:
        reply = await ask(lane, server)
        assert server.requests[0].headers["accept-encoding"] == "identity"
    assert reply.text == "Well packed"
    error = await failing(lane, Answer(body=body, headers={"Content-Encoding": "br"}))
    assert isinstance(error, TransientModelError)
    assert "packed as 'br'" in str(error)


async def test_an_endless_error_keeps_its_status_and_costs_a_few_bytes(lane: Lane) -> None:
    for status in ("500 Broken", "400 Bad Request"):
        with EndlessServer(size=SIZE, status=status) as server:
            with pytest.raises(ModelError, match=f"status {status[:3]}") as caught:
                async with lane.open(
                    lane.name, options=ModelOptions(base_url=server.base_url)
                ) as model:
                    await model.complete(REQUEST)
            assert isinstance(caught.value, TransientModelError) == (status[0] == "5")
        assert server.sent[0] < BUFFERS


async def test_the_longest_honest_reply_is_not_cut(lane: Lane) -> None:
    decoding = Decoding(max_tokens=2048, logprobs=5)
    rivals = [
        {"token": "\U0001d504" * 3, "logprob": -12.345678901234567, "bytes": [240, 157, 148] * 4}
    ]
    token = {**rivals[0], "top_logprobs": rivals * 5}
    text = "\U0001d504" * 3 * 2048
    answer = chat(text, logprobs={"content": [token] * 2048}, message={"reasoning_content": text})
    assert len(answer.body) > 2**20
    with LoopbackServer(answer) as server:
        reply = await ask(lane, server, ChatRequest(messages=(QUESTION,), decoding=decoding))
    assert (reply.text, len(reply.logprobs)) == (text, 2048)


async def test_endless_replies_beside_honest_ones_cost_these_nothing(lane: Lane) -> None:
    replies: list[str] = []
    with EndlessServer(size=SIZE) as endless, LoopbackServer(chat("fine")) as honest:

        async def overlong() -> None:
            options = ModelOptions(base_url=endless.base_url)
            async with lane.open(lane.name, options=options) as model:
                with pytest.raises(PermanentModelError):
                    await model.complete(SHORT)

        async def neighbour() -> None:
            replies.append((await ask(lane, honest)).text)

        async with anyio.create_task_group() as asking:
            for _ in range(12):
                asking.start_soon(overlong)
                asking.start_soon(neighbour)
    assert replies == ["fine"] * 12
    assert sum(endless.sent) < 12 * BUFFERS


def test_requests_that_no_model_of_ours_makes_pass_untouched() -> None:
    async def post(address: str) -> int:
        async with httpx.AsyncClient(follow_redirects=True) as client:
            return (await client.post(address, json={})).status_code

    with LoopbackServer(chat("fine")) as elsewhere:
        headers = {"Location": elsewhere.base_url}
        with LoopbackServer(Answer(status=307, body="", headers=headers)) as server:
            assert anyio.run(post, server.base_url) == 200
            with httpx.Client(follow_redirects=True) as waiting:
                assert waiting.post(server.base_url, json={}).status_code == 200
        assert len(elsewhere.requests) == 2


def test_a_client_that_does_not_know_the_event_loop_is_held_to_the_same_bounds() -> None:
    exchange = Exchange(decoding=SHORT.decoding, source="model", key=KEY)
    with (
        EndlessServer(size=SIZE) as endless,
        LoopbackServer(chat("fine")) as honest,
        LoopbackServer(
            Answer(status=307, body="", headers={"Location": honest.base_url})
        ) as server,
        guarded(exchange),
        httpx.Client(follow_redirects=True) as client,
    ):
        with pytest.raises(PermanentModelError, match="redirects are not followed"):
            client.post(server.base_url, json={})
        assert not honest.requests
        with pytest.raises(PermanentModelError, match="longer than") as caught:
            client.post(endless.base_url, json={})
        assert exchange.refusal is caught.value
        assert client.post(honest.base_url, json={}).json()["choices"]
    assert endless.sent[0] < BUFFERS
