"""Failures of every adapter of an OpenAI-compatible server: the same errors, and no key in them."""

import json
import logging
from dataclasses import replace
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
    completion_with,
    failure,
)
from loopback.lanes import KEY, QUESTION, REQUEST, Lane, ask, failing, said_by_llama_cpp
from loopback.server import LoopbackServer, unreachable_url

from spanjury.adapters.models.gateway import Gateway
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Decoding,
    FormRefusedError,
    Message,
    ModelError,
    ModelOptions,
    ModelRefusedError,
    ModelTimeoutError,
    OverloadedModelError,
    PermanentModelError,
    RateLimitedModelError,
    TransientModelError,
    UnusableModelError,
)

pytestmark = pytest.mark.asyncio_only


def _choices(value: object) -> Answer:
    return completion_with(choices=value)


def _first_message(value: object) -> Answer:
    return completion_with(choices=[{"message": value}])


def _usage(value: object) -> Answer:
    return completion_with(usage=value)


def _content(value: object) -> Answer:
    return chat(None, message={"content": value})


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, PermanentModelError),
        (401, UnusableModelError),
        (402, UnusableModelError),
        (403, UnusableModelError),
        (404, UnusableModelError),
        (405, UnusableModelError),
        (422, PermanentModelError),
    ],
)
async def test_a_failure_of_one_request_is_distinguished_from_one_of_every_request(
    lane: Lane, status: int, kind: type[PermanentModelError]
) -> None:
    error = await failing(lane, failure(status, "not like this"))
    assert type(error) is kind
    assert f"status {status}" in str(error)
    assert "not like this" in str(error)
    assert "searcher" not in str(error)


@pytest.mark.parametrize(
    ("status", "header"),
    [
        (400, "This model's maximum context length is 4096 tokens. However, you requested 9000."),
        (400, "request (30945 tokens) exceeds the available context size (4096 tokens)"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000"),
        (413, "Payload Too Large"),
    ],
)
async def test_an_overlong_source_is_named(lane: Lane, status: int, header: str) -> None:
    error = await failing(lane, failure(status, header))
    assert type(error) is PermanentModelError
    assert header[:40] in str(error)
    assert "longer than this model reads; the judge searcher reads long sources" in str(error)


@pytest.mark.parametrize(
    ("text", "tokens", "is_cut"),
    [
        pytest.param("word " * 6_000, 4096, True, id="to the context"),
        pytest.param("word " * 6_000, 2050, True, id="to half of it"),
        pytest.param("word " * 6_000, 4095, False, id="no context has so many"),
        pytest.param("word " * 6_000, 6144, False, id="enough for the text"),
        pytest.param("word " * 6_000, 514, False, id="no context is so small"),
        pytest.param(f"{' ' * 40}word\n" * 1_000, 2048, False, id="blanks are few tokens"),
    ],
)
async def test_a_prompt_that_the_server_cut_to_its_context_is_no_reply(
    lane: Lane, text: str, tokens: int, is_cut: bool
) -> None:
    request = replace(REQUEST, messages=(Message(role="user", content=text),))
    answer = chat("fine", usage={"prompt_tokens": tokens, "completion_tokens": 1})
    with LoopbackServer(answer) as server:
        if not is_cut:
            assert (await ask(lane, server, request)).text == "fine"
            return
        with pytest.raises(PermanentModelError, match=f"read only {tokens:,} tokens of the"):
            await ask(lane, server, request)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (409, TransientModelError),
        (429, RateLimitedModelError),
        (500, TransientModelError),
        (502, TransientModelError),
        (503, OverloadedModelError),
        (529, OverloadedModelError),
    ],
)
async def test_errors_that_may_pass_are_transient(
    lane: Lane, status: int, kind: type[TransientModelError]
) -> None:
    error = await failing(lane, failure(status))
    assert type(error) is kind
    assert isinstance(error, TransientModelError)
    assert error.retry_after is None


async def test_a_gateway_time_out_of_the_server_is_a_time_out(lane: Lane) -> None:
    assert isinstance(await failing(lane, failure(408)), ModelTimeoutError)


async def test_a_policy_s_refusal_is_a_refusal(lane: Lane) -> None:
    error = await failing(lane, failure(400, "content_policy_violation: we do not do that"))
    assert isinstance(error, ModelRefusedError)


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_is_read_in_seconds_and_as_a_date(lane: Lane, status: int) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(minutes=10), usegmt=True)
    never = later.replace(" 20", " 2000000000")
    unreadable = [(header, None, None) for header in ("soon", never)]
    for header, least, most in (("7", 7.0, 7.0), (later, 300.0, 601.0), *unreadable):
        error = await failing(lane, failure(status, retry_after=header))
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
async def test_a_body_that_is_no_completion_is_transient(lane: Lane, answer: Answer) -> None:
    error = await failing(lane, answer)
    assert type(error) is TransientModelError
    assert "Traceback" not in str(error)
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    "answer",
    [
        *map(_choices, [{}, "none", [None], [[]], [{}]]),
        *map(_first_message, [[], "hi", None]),
        *map(_usage, [[], "7", {"prompt_tokens": 7.5}]),
        *map(_content, [5, {}, ["hi"]]),
        chat(None, message={"tool_calls": [{"id": "c1"}]}),
        chat("fine", logprobs={"content": [{"token": "fine"}]}),
        chat("fine", message={"reasoning_content": {"text": "hm"}}),
        Answer(body="[" * 100_000),
        Answer(body='{"choices": ' + "9" * 5_000 + "}"),
        Answer(body=chat("fine").body + "}"),
        Answer(status=204, body=""),
    ],
)
async def test_a_body_of_another_shape_is_transient(lane: Lane, answer: Answer) -> None:
    assert type(await failing(lane, answer)) is TransientModelError


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("out of memory", PermanentModelError),
        ({"message": "no such model"}, PermanentModelError),
        ({"message": "slower", "code": 429}, RateLimitedModelError),
        ({"message": "slower", "code": "rate_limit_exceeded"}, TransientModelError),
        ({"message": "who?", "code": 401}, UnusableModelError),
    ],
)
async def test_a_failure_is_one_also_with_status_200(
    lane: Lane, error: object, expected: type[ModelError]
) -> None:
    assert type(await failing(lane, Answer(body=json.dumps({"error": error})))) is expected


@pytest.mark.parametrize("finish", ["error", "abort"])
async def test_a_reply_that_the_server_gave_up_is_an_outage_of_it(lane: Lane, finish: str) -> None:
    assert type(await failing(lane, chat("Half a loa", finish=finish))) is TransientModelError


async def test_a_failure_within_a_choice_is_raised_with_its_message() -> None:
    lane = Lane(name="openai-compatible/loop", plugin="openai-compatible")
    lost = {"code": 502, "message": f"the provider of {KEY} is lost"}
    choice = {"message": {"content": ""}, "finish_reason": "error", "error": lost}
    error = await failing(lane, _choices([choice]))
    assert (type(error), error.status) == (TransientModelError, 502)
    assert "the provider of" in str(error)
    assert KEY not in str(error)


async def test_a_connection_that_breaks_is_transient(lane: Lane) -> None:
    error = await failing(lane, RESET)
    assert type(error) is TransientModelError


async def test_a_server_that_is_not_there_is_transient_and_named(lane: Lane) -> None:
    url = unreachable_url()
    async with lane.open(lane.name, options=ModelOptions(base_url=url)) as model:
        with pytest.raises(TransientModelError) as raised:
            await model.complete(REQUEST)
    address = url.removeprefix("http://").removesuffix("/v1")
    problem = f"{url}: cannot connect to {address}: connection refused"
    assert str(raised.value).endswith(problem)


async def test_a_trickle_without_end_is_cut_off_by_the_gateway(lane: Lane) -> None:
    with LoopbackServer(TRICKLE) as server:
        options = ModelOptions(base_url=server.base_url, timeout=0.3, attempts=1)
        async with lane.open(lane.name, options=options) as model:
            with pytest.raises(ModelTimeoutError, match=r"no complete reply within 0\.3 s"):
                await Gateway(model, options=options).complete(REQUEST)


async def test_the_gateway_tries_again_after_what_the_server_asked_for(lane: Lane) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    with LoopbackServer(failure(429, retry_after="9"), HALF_BODY, chat("fine")) as server:
        options = ModelOptions(base_url=server.base_url)
        async with lane.open(lane.name, options=options) as model:
            gate = Gateway(model, options=options, sleep=sleep)
            assert (await gate.complete(REQUEST)).text == "fine"
        assert len(server.requests) == 3
    assert 9.0 <= pauses[0] <= 10.0
    assert len(pauses) == 2


async def test_no_key_comes_out(
    lane: Lane, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with LoopbackServer(ECHO_KEY) as server:
        options = ModelOptions(base_url=server.base_url)
        async with lane.open(lane.name, options=options) as model:
            with pytest.raises(PermanentModelError) as caught:
                await model.complete(REQUEST)
            shown = [repr(caught.value), repr(model), model.signature]
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    out, err = capfd.readouterr()
    for text in [*shown, caplog.text, out, err, "".join(format_exception(caught.value))]:
        assert KEY not in text
    assert "Incorrect API key provided: Bearer [hidden]" in shown[0]


async def test_credentials_in_the_address_are_refused_and_not_repeated(lane: Lane) -> None:
    options = ModelOptions(base_url="http://me:pass-word-9@127.0.0.1:1/v1")
    with pytest.raises(ConfigError, match="into the environment") as caught:
        async with lane.open(lane.name, options=options):
            pytest.fail("opened")
    assert "pass-word-9" not in str(caught.value)


async def test_a_cancelled_call_stops_at_once(lane: Lane) -> None:
    with LoopbackServer(TRICKLE) as server:
        async with lane.open(lane.name, options=ModelOptions(base_url=server.base_url)) as model:
            with anyio.move_on_after(0.3) as scope:
                await model.complete(REQUEST)
    assert scope.cancelled_caught


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (ChatRequest(messages=(QUESTION,), decoding=Decoding(grammar="root ::= (")), "grammar"),
        (ChatRequest(messages=(replace(QUESTION, content="word " * 5000),)), "context size"),
    ],
    ids=["grammar", "length"],
)
async def test_llama_cpp_refuses_the_same_in_every_lane(
    request_: ChatRequest, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in await said_by_llama_cpp(request_, monkeypatch):
        by_form = request_.form != "text"
        assert type(error) is (FormRefusedError if by_form else PermanentModelError)
        assert words in str(error)
