"""Marks of people that improve an annotator: its examples, and the definition that it is given."""

import json
import re
from pathlib import Path

import pytest
from fakes.command import call, complaint
from loopback.answers import Answer, chat
from loopback.server import LoopbackServer, Received

import spanjury
from spanjury.judges.core import ConfigError
from spanjury.judges.tasks import Catalogue
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
SHARPER = "A year that the article does not give is a grave error."
PROPOSAL = {"definition": SHARPER, "worst": "Every year is wrong.", "best": "Every year is right."}
NUMBERED_ROWS: list[dict[str, object]] = [
    {
        "id": f"row-{number}",
        "task": "summarization",
        "inputs": {"Article": f"Bridge {number} was opened in {1900 + number}."},
        "output": f"Bridge {number} opened in {1900 + number + (3 if number % 2 else 0)}.",
    }
    for number in range(24)
]
MARKS: list[dict[str, object]] = [
    {**row, "human": {"consistency": 1 if number % 2 else 5}}
    for number, row in enumerate(NUMBERED_ROWS)
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


class AlignedServer(LoopbackServer):
    """Finds every text good, until the definition asks for the years; then it is as people are.

    Parameters
    ----------
    sharper
        Whether it sees the years by the proposed definition.
    proposal
        What it proposes.
    """

    def __init__(self, *, sharper: bool, proposal: object = PROPOSAL) -> None:
        super().__init__(chat("No Error\n\nOverall score: Excellent"))
        self._sharper = sharper
        self._proposal = proposal

    def record(self, request: Received) -> Answer:
        usual = super().record(request)
        prompt = prompt_of(request)
        if mark := re.search(r"answer_[0-9a-f]{4,}", prompt):
            return chat(json.dumps({mark[0]: self._proposal}))
        years = re.search(r"Article: begin\nBridge (\d+) ", prompt)
        if self._sharper and SHARPER in prompt and years and int(years[1]) % 2:
            return chat("No Error\n\nOverall score: Unacceptable")
        return usual


def marked_run(folder: Path, server: LoopbackServer, *, rows: int = 24) -> None:
    write_rows(folder / "rows.jsonl", NUMBERED_ROWS[:rows])
    write_rows(folder / "marks.jsonl", MARKS[:rows])
    flags = ("--aspect", "consistency", "--run-dir", "run", "--show", "none", "--no-progress")
    model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
    call(folder, "evaluate", "rows.jsonl", *flags, *model)
    call(folder, "marks", "import", "run", "marks.jsonl", "--annotator", "anna")


def test_a_definition_that_gains_on_held_out_marks_is_written(tmp_path: Path) -> None:
    with AlignedServer(sharper=True) as server:
        marked_run(tmp_path, server)
        before = len(server.requests)
        done = call(tmp_path, "align", "run", "--aspect", "consistency", "-o", "sharper.toml")
        prompts = list(map(prompt_of, server.requests[before:]))
    (asked,) = (prompt for prompt in prompts if "Write a sharper definition" in prompt)
    judged = [prompt for prompt in prompts if SHARPER in prompt and prompt != asked]
    shown = set(re.findall(r"Bridge \d+ opened", asked))
    assert shown
    assert not any(text in prompt for text in shown for prompt in judged)  # they are held out
    assert "review by people: begin\nThere is no problem.\nAs a whole: Unacceptable." in asked
    assert "As a whole: Excellent." in asked
    aspect = Catalogue.load(tmp_path / "sharper.toml").aspect("summarization", "consistency")
    present = Catalogue.load().aspect("summarization", "consistency")
    assert (aspect.definition, aspect.worst) == (SHARPER, PROPOSAL["worst"])
    assert (aspect.kind, aspect.inputs, aspect.scale) == (
        present.kind,
        present.inputs,
        present.scale,
    )
    assert "written: sharper.toml" in done.stderr
    assert "held-out sources" in done.stderr


def test_a_definition_without_a_gain_is_not_written(tmp_path: Path) -> None:
    with AlignedServer(sharper=False) as server:
        marked_run(tmp_path, server)
        done = call(tmp_path, "align", "run", "--aspect", "consistency", "-o", "sharper.toml")
    assert "gain on 12 texts of 12 held-out sources: 0.000 [0.000, 0.000]" in done.stderr
    assert "nothing was written" in done.stderr
    assert not (tmp_path / "sharper.toml").exists()


@pytest.mark.parametrize(
    ("proposal", "complaint_part"),
    [
        ("a text", "wrote no definition"),
        ({"definition": " ", "worst": "A.", "best": "B."}, "wrote no definition"),
    ],
)
def test_a_model_that_writes_no_definition_ends_the_command(
    tmp_path: Path, proposal: object, complaint_part: str
) -> None:
    with AlignedServer(sharper=True, proposal=proposal) as server:
        marked_run(tmp_path, server)
        done = call(tmp_path, "align", "run", "--aspect", "consistency", code=1)
    assert complaint_part in complaint(done.stderr)


def test_a_few_marks_are_refused_before_any_call(tmp_path: Path) -> None:
    with AlignedServer(sharper=True) as server:
        marked_run(tmp_path, server, rows=6)
        before = len(server.requests)
        done = call(tmp_path, "align", "run", "--aspect", "consistency", code=1)
        assert len(server.requests) == before
    assert "6 sources have texts that people and the panel scored" in complaint(done.stderr)
