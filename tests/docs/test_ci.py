"""The commands of "In CI" on the page on runs do what it says."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from fakes.command import call

from spanjury.judges.core import Outcome
from spanjury.orchestration.studies.failing.conditions import FIELDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "runs.md").read_text("utf-8")
(SECTION,) = re.findall(r"^## In CI\n(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)
(EVALUATIONS, SHOWN) = re.findall(r"```\n(.*?)```", SECTION, re.DOTALL)
(WORKFLOW,) = re.findall(r"```yaml\n(.*?)```", SECTION, re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "examples" / "summaries.jsonl", tmp_path / "texts.jsonl")
    return tmp_path


def test_the_workflow_ends_with_5_and_uploads_what_it_wrote(folder: Path) -> None:
    (command,) = re.findall(r"- run: >\n((?: {10}.*\n)+)", WORKFLOW)
    (uploaded,) = re.findall(r"sarif_file: (.*)", WORKFLOW)
    program, *arguments = shlex.split(command)
    assert program == "spanjury"
    done = call(folder, *arguments, code=5)
    assert "\n::error file=examples/summaries.jsonl,line=2,title=consistency%3A" in done.stderr
    assert (folder / uploaded).is_file()


def test_each_command_holds_the_texts_to_what_it_says(folder: Path) -> None:
    lines = [shlex.split(line, comments=True) for line in EVALUATIONS.splitlines()]
    *evaluations, rescore = (line[1:] for line in lines)
    rules = ("--judge", "grounding", "--judge", "form", "--show", "none", "--run-dir")
    for number, line in enumerate(evaluations):
        call(folder, *line, *rules, f"run-{number}", code=5)
    call(folder, *("run-0" if word == "RUN" else word for word in rescore), code=5)


def test_the_lines_are_those_of_the_command_above_them(folder: Path) -> None:
    command, *lines = SHOWN.splitlines()
    done = call(folder, *shlex.split(command.removeprefix("$ spanjury ")), code=5)
    assert {*lines} - {"…"} <= {*done.stderr.splitlines()}


def test_the_table_names_every_field_and_every_outcome() -> None:
    rows = re.findall(r"^\| (`.*?) \|", SECTION, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == set(FIELDS)
    assert all(f"`{outcome.value}`" in SECTION for outcome in Outcome)
