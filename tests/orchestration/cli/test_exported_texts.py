"""Exports that hold the texts, which results do not."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from fakes.command import spanjury

ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "system": "bart",
        "inputs": {"Article": 'It rained.\nTwice, "they" say.'},
        "output": "It is is late.",
        "references": ["It rained.", "=Rain"],
    },
    {"id": "b", "inputs": {"Article": "Sun.", "Title": "天気"}, "output": ""},
    {"id": "c", "inputs": {"Article": 'It rained.\nTwice, "they" say.'}, "output": "Fine, dry."},
]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(ROWS)


def write(rows: list[dict[str, Any]]) -> None:
    lines = (json.dumps({"task": "summarization", **row}) for row in rows)
    Path("rows.jsonl").write_text("\n".join(lines))


def evaluate(*flags: str) -> None:
    aspects = ("--aspect", "fluency", "--aspect", "coherence")
    spanjury("evaluate", "rows.jsonl", "--judge", "form", *aspects, "--run-dir", "run", *flags)


def table(*flags: str) -> list[dict[str, str]]:
    done = spanjury("export", "run", "--texts", *flags)
    assert done.stderr == ""
    return list(csv.DictReader(done.stdout.splitlines(keepends=True)))


@pytest.mark.parametrize("flags", [(), ("--order", "source")])
def test_a_table_of_assessments_has_output_inputs_and_references(flags: tuple[str, ...]) -> None:
    evaluate(*flags)
    rows = table()
    assert list(rows[0])[-4:] == ["output", "input.Article", "input.Title", "references"]
    of = {row["id"]: row for row in rows}
    assert (of["a"]["output"], of["b"]["output"]) == ("It is is late.", "")
    assert of["a"]["input.Article"] == ROWS[0]["inputs"]["Article"]
    assert (of["a"]["input.Title"], of["b"]["input.Title"]) == ("", "天気")
    assert (json.loads(of["a"]["references"]), of["c"]["references"]) == (ROWS[0]["references"], "")
    assert [row["output"] for row in rows] == [of[row["id"]]["output"] for row in rows]


def test_a_table_of_spans_has_the_text_of_each() -> None:
    evaluate()
    rows = table("--rows", "spans")
    placed = [row for row in rows if row["start"]]
    assert {row["id"] for row in placed} == {"a"}
    for row in placed:
        assert row["output"][int(row["start"]) : int(row["end"])] == row["text"]


def test_rows_of_json_keep_all_that_they_hold() -> None:
    evaluate()
    plain = [json.loads(line) for line in Path("run/results.jsonl").read_text().splitlines()]
    done = spanjury("export", "run", "--texts", "--form", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    added = [{key: row.pop(key) for key in ("output", "inputs", "references")} for row in rows]
    assert rows == plain
    assert added[0] == {key: ROWS[0][key] for key in ("output", "inputs", "references")}
    assert added[2]["references"] == []


def test_a_text_that_is_gone_or_changed_is_empty_and_counted() -> None:
    evaluate()
    write([ROWS[2], {**ROWS[0], "output": "It was was late."}])
    done = spanjury("export", "run", "--texts")
    rows = {row["id"]: row for row in csv.DictReader(done.stdout.splitlines(keepends=True))}
    assert {name: row["output"] for name, row in rows.items()} == {
        "a": "",
        "b": "",
        "c": "Fine, dry.",
    }
    assert rows["c"]["input.Article"]
    assert "2 texts were left empty, the first 'a'" in done.stderr
    done = spanjury("export", "run", "--texts", "--form", "jsonl")
    assert json.loads(done.stdout.splitlines()[0])["output"] is None
    assert "2 texts were left empty" in done.stderr


def test_rows_in_another_order_than_the_data_find_their_texts() -> None:
    evaluate()
    write(ROWS[::-1])
    assert [row["output"] for row in table()][::2] == [row["output"] for row in ROWS]


def test_data_that_cannot_be_read_are_reported_before_anything_is_written() -> None:
    evaluate()
    Path("rows.jsonl").unlink()
    done = spanjury("export", "run", "--texts", code=1)
    assert done.stdout == ""
    assert "rows.jsonl" in done.stderr


def test_texts_need_a_run_that_names_its_data() -> None:
    evaluate()
    results = Path("run/results.jsonl").rename("elsewhere.jsonl")
    done = spanjury("export", str(results), "--texts", code=2)
    assert done.stdout == ""
    assert "it is unknown which data belong to elsewhere.jsonl" in done.stderr
