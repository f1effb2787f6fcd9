"""A line of a batch file asks what a call sends, and its answer is read as that of a call."""

import json
from pathlib import Path

import pytest
from loopback.answers import chat, failure
from loopback.server import LoopbackServer

from spanjury.adapters.models.batch_files import (
    BatchModel,
    RequestFile,
    WrittenModel,
    read_answers,
)
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
    StoreError,
    TransientModelError,
    UnusableModelError,
)

pytestmark = pytest.mark.anyio

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


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


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


LOGPROBS = {"content": [{"token": "Good", "logprob": -0.25, "top_logprobs": []}]}
COMPLETION = json.loads(chat("Good", logprobs=LOGPROBS).body)
EXPIRED = {"code": "batch_expired", "message": "not in time"}
VLLM_ERROR = {"error": {"message": "too long", "type": "BadRequestError", "code": 400}}


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
