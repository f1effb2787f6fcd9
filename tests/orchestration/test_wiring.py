from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakes.judges import FixedJudge

from spanjury import open_panel, read_segments
from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ConfigError,
    DataError,
    ModelOptions,
    Report,
    Segment,
)
from spanjury.judges.core.registry import Registry
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.sources import open_source
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
        ({"judges": [SeatConfig(judge="form", model="m")]}, "'form' asks no model"),
        ({"judges": ["broken"]}, "lacks signature or assess"),
        ({"aggregate": "sum"}, "'sum'; choose from .*mean"),
        ({"consolidate": "magic"}, "'magic'; choose from agent, rules"),
        ({"consolidate": "agent"}, "'agent' asks a model"),
        ({"consolidate": "rules:depth=3"}, "'rules' has no option 'depth'"),
        ({"consolidate": "rules:max_spans"}, "consolidator .*expected option=value"),
        ({"consolidate": "broken"}, "lacks signature or consolidate"),
        ({"panel": "absent.toml"}, "absent.toml cannot be read"),
    ],
)
async def test_invalid_input_is_refused_with_the_choices(
    opened: list[str], options: dict[str, object], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        async with open_panel(**options):  # type: ignore[arg-type]  # options by each case
            pytest.fail("it was opened")


async def test_a_consolidators_model_is_its_own_where_it_names_one(opened: list[str]) -> None:
    config = PanelConfig(consolidate="agent", consolidate_model="m/merger")
    async with open_panel(config):
        assert opened == ["open m/merger None"]


async def test_a_consolidator_takes_options_as_a_judge_does() -> None:
    async with open_panel(judges=["form"], consolidate="rules:max_spans=1") as panel:
        before = panel.signature
    async with open_panel(judges=["form"]) as panel:
        assert panel.signature != before


def test_a_file_ending_decides_who_reads_it(tmp_path: Path) -> None:
    problem = r"no source reads files that end in .*\.csv, .*\.jsonl"
    for name in ("rows.docx", "rows", "rows.gz"):
        with pytest.raises(DataError, match=problem):
            open_source(tmp_path / name)


def test_reading_stops_at_the_first_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a", "output": "x"}\n{broken\n')
    rows = read_segments(path)
    assert next(rows).segment_id == "a"
    with pytest.raises(DataError, match="2"):
        next(rows)
