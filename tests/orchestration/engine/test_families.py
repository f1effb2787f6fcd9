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

NAMED = """
google: annotator:ollama/gemma2:27b, gemini/gemini-1.5-pro
llama: meta-llama/Llama-3.1-8B-Instruct, llama-3.1-nemotron-70b
llama: bartowski/Meta-Llama-3.1-8B-Instruct-GGUF
llama: hf.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q4_K_M, TheBloke/Llama-2-7B-GPTQ
llama: openrouter/nousresearch/hermes-3-llama-3.1-405b
qwen: deepseek-r1-distill-qwen-7b, unsloth/Qwen2.5-7B-Instruct-bnb-4bit, my_qwen_tune
qwen: local/models/qwen3/
deepseek: deepseek-v3
openai: openai/gpt-4o-mini, o1-mini, ollama_chat/gpt-oss:20b, azure/o3-mini, annotator:o3-mini
eleuther: GPT-J-6B
mistral: mixtral:8x7b
t5: T5
amazon: bedrock/us.amazon.nova-pro-v1:0
anthropic: bedrock/anthropic.claude-3-sonnet-20240229-v1:0, vertex_ai/claude-3-5-sonnet@20240620
cohere: bedrock/cohere.command-text-v14, Command R+
swiss-ai: hosted_vllm/swiss-ai/Apertus-70B-Instruct-2509
bytedance: openrouter/bytedance/seed-oss-36b-instruct, bytedance-seed/seed-1.6
baidu: openrouter/baidu/ernie-4.5-300b-a47b
tencent: tencent/Hunyuan-A13B-Instruct
stepfun: stepfun/step-3.5-flash:free
xiaomi: xiaomi/mimo-v2-flash
liquid: LiquidAI/LFM2-8B-A1B
databricks: databricks/dbrx-instruct, mosaicml/mpt-30b-chat
stability: stabilityai/stablelm-2-zephyr-1_6b
rwkv: RWKV/rwkv-6-world-7b
moonshot: moonshotai/kimi-k2
yi: my-yi-test
"""
TUNED = """
llama: microsoft/Orca-2-13b, deepseek-ai/DeepSeek-R1-Distill-Llama-70B, ollama/deepseek-r1:70b
llama: perplexity/sonar-pro, nemotron-70b, ollama/nemotron, nemotron:70b-instruct-q4_K_M
llama: nvidia/llama-3.1-nemotron-70b-instruct, nvidia/Nemotron-Super-49B-v1.5
llama: nvidia/Llama-3_3-Nemotron-Super-49B-v1, NousResearch/Hermes-4-70B
llama: Skywork/Skywork-Critic-Llama-3.1-70B, kaist-ai/prometheus-13b-v1.0
llama: AtlaAI/Selene-1-Mini-Llama-3.1-8B
mistral: Open-Orca/Mistral-7B-OpenOrca, zephyr:7b, microsoft/wizardlm-2-8x22b
mistral: upstage/SOLAR-10.7B-Instruct-v1.0, prometheus-eval/prometheus-7b-v2.0
qwen: deepseek/deepseek-r1-0528-qwen3-8b, ollama/deepseek-r1:32b
qwen: nvidia/OpenReasoning-Nemotron-32B, NousResearch/Hermes-4-14B
qwen: deepcogito/cogito-v1-preview-qwen-32B, moonshotai/Kimi-Dev-72B
deepseek: ollama/deepseek-r1:671b, perplexity/r1-1776, perplexity/sonar-reasoning
deepseek: deepcogito/cogito-v2.1-671b
nvidia: nvidia/NVIDIA-Nemotron-Nano-9B-v2, nvidia.nemotron-nano-12b-v2, ollama/nemotron-3-nano:30b
nvidia: nvidia/nemotron-4-340b-instruct, ollama/nemotron-mini:4b, nvidia/Nemotron-H-56B-Base-8K
bytedance: NousResearch/Hermes-4.3-36B
google: HuggingFaceH4/zephyr-7b-gemma-v0.1
zhipu: PrimeIntellect/INTELLECT-3
microsoft: flowaicom/Flow-Judge-v0.1
"""
OLD = """
openai: GPT-2, GPT-2 (zero shot), text-davinci-003
t5: T5, google/flan-t5-xl
bart: BART
pegasus: Pegasus (dynamic mix)
opt: opt-iml-30b
-: M22, LEAD-3, Pointer-Generator, Closed book decoder
"""


def by_name(table: str) -> list[tuple[str, str | None]]:
    """Return each name of a table with its family, which is None for "-"."""
    rows = [line.split(": ", 1) for line in table.strip().splitlines()]
    return [
        (name, None if family == "-" else family)
        for family, names in rows
        for name in names.split(", ")
    ]


def asking(*models: str) -> Mapping[str, str]:
    return {f"s{number}": f"annotator|model:{model}|seed:1" for number, model in enumerate(models)}


@pytest.mark.parametrize(("name", "family"), by_name(NAMED))
def test_a_family_is_read_from_a_models_name(name: str, family: str) -> None:
    assert Families.load().of(name) == family


@pytest.mark.parametrize(("name", "family"), by_name(TUNED))
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


@pytest.mark.parametrize(("name", "family"), by_name(OLD))
def test_systems_of_old_benchmarks_are_known_by_their_names(name: str, family: str | None) -> None:
    assert Families.load().of(name) == family


@pytest.mark.parametrize(
    "name",
    [
        *("reader", "grounding", "form", "sapphire", "photo1", "o11", "", "philosophy-7b"),
        *("yield", "commander", "novartis-model", "my-seed-1", "checkpoint-step-2"),
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
