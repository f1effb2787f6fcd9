"""Prices of seats: by flags, by a panel file, by LiteLLM's list; the report says which."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.command import call, complaint
from fakes.processes import completed
from fakes.result_files import result, write_results

from spanjury.judges.core import ConfigError, Result
from spanjury.orchestration.services.judging.panels import open_panel
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.seats import named_seats, seat_prices

HUMAN = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 1, 5) * 3
FIRST = (1, 2, 2, 2, 3, 4, 4, 4, 5, 5, 1, 5) * 3
SECOND = (2, 1, 1, 3, 3, 3, 5, 4, 4, 5, 2, 4) * 3
MODELS = {"s1": "openai/gpt-4o-mini", "s2": "openai-compatible/house-model"}
QUICK = ("--draws", "0")

PANEL = """
families = { house = ["house-model", "gpt-4o-mini"] }
[[seats]]
judge = "annotator"
name = "s1"
model = "openai/gpt-4o-mini"
[[seats]]
judge = "annotator"
name = "s2"
model = { name = "openai-compatible/house-model", price = { prompt = 1e-6, completion = 2e-6 } }
[[seats]]
judge = "form"
"""


def asked(one: Result, models: Mapping[str, str]) -> Result:
    """Return a result whose seats say which models they asked."""
    seats = tuple(
        replace(seat, signature=f"annotator|model:{models[seat.seat]}|seed:1")
        for seat in one.report.seats
    )
    return replace(one, report=replace(one.report, seats=seats, aggregation="mean"))


@pytest.fixture(name="folder")
def folder_with_two_seats(tmp_path: Path) -> Path:
    rows = [
        {
            "id": str(number),
            "output": "",
            "system": "bart",
            "inputs": {"Article": f"article {number}"},
            "human": {"fluency": score},
        }
        for number, score in enumerate(HUMAN)
    ]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    both = zip(FIRST, SECOND, strict=True)
    results = (
        asked(result(str(number), aspect="fluency", scores=scores), MODELS)
        for number, scores in enumerate(both)
    )
    write_results(tmp_path / "results.jsonl", results)
    (tmp_path / "panel.toml").write_text(PANEL)
    return tmp_path


def said(folder: Path, *flags: str, command: str = "study") -> tuple[dict[str, object], str]:
    """Return what a command finds, as JSON and as tables."""
    line = ("panel", command, "results.jsonl", "--human", "texts.jsonl", *QUICK, *flags)
    tables, data = call(folder, *line), call(folder, *line, "--json")
    found = json.loads(data.stdout)
    return (found["aspects"][0] if command == "study" else found["cascade"]), tables.stdout


def test_a_panel_file_prices_the_seats_of_the_same_names(folder: Path) -> None:
    found, tables = said(folder, "--panel", "panel.toml")
    frontier = found["frontier"]
    assert frontier["unit"] == "dollars"  # type: ignore[index]  # JSON
    # s1, by LiteLLM's list: 10 tokens at 0.15 dollars a million, 10 that were read before at 0.075
    # and 5 written at 0.6. s2: 20 at 1 and 5 at 2.
    assert frontier["whole"]["cost"] == pytest.approx(5.25e-6 + 30e-6)  # type: ignore[index]  # JSON
    lines = " ".join(tables.split())
    assert "s1 0.15 / 0.6, cached 0.075 (LiteLLM's list)" in lines
    assert "s2 1 / 2 (panel.toml)" in lines
    assert "No price is known" not in lines
    sources = {name: one["source"] for name, one in found["prices"]["of_seats"].items()}  # type: ignore[index]  # JSON
    assert sources == {"s1": "LiteLLM's list", "s2": "panel.toml"}


def test_a_price_by_flag_goes_before_the_panel_file(folder: Path) -> None:
    found, tables = said(folder, "--panel", "panel.toml", "--price", "s1=1000/2000")
    assert found["frontier"]["whole"]["cost"] == pytest.approx(0.03 + 30e-6)  # type: ignore[index]  # JSON
    assert "s1 1000 / 2000 (--price); s2 1 / 2 (panel.toml)" in " ".join(tables.split())


def test_a_seat_that_lacks_a_price_is_named(folder: Path) -> None:
    found, tables = said(folder, "--price", "s1=1/2")
    assert found["frontier"]["unit"] == "tokens"  # type: ignore[index]  # JSON
    assert found["prices"]["lacking"] == ["s2"]  # type: ignore[index]  # JSON
    assert "No price is known for s2: set it with --price" in " ".join(tables.split())
    _, tables = said(folder, "--price", "s1=1/2", "--cost", "dollars")
    assert "A panel with such a seat has no cost here." in " ".join(tables.split())


def test_prices_are_not_mentioned_if_there_are_none(folder: Path) -> None:
    found, tables = said(folder)
    assert found["frontier"]["unit"] == "tokens"  # type: ignore[index]  # JSON
    assert "price" not in tables.lower()


def test_families_of_the_panel_file_are_those_of_the_study(folder: Path) -> None:
    found, _ = said(folder, "--panel", "panel.toml")
    assert found["families"] == {"s1": "house", "s2": "house"}
    found, _ = said(folder)
    assert found["families"] == {"s1": "openai"}
    (folder / "more.toml").write_text('[families]\nother = ["house-model"]\n')
    found, _ = said(folder, "--panel", "panel.toml", "--families", "more.toml")
    assert found["families"] == {"s1": "house", "s2": "other"}


def test_a_price_of_another_model_than_was_asked_is_pointed_out(folder: Path) -> None:
    text = PANEL.replace('"openai/gpt-4o-mini"\n[', '"openai/gpt-4o"\n[')
    (folder / "panel.toml").write_text(text)
    found, _ = said(folder, "--panel", "panel.toml")
    note = "s1 asked openai/gpt-4o-mini, and its price is that of openai/gpt-4o"
    assert note in found["notes"]  # type: ignore[operator]  # JSON


def test_a_cascade_counts_dollars_by_a_panel_file(folder: Path) -> None:
    flags = ("--stage", "s1", "--stage", "s2", "--cost", "dollars", "--panel", "panel.toml")
    found, tables = said(folder, *flags, command="cascade")
    assert found["unit"] == "dollars"
    assert "s2 1 / 2 (panel.toml)" in " ".join(tables.split())
    line = ("panel", "cascade", "results.jsonl", "--human", "texts.jsonl", *QUICK, *flags[:-2])
    assert "no price of s1, s2 is known" in complaint(call(folder, *line, code={1, 2}).stderr)


@pytest.mark.parametrize(
    ("panel", "says"),
    [
        ("seats = 3", "the panel file"),
        ('[[seats]]\njudge = "annotator"\n', "asks a model"),
        ('[[seats]]\njudge = "unheard-of"\n', "unheard-of"),
    ],
)
def test_an_invalid_panel_file_is_refused(folder: Path, panel: str, says: str) -> None:
    (folder / "panel.toml").write_text(panel)
    line = ("panel", "study", "results.jsonl", "--human", "texts.jsonl", "--panel", "panel.toml")
    assert says in complaint(call(folder, *line, code=2).stderr)


def priced(*models: ModelConfig | str) -> Mapping[str, str]:
    """Return where the price of each seat is from."""
    seats = [
        SeatConfig(judge="annotator", name=f"s{n}", model=model) for n, model in enumerate(models)
    ]
    found = seat_prices(PanelConfig(seats=tuple(seats)), [seat.name for seat in seats])
    return {name: one.source for name, one in found.items()}


def test_models_of_ones_own_server_have_no_listed_price_and_those_that_run_here_cost_nothing() -> (
    None
):
    lean = ModelConfig(name="openai/gpt-4o-mini", client="lean")
    local = seat_prices(
        PanelConfig(seats=(SeatConfig(judge="annotator", name="s", model="local/folder"),)), ["s"]
    )
    assert (local["s"].source, local["s"].price.prompt) == ("here", 0.0)
    assert priced("openai-compatible/x", lean, "embedded", "nowhere/unheard-of") == {"s2": "here"}


def test_only_the_seats_that_are_asked_for_are_priced() -> None:
    config = PanelConfig(models=("openai/gpt-4o-mini", "openai/gpt-4o"))
    assert list(seat_prices(config, {"annotator:openai/gpt-4o"})) == ["annotator:openai/gpt-4o"]


@pytest.mark.asyncio_only  # the client's library is built on it
async def test_seats_have_the_names_that_they_have_in_an_open_panel() -> None:
    models = [
        ModelConfig(name=f"openai-compatible/{name}", base_url="http://127.0.0.1:9/v1")
        for name in "aab"
    ]
    seats = (
        SeatConfig(judge="annotator"),
        SeatConfig(judge="form"),
        SeatConfig(judge="form"),
        SeatConfig(judge="rouge-l", name="overlap"),
        SeatConfig(judge="geval", model=models[0], name="mine"),
    )
    config = PanelConfig(seats=seats, models=tuple(models))
    named = named_seats(config)
    async with open_panel(config) as panel:
        assert [seat.name for seat in panel.seats] == [one.name for one in named]
    assert [one.name for one in named][3:] == ["form", "form#2", "overlap", "mine"]
    assert [one.model and one.model.name[-1] for one in named] == ["a", "a", "b", *[None] * 3, "a"]


def test_a_seat_that_asks_no_model_is_given_none() -> None:
    config = PanelConfig(seats=(SeatConfig(judge="form", model="openai/gpt-4o"),))
    with pytest.raises(ConfigError, match="asks no model"):
        named_seats(config)


def test_litellm_is_loaded_only_where_a_seat_needs_its_list(folder: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from spanjury.orchestration.wiring.panel_files import read_panel_file\n"
        "from spanjury.orchestration.wiring.seats import seat_prices\n"
        "config = read_panel_file(Path('panel.toml'))\n"
        "for names in ({'s2'}, {'s1', 's2'}):\n"
        "    seat_prices(config, names)\n"
        "    print('litellm' in sys.modules)\n"
    )
    done = completed([sys.executable, "-c", code], cwd=folder)
    assert done.stdout.split() == ["False", "True"]
