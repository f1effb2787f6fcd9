"""Modules that a short command leaves unloaded, of which each costs it time."""

import json
import os
import sys
from pathlib import Path

import pytest
from fakes.processes import completed

PROGRAM = """
import json, os, sys
from types import ModuleType
from spanjury.orchestration.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
loaded = {name for name, module in sys.modules.items() if type(module) is ModuleType}
print(json.dumps(sorted(loaded & set(json.loads(os.environ['WATCHED'])))), file=sys.stderr)
"""
ENCODER = {"numpy", "onnxruntime", "tokenizers", "spanjury.adapters.reading.onnx_reader"}
OTHERS = {
    "aiohttp",
    "httpx",
    "litellm",
    "openai",
    "opentelemetry",
    "pydantic",
    "pydantic_core",
    "pydantic_ai",
    "rapidfuzz",
    "rich.progress",
    "scipy",
    "spanjury.adapters.files.results.result_rows",
    "spanjury.adapters.models.gateway",
    "spanjury.judges.llm.parse",
    "spanjury.judges.metrics.judge",
    "spanjury.judges.reader.fitting",
    "spanjury.judges.scoring",
    "spanjury.orchestration.report.document",
    "spanjury.orchestration.studies.generation",
    "spanjury.orchestration.wiring.trained",
    "structlog",
}
SOURCE = "The bridge opened in 1932. It is 503 metres long and carries eight lanes of traffic."


def loaded(names: set[str], *arguments: str, home: Path) -> list[str]:
    """Return which of `names` a command loads."""
    done = completed(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=home,
        env={**os.environ, "XDG_DATA_HOME": str(home), "WATCHED": json.dumps(sorted(names))},
    )
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return found


def write_row(folder: Path, output: str) -> None:
    """Write a file of one row."""
    row = {"id": 1, "task": "summarization", "inputs": {"Article": SOURCE}, "output": output}
    (folder / "one.jsonl").write_text(json.dumps(row))


def test_rules_on_one_row_load_no_validator_no_encoder_and_no_model(tmp_path: Path) -> None:
    write_row(tmp_path, "The bridge opened in 1930.")
    judges = ["--judge", "grounding", "--judge", "form"]
    plain = ["-o", "results.jsonl", "--limit", "1", "--max-connections", "2"]
    assert loaded(ENCODER | OTHERS, "evaluate", "one.jsonl", *judges, *plain, home=tmp_path) == []


def test_the_default_panel_loads_the_encoder_and_nothing_else(tmp_path: Path) -> None:
    write_row(tmp_path, "A bridge that opened in 1932 has ten lanes.")
    assert set(loaded(ENCODER | OTHERS, "evaluate", "one.jsonl", home=tmp_path)) == ENCODER


def test_the_default_panel_loads_no_encoder_for_what_is_copied(tmp_path: Path) -> None:
    write_row(tmp_path, "The bridge opened in 1932.")
    found = loaded(ENCODER | OTHERS, "evaluate", "one.jsonl", home=tmp_path)
    assert found == ["spanjury.adapters.reading.onnx_reader"]


def test_the_list_of_judges_loads_no_numbers_and_no_clients(tmp_path: Path) -> None:
    heavy = {"aiohttp", "httpx", "litellm", "numpy", "openai", "pydantic_ai", "rapidfuzz", "scipy"}
    assert loaded(heavy, "judges", home=tmp_path) == []


@pytest.mark.parametrize("command", ["--help", "evaluate --help", "tasks", "aspects"])
def test_help_and_lists_load_no_validator(command: str, tmp_path: Path) -> None:
    assert loaded({"pydantic", "numpy", "anyio", "asyncio"}, *command.split(), home=tmp_path) == []


def test_a_page_of_two_runs_loads_no_library_that_the_core_lacks(tmp_path: Path) -> None:
    write_row(tmp_path, "The bridge opened in 1930.")
    for name in ("first", "second"):
        run = ["evaluate", "one.jsonl", "--judge", "grounding", "-o", f"{name}.jsonl"]
        loaded(set(), *run, home=tmp_path)
    view = ["view", "first.jsonl", "second.jsonl", "--data", "one.jsonl", "--html", "page.html"]
    assert loaded({"litellm", "pydantic_ai", "scipy"}, *view, home=tmp_path) == []
    assert "second" in (tmp_path / "page.html").read_text()
