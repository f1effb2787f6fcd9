"""A line of a batch file asks what a call sends, and sources that are asked again are marked."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from loopback.answers import Answer, chat, failure
from loopback.server import LoopbackServer

from spanjury.adapters.models.batch_files import BatchModel, RequestFile, WrittenModel, read_answers
from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.litellm_model import open_litellm
from spanjury.judges.core import (
    ChatRequest,
    DataError,
    Decoding,
    FormRefusedError,
    Message,
    ModelError,
    ModelOptions,
    PermanentModelError,
    ReplySchema,
    Segment,
    StoreError,
    TransientModelError,
    UnusableModelError,
    Usage,
)
from spanjury.judges.core.keys import canonical
from spanjury.judges.llm.prompt import PromptOptions, PromptWriter
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text import defused

pytestmark = pytest.mark.asyncio_only

ASKED = (Message(role="system", content="Judge."), Message(role="user", content="A “text”."))
SCHEMA = ReplySchema(
    name="report", text='{"type":"object","properties":{},"additionalProperties":false}'
)
REQUESTS = [
    ChatRequest(messages=ASKED),
    ChatRequest(messages=ASKED, decoding=Decoding(seed=7, logprobs=5, max_tokens=64)),
    ChatRequest(messages=ASKED, decoding=Decoding(schema=SCHEMA)),
    ChatRequest(messages=ASKED, decoding=Decoding(reasoning="low")),
    ChatRequest(messages=ASKED, prefix="Error 1:"),
]
OPENERS = {
    "openai-compatible/judge": open_fast,
    "openai/judge": open_litellm,
    "hosted_vllm/judge": open_litellm,
}
LOGPROBS = {"content": [{"token": "Good", "logprob": -0.25, "top_logprobs": []}]}
COMPLETION = json.loads(chat("Good", logprobs=LOGPROBS).body)
EXPIRED = {"code": "batch_expired", "message": "not in time"}
VLLM_ERROR = {"error": {"message": "too long", "type": "BadRequestError", "code": 400}}
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


@pytest.mark.parametrize("name", OPENERS)
@pytest.mark.parametrize("request_", REQUESTS)
async def test_a_line_asks_what_a_call_sends(name: str, request_: ChatRequest) -> None:
    with LoopbackServer(chat("Good")) as server:
        options = ModelOptions(base_url=server.base_url)
        async with OPENERS[name](name, options=options) as model:
            assert isinstance(model, WrittenModel)
            line = json.loads(await BatchModel(model, name).line("a-key", request_))
            assert not server.requests
            await model.complete(request_)
        assert line == {
            "custom_id": "a-key",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": server.requests[0].body,
        }


def answered(status: int | None = 200, body: object = None, error: object = None) -> bytes:
    response = None if status is None else {"status_code": status, "body": body}
    return json.dumps({"custom_id": "a-key", "response": response, "error": error}).encode()


async def test_a_reply_is_read_as_that_of_a_call_with_its_log_probabilities() -> None:
    asked = REQUESTS[1]
    with LoopbackServer(chat("Good", logprobs=LOGPROBS)) as server:
        options = ModelOptions(base_url=server.base_url)
        async with open_litellm("openai/judge", options=options) as model:
            assert isinstance(model, WrittenModel)
            live = await model.complete(asked)
            assert BatchModel(model, "judge").read(answered(body=COMPLETION), asked) == live
    assert [token.logprob for token in live.logprobs] == [-0.25]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (answered(None, error=EXPIRED), TransientModelError),
        (answered(200, error=EXPIRED), TransientModelError),
        (answered(500, json.loads(failure(500).body)), TransientModelError),
        (answered(400, json.loads(failure(400, "no").body)), PermanentModelError),
        (answered(400, None, VLLM_ERROR), PermanentModelError),
        (answered(404, json.loads(failure(404).body)), UnusableModelError),
    ],
)
async def test_a_failure_is_sorted_as_that_of_a_call(line: bytes, kind: type[ModelError]) -> None:
    options = ModelOptions(base_url="http://localhost:9/v1")
    async with open_fast("openai-compatible/judge", options=options) as model:
        assert isinstance(model, WrittenModel)
        with pytest.raises(ModelError) as raised:
            BatchModel(model, "judge").read(line, REQUESTS[0])
        assert type(raised.value) is kind
        if kind is PermanentModelError:
            with pytest.raises(FormRefusedError):
                BatchModel(model, "judge").read(line, REQUESTS[2])


async def test_a_secret_in_a_reply_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-which-none-may-see-1234")
    body = json.loads(chat("It is sk-which-none-may-see-1234.").body)
    options = ModelOptions(base_url="http://localhost:9/v1")
    async with open_fast("openai-compatible/judge", options=options) as model:
        assert isinstance(model, WrittenModel)
        reply = BatchModel(model, "judge").read(answered(body=body), REQUESTS[0])
    assert reply.text == "It is [hidden]."


@pytest.mark.parametrize(
    "line",
    [
        *(b"{", b"[]", b'{"custom_id": "a"}', b'{"custom_id": 3}', b"\xff"),
        answered(body={"choices": []}),
    ],
)
def test_a_line_that_is_no_answer_is_damaged(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(answered(body=COMPLETION) + b"\n\n" + line + b"\n")
    answers = read_answers(path)
    assert answers.damaged == [3]
    assert [*answers.lines] == ["a-key"]


def test_the_first_answer_to_a_request_counts_and_a_reply_before_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    lines: list[bytes] = [
        answered(None, error=EXPIRED),
        answered(body=COMPLETION),
        answered(body=COMPLETION),
        answered(None, error=EXPIRED),
    ]
    path.write_bytes(b"\n".join(lines))
    answers = read_answers(path)
    reply = answers.lines["a-key"].reply
    assert reply is not None
    assert json.loads(reply()) == json.loads(lines[1])
    assert answers.doubled == [3, 4]
    assert answers.errors == {"batch_expired": 1}


def test_a_file_that_is_not_there_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_answers(tmp_path / "absent.jsonl")


def test_a_file_of_requests_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    file = RequestFile(tmp_path / "new" / "requests.jsonl")
    file.write(b"{}")
    assert not file.path.exists()
    file.finish()
    assert file.path.read_bytes() == b"{}\n"
    other = RequestFile(file.path)
    other.write(b"[]")
    other.discard()
    assert [path.name for path in file.path.parent.iterdir()] == ["requests.jsonl"]


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        RequestFile(tmp_path / "file" / "requests.jsonl")


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
