"""Names become judges, with the models, checkers and readers that they are handed."""

import json
import math
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from fakes.checker import FakeChecker
from fakes.judges import FixedJudge

from spanjury import open_panel, read_segments
from spanjury.judges.checker.judge import CheckerJudge
from spanjury.judges.core import (
    Aspect,
    ChatModel,
    Checker,
    ConfigError,
    DataError,
    ModelOptions,
    PluginError,
    Report,
    Segment,
    WindowReader,
)
from spanjury.judges.core.registry import Registry
from spanjury.judges.reader.judge import ReaderJudge
from spanjury.judges.rules.form import FormJudge
from spanjury.orchestration.wiring import checking, reading
from spanjury.orchestration.wiring.checks import checked_checker
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.sources import open_source
from spanjury.orchestration.wiring.specs import parse_options, parse_seat
from spanjury.orchestration.wiring.trained import judging_options
from spanjury.testing import ScriptedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A judge that wants a model, and takes a seed and a form."""

    model: ChatModel
    seed: int | None = None
    form: str = "auto"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.weight <= 0:
            raise ValueError(f"weight must be positive, got {self.weight!r}")

    @property
    def signature(self) -> str:
        return f"asking|{self.model.signature}"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        return Report(score=3)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let every model be scripted, and return the names of those opened and closed."""
    events: list[str] = []

    @asynccontextmanager
    async def open_scripted(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
        events.append(f"open {name} {options.base_url}")
        yield ScriptedModel("Overall score: Good", repeat_last=True)
        events.append(f"close {name}")

    def get(registry: Registry[object], name: str) -> object:
        stands_in = {"asking": Asking, "litellm": open_scripted, "broken": object}
        return stands_in.get(name) or found(registry, name)

    found = Registry.get
    monkeypatch.setattr(Registry, "get", get)
    return events


async def test_a_model_is_opened_once_for_all_and_closed_at_the_end(opened: list[str]) -> None:
    gemma = ModelConfig(name="ollama/gemma", base_url="http://localhost:1")
    config = PanelConfig(
        seats=(SeatConfig(judge="asking", name="a"), SeatConfig(judge="annotator", name="b")),
        models=(gemma,),
        consolidate="agent",
    )
    async with open_configured_panel(config) as panel:
        assert [seat.name for seat in panel.seats] == ["a", "b"]
        assert opened == ["open ollama/gemma http://localhost:1"]
    assert opened[1:] == ["close ollama/gemma"]


async def test_a_judge_that_asks_gets_a_seat_for_each_model(opened: list[str]) -> None:
    async with open_panel(judges=["asking", "form"], models=["m/one", "m/two"]) as panel:
        assert [seat.name for seat in panel.seats] == ["asking:m/one", "asking:m/two", "form"]
    assert len(opened) == 4


async def test_seats_of_one_name_are_numbered() -> None:
    async with open_panel(judges=["form", "form"]) as panel:
        assert [seat.name for seat in panel.seats] == ["form", "form#2"]


async def test_judges_of_your_own_need_no_plugin() -> None:
    async with open_panel(judges=[FixedJudge(says=Report(score=5)), "form"]) as panel:
        assert [seat.name for seat in panel.seats] == ["FixedJudge", "form"]


async def test_the_seed_reaches_those_who_take_one(opened: list[str]) -> None:
    async with open_panel(
        judges=["asking", "asking:seed=9", "form"], models=["m"], seed=5
    ) as panel:
        assert [getattr(seat.judge, "seed", None) for seat in panel.seats] == [5, 9, None]


async def test_digits_reach_an_option_that_is_a_text_as_a_text(opened: list[str]) -> None:
    judges = ["asking:form=1935,weight=2"]
    async with open_panel(judges=judges, models=["m"]) as panel:
        (seat,) = panel.seats
        assert (seat.judge.form, seat.judge.weight) == ("1935", 2)  # type: ignore[attr-defined]


@pytest.mark.parametrize("number", [math.nan, Decimal("nan"), Decimal("sNaN")])
async def test_an_option_that_is_nan_is_refused(opened: list[str], number: float) -> None:
    seat = SeatConfig(judge="asking", model="m", options={"weight": number})
    with pytest.raises(ConfigError, match="option 'weight' of 'asking'.* number, got"):
        async with open_configured_panel(PanelConfig(seats=(seat,))):
            pass


async def test_the_embedded_model_is_held_to_a_grammar_unless_an_option_says_otherwise(
    opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Registry.names
    monkeypatch.setattr(
        Registry, "names", lambda r: () if r.group == "spanjury.models" else names(r)
    )
    judges = ["asking", "asking:form=text"]
    async with open_panel(judges=judges, models=["embedded"]) as panel:
        assert [seat.judge.form for seat in panel.seats] == ["grammar", "text"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"judges": ["nonsense"]}, "'nonsense'; choose from .*form, geval, grounding"),
        ({"judges": ["form:depth=3"]}, "'form' has no option 'depth'"),
        (
            {"judges": ["claims:per_call=0"], "models": [ModelConfig(name="ollama/x")]},
            "'claims' cannot be made with per_call=0: per_call must be positive",
        ),
        ({"judges": ["asking"]}, "asks a model: name one with --model"),
        ({"judges": ["asking:weight=heavy"], "models": ["m"]}, "'weight' of 'asking'.*got 'heavy'"),
        ({"judges": ["asking:weight=0"], "models": ["m"]}, "weight must be positive, got 0"),
        (
            {"judges": ["asking:form=nan"], "models": ["m"]},
            'got nan; in a flag, write form="…" for',
        ),
        ({"judges": ["asking:form=a,b"], "models": ["m"]}, "got 'b'; a text with a comma is"),
        ({"judges": [SeatConfig(judge="form", model="m")]}, "'form' asks no model"),
        ({"judges": ["broken"]}, "lacks a signature"),
        ({"aggregate": "sum"}, "'sum'; choose from .*mean"),
        ({"consolidate": "magic"}, "'magic'; choose from agent, rules"),
        ({"consolidate": "agent"}, "'agent' asks a model"),
        ({"consolidate": "rules:depth=3"}, "'rules' has no option 'depth'"),
        ({"consolidate": "rules:max_spans"}, "consolidator .*expected option=value"),
        ({"consolidate": "broken"}, "lacks a signature"),
        ({"panel": "absent.toml"}, "absent.toml cannot be read"),
    ],
)
async def test_invalid_input_is_refused_with_the_choices(
    opened: list[str], options: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        async with open_panel(**options):  # type: ignore[arg-type]  # options by each case
            pytest.fail("it was opened")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ('form="a, b",weight=2', {"form": "a, b", "weight": 2}),
        ("form='1',weight=2", {"form": "1", "weight": 2}),
        ('form=["a", "b,c"],weight=2', {"form": ["a", "b,c"], "weight": 2}),
        ("form={a=1,b=2},weight=2", {"form": {"a": 1, "b": 2}, "weight": 2}),
        ("form='tis,weight=2", {"form": "'tis", "weight": 2}),
        ("form=,weight=2,", {"form": "", "weight": 2}),
        ("form=1_935,weight=1_0.5", {"form": "1_935", "weight": "1_0.5"}),
    ],
)
def test_options_are_read_as_toml_if_that_is_what_they_look_like(
    written: str, options: dict[str, object]
) -> None:
    assert parse_options(f"asking:{written}", what="judge") == ("asking", options)


@pytest.mark.parametrize(
    ("field", "given", "problem"),
    [
        ("price", {"prompt": 1e-6}, "price must be a TokenPrice or None, got a dict"),
        ("base_url", ["http://a:1/v1"], "base_url must be an address or a tuple of addresses"),
    ],
)
def test_a_model_with_a_value_of_another_type_is_refused(
    field: str, given: object, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        ModelConfig(**{"name": "m/a", field: given})  # type: ignore[arg-type]  # by each case


async def test_a_model_that_is_no_configuration_is_refused_without_its_values() -> None:
    given = {"name": "m/a", "api_key": "sk-1"}
    with pytest.raises(ConfigError, match="must be a text or a ModelConfig, got a dict$"):
        async with open_panel(judges=["geval"], models=[given]):  # type: ignore[list-item]  # wrong
            pytest.fail("it was opened")


async def test_a_consolidators_model_is_its_own_where_it_names_one(opened: list[str]) -> None:
    config = PanelConfig(consolidate="agent", consolidate_model="m/merger")
    async with open_panel(config):
        assert opened == ["open m/merger None"]


async def test_a_seat_and_the_consolidator_name_a_model_of_the_panel(opened: list[str]) -> None:
    models = [ModelConfig(name=f"m/{name}", base_url=f"http://{name}:1/v1") for name in "ab"]
    config = PanelConfig(
        seats=(SeatConfig(judge="asking", model="m/b"), SeatConfig(judge="asking", model="m/c")),
        models=tuple(models),
        consolidate="agent",
        consolidate_model="m/a",
    )
    async with open_panel(config):
        assert set(opened) == {
            "open m/a http://a:1/v1",
            "open m/b http://b:1/v1",
            "open m/c None",
        }


async def test_a_consolidator_takes_options_as_a_judge_does() -> None:
    async with open_panel(judges=["form"], consolidate="rules:max_spans=1") as panel:
        before = panel.signature
    async with open_panel(judges=["form"]) as panel:
        assert panel.signature != before


def test_a_file_ending_decides_who_reads_it(tmp_path: Path) -> None:
    problem = r"no source reads files that end in .*\.csv, .*\.jsonl"
    for name in ("rows.docx", "rows", "rows.gz"):
        with pytest.raises(DataError, match="rows.*: cannot be read: No such file"):
            open_source(tmp_path / name)
        (tmp_path / name).touch()
        with pytest.raises(DataError, match=problem) as refused:
            open_source(tmp_path / name)
        assert not {".folder", ".hf"}.intersection(re.split("[ ,]+", str(refused.value)))


def test_reading_stops_at_the_first_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "output": "x"}\n{broken\n')
    rows = read_segments(path)
    assert next(rows).segment_id == "a"
    with pytest.raises(DataError, match="2"):
        next(rows)


class _Kinds:
    """Stands for the registry, with a checker of one option."""

    @staticmethod
    def names() -> tuple[str, ...]:
        return ("fake",)

    @staticmethod
    def get(name: str) -> object:
        assert name == "fake"
        return lambda *, size=200: FakeChecker(size=size)


@pytest.fixture
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "CHECKERS", _Kinds)


@pytest.mark.usefixtures("_fake")
def test_options_that_the_judge_does_not_have_are_the_checkers() -> None:
    options = checking.with_checker(
        CheckerJudge, {"kind": "fake", "size": 7, "passages": 2}, judge="checker"
    )
    checker = options.pop("checker")
    assert isinstance(checker, Checker)
    assert checker.room() == 7
    assert options == {"passages": 2}


@pytest.mark.usefixtures("_fake")
def test_an_unknown_option_is_refused_with_those_of_both() -> None:
    with pytest.raises(
        ConfigError, match=r"no option 'sise'; did you mean 'size'. Choose from .*passages.*size"
    ):
        checking.with_checker(CheckerJudge, {"kind": "fake", "sise": 7}, judge="checker")


def test_a_judge_that_asks_for_no_checker_keeps_its_options() -> None:
    assert checking.with_checker(FormJudge, {"max_spans": 3}, judge="checker") == {"max_spans": 3}


def test_without_a_folder_the_judge_says_how_to_name_one() -> None:
    with pytest.raises(ConfigError, match="checker:FOLDER"):
        checking.with_checker(CheckerJudge, {}, judge="checker")


def test_a_folder_that_follows_the_name_is_the_checkers(tmp_path: object) -> None:
    seat = parse_seat(f"checker:{tmp_path}:passages=2")
    assert (seat.judge, seat.name) == ("checker", f"checker:{tmp_path}")
    assert seat.options == {"folder": str(tmp_path), "passages": 2}


class _Tuple(FakeChecker):
    limits = (0.5, 0.3)


class _Paragraphs(FakeChecker):
    @property
    def signature(self) -> str:
        return ""


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (object(), "lacks a signature"),
        (FakeChecker(unit="page"), "unit must be one of sentence, text, answer, got 'page'"),  # type: ignore[arg-type]
        (_Paragraphs(), "signature must be a text that is not empty"),
        (_Tuple(), "limits must be CheckerLimits"),
    ],
)
def test_what_is_no_checker_is_refused_at_the_door(made: object, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        checked_checker(made, "mine")


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
