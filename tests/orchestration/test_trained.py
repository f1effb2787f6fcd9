"""Options that the folder of a trained model says by itself."""

import json
from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.trained import judging_options


def write(folder: Path, **record: object) -> str:
    (folder / "training.json").write_text(json.dumps({"base": "b", **record}))
    return f"local/{folder}"


def test_a_folder_says_its_layout_and_its_threshold(tmp_path: Path) -> None:
    chosen = {"value": 0.31, "caught": 0.8, "false_alarms": 0.1, "examples": 40}
    name = write(tmp_path, judging={"layout": "verdict-first", "threshold": chosen})
    assert judging_options(name) == {"layout": "verdict-first", "threshold": 0.31}


def test_without_a_threshold_the_verdict_is_taken_as_it_is_written(tmp_path: Path) -> None:
    name = write(tmp_path, judging={"layout": "verdict-first", "threshold": None})
    assert judging_options(name) == {"layout": "verdict-first"}


def test_an_older_folder_and_any_other_model_say_nothing(tmp_path: Path) -> None:
    assert judging_options(write(tmp_path)) == {}
    assert judging_options(f"local/{tmp_path}/elsewhere") == {}
    assert judging_options("local/embedded") == {}
    assert judging_options("openai/gpt") == {}


def test_a_record_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    name = write(tmp_path, judging={"layout": "sideways"})
    with pytest.raises(ConfigError, match="training.json: not the record of a training"):
        judging_options(name)
