"""Steps: whose gradient they follow, how fast they go, and what happens where memory ends."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fakes.tiny_chat import CONTEXT, chat_tokenizer, tiny_pairs
from hypothesis import given
from hypothesis import strategies as st
from peft import PeftModel
from torch.nn.functional import cross_entropy

from spanjury.adapters.causal.base import find_base
from spanjury.adapters.causal.chat_tokens import ChatTokens
from spanjury.adapters.causal.low_rank import attach
from spanjury.adapters.training.checkpoint import CheckpointFile
from spanjury.adapters.training.job import Progress, TrainingOptions
from spanjury.adapters.training.rendering import Rendered, render_all
from spanjury.adapters.training.trainer import Plan, Trainer, answer_loss, fixed_seed, stacked
from spanjury.judges.core import ConfigError

CPU = torch.device("cpu")
CHAT = ChatTokens(chat_tokenizer(), name="tiny")
EXAMPLES = render_all(tiny_pairs(), CHAT, limit=CONTEXT).examples


def trainer(
    base: str, folder: Path, *, size: int, lines: list[str] | None = None, max_steps: int = 1
) -> Trainer:
    model = find_base(base).load(device=CPU)
    with fixed_seed(1, device=CPU):
        adapted = attach(model, rank=4, alpha=8, dropout=0.0)
    return Trainer(
        model=adapted,
        examples=EXAMPLES,
        validation=(),
        padding=CHAT.padding,
        options=TrainingOptions(micro_batch_size=size, batch_size=8, max_steps=max_steps),
        checkpoints=CheckpointFile(path=folder / "checkpoint", belongs_to={}),
        tell=lambda _, line: lines.append(line) if lines is not None and line else None,
        stopped=lambda: False,
    )


def weights(one_trainer: Trainer) -> Iterator[torch.Tensor]:
    return (weight for weight in one_trainer.model.parameters() if weight.requires_grad)


def test_an_example_loses_the_mean_over_its_answers_tokens_however_long_it_is(base: str) -> None:
    model = find_base(base).load(device=CPU)
    batch = stacked(EXAMPLES[:3], padding=CHAT.padding, device=CPU)
    due = 0.0
    with torch.inference_mode():
        for example in EXAMPLES[:3]:
            logits = model(input_ids=torch.tensor([example.ids])).logits[0]
            answer = torch.tensor(example.ids[example.answer :])
            predicted = logits[example.answer - 1 : -1]
            due += cross_entropy(predicted, answer, reduction="mean").item()
        assert answer_loss(model, batch).item() == pytest.approx(due, rel=1e-5)


def test_explanations_weigh_less_than_what_is_decided(base: str) -> None:
    model = find_base(base).load(device=CPU)
    (example,) = [replace(EXAMPLES[0], light=len(EXAMPLES[0].ids) - 3)]
    batch = stacked([example], padding=CHAT.padding, device=CPU, explanation_weight=0.5)
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([example.ids])).logits[0, example.answer - 1 : -1]
        losses = cross_entropy(
            logits, torch.tensor(example.ids[example.answer :]), reduction="none"
        )
        # Of the last three tokens two explain, and the last ends the answer.
        weighed = float(losses[:-3].sum() + 0.5 * losses[-3:-1].sum() + losses[-1])
        due = weighed / (len(losses) - 1)
        assert answer_loss(model, batch).item() == pytest.approx(due, rel=1e-5)


def test_a_step_is_the_same_however_it_is_split(base: str, tmp_path: Path) -> None:
    """The parts are of different sizes: a mean of the parts' means would not do."""
    whole = trainer(base, tmp_path / "whole", size=8, max_steps=1)
    parts = trainer(base, tmp_path / "parts", size=3, max_steps=1)
    for one_trainer in (whole, parts):
        one_trainer.checkpoints.path.parent.mkdir()
    first, second = whole.run(), parts.run()
    assert first.losses[0][1] == pytest.approx(second.losses[0][1], rel=1e-5)
    for example, other in zip(weights(whole), weights(parts), strict=True):
        # AdamW's first step is the gradient's sign times the rate; tiny gradients round.
        assert (example - other).abs().mean() < 1e-6


def test_a_micro_batch_that_exceeds_memory_is_halved_with_a_warning(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    one_trainer = trainer(base, tmp_path, size=8, lines=lines, max_steps=1)
    forward = type(one_trainer.model).forward

    def scarce(self: PeftModel, *, input_ids: torch.Tensor, **rest: object) -> object:
        if len(input_ids) > 2:
            raise torch.OutOfMemoryError
        return forward(self, input_ids=input_ids, **rest)

    monkeypatch.setattr(type(one_trainer.model), "forward", scarce)
    progress = one_trainer.run()
    assert (progress.step, progress.micro_batch_size) == (1, 2)
    assert lines == [
        "out of memory: 4 examples at once from now on",
        "out of memory: 2 examples at once from now on",
    ]
    monkeypatch.undo()
    plenty = trainer(base, tmp_path / "plenty", size=2, max_steps=1)
    (tmp_path / "plenty").mkdir()
    plenty.run()
    for example, other in zip(weights(one_trainer), weights(plenty), strict=True):
        assert torch.equal(example, other)


def test_an_example_that_never_fits_is_an_error_that_says_what_to_do(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_trainer = trainer(base, tmp_path, size=2)

    def none_left(*_: object, **__: object) -> object:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(type(one_trainer.model), "forward", none_left)
    with pytest.raises(ConfigError, match="does not fit into memory: lower the greatest length"):
        one_trainer.run()


@given(
    examples=st.integers(1, 60),
    batch=st.integers(1, 20),
    epochs=st.integers(1, 3),
    seed=st.integers(0, 5),
)
def test_every_example_is_learnt_from_once_an_epoch(
    examples: int, batch: int, epochs: int, seed: int
) -> None:
    options = TrainingOptions(batch_size=batch, epochs=epochs, seed=seed)
    plan = Plan(examples=examples, options=options)
    seen = [index for step in range(plan.steps) for index in plan.batch(step)]
    assert sorted(seen) == sorted([*range(examples)] * epochs)
    assert Plan(examples=examples, options=options).batch(plan.steps - 1) == plan.batch(
        plan.steps - 1
    )


def test_the_learning_rate_rises_in_a_line_and_falls_in_one() -> None:
    plan = Plan(examples=10, options=TrainingOptions(batch_size=1, warmup=0.2, learning_rate=8.0))
    assert [plan.learning_rate(step) for step in range(10)] == [4, 8, 8, 7, 6, 5, 4, 3, 2, 1]


def test_seeds_are_fixed_for_the_block_only() -> None:
    before = torch.get_rng_state()
    with fixed_seed(3, device=CPU):
        first = torch.rand(2)
    with fixed_seed(3, device=CPU):
        assert torch.equal(first, torch.rand(2))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    "wrong",
    [
        {"rank": 0},
        {"dropout": 1.0},
        {"learning_rate": 0.0},
        {"warmup": -0.1},
        {"weight_decay": -1.0},
        {"max_steps": 0},
        {"seed": -1},
    ],
)
def test_an_option_out_of_its_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TrainingOptions(**wrong)


def test_a_step_that_fails_for_another_reason_fails(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_trainer = trainer(base, tmp_path, size=2)

    def broken(*_: object, **__: object) -> object:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(type(one_trainer.model), "forward", broken)
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        one_trainer.run()


def test_progress_is_kept_by_a_checkpoint(base: str, tmp_path: Path) -> None:
    one_trainer = trainer(base, tmp_path, size=8, max_steps=2)
    progress = one_trainer.run()
    again = trainer(base, tmp_path, size=8, max_steps=2)
    optimizer = torch.optim.AdamW(weights(again))
    kept = again.checkpoints.load(model=again.model, optimizer=optimizer)
    assert kept == progress
    assert isinstance(kept, Progress)
    for example, other in zip(weights(one_trainer), weights(again), strict=True):
        assert torch.equal(example, other)


def test_examples_are_kept_apart_from_their_filling() -> None:
    batch = stacked(
        [Rendered(ids=(5, 6, 7), answer=2, light=2), Rendered(ids=(8, 9), answer=1, light=1)],
        padding=2,
        device=CPU,
    )
    assert batch.ids.tolist() == [[5, 6, 7], [8, 9, 2]]
    assert (batch.labels.tolist(), batch.first) == ([[-100, -100, 7], [-100, 9, -100]], 1)
