"""Families of models: read from names, extended by users, and warned of when a panel is opened."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakes.logs import capture_logs, forget_handlers

from spanjury.judges.core import Aspect, ConfigError, Report, Segment
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.engine.families import Families, FamilyWatch, model_of
from spanjury.orchestration.services.evaluate import Job, run
from spanjury.orchestration.services.panels import open_panel
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedJudge:
    """Finds every text good, and names a model."""

    signature: str

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        del segment
        return Report(score=aspect.scale.high)


def asking(*models: str) -> Mapping[str, str]:
    return {f"s{number}": f"annotator|model:{model}|seed:1" for number, model in enumerate(models)}


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("annotator:ollama/gemma2:27b", "google"),
        ("gemini/gemini-1.5-pro", "google"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("llama-3.1-nemotron-70b", "llama"),
        ("deepseek-r1-distill-qwen-7b", "qwen"),
        ("deepseek-v3", "deepseek"),
        ("openai/gpt-4o-mini", "openai"),
        ("GPT-J-6B", "eleuther"),
        ("o1-mini", "openai"),
        ("mixtral:8x7b", "mistral"),
        ("T5", "t5"),
    ],
)
def test_a_family_is_read_from_a_models_name(name: str, family: str) -> None:
    assert Families.load().of(name) == family


@pytest.mark.parametrize("name", ["reader", "grounding", "form", "sapphire", "photo1", "o11", ""])
def test_a_word_within_another_is_no_family(name: str) -> None:
    assert Families.load().of(name) is None


def test_users_add_families_and_take_words_from_others(tmp_path: Path) -> None:
    path = tmp_path / "families.toml"
    path.write_text('[families]\nhouse = ["Ours", "llama-house", "gemma"]\n')
    families = Families.load(path)
    assert families.of("ours-7b") == "house"
    assert families.of("llama-house-8b") == "house"
    assert families.of("gemma2:27b") == "house"
    assert families.of("llama-3-8b") == "llama"


@pytest.mark.parametrize(
    "text", ["families = 1", '[families]\na = "word"', "[families]\na = [1]", "[", "[other]"]
)
def test_a_table_that_is_none_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "families.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match="families"):
        Families.load(path)


def test_the_model_is_read_from_a_signature() -> None:
    assert model_of("annotator|model:ollama/gemma2:27b|prompt:1") == "ollama/gemma2:27b"
    assert model_of("grounding|max_spans:8") == ""


def test_two_seats_of_one_family_are_warned_of() -> None:
    with capture_logs() as events:
        FamilyWatch(asking("gemma2:27b", "gemini-1.5", "qwen2.5:72b")).check_seats()
    (event,) = events
    assert event["event"] == "panel.one_family"
    assert (event["family"], event["seats"]) == ("google", "s0, s1")


def test_a_system_of_a_seats_family_is_warned_of_once() -> None:
    watch = FamilyWatch(asking("gemma2:27b", "qwen2.5:72b"))
    with capture_logs() as events:
        for system in ("gpt-4", "Qwen1.5-7B", "", "Qwen1.5-7B"):
            watch.see(system)
    (event,) = events
    assert event["event"] == "panel.own_family"
    assert (event["family"], event["system"], event["seats"]) == ("qwen", "Qwen1.5-7B", "s1")


def test_judges_that_ask_no_model_are_of_no_family() -> None:
    watch = FamilyWatch({"llama": "grounding|max_spans:8", "gemma": "form"})
    with capture_logs() as events:
        watch.check_seats()
        watch.see("llama-3")
    assert events == []


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the client's library is built on it
async def test_opening_a_panel_warns_of_seats_of_one_family() -> None:
    models = [
        ModelConfig(name=f"openai-compatible/{name}", base_url="http://127.0.0.1:9/v1")
        for name in ("gemma2:27b", "gemma-3-12b", "qwen2.5")
    ]
    with capture_logs() as events:
        async with open_panel(models=models):
            pass
    (event,) = events
    assert event["event"] == "panel.one_family"
    assert event["seats"] == (
        "annotator:openai-compatible/gemma2:27b, annotator:openai-compatible/gemma-3-12b"
    )


def test_the_command_line_says_each_warning_once(capsys: pytest.CaptureFixture[str]) -> None:
    log_to(None)
    for _ in range(2):
        watch = FamilyWatch(asking("gemma2:27b", "gemini-1.5"))
        watch.check_seats()
        watch.see("gemma-7b")
    forget_handlers()
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("s0, s1 ask models of one family, google: ")
    assert second.startswith("s0, s1 judge texts of gemma-7b, which is of their own family, google")


@pytest.mark.anyio
async def test_judging_texts_of_the_own_family_is_warned_of(tmp_path: Path) -> None:
    data = tmp_path / "texts.jsonl"
    systems = ("gemma-7b", "gpt-4", "gemma-7b")
    rows = (
        {"id": str(number), "task": "summarization", "system": system, "output": "A text."}
        for number, system in enumerate(systems)
    )
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    seat = SeatConfig(judge=NamedJudge(signature="mine|model:gemma2:27b"), name="mine")
    job = Job(
        data=data,
        panel=PanelConfig(seats=(seat,)),
        output=tmp_path / "results.jsonl",
        aspects=("fluency",),
    )
    with capture_logs() as events:
        await run(job, lambda _: None)
    own = [event for event in events if event["event"] == "panel.own_family"]
    assert [(event["system"], event["seats"]) for event in own] == [("gemma-7b", "mine")]
