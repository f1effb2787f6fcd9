"""Calibrations in files: what is read is what was written, and strange files are refused."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.engine.calibration import AspectCalibration, Calibration
from spanjury.orchestration.engine.score_map import ScoreMap
from spanjury.orchestration.engine.thresholds import Thresholds
from spanjury.orchestration.wiring.calibrations import read_calibration, write_calibration
from spanjury.orchestration.wiring.panel_files import read_panel_file

MAP = ScoreMap(knots=(1.0, 0.1 + 0.2 + 1.0), values=(1.0, math.nextafter(4.0, 5.0)))
WHOLE = AspectCalibration(
    score_map=MAP,
    thresholds=Thresholds(
        judges=frozenset({"reader", "grounding"}),
        beside=frozenset({"form"}),
        unsure=math.nextafter(0.5, 1.0),
        faulty=math.inf,
        unsure_alarms=0.1,
        faulty_alarms=0.0,
        texts=9,
        data='"quoted" texts, \\ Größe, \x7f and a\nline',
        promised=0.1,
    ),
    severity_weights=(0.0, 1.0, 2.0, 3.0, 4.0),
    texts=30,
    sources=20,
    made_on="30 texts",
    seen=tuple(number / 20 for number in range(21)),
)
BARE = replace(WHOLE, score_map=None, thresholds=None, severity_weights=None)


def test_a_written_value_is_read_back_unchanged(tmp_path: Path) -> None:
    made = Calibration(
        panel="0123",
        seats=("a=b|c:1",),
        aspects={"summarization/consistency": WHOLE, "q/a b": BARE},
    )
    write_calibration(made, tmp_path / "c.toml")
    again = read_calibration(tmp_path / "c.toml")
    assert (again, again.digest) == (made, made.digest)


def test_a_file_with_the_former_names_of_thresholds_is_read(tmp_path: Path) -> None:
    made = Calibration(panel="0123", aspects={"summarization/consistency": WHOLE})
    path = tmp_path / "c.toml"
    write_calibration(made, path)
    path.write_text(path.read_text().replace("unsure", "doubtful"))
    assert "doubtful_alarms" in path.read_text()
    assert read_calibration(path) == made


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "another format"),
        ("format = 2\n", "another format"),
        ("format = 1\npanel = 'p'\n", "aspects Missing|aspects Field required"),
        ("format = 1\npanel = 'p'\naspects = {}\n", "one aspect or more"),
        ("format = 1\nfromat = 2\npanel = 'p'\naspects = {}\n", "fromat"),
        ("format = ", "cannot be read"),
    ],
)
def test_a_file_without_a_calibration_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem) as refused:
        read_calibration(path)
    assert str(path) in str(refused.value)


def test_a_missing_file_and_a_missing_folder_are_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_calibration(tmp_path / "none.toml")
    with pytest.raises(StoreError, match="none"):
        write_calibration(
            Calibration(panel="p", aspects={"t/a": BARE}), tmp_path / "none" / "c.toml"
        )


def test_a_panel_file_names_a_calibration_beside_it(tmp_path: Path) -> None:
    (tmp_path / "panel.toml").write_text('calibration = "made/c.toml"\n')
    assert read_panel_file(tmp_path / "panel.toml").calibration == tmp_path / "made" / "c.toml"
