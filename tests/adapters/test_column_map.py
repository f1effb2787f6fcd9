"""Files whose columns are called otherwise are read as if they were called as ours."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading.column_map import ColumnMap, parse_columns
from spanjury.adapters.files.reading.sources import read_csv, read_jsonl, read_tsv
from spanjury.judges.core import ConfigError, DataError, Segment

COLUMNS = (
    "id=key",
    "output=summary",
    "inputs.Article=text",
    "reference=gold",
    "human.fluency.anna=flu",
    "meta.wrong=other ending",
)
EXPECTED = Segment(
    segment_id="7",
    output="A cat.",
    inputs={"Article": "The cat sat."},
    references=("Cats.",),
    human={"fluency": {"anna": 4.0}},
    meta={"wrong": "A dog.", "split": "test"},
)
ROW = {
    "key": "7",
    "summary": "A cat.",
    "text": "The cat sat.",
    "gold": "Cats.",
    "flu": 4,
    "other ending": "A dog.",
    "split": "test",
    "output": "what a system was asked",
}


def test_a_file_of_json_is_read_by_the_names_it_has(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n")
    assert list(read_jsonl(path, columns=parse_columns(COLUMNS))) == [EXPECTED]


@pytest.mark.parametrize(("read", "delimiter"), [(read_csv, ","), (read_tsv, "\t")])
def test_a_table_is_read_by_the_names_it_has(
    tmp_path: Path, read: Callable[..., Iterator[Segment | DataError]], delimiter: str
) -> None:
    path = tmp_path / "rows"
    lines = (delimiter.join(ROW), delimiter.join(map(str, ROW.values())))
    path.write_text("".join(f"{line}\n" for line in lines))
    assert list(read(path, columns=parse_columns(COLUMNS))) == [EXPECTED]


def test_columns_beside_a_mapped_one_stay() -> None:
    row = {"inputs": {"Question": "Who?"}, "text": "Nora.", "source": "web"}
    named = parse_columns(["inputs.Article=text"]).row(row)
    assert named == {"inputs": {"Question": "Who?", "Article": "Nora."}, "source": "web"}
    assert row["inputs"] == {"Question": "Who?"}


@given(st.dictionaries(st.text(), st.integers()) | st.integers() | st.none())
def test_without_a_map_a_row_stays_as_it_is(row: object) -> None:
    assert ColumnMap().row(row) is row


def test_a_missing_column_is_reported_with_those_that_are_there(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "x", "output": "y"}\n{"summary": "z"}\n[1]\n')
    columns = parse_columns(["output=summary"])
    first, second, third = read_jsonl(path, columns=columns)
    assert "line 1: there is no column 'summary' for output: choose from text, output" in str(first)
    assert second == Segment(segment_id="line-2", output="z")
    assert "expected a JSON object" in str(third)
    path.write_text("text,output\nx,y\n")
    with pytest.raises(DataError, match="no column 'summary' for output: choose from text, output"):
        read_csv(path, columns=columns)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (["summary"], r"unknown shape 'summary': .* A column is NAME=COLUMN"),
        (["output="], "expected NAME=COLUMN"),
        (["summary=output"], "expected NAME=COLUMN: choose from id, output, task"),
        (["outptu=summary"], "did you mean 'output'"),
        (["raga"], "did you mean 'ragas'"),
        (["ragas", "qa"], "got the shapes 'ragas' and 'qa', expected one"),
        (["inputs.=text"], "expected NAME=COLUMN"),
        (["output.text=x"], "expected NAME=COLUMN"),
        (["output=a", "output=b"], "output or the column 'b' was named before"),
        (["output=a", "id=a"], "id or the column 'a' was named before"),
    ],
)
def test_an_invalid_map_is_refused(settings: list[str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse_columns(settings)


def test_a_column_may_have_any_name() -> None:
    assert parse_columns(["output=a=b", "human.x=c d"]).names == {"a=b": "output", "c d": "human.x"}
