"""LiteLLM against a real server on 127.0.0.1: what we are given, and what goes over the wire."""

import gc
import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from traceback import format_exception

import anyio
import pytest
from loopback.answers import (
    ECHO_KEY,
    EMPTY_CHOICES,
    HALF_BODY,
    HTML,
    NO_MESSAGE,
    RESET,
    TRICKLE,
    Answer,
    chat,
    failure,
)
from loopback.server import LoopbackServer, unreachable_url

from spanjury.adapters.gateway import Gateway
from spanjury.adapters.litellm_model import open_litellm
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Decoding,
    Finish,
    Message,
    ModelError,
    ModelOptions,
    ModelRefusedError,
    ModelTimeoutError,
    PermanentModelError,
    Reply,
    TokenLogprob,
    ToolCall,
    ToolSpec,
    TransientModelError,
    Usage,
)

pytestmark = pytest.mark.anyio

KEY = "sk-loopback-0123456789abcdef"
MODELS = ("openai/loop", "hosted_vllm/loop")
QUESTION = Message(role="user", content="Judge this.")
REQUEST = ChatRequest(messages=(QUESTION,))
LOOKUP = ToolSpec(
    name="look_up",
    description="Find a passage.",
    parameters={"type": "object", "properties": {"words": {"type": "string"}}},
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=MODELS)
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of a model, with its provider's key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HOSTED_VLLM_API_KEY", KEY)
    return str(request.param)


async def ask(name: str, server: LoopbackServer, request: ChatRequest = REQUEST) -> Reply:
    async with open_litellm(name, options=ModelOptions(base_url=server.base_url)) as model:
        return await model.complete(request)


async def wire(name: str, request: ChatRequest) -> Mapping[str, object]:
    """Return the body that arrives at the server."""
    with LoopbackServer(chat("fine")) as server:
        await ask(name, server, request)
        return server.requests[0].body


async def failing(name: str, answer: Answer) -> ModelError:
    """Return the error that `answer` becomes, after one request and no more."""
    with LoopbackServer(answer) as server:
        with pytest.raises(ModelError) as caught:
            await ask(name, server)
        assert len(server.requests) == 1
    assert caught.value.__cause__ is None
    return caught.value


async def test_a_reply_comes_with_its_usage(name: str) -> None:
    spent = {
        "prompt_tokens": 11,
        "completion_tokens": 5,
        "total_tokens": 16,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    answer = chat("fine", message={"reasoning_content": "hm"}, usage=spent)
    with LoopbackServer(answer) as server:
        reply = await ask(name, server)
    usage = Usage(calls=1, prompt=11, cached=4, completion=5, reasoning=2)
    assert reply == Reply(text="fine", reasoning="hm", usage=usage)


async def test_the_request_says_what_was_asked_and_nothing_else(name: str) -> None:
    decoding = Decoding(temperature=0.5, seed=3, max_tokens=17)
    messages = (Message(role="system", content="Be <system> strict."), QUESTION)
    with LoopbackServer(chat("fine")) as server:
        await ask(name, server, ChatRequest(messages=messages, decoding=decoding))
        received = server.requests[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.body == {
        "model": "loop",
        "messages": [
            {"role": "system", "content": "Be <system> strict."},
            {"role": "user", "content": "Judge this."},
        ],
        "temperature": 0.5,
        "seed": 3,
        "max_tokens": 17,
    }


async def test_a_server_of_ones_own_is_shown_a_placeholder_without_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with LoopbackServer(chat("fine")) as server:
        await ask("openai/loop", server)
        assert server.requests[0].headers["authorization"] == "Bearer none-needed"


@pytest.mark.parametrize(
    ("sent", "finish"),
    [
        ("stop", Finish.STOP),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.REFUSAL),
        ("eos_of_a_sort", Finish.STOP),
    ],
)
async def test_the_finish_reason_is_translated(name: str, sent: str, finish: Finish) -> None:
    with LoopbackServer(chat("some", finish=sent)) as server:
        reply = await ask(name, server)
    assert (reply.text, reply.finish) == ("some", finish)


async def test_a_refusal_is_a_finish_and_its_words_are_the_text(name: str) -> None:
    with LoopbackServer(chat(None, message={"refusal": "I will not."})) as server:
        reply = await ask(name, server)
    assert (reply.text, reply.finish) == ("I will not.", Finish.REFUSAL)


@pytest.mark.parametrize("text", ["", None])
async def test_an_empty_reply_is_a_reply(name: str, text: str | None) -> None:
    with LoopbackServer(chat(text)) as server:
        reply = await ask(name, server)
    assert (reply.text, reply.finish) == ("", Finish.STOP)


async def test_log_probabilities_are_asked_for_and_read(name: str) -> None:
    rivals = [{"token": "Good", "logprob": -0.1, "bytes": None}]
    token = {"token": "Good", "logprob": -0.1, "bytes": None, "top_logprobs": rivals}
    answer = chat("Good", logprobs={"content": [token], "refusal": None})
    with LoopbackServer(answer) as server:
        request = ChatRequest(messages=(QUESTION,), decoding=Decoding(logprobs=2))
        reply = await ask(name, server, request)
        body = server.requests[0].body
    assert (body["logprobs"], body["top_logprobs"]) == (True, 2)
    assert reply.logprobs == (TokenLogprob(token="Good", logprob=-0.1, top={"Good": -0.1}),)


async def test_tools_are_offered_called_and_answered(name: str) -> None:
    called = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    call = ToolCall(call_id="c1", name="look_up", arguments="{}")
    with LoopbackServer(chat(None, message={"tool_calls": [called]})) as server:
        request = ChatRequest(messages=(QUESTION,), tools=(LOOKUP,))
        reply = await ask(name, server, request)
        answered = (
            QUESTION,
            Message(role="assistant", content="", tool_calls=(call,)),
            Message(role="tool", content="nothing", call_id="c1"),
        )
        await ask(name, server, ChatRequest(messages=answered, tools=(LOOKUP,)))
        first, second = server.requests
    assert (reply.finish, reply.tool_calls) == (Finish.TOOL_CALLS, (call,))
    function = {
        "name": "look_up",
        "description": "Find a passage.",
        "parameters": {"type": "object", "properties": {"words": {"type": "string"}}},
    }
    assert first.body["tools"] == [{"type": "function", "function": function}]
    assert second.body["messages"] == [
        {"role": "user", "content": "Judge this."},
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "content": "nothing", "tool_call_id": "c1"},
    ]


async def test_a_grammar_goes_where_the_server_looks_for_it() -> None:
    request = ChatRequest(messages=(QUESTION,), decoding=Decoding(grammar='root ::= "a"'))
    llama_cpp = await wire("openai/loop", request)
    vllm = await wire("hosted_vllm/loop", request)
    assert llama_cpp["grammar"] == 'root ::= "a"'
    assert vllm["structured_outputs"] == {"grammar": 'root ::= "a"'}


@pytest.mark.parametrize(
    "request_",
    [
        ChatRequest(messages=(QUESTION,), decoding=Decoding(grammar='root ::= "a"')),
        ChatRequest(messages=(QUESTION,), prefix="Score:"),
    ],
    ids=["grammar", "prefix"],
)
async def test_what_a_provider_cannot_do_is_refused_before_it_is_asked(
    request_: ChatRequest,
) -> None:
    async with open_litellm("openai/gpt-4o", options=ModelOptions()) as model:
        with pytest.raises(PermanentModelError, match=r"openai (takes no|cannot)"):
            await model.complete(request_)


@pytest.mark.parametrize("repeated", [True, False])
async def test_a_reply_continues_from_its_prefix_without_repeating_it(
    name: str, *, repeated: bool
) -> None:
    said = "Score: Good" if repeated else " Good"
    with LoopbackServer(chat(said)) as server:
        reply = await ask(name, server, ChatRequest(messages=(QUESTION,), prefix="Score:"))
        body = server.requests[0].body
    assert reply.text == " Good"
    assert body["messages"] == [
        {"role": "user", "content": "Judge this."},
        {"role": "assistant", "content": "Score:"},
    ]
    assert body["continue_final_message"] is True
    assert body["add_generation_prompt"] is False


async def test_a_provider_with_words_of_its_own_gets_those_and_is_spared_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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


async def test_lone_surrogates_neither_stop_a_request_nor_come_back(name: str) -> None:
    with LoopbackServer(chat("odd \ud83d reply")) as server:
        message = Message(role="user", content="odd \ud800 text, \ud83d\ude00")
        reply = await ask(name, server, ChatRequest(messages=(message,)))
        body = server.requests[0].body
    assert body["messages"] == [{"role": "user", "content": "odd \ufffd text, \U0001f600"}]
    assert reply.text == "odd \ufffd reply"


async def test_ollama_is_asked_through_its_chat_api() -> None:
    said = {"message": {"role": "assistant", "content": "fine"}, "done": True, "model": "loop"}
    counts = {"prompt_eval_count": 7, "eval_count": 3}
    with LoopbackServer(ollama({**said, **counts})) as server:
        address = server.base_url.removesuffix("/v1")
        async with open_litellm("ollama/loop", options=ModelOptions(base_url=address)) as model:
            reply = await model.complete(REQUEST)
            assert model.signature.startswith("ollama_chat/loop|litellm:")
        assert server.requests[0].path == "/api/chat"
    assert (reply.text, reply.usage.prompt, reply.usage.completion) == ("fine", 7, 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_will_fail_again_is_permanent(name: str, status: int) -> None:
    error = await failing(name, failure(status, "not like this"))
    assert type(error) is PermanentModelError
    assert f"status {status}" in str(error)
    assert "not like this" in str(error)


@pytest.mark.parametrize("status", [409, 429, 500, 502, 503, 529])
async def test_what_may_pass_is_transient(name: str, status: int) -> None:
    error = await failing(name, failure(status))
    assert type(error) is TransientModelError
    assert error.retry_after is None


async def test_a_gateway_time_out_of_the_server_is_a_time_out(name: str) -> None:
    assert isinstance(await failing(name, failure(408)), ModelTimeoutError)


async def test_a_policy_s_refusal_is_a_refusal(name: str) -> None:
    error = await failing(name, failure(400, "content_policy_violation: we do not do that"))
    assert isinstance(error, ModelRefusedError)


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_read_in_seconds_and_as_a_date(name: str, status: int) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    for said, least, most in (("7", 7.0, 7.0), (later, 60.0, 91.0), ("soon", None, None)):
        error = await failing(name, failure(status, retry_after=said))
        assert isinstance(error, TransientModelError)
        if least is None or most is None:
            assert error.retry_after is None
        else:
            assert error.retry_after is not None
            assert least <= error.retry_after <= most


@pytest.mark.parametrize(
    "answer",
    [
        EMPTY_CHOICES,
        HALF_BODY,
        HTML,
        NO_MESSAGE,
        Answer(body="[1]"),
        Answer(body=""),
        Answer(body='{"choices": "none"}'),
    ],
    ids=["no-choice", "half", "html", "no-message", "list", "nothing", "nonsense"],
)
async def test_a_body_that_is_no_completion_is_transient(name: str, answer: Answer) -> None:
    error = await failing(name, answer)
    assert type(error) is TransientModelError
    assert "Traceback" not in str(error)
    assert len(str(error)) < 600


async def test_a_connection_that_breaks_is_transient(name: str) -> None:
    error = await failing(name, RESET)
    assert type(error) is TransientModelError


async def test_a_server_that_is_not_there_is_transient_and_named(name: str) -> None:
    url = unreachable_url()
    async with open_litellm(name, options=ModelOptions(base_url=url)) as model:
        with pytest.raises(TransientModelError, match=url):
            await model.complete(REQUEST)


async def test_a_trickle_without_end_is_cut_off_by_the_gateway(name: str) -> None:
    with LoopbackServer(TRICKLE) as server:
        options = ModelOptions(base_url=server.base_url, timeout=0.3, attempts=1)
        async with open_litellm(name, options=options) as model:
            with pytest.raises(ModelTimeoutError, match=r"no complete reply within 0\.3 s"):
                await Gateway(model, options=options).complete(REQUEST)


async def test_the_gateway_tries_again_after_what_the_server_asked_for(name: str) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    with LoopbackServer(failure(429, retry_after="9"), HALF_BODY, chat("fine")) as server:
        options = ModelOptions(base_url=server.base_url)
        async with open_litellm(name, options=options) as model:
            gate = Gateway(model, options=options, sleep=sleep)
            assert (await gate.complete(REQUEST)).text == "fine"
        assert len(server.requests) == 3
    assert 9.0 <= pauses[0] <= 10.0
    assert len(pauses) == 2


async def test_no_key_comes_out(
    name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with LoopbackServer(ECHO_KEY) as server:
        options = ModelOptions(base_url=server.base_url)
        async with open_litellm(name, options=options) as model:
            with pytest.raises(PermanentModelError) as caught:
                await model.complete(REQUEST)
            told = [repr(caught.value), repr(model), model.signature]
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    out, err = capfd.readouterr()
    for text in [*told, caplog.text, out, err, "".join(format_exception(caught.value))]:
        assert KEY not in text
    assert "Incorrect API key provided: Bearer [hidden]" in told[0]


async def test_credentials_in_the_address_are_refused_and_not_repeated() -> None:
    options = ModelOptions(base_url="http://me:pass-word-9@127.0.0.1:1/v1")
    with pytest.raises(ConfigError, match="into the environment") as caught:
        async with open_litellm("openai/loop", options=options):
            pytest.fail("opened")
    assert "pass-word-9" not in str(caught.value)


async def test_an_unknown_name_is_refused_when_it_is_opened() -> None:
    with pytest.raises(ConfigError, match="unknown model 'gibberish'"):
        async with open_litellm("gibberish", options=ModelOptions()):
            pytest.fail("opened")


async def test_the_signature_names_the_model_but_not_where_it_is_served(name: str) -> None:
    signatures = set()
    for url in ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"):
        async with open_litellm(name, options=ModelOptions(base_url=url)) as model:
            assert isinstance(model, ChatModel)
            signatures.add(model.signature)
    assert len(signatures) == 1
    assert signatures.pop().startswith(f"{name}|litellm:")


async def test_a_cancelled_call_stops_at_once(name: str) -> None:
    with LoopbackServer(TRICKLE) as server:
        async with open_litellm(name, options=ModelOptions(base_url=server.base_url)) as model:
            with anyio.move_on_after(0.3) as scope:
                await model.complete(REQUEST)
    assert scope.cancelled_caught


async def test_two_open_models_close_one_by_one(name: str) -> None:
    with LoopbackServer(chat("fine")) as server:
        options = ModelOptions(base_url=server.base_url)
        async with open_litellm(name, options=options) as first:
            async with open_litellm(name, options=options) as second:
                await second.complete(REQUEST)
            assert (await first.complete(REQUEST)).text == "fine"


def test_one_process_can_run_again_and_again_and_leaves_nothing_open(name: str) -> None:
    with LoopbackServer(chat("fine")) as server:
        for _ in range(3):
            assert anyio.run(ask, name, server).text == "fine"
    gc.collect()  # what was left open would warn now, and warnings are errors


def test_under_trio_it_says_that_it_needs_asyncio() -> None:
    async def main() -> None:
        async with open_litellm("openai/loop", options=ModelOptions(base_url="http://x/v1")):
            pytest.fail("opened")

    with pytest.raises(ConfigError, match="needs asyncio"):
        anyio.run(main, backend="trio")


def ollama(body: Mapping[str, object]) -> Answer:
    return Answer(body=json.dumps(body))
