"""The flag `--criterion`: a demand in a sentence is judged, stored and continued as an aspect."""

import json
from pathlib import Path

import pytest
from fakes.command import call, complaint
from loopback.answers import chat
from loopback.server import LoopbackServer
from loopback.worded import WordedServer

import spanjury
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig

DEMAND = "Every price is in euros."
REPLY = chat(
    'Error 1:\nLocation: "30 dollars"\nExplanation: Not in euros.\nSeverity: 4\n\n'
    "Overall score: Not met\nExplanation of the score: One price."
)
RUBRIC = """
name = "shop"
[[criteria]]
text = "Every price is in euros."
must = true
weight = 2
[[criteria]]
text = "The tone is friendly."
scale = ["Cold", "Neutral", "Friendly"]
[[criteria]]
text = "The product has a name."
"""
OK = chat("No Error\n\nOverall score: Met\nExplanation of the score: Nothing.")
ANSWERS = {
    "is friendly": chat("No Error\n\nOverall score: Neutral\nExplanation of the score: Dry."),
    "in euros&30 dollars": chat(
        'Error 1:\nLocation: "30 dollars"\nExplanation: Not in euros.\nSeverity: 4\n\n'
        "Overall score: Not met\nExplanation of the score: One price."
    ),
}
ROWS = [
    {"id": "a", "output": "The lamp Solis costs 30 dollars."},
    {"id": "b", "output": "The lamp Solis costs 28 euros."},
]


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


@pytest.mark.parametrize("command", [("evaluate", "rows.jsonl"), ("check", "--text", "A.")])
@pytest.mark.parametrize("flag", [("--criterion", DEMAND), ("--aspect", f"criterion: {DEMAND}")])
def test_a_criterion_without_a_model_says_what_to_add(
    tmp_path: Path, command: tuple[str, ...], flag: tuple[str, ...]
) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"output": "A."}))
    done = call(tmp_path, *command, *flag, code=2)
    assert "only a model can judge a criterion: add --model NAME" in complaint(done.stderr)


def folder_with_files(folder: Path) -> None:
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    (folder / "rubric.toml").write_text(RUBRIC)


def rows_of(folder: Path) -> list[dict[str, object]]:
    lines = (folder / "run" / "results.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_text_ends_with_the_weighted_result_and_a_must_have_fails_it(tmp_path: Path) -> None:
    folder_with_files(tmp_path)
    with WordedServer(ANSWERS, otherwise=OK) as server:
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        flags = ("--task", "summarization", "--rubric", "rubric.toml", *model, "--run-dir", "run")
        gate = ("--fail-on", "decision=faulty", "--max-flagged", "60%")
        done = call(tmp_path, "evaluate", "rows.jsonl", *flags, *gate, code=5)
        asked = len(server.requests)
        (tmp_path / "rubric.toml").unlink()
        resumed = call(tmp_path, "resume", "run")
        assert len(server.requests) == asked
    rows = rows_of(tmp_path)
    assert [(row["id"], row["aspect"], row["score"], row["decision"]) for row in rows] == [
        ("a", "criterion: Every price is in euros", 1, "faulty"),
        ("a", "criterion: The tone is friendly", 2, "unsure"),
        ("a", "criterion: The product has a name", 2, "ok"),
        ("a", "rubric: shop", 1 + 4 * (0.5 + 1) / 4, "faulty"),
        ("b", "criterion: Every price is in euros", 2, "ok"),
        ("b", "criterion: The tone is friendly", 2, "unsure"),
        ("b", "criterion: The product has a name", 2, "ok"),
        ("b", "rubric: shop", 1 + 4 * (2 + 0.5 + 1) / 4, "ok"),
    ]
    evidence = rows[0]["spans"]
    assert isinstance(evidence, list)
    assert evidence[0]["text"] == "30 dollars"
    assert "1 of 8 reports" in done.stderr  # the criterion counts through the rubric
    for shown in (done.stdout, resumed.stdout):
        assert "must-have not met" in " ".join(shown.split())
        assert "rubric: shop" in shown


def test_one_text_is_checked_by_a_rubric_and_a_criterion(tmp_path: Path) -> None:
    folder_with_files(tmp_path)
    text = ("check", "--text", ROWS[0]["output"])
    with WordedServer(ANSWERS, otherwise=OK) as server:
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        by_rubric = call(tmp_path, *text, "--rubric", "rubric.toml", *model)
        by_criterion = call(tmp_path, *text, "--criterion", DEMAND, *model, "--json")
    assert "must-have not met" in " ".join(by_rubric.stdout.split())
    assert "criterion: Every price is in euros" in by_criterion.stdout


def test_the_page_of_a_run_knows_the_scales_of_its_criteria(tmp_path: Path) -> None:
    folder_with_files(tmp_path)
    with WordedServer(ANSWERS, otherwise=OK) as server:
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        flags = ("--task", "summarization", "--rubric", "rubric.toml", *model, "--run-dir", "run")
        call(tmp_path, "evaluate", "rows.jsonl", *flags)
    call(tmp_path, "view", "run", "--html", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert '"Cold","Neutral","Friendly"' in page.replace('", "', '","')
    assert "rubric: shop" in page


def test_what_is_wrong_with_a_rubric_costs_no_call(tmp_path: Path) -> None:
    folder_with_files(tmp_path)
    done = call(tmp_path, "evaluate", "rows.jsonl", "--rubric", "rubric.toml", code=2)
    assert "only a model can judge a rubric: add --model NAME" in complaint(done.stderr)
    (tmp_path / "rubric.toml").write_text('[[criteria]]\ntext = "A."\nweight = -1\n')
    flags = ("--model", "openai-compatible/judge", "--model-base-url", "http://127.0.0.1:9/v1")
    done = call(tmp_path, "evaluate", "rows.jsonl", "--rubric", "rubric.toml", *flags, code=2)
    assert "rubric.toml: [criterion 1]: 'weight' must be a number above 0" in complaint(done.stderr)


def test_python_gives_the_decision_of_the_rubric() -> None:
    rubric = {
        "name": "shop",
        "criteria": [
            {"text": "Every price is in euros."},
            {"text": "The product has a name.", "weight": 3},
        ],
    }
    with WordedServer(ANSWERS, otherwise=OK) as server:
        config = panel_at(server.base_url)
        report = spanjury.check(str(ROWS[0]["output"]), rubric=rubric, panel=config)
        many = spanjury.evaluate(ROWS, rubric=rubric, panel=config, task="summarization")
    assert report["criterion: Every price is in euros"].decision is spanjury.Decision.FAULTY
    assert report.decision is spanjury.Decision.OK
    assert report.scores["rubric: shop"] == 4
    assert [text.scores["rubric: shop"] for text in many] == [4, 5]
    assert [text.decision for text in many] == [spanjury.Decision.OK] * 2


def panel_at(base_url: str) -> PanelConfig:
    return PanelConfig(models=(ModelConfig(name="openai-compatible/judge", base_url=base_url),))
