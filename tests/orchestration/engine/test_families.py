"""Families of models: read from names, extended by users, and warned of when a panel is opened."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import pytest
from fakes.logs import capture_logs, forget_handlers

from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.engine.families import Families, FamilyWatch, model_of
from spanjury.orchestration.services.judging.panels import open_panel
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.seats import warn_of_one_family


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
        ("unsloth/Qwen2.5-7B-Instruct-bnb-4bit", "qwen"),
        ("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", "llama"),
        ("hf.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M", "llama"),
        ("TheBloke/Llama-2-7B-GPTQ", "llama"),
        ("ollama_chat/gpt-oss:20b", "openai"),
        ("openrouter/nousresearch/hermes-3-llama-3.1-405b", "llama"),
        ("bedrock/us.amazon.nova-pro-v1:0", "amazon"),
        ("bedrock/anthropic.claude-3-sonnet-20240229-v1:0", "anthropic"),
        ("vertex_ai/claude-3-5-sonnet@20240620", "anthropic"),
        ("bedrock/cohere.command-text-v14", "cohere"),
        ("azure/o3-mini", "openai"),
        ("annotator:o3-mini", "openai"),
        ("hosted_vllm/swiss-ai/Apertus-70B-Instruct-2509", "swiss-ai"),
        ("openrouter/bytedance/seed-oss-36b-instruct", "bytedance"),
        ("bytedance-seed/seed-1.6", "bytedance"),
        ("openrouter/baidu/ernie-4.5-300b-a47b", "baidu"),
        ("tencent/Hunyuan-A13B-Instruct", "tencent"),
        ("stepfun/step-3.5-flash:free", "stepfun"),
        ("xiaomi/mimo-v2-flash", "xiaomi"),
        ("LiquidAI/LFM2-8B-A1B", "liquid"),
        ("databricks/dbrx-instruct", "databricks"),
        ("mosaicml/mpt-30b-chat", "databricks"),
        ("stabilityai/stablelm-2-zephyr-1_6b", "stability"),
        ("RWKV/rwkv-6-world-7b", "rwkv"),
        ("moonshotai/kimi-k2", "moonshot"),
        ("my-yi-test", "yi"),
        ("my_qwen_tune", "qwen"),
        ("Command R+", "cohere"),
        ("local/models/qwen3/", "qwen"),
    ],
)
def test_a_family_is_read_from_a_models_name(name: str, family: str) -> None:
    assert Families.load().of(name) == family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("microsoft/Orca-2-13b", "llama"),
        ("Open-Orca/Mistral-7B-OpenOrca", "mistral"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "llama"),
        ("deepseek/deepseek-r1-0528-qwen3-8b", "qwen"),
        ("ollama/deepseek-r1:32b", "qwen"),
        ("ollama/deepseek-r1:70b", "llama"),
        ("ollama/deepseek-r1:671b", "deepseek"),
        ("perplexity/r1-1776", "deepseek"),
        ("perplexity/sonar-pro", "llama"),
        ("perplexity/sonar-reasoning", "deepseek"),
        ("nemotron-70b", "llama"),
        ("ollama/nemotron", "llama"),
        ("nemotron:70b-instruct-q4_K_M", "llama"),
        ("nvidia/llama-3.1-nemotron-70b-instruct", "llama"),
        ("nvidia/Nemotron-Super-49B-v1.5", "llama"),
        ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", "nvidia"),
        ("nvidia.nemotron-nano-12b-v2", "nvidia"),
        ("ollama/nemotron-3-nano:30b", "nvidia"),
        ("nvidia/nemotron-4-340b-instruct", "nvidia"),
        ("ollama/nemotron-mini:4b", "nvidia"),
        ("nvidia/Nemotron-H-56B-Base-8K", "nvidia"),
        ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", "llama"),
        ("nvidia/OpenReasoning-Nemotron-32B", "qwen"),
        ("NousResearch/Hermes-4-70B", "llama"),
        ("NousResearch/Hermes-4-14B", "qwen"),
        ("NousResearch/Hermes-4.3-36B", "bytedance"),
        ("deepcogito/cogito-v1-preview-qwen-32B", "qwen"),
        ("deepcogito/cogito-v2.1-671b", "deepseek"),
        ("zephyr:7b", "mistral"),
        ("HuggingFaceH4/zephyr-7b-gemma-v0.1", "google"),
        ("microsoft/wizardlm-2-8x22b", "mistral"),
        ("moonshotai/Kimi-Dev-72B", "qwen"),
        ("PrimeIntellect/INTELLECT-3", "zhipu"),
        ("Skywork/Skywork-Critic-Llama-3.1-70B", "llama"),
        ("upstage/SOLAR-10.7B-Instruct-v1.0", "mistral"),
        ("prometheus-eval/prometheus-7b-v2.0", "mistral"),
        ("kaist-ai/prometheus-13b-v1.0", "llama"),
        ("AtlaAI/Selene-1-Mini-Llama-3.1-8B", "llama"),
        ("flowaicom/Flow-Judge-v0.1", "microsoft"),
    ],
)
def test_a_tuned_model_is_of_the_family_that_it_was_made_of(name: str, family: str) -> None:
    assert Families.load().of(name) == family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("open_llama_3b", "openllama"),
        ("TinyLlama-1.1B-Chat-v1.0", "tinyllama"),
        ("cerebras/Cerebras-GPT-13B", "cerebras"),
        ("AI-Sweden-Models/gpt-sw3-20b", "ai-sweden"),
    ],
)
def test_a_model_that_only_borrows_a_name_is_of_its_own_family(name: str, family: str) -> None:
    assert Families.load().of(name) == family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("GPT-2", "openai"),
        ("GPT-2 (zero shot)", "openai"),
        ("text-davinci-003", "openai"),
        ("T5", "t5"),
        ("google/flan-t5-xl", "t5"),
        ("BART", "bart"),
        ("Pegasus (dynamic mix)", "pegasus"),
        ("opt-iml-30b", "opt"),
        ("M22", None),
        ("LEAD-3", None),
        ("Pointer-Generator", None),
        ("Closed book decoder", None),
    ],
)
def test_systems_of_old_benchmarks_are_known_by_their_names(name: str, family: str | None) -> None:
    assert Families.load().of(name) == family


@pytest.mark.parametrize(
    "name",
    [
        *("reader", "grounding", "form", "sapphire", "photo1", "o11", ""),
        *(
            "philosophy-7b",
            "yield",
            "commander",
            "novartis-model",
            "my-seed-1",
            "checkpoint-step-2",
        ),
        *("optimizer", "marco-polo", "team-o1", "the-solar-set", "GPTQ"),
    ],
)
def test_a_word_within_another_is_no_family(name: str) -> None:
    assert Families.load().of(name) is None


def test_every_word_of_the_table_is_of_one_family_and_can_be_found() -> None:
    text = (files("spanjury.orchestration.engine") / "families.toml").read_text("utf-8")
    for table in tomllib.loads(text).values():
        words = [(word, family) for family, of in table.items() for word in of]
        assert len(words) == len(dict(words))
        families = Families.load(table=table)
        for word, family in words:
            assert families.of(word.removeprefix("^")) == family, word


def test_users_add_families_and_take_words_from_others(tmp_path: Path) -> None:
    path = tmp_path / "families.toml"
    path.write_text('[families]\nhouse = ["Ours", "llama-house", "gemma"]\n')
    families = Families.load(path)
    assert families.of("ours-7b") == "house"
    assert families.of("llama-house-8b") == "house"
    assert families.of("gemma2:27b") == "house"
    assert families.of("llama-3-8b") == "llama"
    assert families.of("ours-llama-3") == "house"


def test_families_of_files_go_before_those_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "families.toml"
    path.write_text('[families]\nfile = ["a-model"]\n')
    families = Families.load(path, table={"table": ["a-model", "b_model"]})
    assert (families.of("a-model"), families.of("B model")) == ("file", "table")


@pytest.mark.parametrize(
    "text", ["families = 1", '[families]\na = "word"', "[families]\na = [1]", "[", "[other]"]
)
def test_an_invalid_table_is_refused_by_name(tmp_path: Path, text: str) -> None:
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


def test_requests_that_name_ever_new_systems_fill_no_memory() -> None:
    watch = FamilyWatch(asking("gemma2:27b"))
    with capture_logs() as events:
        for number in range(3000):
            watch.see(f"gemma2-{number}")
    assert len(events) == 1000


def test_judges_that_ask_no_model_are_of_no_family() -> None:
    watch = FamilyWatch({"llama": "grounding|max_spans:8", "gemma": "form"})
    with capture_logs() as events:
        watch.check_seats()
        watch.see("llama-3")
    assert events == []


@pytest.mark.asyncio_only  # the client's library is built on it
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


def test_a_panel_that_workers_open_is_warned_of_before_it_is_sent_to_them() -> None:
    models = tuple(ModelConfig(name=f"ollama/{name}") for name in ("gemma2:27b", "gemma3:12b"))
    seats = (SeatConfig(judge="annotator"), SeatConfig(judge="grounding"))
    with capture_logs() as events:
        warn_of_one_family(PanelConfig(models=models, seats=seats))
    (event,) = events
    assert (event["event"], event["family"]) == ("panel.one_family", "google")
    assert event["seats"] == "annotator:ollama/gemma2:27b, annotator:ollama/gemma3:12b"


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
