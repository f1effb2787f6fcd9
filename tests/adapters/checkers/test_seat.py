"""A checker in a folder takes a seat: the command, with a model of each form."""

import json
from pathlib import Path

import pytest
from fakes.command import call
from fakes.tiny_checkers import NLI, TEXTS, save_checker

OUTPUT = "The library will not close in May. It was built by Peter Evans in 1923."


@pytest.mark.parametrize(
    ("kind", "options", "unit"),
    [
        ("roberta", "form=joined,supported=1", "sentence"),
        ("deberta", "template=question.txt,supported=1", "sentence"),
        ("modernbert", "any_language=true", "word"),
        ("bert", "passages=1", "sentence"),
        (
            "bert",
            "pool=mean,passages=0,passage_sentences=1,subtract_contradiction=true",
            "sentence",
        ),
        ("t5", "passages=2", "sentence"),
        ("hhem", "passages=2", "sentence"),
        ("alignscore", "pool=mean,passages=2", "sentence"),
    ],
)
def test_a_folder_judges_texts_with_spans_evidence_and_a_probability(
    kind: str, options: str, unit: str, tmp_path: Path
) -> None:
    labels = NLI if kind == "bert" else None
    save_checker(kind, tmp_path / "model", labels=labels, positions=400)
    (tmp_path / "question.txt").write_text("{passage} So {claim}?", encoding="utf-8")
    row = {"id": "1", "task": "summarization", "output": OUTPUT, "inputs": {"A": " ".join(TEXTS)}}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    judge = f"checker:model:{options},threshold=0.01"  # random weights are sure of nothing
    flags = ("--aspect", "consistency", "--judge", judge, "--output", "results.jsonl")
    call(tmp_path, "evaluate", "rows.jsonl", *flags, "--no-progress")
    (line,) = (tmp_path / "results.jsonl").read_text("utf-8").splitlines()
    result = json.loads(line)
    spans = result["spans"]
    assert 0 < result["error_probability"] <= 1
    assert spans
    assert any(span["evidence"] for span in spans)
    lengths = [len(span["text"]) for span in spans]
    assert [OUTPUT[span["start"] : span["end"]] for span in spans] == [s["text"] for s in spans]
    if unit == "sentence":
        assert len(spans) == 2
        assert sum(lengths) == len(OUTPUT) - 1


def test_a_folder_that_is_no_checker_costs_nothing_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "rows.jsonl").write_text('{"output": "It rains.", "task": "story"}\n', "utf-8")
    done = call(tmp_path, "evaluate", "rows.jsonl", "--judge", "checker:model", code=2)
    assert "config.json is missing" in " ".join(done.output.split())
