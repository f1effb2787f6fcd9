"""Rows whose inputs are lists: read in either way, put in order, written and read again."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from spanjury.adapters.files.reading import checked_rows
from spanjury.adapters.files.reading.rows import parse_row, write_segments
from spanjury.adapters.files.reading.sources import by_source
from spanjury.orchestration.services.judging.panels import read_segments

ROW = {
    "id": "1",
    "output": "Ann.",
    "inputs": {"Question": "Who?", "Context": ["It rains.", "Ann sings."], "Table": [[1, 2]]},
}
APART = {
    "Question": "Who?",
    "Context [1]": "It rains.",
    "Context [2]": "Ann sings.",
    "Table": "[[1,2]]",
}


def test_both_ways_to_read_a_row_keep_passages_apart() -> None:
    assert parse_row(ROW, line=1).inputs == APART
    assert checked_rows.checked_row(ROW, row=ROW, line=1) == parse_row(ROW, line=1)


@pytest.mark.parametrize(
    ("inputs", "read"),
    [
        ({"History": ["A: Hi.", "B: Hello."]}, {"History": "A: Hi.\nB: Hello."}),
        ({"Context": ["a", 1]}, {"Context": '["a",1]'}),
        ({"Context": None, "Question": "q"}, {"Question": "q"}),
        (["A: Hi.", "B: Hello."], {"Input": "A: Hi.\nB: Hello."}),
    ],
)
def test_other_inputs_are_read_as_before(inputs: object, read: Mapping[str, str]) -> None:
    assert parse_row({"output": "x", "inputs": inputs}, line=1).inputs == read


def test_passages_are_the_same_behind_a_file_that_was_written_of_them(tmp_path: Path) -> None:
    segment = parse_row(ROW, line=1)
    write_segments(tmp_path / "rows.jsonl", [segment])
    assert [*read_segments(tmp_path / "rows.jsonl")] == [segment]


def test_rows_with_the_same_passages_follow_one_another() -> None:
    turned = {**ROW, "inputs": {**ROW["inputs"], "Context": ["Ann sings.", "It rains."]}}  # type: ignore[dict-item]  # a row of JSON
    rows = [ROW, turned, {**ROW, "id": "3"}]
    segments = [parse_row({**row, "id": str(n)}, line=n) for n, row in enumerate(rows)]
    assert [segment.segment_id for segment in by_source(iter(segments))] == ["0", "2", "1"]


def test_a_table_has_a_column_for_each_passage(tmp_path: Path) -> None:
    header = "id,output,input.Question,input.Context [1],input.Context [2],input.Table"
    (tmp_path / "rows.csv").write_text(
        f'{header}\n1,Ann.,Who?,It rains.,Ann sings.,"[[1,2]]"\n', encoding="utf-8"
    )
    (segment,) = read_segments(tmp_path / "rows.csv")
    assert segment.inputs == APART
