"""A key that a server gives back is masked before anyone gets to see it."""

import base64
from asyncio import CancelledError  # noqa: TID251 - what others' code may let out
from dataclasses import dataclass

import pytest
from loopback.answers import ECHO_KEY, chat
from loopback.lanes import KEY
from loopback.server import LoopbackServer

from spanjury.adapters.models.scrubbed_model import ScrubbedModel
from spanjury.judges.core import (
    ChatRequest,
    Message,
    ModelError,
    PermanentModelError,
    Reply,
    TokenLogprob,
    ToolCall,
    TransientModelError,
)
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.models import open_model
from spanjury.testing import ScriptedModel

SECRET = "Riv3r-St0ne/42"
REQUEST = ChatRequest(messages=(Message(role="user", content=f"a text with {SECRET}"),))


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", SECRET)


async def through_scrubber(reply: Reply) -> Reply:
    return await ScrubbedModel(ScriptedModel(reply)).complete(REQUEST)


async def test_every_part_of_a_reply_is_scrubbed() -> None:
    encoded = base64.b64encode(SECRET.encode()).decode()
    call = ToolCall(call_id=SECRET, name=SECRET.lower(), arguments=f'{{"q": "{encoded}"}}')
    reply = await through_scrubber(
        Reply(text=f"a {SECRET} b", reasoning=" ".join(SECRET), tool_calls=(call,))
    )
    assert (reply.text, reply.reasoning) == ("a [hidden] b", "[hidden]")
    [call] = reply.tool_calls
    assert (call.call_id, call.name) == ("[hidden]", "[hidden]")
    assert SECRET.encode().hex() not in repr(reply)
    assert encoded[:10] not in call.arguments


async def test_tokens_that_spell_a_secret_are_masked_and_the_others_stay() -> None:
    pieces = ("Score", " 4", " Riv3r", "-St0", "ne/", "42", ".")
    tokens = tuple(TokenLogprob(token=piece, logprob=-1, top={piece: -1}) for piece in pieces)
    reply = await through_scrubber(Reply(text="4", logprobs=tokens))
    assert [token.token for token in reply.logprobs] == ["Score", " 4", *["[hidden]"] * 4, "."]
    assert [token.logprob for token in reply.logprobs] == [-1] * len(pieces)
    assert reply.logprobs[2].top == {}
    assert reply.logprobs[1] is tokens[1]


async def test_an_honest_reply_and_the_request_stay_as_they_are() -> None:
    model, reply = ScriptedModel(Reply(text="fine")), Reply(text="fine")
    assert await ScrubbedModel(model).complete(REQUEST) == reply
    assert model.requests == (REQUEST,)
    assert ScrubbedModel(model).signature == model.signature


@dataclass(frozen=True)
class Strange:
    """A model of another package, which raises or returns anything."""

    says: object
    signature: str = "strange"

    async def complete(self, request: ChatRequest) -> Reply:
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says  # type: ignore[return-value]  # another's code


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        (None, "the model returned None, not a Reply"),
        ("Good", "the model returned 'Good', not a Reply"),
        (Reply(text="Good", usage=None), "not a Reply with its Usage"),  # type: ignore[arg-type]  # as above
        (ValueError(f"no {SECRET}"), r"own code failed: ValueError\('no \[hidden\]'\)"),
        (SystemExit(3), r"own code failed: SystemExit\(3\)"),
        (CancelledError(), "it awaited a task that was cancelled"),
    ],
)
async def test_a_broken_model_fails_as_a_model_and_no_judge_is_blamed(
    says: object, reason: str
) -> None:
    with pytest.raises(PermanentModelError, match=reason):
        await ScrubbedModel(Strange(says)).complete(REQUEST)


async def test_an_error_stays_the_error_that_it_is() -> None:
    error = TransientModelError(f"no, {SECRET.upper()}", retry_after=7)
    with pytest.raises(TransientModelError) as caught:
        await ScrubbedModel(ScriptedModel(error)).complete(REQUEST)
    assert (str(caught.value), caught.value.retry_after) == ("no, [hidden]", 7)


@pytest.mark.asyncio_only
@pytest.mark.parametrize(
    "name", ["openai-compatible/judge", pytest.param("openai/judge", marks=pytest.mark.heavy)]
)
async def test_all_models_are_opened_behind_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    with LoopbackServer(chat(f"I was shown {KEY.upper()}."), ECHO_KEY) as server:
        config = ModelConfig(name=name, base_url=server.base_url, attempts=1)
        async with open_model(config) as model:
            reply = await model.complete(REQUEST)
            with pytest.raises(ModelError) as caught:
                await model.complete(REQUEST)
        assert reply.text == "I was shown [hidden]."
        assert KEY not in str(caught.value)


@pytest.mark.asyncio_only
async def test_an_address_may_come_from_a_variable_and_stays_out_of_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LoopbackServer(ECHO_KEY) as server:
        secret = server.base_url.replace("/v1", "/k3y-4711-abcd-efgh-1234/sk-abcdefgh12345678")
        monkeypatch.setenv("JUDGE_ADDRESS", secret)
        config = ModelConfig(name="openai-compatible/judge", base_url="env:JUDGE_ADDRESS")
        async with open_model(config) as model:
            with pytest.raises(ModelError) as caught:
                await model.complete(REQUEST)
        assert server.requests[0].path.endswith("/sk-abcdefgh12345678/chat/completions")
    assert "sk-abcdefgh" not in str(caught.value)
