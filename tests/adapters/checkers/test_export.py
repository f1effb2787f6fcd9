"""Checkers as graphs of ONNX: their numbers beside torch's, and what cannot be exported."""

import json
from pathlib import Path

import pytest
from fakes.tiny_checkers import TEXTS, save_checker

from spanjury.adapters.checkers.card import write_calibration
from spanjury.adapters.checkers.export import export_onnx
from spanjury.adapters.checkers.folder import open_folder
from spanjury.judges.core import Calibration, ClaimPair, ConfigError

CLAIMS = ("The library will close in May.", "Mary Evans built it.")
PAIRS = [ClaimPair(passage, claim) for passage in TEXTS for claim in CLAIMS]
TWO = {0: "supported", 1: "not_supported"}
CLOSE = 1e-4
ROUNDED = 0.1
"""Difference that weights of 8 bits make in these tiny random models, at most."""


def numbers(folder: Path) -> list[float]:
    """Return every probability for `PAIRS`."""
    return [
        number
        for answer in open_folder(folder=str(folder)).check(PAIRS)
        for number in (answer.supported, *(word.supported for word in answer.words))
    ]


@pytest.mark.parametrize("kind", ["bert", "deberta", "modernbert", "roberta"])
def test_a_graph_gives_the_probabilities_of_torch(kind: str, tmp_path: Path) -> None:
    folder = save_checker(kind, tmp_path / "own", labels=TWO)
    write_calibration(folder, Calibration(slope=0.8, intercept=-0.3))
    own = numbers(folder)
    assert export_onnx(folder, tmp_path / "exact") < CLOSE
    assert numbers(tmp_path / "exact") == pytest.approx(own, abs=CLOSE)
    assert open_folder(folder=str(tmp_path / "exact")).signature.startswith("onnx")
    assert not (tmp_path / "exact" / "model.safetensors").exists()


def test_rounded_weights_stay_near_torch_and_are_run_in_place(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path, labels=TWO)
    own = numbers(folder)
    assert export_onnx(folder, folder, int8=True) < ROUNDED
    rounded = numbers(folder)
    assert rounded == pytest.approx(own, abs=ROUNDED)
    assert rounded != own
    assert b"DynamicQuantizeLinear" in (folder / "model.onnx").read_bytes()
    with pytest.raises(ConfigError, match="exported already"):
        export_onnx(folder, tmp_path / "again")


def test_a_folder_without_a_checker_is_not_exported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="config.json is missing"):
        export_onnx(tmp_path, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_constants_beside_a_checker_change_its_probabilities_and_the_judge(tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path, labels={0: "neutral", 1: "entailed", 2: "refuted"})
    plain = open_folder(folder=str(folder))
    assert plain.judging == {}
    write_calibration(folder, Calibration(slope=2.0, intercept=1.0, threshold=0.7, vouched=0.2))
    fitted = open_folder(folder=str(folder))
    assert fitted.judging == {"threshold": 0.7, "vouched": 0.2}
    assert fitted.signature != plain.signature
    for before, after in zip(plain.check(PAIRS), fitted.check(PAIRS), strict=True):
        wrong = Calibration(slope=2.0, intercept=1.0).calibrated(1 - before.supported)
        assert after.supported == pytest.approx(1 - wrong)
        assert before.contradicted is not None
        share = before.contradicted / (1 - before.supported)
        assert after.contradicted == pytest.approx(wrong * share)


@pytest.mark.parametrize("wrong", [{"slope": 0}, {"threshold": 2}, {"temperature": 1}, []])
def test_constants_that_do_not_fit_are_refused(wrong: object, tmp_path: Path) -> None:
    folder = save_checker("bert", tmp_path, labels={0: "neutral", 1: "entailed", 2: "refuted"})
    (folder / "spanjury.json").write_text(json.dumps(wrong))
    with pytest.raises(ConfigError, match=r"spanjury\.json"):
        open_folder(folder=str(folder))
