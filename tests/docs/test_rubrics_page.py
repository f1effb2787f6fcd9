"""The page on rubrics: its commands and its program run in their order, and print what it says."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from fakes.command import call
from loopback.answers import chat
from loopback.worded import WordedServer

from spanjury.judges.tasks import Rubric

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rubrics.md").read_text("utf-8")
ADDRESS = "http://localhost:8080/v1"
OK = chat("No Error\n\nOverall score: Met\nExplanation of the score: Nothing.")
ANSWERS = {
    "news comes first": chat("No Error\n\nOverall score: In the middle"),
    "Every number and every date": chat(
        'Error 1:\nLocation: "July"\nExplanation: The article says June.\nSeverity: 4\n\n'
        "Overall score: Not met"
    ),
    "in euros": chat(
        'Error 1:\nLocation: "30 dollars"\nExplanation: Not in euros.\nSeverity: 4\n\n'
        "Overall score: Not met"
    ),
    "is friendly": chat("No Error\n\nOverall score: Good"),
    "Consistency: Whether": chat("No Error\n\nOverall score: Excellent"),
}


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def write_marked(folder: Path) -> None:
    """Write what people might have marked of the first texts of the examples."""
    lines = (folder / "examples" / "summaries.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines[3:9]]
    for row in rows:
        word = row["output"].split()[0]
        span = {"start": 0, "end": len(word), "text": word, "severity": 2}
        row |= {"spans": [span | {"explanation": "Marked.", "aspect": "consistency"}]}
        row["human"] = {"consistency": 3}
    (folder / "marked.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_the_commands_of_the_page_run_in_their_order(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    write_marked(tmp_path)
    shown = ""
    with WordedServer(ANSWERS, otherwise=OK) as server:
        for block in blocks("sh"):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line.replace(ADDRESS, server.base_url))
                done = call(tmp_path, *words[1:])
                shown += done.stdout
        asked = [str(request.body) for request in server.requests]
    prompts = [words for words in asked if "Reviews of other" in words]
    (result,) = blocks("text")
    assert " ".join(result.split()) in " ".join(shown.split())
    assert len(prompts) == 4
    assert all("[2 of 5]: Marked." in prompt for prompt in prompts)
    assert {prompt.count("review: begin") for prompt in prompts} == {2, 3}
    assert (tmp_path / "newsroom.html").is_file()


def test_the_program_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with WordedServer(ANSWERS, otherwise=OK) as server:
        model = f'{{ name = "openai-compatible/judge", base_url = "{server.base_url}" }}'
        (tmp_path / "panel.toml").write_text(f"models = [{model}]\n")
        (program,) = blocks("python")
        exec(compile(program, "rubrics.md", "exec"), {})
    assert capsys.readouterr().out == "faulty 3.0\n"


def test_the_rubric_of_the_page_is_the_example() -> None:
    (shown,) = blocks("toml")
    example = Rubric.read(ROOT / "examples" / "rubric.toml")
    printed = re.sub(r"\s*#.*", "", (ROOT / "examples" / "rubric.toml").read_text("utf-8"))
    assert printed.split() == shown.split()
    assert example.name == "newsroom"
