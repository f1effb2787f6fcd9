"""The local model: what it says, together or alone; who may leave; what it refuses."""

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
import torch
from fakes.tiny_chat import CONTEXT, save_chat_model
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

from spanjury.adapters.causal.attention import XFORMERS, register
from spanjury.adapters.causal.base import find_base
from spanjury.adapters.causal.writing import Prompt, Written, write
from spanjury.adapters.models import local_model
from spanjury.adapters.models.local_model import LocalModel, Worker, open_local
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Decoding,
    Finish,
    Message,
    ModelOptions,
    PermanentModelError,
    Reply,
    ToolSpec,
    Usage,
)

pytestmark = pytest.mark.usefixtures("offline_hub", "one_thread")

WORDS = ("sat", "the cat sat down", "a dog. " * 5, "Judge this text! " * 7, "x", "the the")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_chat_model(tmp_path_factory.mktemp("local"))


@asynccontextmanager
async def opened(folder: str) -> AsyncIterator[LocalModel]:
    async with open_local(f"local/{folder}", options=ModelOptions()) as model:
        assert isinstance(model, LocalModel)
        yield model


def request(text: str, *, max_tokens: int = 20, **decoding: Any) -> ChatRequest:  # noqa: ANN401
    return ChatRequest(
        messages=(Message(role="user", content=text),),
        decoding=Decoding(max_tokens=max_tokens, **decoding),
    )


async def replies(model: LocalModel, requests: Sequence[ChatRequest]) -> list[Reply]:
    received: dict[int, Reply] = {}

    async def ask(number: int) -> None:
        received[number] = await model.complete(requests[number])

    async with anyio.create_task_group() as asking:
        for number in range(len(requests)):
            asking.start_soon(ask, number)
    return [received[number] for number in range(len(requests))]


async def test_many_at_once_get_what_generate_gives_each_alone(folder: str) -> None:
    plain: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    due = []
    for text in WORDS:
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": text}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        ids = plain.generate(**prompt, max_new_tokens=20, do_sample=False)[0]
        due.append(tokenizer.decode(ids[prompt["input_ids"].shape[1] :], skip_special_tokens=True))
    async with opened(folder) as model:
        received = await replies(model, [request(text) for text in WORDS])
    assert [reply.text for reply in received] == due


async def test_a_drawn_reply_follows_its_own_seed_whoever_else_is_asked(folder: str) -> None:
    drawn = [request(text, temperature=1.0, seed=3) for text in WORDS]
    async with opened(folder) as model:
        together = await replies(model, drawn)
        alone = [await model.complete(token) for token in drawn]
        other = await model.complete(request(WORDS[0], temperature=1.0, seed=4))
        unseeded = await model.complete(request(WORDS[0], temperature=1.0))
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert len({alone[0].text, other.text, unseeded.text}) == 3


async def test_a_reply_ends_at_the_end_token_or_at_its_length(folder: str, tmp_path: Path) -> None:
    async with opened(folder) as model:
        cut = await model.complete(request("sat", max_tokens=5))
    assert cut.finish is Finish.LENGTH
    assert (cut.usage.calls, cut.usage.completion) == (1, 5)
    assert cut.usage.prompt > 5
    ending = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    second = tokenizer(cut.text, add_special_tokens=False)["input_ids"][1]
    ending.generation_config.eos_token_id = [tokenizer.eos_token_id, second]
    ending.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    async with opened(str(tmp_path)) as model:
        whole = await model.complete(request("sat", max_tokens=5))
    assert whole.finish is Finish.STOP
    assert whole.usage.completion == 2
    assert cut.text.startswith(whole.text)


async def test_log_probabilities_are_returned_where_they_are_requested(folder: str) -> None:
    async with opened(folder) as model:
        scored, plain = await replies(
            model, [request("sat", logprobs=3, max_tokens=4), request("sat", max_tokens=4)]
        )
    assert scored.text == plain.text == "".join(token.token for token in scored.logprobs)
    assert plain.logprobs == ()
    for token in scored.logprobs:
        assert len(token.top) <= 3
        assert token.top[token.token] == token.logprob == max(token.top.values()) <= 0.0


async def test_a_forced_reply_has_the_log_probabilities_of_its_tokens(folder: str) -> None:
    plain: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    forced = "the owl sat \u201cdown\u201d."
    shown = tokenizer.apply_chat_template(
        [{"role": "user", "content": "sat"}], add_generation_prompt=True, tokenize=False
    )
    before = tokenizer(shown, add_special_tokens=False)["input_ids"]
    own = tokenizer(forced, add_special_tokens=False)["input_ids"]
    due = 0.0
    with torch.inference_mode():
        for number, token in enumerate(own):  # one at a time, as it would be drawn
            logits = plain(input_ids=torch.tensor([before + own[:number]])).logits[0, -1]
            due += float(logits.log_softmax(dim=-1)[token])
    async with opened(folder) as model:
        drawn, reply = await replies(
            model, [request("sat"), replace(request("sat"), forced=forced)]
        )
    assert drawn.text != reply.text == forced
    assert "".join(asked.token for asked in reply.logprobs) == forced
    assert len(reply.logprobs) < len(own)  # a quotation mark is three bytes, and one entry
    assert sum(asked.logprob for asked in reply.logprobs) == pytest.approx(due, abs=1e-3)
    assert reply.usage == Usage(calls=1, prompt=len(before) + len(own))


async def test_a_forced_reply_must_fit_behind_its_prompt(folder: str) -> None:
    async with opened(folder) as model:
        with pytest.raises(PermanentModelError, match=f"the model takes {CONTEXT}"):
            await model.complete(replace(request("sat"), forced="x " * CONTEXT))


async def test_a_prefix_is_gone_on_from_and_not_repeated(folder: str) -> None:
    async with opened(folder) as model:
        whole = await model.complete(request("sat", max_tokens=10))
        started = replace(request("sat", max_tokens=8), prefix=whole.text[:1])
        rest = await model.complete(started)
    assert not rest.text.startswith(whole.text[:1])
    assert rest.usage.prompt > whole.usage.prompt


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (replace(request("a"), tools=(ToolSpec(name="t", description="d"),)), "takes no tools"),
        (request("a", grammar='root ::= "a"'), "no schema or grammar"),
        (ChatRequest(messages=(Message(role="tool", content="a", call_id="1"),)), "calls of tools"),
        (request("word " * CONTEXT), rf"tokens, and the model takes {CONTEXT}"),
    ],
)
async def test_odd_requests_are_refused(asked: ChatRequest, message: str, folder: str) -> None:
    async with opened(folder) as model:
        with pytest.raises(PermanentModelError, match=message):
            await model.complete(asked)


async def test_a_reply_goes_no_further_than_the_context(folder: str) -> None:
    async with opened(folder) as model:
        reply = await model.complete(request("the cat " * 100, max_tokens=10_000))
    assert reply.finish is Finish.LENGTH
    assert reply.usage.prompt + reply.usage.completion == CONTEXT


async def test_a_caller_that_leaves_costs_the_others_nothing(folder: str) -> None:
    async with opened(folder) as model:
        alone = await model.complete(request("sat", max_tokens=60))
        async with anyio.create_task_group() as asking:

            async def leave() -> None:
                with anyio.move_on_after(0.02):
                    await model.complete(request("the sat", max_tokens=200))

            asking.start_soon(leave)
            together = await model.complete(request("sat", max_tokens=60))
    assert together.text == alone.text


async def test_a_batch_over_memory_is_halved(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(folder) as model:
        due = await replies(model, [request(text) for text in WORDS])
        kind = LlamaForCausalLM
        forward = kind.forward

        def scarce(self: object, *, input_ids: torch.Tensor, **rest: object) -> object:
            if len(input_ids) > 1:
                raise torch.OutOfMemoryError
            return forward(self, input_ids=input_ids, **rest)

        monkeypatch.setattr(kind, "forward", scarce)
        assert await replies(model, [request(text) for text in WORDS]) == due

        def none_left(*_: object, **__: object) -> object:
            raise torch.OutOfMemoryError

        monkeypatch.setattr(kind, "forward", none_left)
        with pytest.raises(PermanentModelError, match="memory does not hold a prompt of"):
            await model.complete(request("a"))


async def test_a_failing_model_is_asked_again(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(folder) as model:

        def broken(*_: object, **__: object) -> object:
            raise RuntimeError("no kernel")

        with monkeypatch.context() as patch:
            patch.setattr(LlamaForCausalLM, "forward", broken)
            with pytest.raises(PermanentModelError, match="no kernel"):
                await model.complete(request("a"))
        assert (await model.complete(request("a"))).usage.calls == 1


async def test_a_model_is_named_by_its_weights(folder: str, tmp_path: Path) -> None:
    other = save_chat_model(tmp_path, seed=8)
    async with opened(folder) as token, opened(other) as two:
        assert token.signature != two.signature
        assert find_base(folder).identity in token.signature
        assert token.price.completion == 0


async def test_a_model_whose_attention_xformers_computes_names_its_version(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "xformers-0.0.99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xformers\nVersion: 0.0.99\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    async with opened(folder) as model:
        assert "xformers" not in model.signature
    register(None)  # which is not called
    monkeypatch.setattr(local_model, "best_attention", lambda _: XFORMERS)
    async with opened(folder) as model:
        assert model.signature.endswith("|xformers:0.0.99")


@pytest.mark.parametrize(
    ("name", "url", "message"),
    [
        ("local/x", "http://127.0.0.1", "takes no base URL"),
        ("local", None, "local/FOLDER"),
        ("local/no-such/model", None, "neither a folder"),
    ],
)
async def test_an_unreadable_file_is_refused(name: str, url: str | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        async with open_local(name, options=ModelOptions(base_url=url)):
            pass


async def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds neither a model"):
        async with open_local(f"local/{tmp_path}", options=ModelOptions()):
            pass


async def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(ConfigError, match="pickles can run code"):
        async with open_local(f"local/{tmp_path}", options=ModelOptions()):
            pass


class Slow:
    """A model that writes when it is let, and notes what it was given at once."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.began = threading.Event()
        self.go = threading.Event()

    def write(self, prompts: Sequence[Prompt], dropped: Callable[[int], bool]) -> list[Written]:
        self.batches.append([len(prompt.ids) for prompt in prompts])
        self.began.set()
        self.go.wait(30)
        return [
            Written(ids=[int(dropped(at))], ended=True, tokens=()) for at in range(len(prompts))
        ]


async def _ask_all(worker: Worker, lengths: Sequence[int], got: list[Written]) -> None:
    async def ask(length: int) -> None:
        got.append(await worker.ask(Prompt(ids=range(length), most=1)))

    async with anyio.create_task_group() as asking:
        for length in lengths:
            asking.start_soon(ask, length)
            await anyio.wait_all_tasks_blocked()


async def test_waiting_requests_of_one_kind_are_batched() -> None:
    slow = Slow()
    worker = Worker(write=slow.write, rows=3, linger=0.0)
    got: list[Written] = []
    async with anyio.create_task_group() as asking:
        asking.start_soon(_ask_all, worker, [4], got)
        await anyio.to_thread.run_sync(slow.began.wait)
        asking.start_soon(_ask_all, worker, [10, 100, 11, 12, 101, 13], got)
        while len(worker._waiting) < 6:
            await anyio.wait_all_tasks_blocked()
        slow.go.set()
    await anyio.to_thread.run_sync(worker.close)
    assert (slow.batches, len(got)) == ([[4], [10, 11, 12], [100, 101], [13]], 7)


async def test_a_caller_that_left_is_not_written_for() -> None:
    slow = Slow()
    worker = Worker(write=slow.write, linger=0.0)
    got: list[Written] = []
    async with anyio.create_task_group() as asking:
        asking.start_soon(_ask_all, worker, [4], got)
        await anyio.to_thread.run_sync(slow.began.wait)
        async with anyio.create_task_group() as leaving:
            leaving.start_soon(_ask_all, worker, [5, 6], got)
            while len(worker._waiting) < 2:
                await anyio.wait_all_tasks_blocked()
            leaving.cancel_scope.cancel()
        asking.start_soon(_ask_all, worker, [7], got)
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
    await anyio.to_thread.run_sync(worker.close)
    assert slow.batches == [[4], [7]]


async def test_a_caller_that_still_waits_when_it_is_closed_gets_an_error() -> None:
    slow = Slow()
    worker = Worker(write=slow.write, linger=0.0)
    errors: list[PermanentModelError] = []

    async def ask() -> None:
        try:
            await worker.ask(Prompt(ids=[1], most=1))
        except PermanentModelError as error:
            errors.append(error)

    async with anyio.create_task_group() as asking:
        asking.start_soon(ask)
        await anyio.to_thread.run_sync(slow.began.wait)
        asking.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        asking.start_soon(anyio.to_thread.run_sync, worker.close)
        while not worker._closed:
            await anyio.lowlevel.checkpoint()
        slow.go.set()
    await ask()
    assert [str(error) for error in errors] == ["the local model has been closed"] * 3


async def test_a_local_model_names_the_special_tokens_of_its_tokenizer(folder: str) -> None:
    async with opened(folder) as model:
        received = await model.template_tokens()
    assert {"<|im_start|>", "<|im_end|>", "<|pad|>"} <= {*received.tokens}


@pytest.mark.parametrize("form", [{"schema": "{}"}, {"grammar": 'root ::= "a"'}])
def test_a_form_that_cannot_be_kept_is_refused(form: dict[str, str], tmp_path: Path) -> None:
    save_chat_model(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    prompt = Prompt(ids=[1], most=1, **form)  # type: ignore[arg-type]  # texts only
    with pytest.raises(ValueError, match="cannot be constrained to a schema or a grammar"):
        write(model, [prompt], ends=frozenset(), padding=0, dropped=lambda _: False)
