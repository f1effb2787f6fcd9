from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.specs import parse_seat

PANEL = """
aggregate = "median"
consolidate = "agent"
consolidate_model = "ollama/llama3.3"
models = ["ollama/gemma2:27b"]

[[seats]]
judge = "annotator"
name = "gemma"
model = { name = "ollama/gemma2:27b", base_url = "http://127.0.0.1:11434", timeout = 60 }
options = { max_tokens = 2048 }

[[seats]]
judge = "grounding"
"""


def test_a_panel_file_sets_the_seats_and_their_models(tmp_path: Path) -> None:
    path = tmp_path / "panel.toml"
    path.write_text(PANEL)
    panel = read_panel_file(path)
    gemma, grounding = panel.seats_or_default
    assert (panel.aggregate, panel.consolidate, gemma.name) == ("median", "agent", "gemma")
    assert gemma.options == {"max_tokens": 2048}
    assert gemma.model == ModelConfig(
        name="ollama/gemma2:27b", base_url="http://127.0.0.1:11434", timeout=60.0
    )
    assert grounding == SeatConfig(judge="grounding")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[seats]]\n", r"seats\.0\.judge: Field required"),
        ("[[seats]]\njudge = 3\n", r"seats\.0\.judge"),
        ("agregate = 'mean'\n", r"agregate: Unexpected keyword argument, got 'mean'"),
        ("aggregate = \n", r"cannot be read: .*line 1"),
        ("models = [{ name = 'm', timeout = 'soon' }]", r"timeout.*got 'soon'"),
    ],
)
def test_a_panel_file_that_does_not_fit_says_where(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "panel.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem) as caught:
        read_panel_file(path)
    assert str(path) in str(caught.value)


def test_a_missing_panel_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml"):
        read_panel_file(tmp_path / "absent.toml")


def test_without_seats_models_are_asked_and_without_models_the_offline_judges() -> None:
    offline = [seat.judge for seat in PanelConfig().seats_or_default]
    assert offline == ["grounding", "reader", "form"]
    assert [seat.judge for seat in PanelConfig(models=("m",)).seats_or_default] == ["annotator"]


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("form", {}),
        ("form:a=1", {"a": 1}),
        ("form:a=true,b=word,c='x y',d=0.5", {"a": True, "b": "word", "c": "x y", "d": 0.5}),
        ("form: a = 1 ", {"a": 1}),
    ],
)
def test_a_flag_names_a_judge_and_its_options(spec: str, options: dict[str, object]) -> None:
    assert parse_seat(spec) == SeatConfig(judge="form", options=options)


@pytest.mark.parametrize("spec", ["", ":a=1", "form:=1"])
def test_a_flag_that_cannot_be_read_is_refused(spec: str) -> None:
    with pytest.raises(ConfigError, match="expected"):
        parse_seat(spec)


def test_a_judge_with_a_folder_asks_the_model_in_it(tmp_path: Path) -> None:
    seat = parse_seat(f"distilled:{tmp_path}")
    assert (seat.judge, seat.model, seat.options) == ("distilled", f"local/{tmp_path}", {})
    seat = parse_seat(f"distilled:{tmp_path}:tries=1,expected=true")
    assert (seat.judge, seat.model) == ("distilled", f"local/{tmp_path}")
    assert seat.options == {"tries": 1, "expected": True}
    with pytest.raises(ConfigError, match="neither option=value nor a folder"):
        parse_seat(f"distilled:{tmp_path / 'nowhere'}")


@pytest.mark.parametrize("judge", ["distilled", "reader"])
def test_a_folder_with_a_reader_is_read_by_the_judge_reader(tmp_path: Path, judge: str) -> None:
    (tmp_path / "reader.json").write_text("{}")
    seat = parse_seat(f"{judge}:{tmp_path}:max_spans=3")
    assert (seat.judge, seat.model, seat.name) == ("reader", None, f"{judge}:{tmp_path}")
    assert seat.options == {"weights": str(tmp_path), "max_spans": 3}


@pytest.mark.parametrize("line", ['client = "lean"', 'via = "fast"'])
def test_a_panel_file_names_the_lean_client_as_now_or_before(tmp_path: Path, line: str) -> None:
    path = tmp_path / "panel.toml"
    path.write_text(f'models = [{{name = "vllm/judge", {line}}}]')
    assert read_panel_file(path).models == (ModelConfig(name="vllm/judge", client="lean"),)
