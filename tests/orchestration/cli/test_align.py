"""`spanjury align`: a definition is proposed, measured on held-out marks, and kept if it gains."""

import json
import re
from pathlib import Path

import pytest
from fakes.command import call, complaint
from loopback.answers import Answer, chat
from loopback.server import LoopbackServer, Received

from spanjury.judges.tasks import Catalogue

SHARPER = "A year that the article does not give is a grave error."
PROPOSAL = {"definition": SHARPER, "worst": "Every year is wrong.", "best": "Every year is right."}
ROWS: list[dict[str, object]] = [
    {
        "id": f"row-{number}",
        "task": "summarization",
        "inputs": {"Article": f"Bridge {number} was opened in {1900 + number}."},
        "output": f"Bridge {number} opened in {1900 + number + (3 if number % 2 else 0)}.",
    }
    for number in range(24)
]
MARKS: list[dict[str, object]] = [
    {**row, "human": {"consistency": 1 if number % 2 else 5}} for number, row in enumerate(ROWS)
]


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


def prompt_of(request: Received) -> str:
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return str(messages[-1]["content"])


def write_rows(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def marked_run(folder: Path, server: LoopbackServer, *, rows: int = 24) -> None:
    write_rows(folder / "rows.jsonl", ROWS[:rows])
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
