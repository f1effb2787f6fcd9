"""COMET and BLEURT through workers: real processes, and packages that stand in for theirs."""

import sys
from pathlib import Path

import pytest

from spanjury.adapters.weights.worker import BLEURT, COMET, Worker, nubia
from spanjury.judges.core import ConfigError, MetricError, Sample

FAKE_COMET = """
import os
from types import SimpleNamespace

print("a library that prints")


def download_model(name):
    if os.environ.get("HF_HUB_OFFLINE") == "1":
        raise OSError(name + " is not in the cache")
    return "fetched"


def load_from_checkpoint(path):
    return SimpleNamespace(predict=predict, path=path)


def predict(rows, batch_size, gpus, progress_bar):
    print("predicting", len(rows))
    scores = []
    for row in rows:
        if row["mt"] == "die":
            os._exit(7)
        if row["mt"] == "hang":
            import time
            time.sleep(60)
        if row["mt"] == "few":
            continue
        if row["mt"] == "raise":
            raise RuntimeError("out of memory")
        score = len(row["src"]) + len(row["ref"]) / 10
        scores.append(float("nan") if row["mt"] == "nan" else score)
    return SimpleNamespace(scores=scores)
"""
FAKE_BLEURT = """
class BleurtScorer:
    def __init__(self, checkpoint):
        self.checkpoint = checkpoint

    def score(self, *, references, candidates, batch_size):
        return [len(c) - len(r) + batch_size / 100 for c, r in zip(candidates, references)]
"""


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an interpreter that has both packages, as an environment of the user's would."""
    packages = tmp_path / "packages"
    for name, code in {"comet/__init__": FAKE_COMET, "bleurt/score": FAKE_BLEURT}.items():
        file = packages / f"{name}.py"
        file.parent.mkdir(parents=True)
        (file.parent / "__init__.py").touch()
        file.write_text(code)
    metadata = packages / "unbabel_comet-2.2.6.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: unbabel-comet\nVersion: 2.2.6\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(packages))
    return sys.executable


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    file = tmp_path / "model.ckpt"
    file.touch()
    return str(file)


def _sample(output: str = "o") -> Sample:
    return Sample(output=output, references=("ref",), source="so")


def test_comet_answers_from_another_process(python: str, checkpoint: str) -> None:
    metric = COMET(python=python, model=checkpoint)
    assert metric.score_segments([_sample(), Sample(output="", references=("",))]) == [2.3, 0.0]
    assert metric.score_segments([_sample("\ud800 ü")] * 600) == [2.3] * 600
    assert metric.signature.endswith("|comet:2.2.6")
    metric.close()


def test_bleurt_answers_from_another_process(python: str, tmp_path: Path) -> None:
    metric = BLEURT(python=python, model=str(tmp_path), batch_size=4)
    assert metric.score_segments([_sample("longer")]) == pytest.approx([3.04])
    assert metric.signature.endswith("|bleurt:unknown")
    metric.close()


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("die", "no answer.*exit status 7"),
        ("few", "no 1 scores"),
        ("nan", "no 1 scores"),
        ("raise", "RuntimeError: out of memory"),
    ],
)
def test_a_worker_that_fails_is_an_error(
    python: str, checkpoint: str, output: str, problem: str
) -> None:
    metric = COMET(python=python, model=checkpoint)
    with pytest.raises(MetricError, match=problem):
        metric.score_segments([_sample(output)])
    metric.close()


def test_a_worker_that_has_ended_says_so_again(python: str, checkpoint: str) -> None:
    metric = COMET(python=python, model=checkpoint)
    for _ in range(2):
        with pytest.raises(MetricError, match="exit status 7"):
            metric.score_segments([_sample("die")])
    metric.close()


def test_a_worker_that_hangs_is_ended(python: str, checkpoint: str) -> None:
    settings = {"model": checkpoint, "batch_size": 1, "gpus": 0}
    worker = Worker(python, script="comet", settings=settings, offline=True, timeout=20)
    worker._timeout = 0.5
    with pytest.raises(MetricError, match="no answer, and had 0.5 s: exit status"):
        worker.scores([{"src": "", "mt": "hang", "ref": ""}])
    assert worker._process.poll() is not None
    worker.close()


def test_a_worker_ends_when_no_one_holds_it(python: str, checkpoint: str) -> None:
    metric = COMET(python=python, model=checkpoint)
    metric.score_segments([_sample()])
    worker = metric._worker.peek()
    assert worker is not None
    process = worker._process
    del metric, worker
    assert process.poll() is not None


@pytest.mark.parametrize("words", ["hello", "42"])
def test_a_printing_environment_is_refused(
    python: str, checkpoint: str, tmp_path: Path, words: str
) -> None:
    metric = COMET(python=python, model=checkpoint)
    (tmp_path / "packages" / "sitecustomize.py").write_text(f"print({words!r})")
    with pytest.raises(ConfigError, match=f"its worker wrote b'{words}"):
        metric.score_segments([_sample()])


def test_an_unscored_metric_closes_nothing(python: str, checkpoint: str, tmp_path: Path) -> None:
    COMET(python=python, model=checkpoint).close()
    BLEURT(python=python, model=str(tmp_path)).close()


def test_hub_models_are_fetched_if_allowed(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="some/model is not in the cache.*download"):
        COMET(python=python, model="some/model").score_segments([_sample()])
    allowed = COMET(python=python, model="some/model", download=True)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)  # only this fake would fetch anything
    assert allowed.score_segments([_sample()]) == [2.3]
    allowed.close()


def test_without_an_environment_both_say_how_to_make_one() -> None:
    with pytest.raises(ConfigError, match="comet-env/bin/pip install unbabel-comet"):
        COMET()
    with pytest.raises(ConfigError, match="bleurt-env/bin/pip install git"):
        BLEURT()


def test_an_environment_without_the_package_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match="lacks 'comet': .* -m pip install unbabel-comet"):
        COMET(python=sys.executable, model="some/model")


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/true"])
def test_an_invalid_interpreter_is_refused(python: str) -> None:
    with pytest.raises(ConfigError, match="is not a Python interpreter"):
        COMET(python=python, model="some/model")


def test_a_model_must_be_named(python: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="comet needs a model"):
        COMET(python=python)
    with pytest.raises(ConfigError, match="bleurt needs the folder of a checkpoint"):
        BLEURT(python=python, model=str(tmp_path / "nothing"))


def test_options_out_of_range_are_refused(python: str) -> None:
    with pytest.raises(ValueError, match="timeout above 0"):
        COMET(python=python, model="m", timeout=0)
    with pytest.raises(ValueError, match="batch_size must be from 1"):
        BLEURT(python=python, model=".", batch_size=0)


def test_nubia_says_why_it_is_not_available() -> None:
    with pytest.raises(ConfigError, match="nubia is not available: its package is no longer kept"):
        nubia()
