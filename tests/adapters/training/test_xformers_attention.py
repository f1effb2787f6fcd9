"""xformers' attention, by a stand-in that computes the same in plain torch: as SDPA, each time."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from fakes.tiny_chat import CONTEXT, chat_tokenizer, tiny_pairs

from spanjury.adapters.causal.attention import best_attention, operations_for, register
from spanjury.adapters.causal.base import find_base
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.causal.writing import Prompt, write
from spanjury.adapters.training.rendering import render_all
from spanjury.adapters.training.trainer import answer_loss, stacked

CPU = torch.device("cpu")
CHAT = ChatTokens(chat_tokenizer(), name="tiny")


class Causal:
    """Stands in for xformers.ops.LowerTriangularMask."""


class StandIn:
    """Stands in for xformers.ops.memory_efficient_attention, and counts what it was asked."""

    def __init__(self) -> None:
        self.biases: list[object] = []

    def __call__(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_bias: object,
        p: float,
        *,
        scale: float | None = None,
    ) -> torch.Tensor:
        self.biases.append(attn_bias)
        assert query.shape[2:] == key.shape[2:] == value.shape[2:]  # xformers repeats no heads
        assert p == 0.0
        scores = torch.einsum("bqhd,bkhd->bhqk", query, key) * (scale or query.shape[-1] ** -0.5)
        if isinstance(attn_bias, Causal):
            ahead = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(ahead, float("-inf"))
        elif isinstance(attn_bias, torch.Tensor):
            assert attn_bias.shape == scores.shape
            assert attn_bias.stride(-2) % 8 == 0  # as xformers demands
            scores = scores + attn_bias
        return torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), value)


@pytest.fixture
def stand_in() -> StandIn:
    kernel = StandIn()
    operations = SimpleNamespace(memory_efficient_attention=kernel, LowerTriangularMask=Causal)
    register(operations, name="xformers-stand-in")
    return kernel


def models(base: str) -> tuple[Any, Any]:
    base_model = find_base(base)
    return (
        base_model.load(device=CPU, attention="sdpa"),
        base_model.load(device=CPU, attention="xformers-stand-in"),
    )


def test_the_loss_and_its_gradient_are_those_of_sdpa(base: str, stand_in: StandIn) -> None:
    examples = render_all(tiny_pairs(), CHAT, limit=CONTEXT).examples
    batch = stacked(examples, padding=CHAT.padding, device=CPU)
    base_model = []
    for model in models(base):
        loss = answer_loss(model, batch)
        loss.backward()  # type: ignore[no-untyped-call]  # not annotated
        base_model.append((loss.item(), model.model.layers[0].self_attn.k_proj.weight.grad))
    assert base_model[0][0] == pytest.approx(base_model[1][0], rel=1e-5)
    torch.testing.assert_close(base_model[0][1], base_model[1][1], rtol=1e-3, atol=1e-4)
    assert all(isinstance(bias, Causal) for bias in stand_in.biases)


def test_rows_of_several_lengths_are_read_as_by_sdpa(base: str, stand_in: StandIn) -> None:
    ids = torch.tensor([[2, 2, 7, 8, 9], [5, 6, 7, 8, 9]])
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    with torch.inference_mode():
        plain, other = (model(input_ids=ids, attention_mask=mask).logits for model in models(base))
    torch.testing.assert_close(plain[0, 2:], other[0, 2:], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(plain[1], other[1], rtol=1e-4, atol=1e-4)
    assert all(isinstance(bias, torch.Tensor) for bias in stand_in.biases)


def test_texts_are_continued_as_by_sdpa(base: str, stand_in: StandIn) -> None:
    prompts = [Prompt(ids=range(5, 5 + length), most=12) for length in (3, 9, 17)]
    plain, other = (
        write(model, prompts, ends=frozenset(), padding=2, dropped=lambda _: False)
        for model in models(base)
    )
    assert [batch.ids for batch in plain] == [batch.ids for batch in other]
    assert stand_in.biases


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> ModuleType:
    operations = ModuleType("xformers.ops")
    operations.__dict__.update(memory_efficient_attention=stand_in, LowerTriangularMask=Causal)
    monkeypatch.setitem(sys.modules, "xformers", ModuleType("xformers"))
    monkeypatch.setitem(sys.modules, "xformers.ops", operations)
    return operations


def test_the_library_is_used_where_it_can_attend(library: ModuleType, stand_in: StandIn) -> None:
    assert operations_for(CPU) is library
    assert [type(bias) for bias in stand_in.biases] == [Causal]


def test_a_library_without_a_kernel_for_the_device_is_not_used(library: ModuleType) -> None:
    def attend(*_: object) -> None:
        raise NotImplementedError("No operator found for `memory_efficient_attention_forward`")

    vars(library)["memory_efficient_attention"] = attend
    assert operations_for(CPU) is None


def test_a_library_that_does_not_load_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xformers", None)
    monkeypatch.delitem(sys.modules, "xformers.ops", raising=False)
    assert operations_for(CPU) is None


@pytest.mark.usefixtures("library")
def test_without_a_gpu_attention_is_pytorch_s_own() -> None:
    assert best_attention(CPU) == "sdpa"
