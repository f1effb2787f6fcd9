"""A source that is asked about again is marked for servers that keep marked beginnings only."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from loopback.answers import Answer, chat
from loopback.server import LoopbackServer

from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.judges.core import ChatRequest, Message, ModelOptions, Segment, Usage
from spanjury.judges.core.keys import canonical
from spanjury.judges.llm.prompt import PromptOptions, PromptWriter
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text import defused

pytestmark = pytest.mark.anyio

LONG = "It rained in Halvern, and the river rose. " * 120
REPLY = Answer(
    body=json.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [{"type": "text", "text": "Good"}],
            "stop_reason": "end_turn",
            "usage": {
                "input_tokens": 20,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 1500,
                "output_tokens": 4,
            },
        }
    )
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-for-no-server-at-all")
    with LoopbackServer(REPLY) as server:
        yield server


def request_about(source: str, output: str) -> ChatRequest:
    aspect = Catalogue.load().aspect("summarization", "consistency")
    segment = Segment(
        segment_id="1",
        system="s",
        task="summarization",
        inputs={"Article": source},
        output=output,
    )
    return ChatRequest(messages=PromptWriter(PromptOptions()).write(segment, aspect).messages)


def marked(server: LoopbackServer) -> list[list[dict[str, Any]]]:
    """Return the blocks of the first message of each request that have a mark."""
    contents: list[Sequence[dict[str, Any]]] = []
    for received in server.requests:
        messages: Any = received.body["messages"]
        contents.append(messages[0]["content"])
    return [[block for block in blocks if "cache_control" in block] for blocks in contents]


async def test_the_second_request_about_a_source_marks_it(anthropic: LoopbackServer) -> None:
    requests = [request_about(LONG, f"It rained {number}.") for number in range(3)]
    options = ModelOptions(base_url=anthropic.base_url)
    async with open_litellm("anthropic/claude-sonnet-4-5", options=options) as model:
        replies = [await model.complete(request) for request in requests]
    first, *later = marked(anthropic)
    assert not first
    assert len(later) == 2
    for (block,) in later:
        assert block["cache_control"] == {"type": "ephemeral"}
        assert LONG.strip() in block["text"]
        assert "It rained 1." not in block["text"]
    assert replies[0].usage == Usage(calls=1, prompt=1520, cached=1500, completion=4)


async def test_the_blocks_of_a_marked_prompt_are_the_prompt(anthropic: LoopbackServer) -> None:
    request = request_about(LONG, "It rained.")
    options = ModelOptions(base_url=anthropic.base_url)
    async with open_litellm("anthropic/claude-sonnet-4-5", options=options) as model:
        for _ in range(2):
            await model.complete(request)
    messages: Any = anthropic.requests[-1].body["messages"]
    text = "".join(block["text"] for block in messages[0]["content"])
    assert text == request.messages[-1].content


@pytest.mark.parametrize(("source", "again"), [("It rained.", True), (LONG, False)])
async def test_a_short_source_and_one_of_a_single_request_are_not_marked(
    anthropic: LoopbackServer, source: str, again: bool
) -> None:
    other = source if again else LONG.replace("rain", "snow")
    options = ModelOptions(base_url=anthropic.base_url)
    async with open_litellm("anthropic/claude-sonnet-4-5", options=options) as model:
        for each in (source, other):
            await model.complete(request_about(each, "It rained."))
    assert not any(marked(anthropic))


async def test_servers_that_keep_prompts_by_themselves_are_sent_plain_text() -> None:
    with LoopbackServer(chat("Good")) as server:
        options = ModelOptions(base_url=server.base_url)
        async with open_litellm("hosted_vllm/judge", options=options) as model:
            for _ in range(2):
                await model.complete(request_about(LONG, "It rained."))
        messages: Any = server.requests[-1].body["messages"]
    assert isinstance(messages[-1]["content"], str)


def test_what_prompts_share_is_in_no_key() -> None:
    request = request_about(LONG, "It rained.")
    bare = tuple(
        Message(role=message.role, content=message.content) for message in request.messages
    )
    assert request.messages[-1].shared
    assert canonical(request) == canonical(ChatRequest(messages=bare))


async def test_tokens_that_are_taken_apart_move_the_end_of_the_source() -> None:
    class Listener:
        signature = "listener"

        def __init__(self) -> None:
            self.requests: list[ChatRequest] = []

        async def complete(self, request: ChatRequest) -> Any:  # noqa: ANN401  it is never read
            self.requests.append(request)
            raise LookupError

    listener = Listener()
    with pytest.raises(LookupError):
        await defused(listener).complete(request_about(f"<|im_end|> {LONG}", "It rained."))
    (message,) = listener.requests[0].messages[1:]
    assert message.content[: message.shared].rstrip().endswith("Article: end")
