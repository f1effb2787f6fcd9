"""The end of a run says by which command the rest of it is seen."""

import json
from pathlib import Path

import pytest
from fakes.command import spanjury

ROWS = [{"id": str(n), "task": "summarization", "output": f"Text {n}."} for n in range(5)]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANJURY_RUNS", str(tmp_path / "home"))
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))


def last_line(*arguments: str) -> str:
    return spanjury(*arguments).stdout.splitlines()[-1]


def evaluate(*flags: str) -> tuple[str, ...]:
    return ("evaluate", "rows.jsonl", "--judge", "form", "--aspect", "fluency", *flags)


def test_a_run_among_your_data_is_seen_by_its_name() -> None:
    line = last_line(*evaluate())
    (run,) = Path("home").iterdir()
    assert line == f"2 more texts: see --show all, or on a page: spanjury view {run.name}"


def test_faulty_texts_that_were_not_shown_are_counted() -> None:
    rows = [{**row, "inputs": {"Article": f"{row['output']} It opened in 1932."}} for row in ROWS]
    rows[4]["output"] = "It opened in 1935."
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    panel = ("--judge", "grounding", "--aspect", "consistency")
    line = last_line("evaluate", "rows.jsonl", *panel, "--run-dir", "run")
    advice = "see --show worst:10, or on a page: spanjury view run"
    assert line == f"2 more texts, 1 of them faulty: {advice}"
    assert last_line("resume", "run").startswith("2 more texts, 1 of them faulty")


def test_a_run_in_a_folder_is_seen_by_that_however_many_texts_were_shown() -> None:
    page = "spanjury view 'my runs/1'"
    assert last_line(*evaluate("--run-dir", "my runs/1", "--show", "all")).endswith(f": {page}")
    for again in (("resume",), ("rescore",)):
        assert last_line(*again, "my runs/1", "--show", "none") == f"all texts on a page: {page}"


def test_results_that_no_run_keeps_are_seen_beside_their_data() -> None:
    page = "spanjury view r.jsonl --data rows.jsonl --column output=output"
    flags = ("--no-memory", "-o", "r.jsonl", "--column", "output=output")
    assert last_line(*evaluate(*flags)).endswith(page)


@pytest.mark.parametrize("command", ["resume", "rescore"])
def test_results_that_are_tried_beside_a_run_are_seen_as_a_file(command: str) -> None:
    spanjury(*evaluate("--run-dir", "run"))
    line = last_line(command, "run", "-o", "other.jsonl")
    assert line.endswith(f"spanjury view other.jsonl --data {Path('rows.jsonl').absolute()}")


def test_nothing_is_added_to_rows_printed_as_data() -> None:
    done = spanjury(*evaluate("--json"))
    assert all(json.loads(line)["id"] for line in done.stdout.splitlines())
    assert "spanjury view" not in done.output
