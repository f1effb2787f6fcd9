"""vLLM in this process, by a stand-in: it says what the same weights say as a local model."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from fakes import vllm_engine
from fakes.tiny_chat import CONTEXT, save_chat_model

from spanjury.adapters.models.local_model import LocalModel, open_local
from spanjury.adapters.models.vllm_model import open_vllm
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Decoding,
    Finish,
    FormedModel,
    FormRefusedError,
    Message,
    ModelOptions,
    PermanentModelError,
    Reply,
    ReplySchema,
    TokenPrice,
)
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.models import listed_price, open_model

pytestmark = pytest.mark.usefixtures("offline_hub", "one_thread")

TEXTS = ("sat", "the cat sat down", "a dog. " * 5, "Judge this text! " * 7, "x")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_chat_model(tmp_path_factory.mktemp("vllm"))


@pytest.fixture
def _vllm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    vllm_engine.install(tmp_path / "site", monkeypatch)


def asked(text: str, *, decoding: Decoding | None = None) -> ChatRequest:
    return ChatRequest(
        messages=(Message(role="user", content=text),),
        decoding=decoding or Decoding(max_tokens=20),
    )


def held(schema: str) -> ChatRequest:
    form = ReplySchema(name="report", text=schema)
    return asked("sat", decoding=Decoding(max_tokens=20, schema=form))


@asynccontextmanager
async def opened(folder: str) -> AsyncIterator[ChatModel]:
    async with open_vllm(f"vllm/{folder}", options=ModelOptions()) as model:
        yield model


async def all_replies(
    model: ChatModel, requests: Sequence[ChatRequest]
) -> dict[int, Reply | Exception]:
    """Ask for all replies at once; return each, or what was raised in its place."""
    received: dict[int, Reply | Exception] = {}

    async def ask(number: int) -> None:
        try:
            received[number] = await model.complete(requests[number])
        except PermanentModelError as error:
            received[number] = error

    async with anyio.create_task_group() as asking:
        for number in range(len(requests)):
            asking.start_soon(ask, number)
    return received


@pytest.mark.usefixtures("_vllm")
async def test_it_says_what_the_same_weights_say_as_a_local_model(folder: str) -> None:
    scored = Decoding(max_tokens=6, logprobs=3)
    drawn = Decoding(max_tokens=6, temperature=1.0, seed=3)
    requests = [
        *map(asked, TEXTS),
        asked("sat", decoding=scored),
        asked("sat", decoding=drawn),
        replace(asked("sat"), prefix="the"),
        replace(asked("sat"), forced="the owl sat \u201cdown\u201d."),
    ]
    async with open_local(f"local/{folder}", options=ModelOptions()) as local:
        due = await all_replies(local, requests)
    async with opened(folder) as model:
        received = await all_replies(model, requests)
    for number, reply in due.items():
        assert isinstance(reply, Reply)
        other = received[number]
        assert isinstance(other, Reply)
        assert (other.text, other.finish, other.usage) == (reply.text, reply.finish, reply.usage)
        assert [token.token for token in other.logprobs] == [
            token.token for token in reply.logprobs
        ]
        for token, due_token in zip(other.logprobs, reply.logprobs, strict=True):
            assert token.logprob == pytest.approx(due_token.logprob, abs=1e-4)
            assert token.top.keys() == due_token.top.keys()


@pytest.mark.usefixtures("_vllm")
async def test_all_that_wait_go_to_the_engine_in_one_call(folder: str) -> None:
    requests = [asked(f"text {number} " * (number + 1)) for number in range(12)]
    async with opened(folder) as model:
        assert isinstance(model, LocalModel)
        (engine,) = vllm_engine.ENGINES
        engine.ready.clear()
        async with anyio.create_task_group() as asking:
            asking.start_soon(all_replies, model, requests)
            while sum(engine.calls) + len(model.worker._waiting) < len(requests):
                await anyio.wait_all_tasks_blocked()
            engine.ready.set()
    first, *others = engine.calls
    assert others in ([len(requests) - first], [])


@pytest.mark.usefixtures("_vllm")
async def test_a_reply_is_held_to_its_schema_or_grammar(folder: str) -> None:
    async with opened(folder) as model:
        assert isinstance(model, FormedModel)
        assert model.forms == {"bounded-schema", "schema", "grammar"}
        by_schema = await model.complete(held('{"type": "object"}'))
        by_grammar = await model.complete(
            asked("sat", decoding=Decoding(max_tokens=20, grammar='root ::= "a"'))
        )
    for reply in (by_schema, by_grammar):
        assert (reply.text, reply.finish) == (vllm_engine.OBJECT, Finish.STOP)


@pytest.mark.usefixtures("_vllm")
async def test_a_refused_schema_costs_the_others_of_its_call_nothing(folder: str) -> None:
    bad = held('{"type": "string", "pattern": "a+"}')
    async with opened(folder) as model:
        received = await all_replies(model, [*map(asked, TEXTS), bad])
    refused = received.pop(len(TEXTS))
    assert isinstance(refused, FormRefusedError)
    assert "vLLM refuses the request: the grammar backend" in str(refused)
    assert all(isinstance(reply, Reply) for reply in received.values())


@pytest.mark.usefixtures("_vllm")
async def test_a_failing_engine_and_a_long_prompt_are_errors_of_their_calls(folder: str) -> None:
    async with opened(folder) as model:
        with pytest.raises(PermanentModelError, match=f"the model takes {CONTEXT}"):
            await model.complete(asked("word " * CONTEXT))
        (engine,) = vllm_engine.ENGINES
        engine.broken = "EngineDeadError"
        with pytest.raises(PermanentModelError, match="vLLM failed: .*EngineDeadError"):
            await model.complete(asked("sat"))


@pytest.mark.usefixtures("_vllm")
async def test_the_signature_names_the_weights_and_the_version(folder: str, tmp_path: Path) -> None:
    other = save_chat_model(tmp_path / "other", seed=8)
    async with opened(folder) as model, opened(other) as second:
        assert model.signature.startswith("vllm|")
        assert f"vllm:{vllm_engine.VERSION}" in model.signature
        assert model.signature != second.signature


async def test_without_vllm_the_error_names_the_package(folder: str) -> None:
    with pytest.raises(ConfigError, match="vllm is not installed .*pip install 'vllm'"):
        async with opened(folder):
            pass


@pytest.mark.usefixtures("_vllm")
@pytest.mark.parametrize(
    ("name", "url", "message"),
    [
        ("vllm/x", "http://127.0.0.1", "takes no base URL"),
        ("vllm", None, "vllm/FOLDER"),
        ("vllm/no-such/model", None, "neither a folder"),
    ],
)
async def test_a_name_that_cannot_be_loaded_is_refused(
    name: str, url: str | None, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        async with open_vllm(name, options=ModelOptions(base_url=url)):
            pass


@pytest.mark.usefixtures("_vllm")
async def test_what_vllm_cannot_load_is_refused_in_its_words(folder: str, tmp_path: Path) -> None:
    odd = Path(save_chat_model(tmp_path / "odd"))
    (odd / "model.safetensors").rename(odd / "part.safetensors")
    with pytest.raises(ConfigError, match="vLLM cannot load .*no weights"):
        async with opened(str(odd)):
            pass
    (odd / "config.json").unlink()
    with pytest.raises(ConfigError, match="no whole model for vLLM"):
        async with opened(str(odd)):
            pass


@pytest.mark.usefixtures("_vllm")
async def test_a_panel_asks_it_by_its_name_and_pays_nothing(folder: str) -> None:
    described = ModelConfig(name=f"vllm/{folder}")
    async with open_model(described) as gateway:
        reply = await gateway.complete(asked("sat"))
        assert gateway.forms == {"bounded-schema", "schema", "grammar"}
    assert reply.usage.completion > 0
    assert listed_price(described) == TokenPrice(prompt=0.0, completion=0.0)


@pytest.mark.parametrize("name", ["vllm/judge", ModelConfig(name="vllm/judge")])
def test_a_panel_with_it_uses_a_gpu_and_keeps_large_batches_full(name: ModelConfig | str) -> None:
    panel = PanelConfig(models=(name,))
    assert panel.uses_gpu
    assert panel.connections == 256
    assert not PanelConfig(models=("hosted_vllm/judge", "local/judge")).uses_gpu
