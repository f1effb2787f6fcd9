"""Finding models without the network, and loading them without a word."""

# ruff: noqa: E402 -- torch may be missing, and is asked for first
import json
import shutil
from pathlib import Path

import pytest
from fakes.installed import imported

torch = imported("torch")

from fakes.tiny_models import WINDOW
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from spanjury.adapters.model_files import batches
from spanjury.adapters.weights.bertscore import BERTScore
from spanjury.adapters.weights.checkpoint import find_checkpoint
from spanjury.adapters.weights.likelihood import (
    BARTScore,
    BARTScoreFromSource,
    Prism,
    PrismFromSource,
)
from spanjury.adapters.weights.mauve import MAUVE
from spanjury.adapters.weights.movers import WMD, MoverScore
from spanjury.adapters.weights.perplexity import Perplexity
from spanjury.judges.core import ConfigError, Sample
from spanjury.judges.core.lazy import Once

METRICS = {
    "bartscore": BARTScore,
    "bartscore-source": BARTScoreFromSource,
    "bertscore": BERTScore,
    "mauve": MAUVE,
    "moverscore": MoverScore,
    "perplexity": Perplexity,
    "prism": Prism,
    "prism-source": PrismFromSource,
    "wmd": WMD,
}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_without_a_model_says_how_to_name_one(name: str) -> None:
    with pytest.raises(ConfigError, match=f"--metric {name}:model=FOLDER_OR_HUB_ID"):
        METRICS[name]()


@pytest.mark.parametrize("name", METRICS)
def test_a_model_that_is_not_here_is_not_fetched_unasked(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name}:model=some/model,download=true"):
        METRICS[name](model="some/model")


def test_a_download_that_fails_says_so() -> None:
    with pytest.raises(ConfigError, match="'some/model' cannot be obtained"):
        BERTScore(model="some/model", download=True)


def test_an_invalid_model_id_is_refused() -> None:
    with pytest.raises(ConfigError, match="'a/b/c/d' cannot be obtained"):
        BERTScore(model="a/b/c/d")


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a model that transformers knows"):
        BERTScore(model=str(tmp_path))


def test_a_model_in_the_cache_is_found_by_its_id(bert: str, tmp_path: Path) -> None:
    cache = tmp_path / "hub" / "models--some--model"
    shutil.copytree(bert, cache / "snapshots" / "abc")
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("abc")
    metric = BERTScore(model="some/model")
    assert "|model:some/model@" in metric.signature
    assert metric.score_segments([Sample(output="cat", references=("cat",))]) == pytest.approx([1])


@pytest.mark.parametrize("device", ["nowhere", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(bert: str, device: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot use the device '{device}'"):
        BERTScore(model=bert, device=device)


@pytest.mark.parametrize("kind", [AutoModelForCausalLM, AutoModelForSeq2SeqLM])
def test_a_model_without_the_head_that_is_needed_is_refused(bert: str, kind: type) -> None:
    checkpoint = find_checkpoint("x", bert, download=False, device="cpu")
    with pytest.raises(ConfigError, match="its files lack|cannot be loaded"):
        checkpoint.load(kind)


def test_a_model_without_a_tokenizer_is_refused(bert: str, tmp_path: Path) -> None:
    shutil.copytree(bert, tmp_path / "bare")
    for file in (tmp_path / "bare").glob("tokenizer*"):
        file.unlink()
    with pytest.raises(ConfigError, match="no usable tokenizer"):
        find_checkpoint("x", str(tmp_path / "bare"), download=False, device="cpu").tokenizer()


def test_other_weights_are_another_identity(bert: str, tmp_path: Path) -> None:
    copy = tmp_path / Path(bert).name
    shutil.copytree(bert, copy)
    before = BERTScore(model=bert).signature
    assert BERTScore(model=str(copy)).signature == before
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert BERTScore(model=str(copy)).signature != before


def test_large_files_are_distinguished_by_samples(bert: str, tmp_path: Path) -> None:
    copy = tmp_path / "large"
    shutil.copytree(bert, copy)
    (copy / "model.safetensors").write_bytes(bytes(3 << 20))
    before = find_checkpoint("x", str(copy), download=False, device="cpu").identity
    (copy / "model.safetensors").write_bytes(bytes((3 << 20) - 1) + b"1")
    assert find_checkpoint("x", str(copy), download=False, device="cpu").identity != before


def test_loading_is_silent_and_moves_no_seed(bert: str, capfd: pytest.CaptureFixture[str]) -> None:
    state = torch.random.get_rng_state()
    BERTScore(model=bert).score_segments([Sample(output="cat", references=("dogs",))])
    assert capfd.readouterr() == ("", "")
    assert torch.equal(torch.random.get_rng_state(), state)


def test_the_window_is_the_least_that_model_and_tokenizer_take(bert: str, tmp_path: Path) -> None:
    copy = tmp_path / "roberta"
    shutil.copytree(bert, copy)
    config = json.loads((copy / "config.json").read_text())
    assert find_checkpoint("x", bert, download=False, device="cpu").window == WINDOW
    config |= {"model_type": "roberta", "pad_token_id": 1}  # its first position is number 2
    (copy / "config.json").write_text(json.dumps(config))
    assert find_checkpoint("x", str(copy), download=False, device="cpu").window == WINDOW - 2
    (copy / "tokenizer_config.json").unlink()
    (copy / "config.json").write_text(json.dumps({"model_type": "t5"}))
    assert find_checkpoint("x", str(copy), download=False, device="cpu").window == 512


def test_a_value_is_made_once_and_a_failure_tried_again() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(len(made))
        if len(made) == 1:
            raise OSError("not yet")
        return made[-1]

    once = Once(make)
    with pytest.raises(OSError, match="not yet"):
        once.get()
    assert once.peek() is None
    assert (once.get(), once.get(), once.peek()) == (1, 1, 1)


def test_batches_hold_like_with_like_and_no_more_than_they_may() -> None:
    checkpoint = list(batches([1, 9, 2, 8, 2], size=3, tokens=12))
    assert checkpoint == [[1], [3], [2, 4, 0]]
