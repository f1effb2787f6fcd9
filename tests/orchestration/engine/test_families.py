"""Families of models: read from names, extended by users, and warned of when a panel is opened."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes.logs import capture_logs

from spanjury.judges.core import ConfigError
from spanjury.orchestration.engine.families import Families, FamilyWatch, model_of


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
