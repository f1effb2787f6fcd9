"""The page on pairs: its commands run in their order, and print what it says."""

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest
from fakes.command import call

from spanjury.orchestration.studies.pairs.rows import ComparisonRow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pairs.md").read_text("utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which the examples of the page lie where it says."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_print_what_the_page_says(folder: Path) -> None:
    printed = ""
    for kind, text in BLOCK.findall(PAGE):
        for line in text.splitlines() if kind == "sh" else ():
            program, *words = shlex.split(line)
            assert program == "spanjury"
            done = call(folder, *words)
            printed += done.output
        if kind == "text":
            assert [line for line in text.splitlines() if line not in printed] == []
    assert printed


def test_the_python_runs_as_it_stands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [text for kind, text in BLOCK.findall(PAGE) if kind == "python"]
    exec(compile(code, "pairs.md", "exec"), {})
    assert "system-c" in capsys.readouterr().out
    assert (folder / "pairs" / "comparisons.jsonl").exists()


def test_every_key_of_a_row_is_named() -> None:
    rows = PAGE.partition("\n## Rows\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", rows))
    assert {field.name for field in fields(ComparisonRow)} <= named
