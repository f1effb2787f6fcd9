"""Training a tiny model to its end, through a kill, and where it is refused."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from fakes.tiny_chat import save_chat_model, tiny_pairs
from fakes.training_run import OPTIONS, job
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from spanjury.adapters.causal.low_rank import load_model
from spanjury.adapters.training.checkpoint import CHECKPOINT
from spanjury.adapters.training.job import (
    DataStatistics,
    Progress,
    Trained,
    TrainingJob,
    TrainingOptions,
)
from spanjury.adapters.training.training import train
from spanjury.judges.core import ConfigError, StoreError

TESTS = Path(__file__).parents[2]
LEARNT = 4


def run(job_to_do: TrainingJob, *, until: int | None = None) -> Trained:
    steps: list[int] = []

    def tell(progress: Progress, _steps: int, line: str) -> None:
        if not line:
            steps.append(progress.step)

    return train(job_to_do, tell=tell, stopped=lambda: until is not None and steps[-1:] == [until])


@pytest.fixture(scope="module")
def learnt(base: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the model after 60 steps on four examples."""
    folder = tmp_path_factory.mktemp("learnt")
    options = TrainingOptions(
        rank=32, alpha=64, learning_rate=5e-3, epochs=60, batch_size=4, validate_every=30
    )
    changed = replace(
        job(base, folder),
        pairs=tiny_pairs()[:LEARNT],
        options=options,
        data=DataStatistics(
            source="tiny", digest="0", counts={"task": {"farm|yard": 4}}, licences=["CC0-1.0"]
        ),
    )
    assert run(changed).finished
    return folder


def test_plain_transformers_repeats_the_learnt_text_word_for_word(learnt: Path) -> None:
    model: Any = AutoModelForCausalLM.from_pretrained(learnt)
    tokenizer: Any = AutoTokenizer.from_pretrained(learnt)
    for pair in tiny_pairs()[:LEARNT]:
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": pair.messages[0].content}],
            add_generation_prompt=True,
            return_tensors="pt",
            return_dict=True,
        )
        ids = model.generate(**prompt, max_new_tokens=60, do_sample=False)[0]
        answer = ids[prompt["input_ids"].shape[1] :]
        assert answer[-1] == tokenizer.eos_token_id
        assert tokenizer.decode(answer[:-1]) == pair.target


def test_the_adapter_by_itself_is_the_same_model(learnt: Path) -> None:
    cpu = torch.device("cpu")
    _, adapted = load_model(str(learnt / "adapter"), device=cpu, attention="sdpa")
    _, whole = load_model(str(learnt), device=cpu, attention="sdpa")
    for (name, left), other in zip(
        adapted.state_dict().items(), whole.state_dict().values(), strict=True
    ):
        assert torch.equal(left, other), name


def test_a_trained_folder_holds_safetensors_a_card_and_no_checkpoint(learnt: Path) -> None:
    names = {file.name for file in learnt.iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "adapter", "README.md"} <= names
    assert CHECKPOINT not in names
    assert not [name for name in names if name.startswith(".") or name.endswith(".bin")]
    card = (learnt / "README.md").read_text()
    for line in ("| learning_rate | 0.005 |", "| torch |", "farm\\|yard", "CC0-1.0", "60 steps"):
        assert line in card
    assert (learnt / "curves.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((learnt / "training.json").read_text())
    losses = [loss for _, loss in record["progress"]["losses"]]
    assert losses[-1] < losses[0] / 100
    assert [step for step, _ in record["progress"]["validations"]] == [0, 30, 60]


def test_training_goes_on_after_a_kill_to_the_same_weights(base: str, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    with subprocess.Popen(
        [sys.executable, "-m", "fakes.training_run", base, str(killed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(TESTS), "HF_HUB_OFFLINE": "1"},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert (killed / CHECKPOINT).is_file()
    steps: list[int] = []
    train(
        job(base, killed),
        tell=lambda progress, _, line: None if line else steps.append(progress.step),
        stopped=lambda: False,
    )
    assert steps[0] == 5  # the last checkpoint was that of step 4
    run(job(base, whole))
    same(killed, whole)


def test_training_that_was_stopped_goes_on_to_the_same_weights(base: str, tmp_path: Path) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    first = run(job(base, stopped), until=3)
    assert not first.finished
    assert (first.progress.step, first.steps) == (3, 12)
    assert [file.name for file in stopped.iterdir()] == [CHECKPOINT]
    second = run(job(base, stopped))
    assert second.finished
    third = run(job(base, whole))
    same(stopped, whole)
    assert second.progress.losses == third.progress.losses


def same(left: Path, other: Path) -> None:
    weights = load_file(left / "model.safetensors"), load_file(other / "model.safetensors")
    assert weights[0].keys() == weights[1].keys()
    for name, weight in weights[0].items():
        assert torch.equal(weight, weights[1][name]), name


def test_a_checkpoint_of_another_base_is_refused_naming_both(base: str, tmp_path: Path) -> None:
    run(job(base, tmp_path / "model"), until=1)
    other = save_chat_model(tmp_path / "other", seed=8)
    with pytest.raises(ConfigError, match=rf"another base: {Path(base).name}@\w+, not other@\w+"):
        run(job(other, tmp_path / "model"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"options": replace(OPTIONS, learning_rate=1.0)}, "another learning_rate: 0.001, not 1"),
        ({"pairs": tiny_pairs()[1:]}, "another data: "),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(
    change: dict[str, object], message: str, base: str, tmp_path: Path
) -> None:
    begun = job(base, tmp_path / "model")
    run(begun, until=1)
    with pytest.raises(ConfigError, match=message):
        run(replace(begun, **change))  # type: ignore[arg-type]  # the cases are of the right types


def test_the_checkpoint_interval_may_change(base: str, tmp_path: Path) -> None:
    begun = job(base, tmp_path)
    run(begun, until=1)
    changed = replace(begun, options=replace(OPTIONS, checkpoint_every=7))
    assert run(changed, until=2).progress.step == 2


def test_a_damaged_checkpoint_is_reported(base: str, tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes(b"spoilt")
    with pytest.raises(StoreError, match="cannot be read"):
        run(job(base, tmp_path))


def test_a_folder_with_a_model_is_not_trained_into(base: str) -> None:
    with pytest.raises(ConfigError, match="holds a model already"):
        run(job(base, Path(base)))


def test_an_adapter_of_another_base_is_refused_and_both_are_named(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    save_chat_model(mine)
    short = replace(job(str(mine), tmp_path / "out"), options=replace(OPTIONS, max_steps=1))
    run(short)
    save_chat_model(mine, seed=8)
    with pytest.raises(ConfigError, match=r"was trained on mine@\w+, but '.*mine' is mine@\w+"):
        load_model(str(tmp_path / "out" / "adapter"), device=torch.device("cpu"), attention="sdpa")


def test_nothing_to_learn_from_is_refused(base: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to learn from"):
        run(replace(job(base, tmp_path), pairs=()))


def test_examples_that_cannot_be_cut_to_fit_are_no_training(base: str, tmp_path: Path) -> None:
    short = replace(job(base, tmp_path), options=replace(OPTIONS, max_length=5))
    with pytest.raises(ConfigError, match="no training example fits into 5 tokens"):
        run(short)
