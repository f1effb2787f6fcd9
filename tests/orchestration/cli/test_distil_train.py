"""`distil train`: from a folder of examples to a model, through Ctrl-C, and where it is refused."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from fakes.sealed_set import write_set
from fakes.tiny_chat import save_chat_model, tiny_pairs

from spanjury.judges.core import ConfigError, DataError, Message, Report
from spanjury.orchestration.cli import distil_train
from spanjury.orchestration.cli.distil_train import ModelFlags, TokenFlags, TrainingFlags
from spanjury.orchestration.cli.flags.run import LogFlags
from spanjury.orchestration.studies.distillation.training_set import (
    Example,
    Licences,
    Provenance,
    Split,
)

pytestmark = pytest.mark.usefixtures("offline_hub", "one_thread")

Train = Callable[..., None]


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_chat_model(tmp_path_factory.mktemp("base"))


def examples(*, split: Split = "train", number: int, times: int = 1) -> Iterator[Example]:
    for pair in tiny_pairs()[:number]:
        source = " ".join(pair.sources * times)
        yield Example(
            dataset="farm",
            input_id="0",
            inputs={"source": source},
            output="It sat.",
            task="summarization",
            aspect="consistency",
            definition="All is in the source.",
            report=Report(score=4),
            messages=(Message(role="user", content=f"Judge this text: {source}"),),
            target=pair.target,
            split=split,
            provenance=Provenance(source="farm.jsonl", row="1", damages=("r: typos",), seed=1),
            licences=Licences(source="CC0-1.0"),
        )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    held = examples(split="validation", number=1)
    return write_set(tmp_path / "data", train=examples(number=6), validation=held)


@pytest.fixture
def train(base: str, data: Path, tmp_path: Path) -> Train:
    usual = TrainingFlags(batch_size=2, epochs=2, validate_every=2)

    def run(*, base: str = base, no_progress: bool = False, **flags: Any) -> None:  # noqa: ANN401  of many types
        model = ModelFlags(data=data, base=base, output=tmp_path / "model")
        training = replace(usual, **flags)
        distil_train.train(
            model=model,
            training=training,
            tokens=TokenFlags(),
            show=LogFlags(no_progress=no_progress),
        )

    return run


def test_a_model_and_its_card_come_of_examples(
    train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train()
    said = capsys.readouterr()
    assert said.out == ""
    assert "6 examples to learn from, 1 to validate on" in said.err
    assert "step 6/6: loss" in said.err
    assert f"the model is in {tmp_path / 'model'}" in said.err
    card = (tmp_path / "model" / "README.md").read_text()
    rows = ("| farm | 6 |", "| summarization: consistency | 6 |", "| r: typos | 6 |")
    for fact in ("CC0-1.0", "| consistency | 6 |", "| damage | 6 |", *rows):
        assert fact in card
    with pytest.raises(ConfigError, match="holds a model already"):
        train()


def test_after_ctrl_c_the_same_command_goes_on(
    train: Train,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines: list[str] = []

    def say_and_interrupt(line: str) -> None:
        lines.append(line)
        if line.startswith("step 2: loss on validation"):
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr(distil_train, "say", say_and_interrupt)
        with pytest.raises(typer.Exit) as ended:
            train()
    assert ended.value.exit_code == 130
    assert lines[-1] == "stopped after step 2 of 6; run the same command to continue"
    assert signal.getsignal(signal.SIGINT) is before
    assert [file.name for file in (tmp_path / "model").iterdir()] == ["checkpoint.safetensors"]
    train()
    assert "going on after step 2" in capsys.readouterr().err
    assert (tmp_path / "model" / "config.json").is_file()


def test_only_important_lines_are_printed(train: Train, capsys: pytest.CaptureFixture[str]) -> None:
    train(no_progress=True, max_steps=1)
    said = capsys.readouterr().err
    assert "step 1/1" not in said
    assert "step 1: loss on validation" in said


def test_one_answer_for_all_examples_is_reported(
    train: Train, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_set(data, train=examples(number=1))
    train(max_steps=1)
    assert "all examples have the same answer" in capsys.readouterr().err


def test_overlong_texts_are_counted(
    train: Train, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_set(data, train=examples(number=2, times=20))
    train(max_length=64, max_steps=1)
    assert "too long: 2 sources cut, 0 examples skipped" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"base": "no-such/model"}, "neither a folder, nor 'embedded'"),
        ({"device": "warp"}, "cannot use the device 'warp'"),
        ({"attention": "xformers"}, "needs a GPU and the package xformers"),
    ],
)
def test_invalid_input_is_refused(flags: dict[str, Any], message: str, train: Train) -> None:
    with pytest.raises(ConfigError, match=message):
        train(**flags)


def test_an_empty_file_is_refused(train: Train, data: Path) -> None:
    write_set(data)
    with pytest.raises(ConfigError, match="holds no example to learn from"):
        train()


def test_a_set_that_is_not_as_it_was_built_is_refused(train: Train, data: Path) -> None:
    with (data / "train.jsonl").open("ab") as file:
        file.write(b"{}\n")
    with pytest.raises(DataError, match=r"train.jsonl: does not match tables.json"):
        train()


def test_an_example_that_is_for_something_else_is_refused(train: Train, data: Path) -> None:
    write_set(data, train=examples(split="test", number=1))
    with pytest.raises(DataError, match="train.jsonl, line 1: an example for 'test'"):
        train()
