import math
from dataclasses import replace
from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.engine.calibration import AspectCalibration, Calibration
from spanjury.orchestration.engine.score_map import ScoreMap
from spanjury.orchestration.engine.thresholds import Thresholds
from spanjury.orchestration.wiring.calibrations import read_calibration, write_calibration
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
        ("consolidator = 'agent'\n", r"consolidator: there is no such key; did you mean 'conso"),
        ("[[seats]]\njudge = 'form'\nmodell = 'm'\n", r"seats\.0\.modell: .*'model'\? Choose from"),
        ("models = [{ name = 'm', timeot = 3 }]", r"did you mean 'timeout'"),
        ("[cascade]\nbuget = 3\n", r"cascade\.buget: .*did you mean 'budget'"),
        ("aggregate = \n", r"cannot be read: .*line 1"),
        ("models = [{ name = 'm', timeout = 'soon' }]", r"timeout.*got 'soon'"),
        ("models = [{ name = 'm', timeout = nan }]", "timeout must be a number or None, got nan"),
        (
            "[cascade]\nstages = [['form']]\ncutoff = nan\n",
            "cutoff must be a number or None, got nan",
        ),
        ("[cascade]\nstages = [{ seats = ['form'], unsure = [0.5, nan] }]", "got nan"),
        (
            "models = [{ name = 'm', price = { prompt = nan, completion = 0 } }]",
            "0 or more dollars",
        ),
        ("models = [{ name = 'm', price = { prompt = 1, completion = -1 } }]", "0 or more dollars"),
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


@pytest.mark.parametrize("number", ["timeout", "attempts", "max_connections", "min_connections"])
def test_zero_is_refused_and_does_not_count_as_absent(number: str) -> None:
    with pytest.raises(ConfigError, match="^model 'm': .* must be positive: .*=0"):
        _ = replace(ModelConfig(name="m"), **{number: 0}).options  # type: ignore[arg-type]  # the point


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
        ("format = 1\npanel = 'p'\n", "aspects: (Missing|Field required)"),
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
