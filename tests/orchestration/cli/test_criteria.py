"""The flag `--criterion`: a demand in a sentence is judged, stored and continued as an aspect."""

import json
from pathlib import Path

from fakes.command import call, complaint
from loopback.answers import chat
from loopback.server import LoopbackServer

DEMAND = "Every price is in euros."
REPLY = chat(
    'Error 1:\nLocation: "30 dollars"\nExplanation: Not in euros.\nSeverity: 4\n\n'
    "Overall score: Not met\nExplanation of the score: One price."
)


def test_a_model_judges_by_a_criterion_and_the_run_goes_on_with_it(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"output": "The lamp costs 30 dollars."}))
    with LoopbackServer(REPLY) as server:
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        flags = ("--task", "summarization", "--criterion", DEMAND, *model)
        call(tmp_path, "evaluate", "rows.jsonl", *flags, "--run-dir", "run")
        asked = len(server.requests)
        call(tmp_path, "resume", "run")
        assert len(server.requests) == asked
        prompt = str(server.requests[-1].body)
    (row,) = map(json.loads, (tmp_path / "run" / "results.jsonl").read_text().splitlines())
    assert (row["aspect"], row["score"]) == ("criterion: Every price is in euros", 1)
    assert [span["text"] for span in row["spans"]] == ["30 dollars"]
    assert "meets this demand" in prompt
    assert "criterion: Every" not in prompt


def test_a_criterion_without_a_model_says_what_to_add(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"output": "A."}))
    done = call(tmp_path, "evaluate", "rows.jsonl", "--criterion", DEMAND, code=2)
    assert "only a model can judge a criterion: add --model NAME" in complaint(done.stderr)
