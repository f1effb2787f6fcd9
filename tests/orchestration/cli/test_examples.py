"""The option `examples` of an annotator: a file, or the marks that people made of a run."""

import json
from pathlib import Path

import pytest
from fakes.command import call, complaint
from loopback.answers import chat
from loopback.server import LoopbackServer, Received

import spanjury
from spanjury.judges.core import ConfigError
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

REPLY = chat("No Error\n\nOverall score: Good\nExplanation of the score: Nothing.")
ROWS: list[dict[str, object]] = [
    {
        "id": name,
        "inputs": {"Article": f"The {name} was opened in {year}."},
        "output": f"The {name} opened in {year + 3}.",
        "task": "summarization",
    }
    for name, year in (("bridge", 1932), ("dam", 1950), ("tower", 1960))
]
MARKED: list[dict[str, object]] = [
    {
        **row,
        "human": {"consistency": 2},
        "spans": [
            {"text": str(row["output"])[-5:-1], "severity": 4, "explanation": "A wrong year."}
        ],
    }
    for row in ROWS
]


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def prompt_of(request: Received) -> str:
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return str(messages[-1]["content"])


def examples_in(prompt: str) -> str:
    return prompt.partition("# The text to judge")[0] if "# The text to judge" in prompt else ""


@pytest.mark.parametrize("form", ["text", "schema"])
def test_a_file_gives_each_prompt_examples_of_other_sources(tmp_path: Path, form: str) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS)
    write_rows(tmp_path / "examples.jsonl", MARKED)
    with LoopbackServer(REPLY) as server:
        judge = f"annotator:examples=examples.jsonl,shots=1,form={form}"
        flags = ("--judge", judge, "--model", "openai-compatible/judge", "--aspect", "consistency")
        url = ("--model-base-url", server.base_url, "--run-dir", "run", "--no-preflight")
        call(tmp_path, "evaluate", "rows.jsonl", *flags, *url)
        prompts = list(map(prompt_of, server.requests))
    assert len(prompts) == 3
    for prompt, row in zip(sorted(prompts, key=_judged), ROWS, strict=True):
        assert str(row["output"]) not in examples_in(prompt)
        assert examples_in(prompt).count("review: begin") == 1
        assert "[4 of 5]: A wrong year." in examples_in(prompt)
    (signature,) = {
        seat["signature"]
        for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()
        for seat in json.loads(line)["seats"]
    }
    assert "|examples:" in signature


def _judged(prompt: str) -> int:
    text = prompt.partition("# The text to judge")[2]
    return next(place for place, row in enumerate(ROWS) if str(row["output"]) in text)


def test_marks_of_a_run_are_examples_and_are_kept_with_the_new_run(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS)
    write_rows(tmp_path / "marked.jsonl", MARKED)
    first = ("--judge", "grounding", "--aspect", "consistency", "--run-dir", "first")
    call(tmp_path, "evaluate", "rows.jsonl", *first)
    judge = ("--judge", "annotator:examples=marks:first,form=text")
    unmarked = call(
        tmp_path, "evaluate", "rows.jsonl", *judge, "--model", "openai-compatible/a", code=1
    )
    assert "no one has finished marking a text of first" in complaint(unmarked.stderr)
    call(tmp_path, "marks", "import", "first", "marked.jsonl", "--annotator", "anna")
    with LoopbackServer(REPLY) as server:
        flags = (*judge, "--model", "openai-compatible/judge", "--aspect", "consistency")
        url = ("--model-base-url", server.base_url, "--run-dir", "second", "--no-preflight")
        call(tmp_path, "evaluate", "rows.jsonl", *flags, *url)
        prompts = list(map(prompt_of, server.requests))
        (tmp_path / "first" / "marks.sqlite3").unlink()
        call(tmp_path, "resume", "second")
        assert len(server.requests) == len(prompts) == 3
    assert all(examples_in(prompt).count("review: begin") == 2 for prompt in prompts)


@pytest.mark.parametrize(
    ("given", "complaint_part"),
    [
        ("none.jsonl", "none.jsonl"),
        ("bad.jsonl", "bad.jsonl, line 1"),
        ("bare.jsonl", "no text with a list of marked spans"),
    ],
)
def test_a_file_without_examples_is_refused_before_any_call(
    tmp_path: Path, given: str, complaint_part: str
) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS)
    write_rows(tmp_path / "bare.jsonl", ROWS)
    (tmp_path / "bad.jsonl").write_text("{\n")
    flags = ("--judge", f"annotator:examples={given}", "--model", "openai-compatible/judge")
    url = ("--model-base-url", "http://127.0.0.1:9/v1", "--aspect", "consistency")
    done = call(tmp_path, "evaluate", "rows.jsonl", *flags, *url, code=2)
    assert complaint_part in complaint(done.stderr)
    assert f"examples={given}" in complaint(done.stderr)


def test_python_takes_rows_and_says_how_marks_become_a_file() -> None:
    with LoopbackServer(REPLY) as server:

        def judged(examples: object) -> spanjury.TextReport:
            seat = SeatConfig(judge="annotator", options={"examples": examples})
            model = ModelConfig(name="openai-compatible/judge", base_url=server.base_url)
            panel = PanelConfig(seats=(seat,), models=(model,))
            return spanjury.check("A.", source="B.", task="story", aspects="fluency", panel=panel)

        any_aspect = [{"output": "The lamp.", "spans": [{"text": "lamp", "severity": 2}]}]
        judged(any_aspect)
        assert '- "lamp" [2 of 5]' in examples_in(prompt_of(server.requests[-1]))
        with pytest.raises(ConfigError, match="spanjury marks export"):
            judged("marks:run")
