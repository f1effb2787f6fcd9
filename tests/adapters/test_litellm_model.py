"""LiteLLM's own ways: which provider is asked for what, and where.

What it shares with other adapters is held to in ``test_model_contract.py``.
"""

import json
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress

import pytest
from anyio import create_task_group, fail_after, sleep
from loopback.answers import HELD, Answer, chat, completion_with
from loopback.lanes import KEY, QUESTION, REQUEST
from loopback.server import LoopbackServer
from pydantic import BaseModel

from spanjury.adapters.models.litellm_library import litellm
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.adapters.models.server_address import KEYS, missing_key
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Decoding,
    Message,
    ModelError,
    ModelOptions,
    PermanentModelError,
    UnusableModelError,
)

pytestmark = pytest.mark.asyncio_only


async def wire(name: str, request: ChatRequest) -> Mapping[str, object]:
    """Return the body that arrives at the server."""
    with LoopbackServer(chat("fine")) as server:
        async with open_litellm(name, options=ModelOptions(base_url=server.base_url)) as model:
            await model.complete(request)
        return server.requests[0].body


async def test_a_server_of_ones_own_gets_a_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with LoopbackServer(chat("fine")) as server:
        async with open_litellm(
            "openai/loop", options=ModelOptions(base_url=server.base_url)
        ) as model:
            await model.complete(REQUEST)
        assert server.requests[0].headers["authorization"] == "Bearer none-needed"


@pytest.mark.parametrize("key", ["first\r\nX-Forged: 1", "clé-secrète", "a\x7fb"])
async def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY contains characters") as caught:
        async with open_litellm("openai/loop", options=ModelOptions(base_url="http://host/v1")):
            pass
    assert key not in str(caught.value)


@pytest.mark.parametrize("provider", KEYS)
def test_key_variables_are_those_of_litellm(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(provider.upper()[:6])]:
        monkeypatch.delenv(name)
    for name in KEYS[provider]:
        monkeypatch.delenv(name, raising=False)
    assert missing_key(provider) == f"its key is missing: set {KEYS[provider][0]}"
    answer = litellm.validate_environment(f"{provider}/judge")
    assert set(answer["missing_keys"]) <= set(KEYS[provider])
    for name in (*KEYS[provider], f"{provider.upper()}_API_BASE"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "given")
            assert missing_key(provider) == ""


async def test_a_call_without_a_key_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    async with open_litellm("mistral/mistral-large-latest", options=ModelOptions()) as model:
        with pytest.raises(UnusableModelError, match="its key is missing: set MISTRAL_API_KEY"):
            await model.complete(REQUEST)


async def test_a_grammar_goes_where_the_server_looks_for_it() -> None:
    request = ChatRequest(messages=(QUESTION,), decoding=Decoding(grammar='root ::= "a"'))
    llama_cpp = await wire("openai/loop", request)
    vllm = await wire("hosted_vllm/loop", request)
    assert llama_cpp["grammar"] == 'root ::= "a"'
    assert vllm["structured_outputs"] == {"grammar": 'root ::= "a"'}


async def test_documents_reach_the_chat_template_beside_a_wish_for_thought() -> None:
    document = Message(role="document", content="It rains.")
    request = ChatRequest(messages=(document, QUESTION), decoding=Decoding(reasoning="none"))
    sent = await wire("hosted_vllm/loop", request)
    assert sent["chat_template_kwargs"] == {
        "enable_thinking": False,
        "documents": [{"doc_id": "0", "text": "It rains."}],
    }
    assert sent["messages"] == [{"role": "user", "content": QUESTION.content}]


async def test_a_forced_reply_is_the_only_one_that_its_grammar_allows() -> None:
    request = ChatRequest(messages=(QUESTION,), forced='say "a\\b"\n\tnow')
    sent = await wire("openai/loop", request)
    assert sent["grammar"] == r'root ::= "say \"a\\b\"\n\x09now"'
    assert (sent["logprobs"], sent["temperature"]) == (True, 0.0)
    assert sent["max_tokens"] == len(request.forced) + 8


@pytest.mark.parametrize(
    "request_",
    [
        ChatRequest(messages=(QUESTION,), forced="a"),
        ChatRequest(messages=(QUESTION,), decoding=Decoding(grammar='root ::= "a"')),
        ChatRequest(messages=(QUESTION,), prefix="Score:"),
        ChatRequest(messages=(Message(role="document", content="It rains."), QUESTION)),
    ],
    ids=["forced", "grammar", "prefix", "documents"],
)
async def test_requests_a_provider_cannot_serve_are_never_sent(request_: ChatRequest) -> None:
    async with open_litellm("openai/gpt-4o", options=ModelOptions()) as model:
        with pytest.raises(PermanentModelError, match=r"openai (takes|cannot)"):
            await model.complete(request_)


async def test_a_provider_with_own_words_gets_only_those(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    decoding = Decoding(seed=3, logprobs=2)
    request = ChatRequest(messages=(QUESTION,), prefix="Score:", decoding=decoding)
    body = await wire("mistral/mistral-large-latest", request)
    assert body["messages"] == [
        {"role": "user", "content": "Judge this."},
        {"role": "assistant", "content": "Score:", "prefix": True},
    ]
    assert body["random_seed"] == 3
    assert not {"seed", "logprobs", "top_logprobs"} & set(body)


async def test_ollama_is_asked_through_its_chat_api() -> None:
    answer = {"message": {"role": "assistant", "content": "fine"}, "done": True, "model": "loop"}
    counts = {"prompt_eval_count": 7, "eval_count": 3}
    with LoopbackServer(ollama({**answer, **counts})) as server:
        address = server.base_url.removesuffix("/v1")
        async with open_litellm("ollama/loop", options=ModelOptions(base_url=address)) as model:
            reply = await model.complete(REQUEST)
            assert model.signature == "ollama_chat/loop"
        assert server.requests[0].path == "/api/chat"
    assert (reply.text, reply.usage.prompt, reply.usage.completion) == ("fine", 7, 3)


@pytest.mark.parametrize("name", ["ollama/loop", "ollama_chat/loop"])
async def test_ollama_is_asked_at_its_address(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = ollama({"message": {"role": "assistant", "content": "fine"}, "done": True})
    with LoopbackServer(answer) as server, LoopbackServer(answer) as usual:
        address = server.base_url.removesuffix("/v1")
        # Without it, LiteLLM takes Ollama's usual port of this machine.
        monkeypatch.setenv("OLLAMA_API_BASE", usual.base_url.removesuffix("/v1"))
        async with open_litellm(name, options=ModelOptions(base_url=address)) as model:
            for _ in range(2):
                assert (await model.complete(REQUEST)).text == "fine"
        assert {request.path for request in server.requests} == {"/api/chat"}
        assert len(server.requests) == 2
        assert not usual.requests


class Counted(BaseModel):
    """A model of a host, which warns when it is written with a word for its number."""

    count: int


@pytest.mark.parametrize("name", ["openai/loop", "hosted_vllm/loop"])
async def test_odd_replies_print_nothing_and_the_hosts_own_warnings_stay(name: str) -> None:
    odd = completion_with(id=8, created="today", model=7, system_fingerprint=["Private words."])
    hosts = Counted.model_construct(count="none")
    with LoopbackServer(HELD, odd) as server, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        options = ModelOptions(base_url=server.base_url)
        async with open_litellm(name, options=options) as model, create_task_group() as group:

            async def ask() -> None:
                with suppress(ModelError):
                    await model.complete(REQUEST)

            group.start_soon(ask)
            with fail_after(30):
                while not server.requests:  # noqa: ASYNC110  a thread makes it so
                    await sleep(0.01)
            hosts.model_dump()
            server.released.set()
            await ask()
        hosts.model_dump()
    shown = [message for warning in seen if "serializer" in (message := str(warning.message))]
    assert ["input_value='none'" in message for message in shown] == [True, True]


async def test_an_unknown_name_is_refused_when_it_is_opened() -> None:
    with pytest.raises(ConfigError, match="unknown model 'gibberish'"):
        async with open_litellm("gibberish", options=ModelOptions()):
            pytest.fail("opened")


async def test_the_signature_names_the_library_that_puts_the_request() -> None:
    options = ModelOptions(base_url="http://127.0.0.1:1/v1")
    async with open_litellm("openai/loop", options=options) as model:
        assert model.signature == "openai/loop"


def ollama(body: Mapping[str, object]) -> Answer:
    return Answer(body=json.dumps(body))


async def test_a_key_that_is_missing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    async with open_litellm("openai/gpt", options=ModelOptions()) as model:
        with pytest.raises(PermanentModelError, match="OPENAI_API_KEY"):
            await model.complete(REQUEST)
