"""Judges that are handed a window reader."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError, WindowReader
from spanjury.judges.reader.judge import ReaderJudge
from spanjury.judges.rules.form import FormJudge
from spanjury.orchestration.wiring import reading
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.specs import parse_seat


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the card of a reader, whose model is not needed until it reads."""
    card = {
        "name": "mine",
        "version": "3",
        "files": {"model.onnx": "aa", "tokenizer.json": "bb"},
        "constants": {"threshold": 0.4, "slope": 1.5, "unknown": 2.0},
        "steps": 1200,
    }
    (tmp_path / "reader.json").write_text(json.dumps(card))
    return tmp_path


def seat(**options: object) -> PanelConfig:
    return PanelConfig(seats=(SeatConfig(judge="reader", options=options),))


async def test_a_seat_reads_with_the_model_and_the_constants_of_its_folder(folder: Path) -> None:
    async with open_configured_panel(seat(weights=str(folder), max_spans=2)) as panel:
        judge = panel.seats[0].judge
    assert isinstance(judge, ReaderJudge)
    assert judge.encoder.signature.startswith("onnx|model:mine@")
    assert (judge.tuning.threshold, judge.tuning.slope, judge.max_spans) == (0.4, 1.5, 2)


@pytest.mark.parametrize("spec", ["checker:reader:weights={}", "checker:kind=reader,weights={}"])
async def test_the_checker_reader_is_the_judge_reader(spec: str, folder: Path) -> None:
    config = PanelConfig(seats=(parse_seat(spec.format(folder)),))
    async with (
        open_configured_panel(config) as panel,
        open_configured_panel(seat(weights=str(folder))) as reader,
    ):
        assert panel.seats[0].signature == reader.seats[0].signature
        assert panel.seats[0].name == "reader"


def test_a_checker_is_named_with_a_folder_that_holds_a_reader(folder: Path) -> None:
    named = parse_seat(f"checker:{folder}:max_spans=2")
    assert (named.judge, named.name) == ("reader", f"checker:{folder}")
    assert named.options == {"weights": str(folder), "max_spans": 2}


async def test_constants_that_do_not_fit_are_named(folder: Path) -> None:
    card = json.loads((folder / "reader.json").read_text())
    (folder / "reader.json").write_text(json.dumps({**card, "constants": {"slope": -1}}))
    with pytest.raises(ConfigError, match="slope must be positive"):
        async with open_configured_panel(seat(weights=str(folder))):
            pass


async def test_without_weights_the_option_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_shipped", lambda: tmp_path)
    assert not reading.has_weights()
    with pytest.raises(ConfigError, match="name one by weights=FOLDER"):
        async with open_configured_panel(seat()):
            pass


async def test_own_weights_are_the_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_shipped", lambda: folder)
    assert reading.has_weights()
    async with open_configured_panel(seat()) as panel:
        assert isinstance(panel.seats[0].judge, ReaderJudge)


async def test_a_folder_without_a_reader_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no reader"):
        async with open_configured_panel(seat(weights=str(tmp_path))):
            pass


async def test_values_from_the_wiring_are_no_options(folder: Path) -> None:
    with pytest.raises(ConfigError, match="has no option 'foo'; choose from max_spans"):
        async with open_configured_panel(seat(weights=str(folder), foo=1)):
            pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """Asks for a reader, and for no constants."""

    encoder: WindowReader


def test_a_judge_without_constants_is_handed_the_reader_alone(folder: Path) -> None:
    assert reading.with_reader(Plain, {"weights": str(folder)}).keys() == {"encoder"}


def test_the_options_of_other_judges_are_left_as_they_are() -> None:
    assert reading.with_reader(FormJudge, {"max_spans": 3}) == {"max_spans": 3}
