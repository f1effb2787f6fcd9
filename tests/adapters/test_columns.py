"""Ids, marks and columns of files: whatever they are called, read as ours."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.judges import located
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading import sources
from spanjury.adapters.files.reading.checked_rows import SEVERITIES, GoldSpan
from spanjury.adapters.files.reading.column_map import ColumnMap, parse_columns
from spanjury.adapters.files.reading.sources import Owner, open_ids, read_csv, read_jsonl, read_tsv
from spanjury.judges.core import ConfigError, DataError, ErrorSpan, Segment

IDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
OUTPUT = "The cat sat on the mät."
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


@given(st.lists(IDS | st.sampled_from(["a", "A", "a\x00", "a\x00b", " a", "é", "e\u0301"])))
def test_an_id_belongs_to_the_line_that_claimed_it_first(claims: list[str]) -> None:
    owners: dict[str, Owner] = {}
    with open_ids() as ids:
        for line, claim in enumerate(claims, start=1):
            owner = Owner(line, "")
            assert ids.claim(claim, owner) == owners.setdefault(claim, owner)


def test_ids_that_fill_more_than_the_memory_kept_for_them_stay_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "_HELD", 100)
    with open_ids() as ids:
        for line in range(1, 301):
            owner = Owner(line, f"system {line}")
            assert ids.claim(f"{line:01000}", owner) == owner
        assert ids.claim(f"{7:01000}", Owner(301, "")) == (7, "system 7")
        assert ids.claim(f"{300:01000}", Owner(302, "")) == (300, "system 300")


def test_a_span_takes_its_text_from_the_output() -> None:
    span = GoldSpan(start=19, end=22, severity=3, annotator="anna").error_span(OUTPUT)
    assert span == located("mät", 19, explanation="", found_by=("anna",))


def test_a_span_without_offsets_has_no_place_but_keeps_its_quote() -> None:
    span = GoldSpan(text="the dog", explanation="Left out.").error_span(OUTPUT)
    assert span == ErrorSpan(text="the dog", explanation="Left out.", severity=None)


@pytest.mark.parametrize(
    ("written", "severity"),
    [("minor", 2), (" Major", 4), ("CRITICAL", 5), ("neutral", 1), (3, 3), (4.0, 4), (None, None)],
)
def test_severities_may_be_words_or_whole_numbers(written: object, severity: int | None) -> None:
    assert GoldSpan.model_validate({"severity": written}).severity == severity


def test_the_severity_words_are_ordered_as_their_meaning_is() -> None:
    assert list(SEVERITIES) == sorted(SEVERITIES, key=SEVERITIES.__getitem__)


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (GoldSpan(start=4, end=7, text="dog"), "got the text 'dog', expected 'cat', which is"),
        (GoldSpan(start=4), "got start 4 and end None, expected both or none"),
        (GoldSpan(start=4, end=4), "got start 4 and end 4, expected 0 <= start < end <= 23"),
        (GoldSpan(start=-3, end=4), "got start -3 and end 4, expected 0 <= start < end <= 23"),
        (GoldSpan(start=20, end=24), "got start 20 and end 24, expected 0 <= start < end <= 23"),
    ],
)
def test_a_span_that_does_not_fit_the_output_is_refused(span: GoldSpan, message: str) -> None:
    with pytest.raises(DataError) as raised:
        span.error_span(OUTPUT)
    assert str(raised.value).startswith(message)


@given(st.text(min_size=1), st.data())
def test_offsets_are_code_points_of_any_output(output: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(output) - 1))
    end = data.draw(st.integers(start + 1, len(output)))
    span = GoldSpan(start=start, end=end, text=output[start:end]).error_span(output)
    assert (span.interval, span.text) == ((start, end), output[start:end])


def test_a_file_of_json_is_read_by_the_names_it_has(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(ROW)}\n")
    assert list(read_jsonl(path, columns=parse_columns(COLUMNS))) == [EXPECTED]


def test_objects_may_have_the_columns_of_a_table(tmp_path: Path) -> None:
    table = {
        "input": "i",
        "input.Article": "a",
        "output": "x",
        "reference": "r",
        "reference_2": "s",
        "human.fluency": 4,
        "human.coherence.anna": 1,
        "human.coherence.ben": None,
        "meta": {"day": 1},
        "meta.year": 2001,
        "a.b": "c",
    }
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(table))
    assert list(read_jsonl(path)) == [
        Segment(
            segment_id="line-1",
            output="x",
            inputs={"Input": "i", "Article": "a"},
            references=("r", "s"),
            human={"fluency": {"": 4.0}, "coherence": {"anna": 1.0}},
            meta={"day": 1, "year": 2001, "a.b": "c"},
        )
    ]


@pytest.mark.parametrize("other", [{"inputs": {"Article": "b"}}, {"inputs": ["b"]}])
def test_two_columns_for_one_value_are_refused(tmp_path: Path, other: dict[str, object]) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"output": "x", "input.Article": "a", **other}))
    (fault,) = read_jsonl(path)
    assert str(fault).endswith("line 1: two columns map to inputs.Article")


@pytest.mark.parametrize(("read", "delimiter"), [(read_csv, ","), (read_tsv, "\t")])
def test_a_table_is_read_by_the_names_it_has(
    tmp_path: Path, read: Callable[..., Iterator[Segment | DataError]], delimiter: str
) -> None:
    path = tmp_path / "rows"
    lines = (delimiter.join(ROW), delimiter.join(map(str, ROW.values())))
    path.write_text("".join(f"{line}\n" for line in lines))
    assert list(read(path, columns=parse_columns(COLUMNS))) == [EXPECTED]


def test_a_text_in_the_column_of_lists_is_refused_with_the_column_that_it_is_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('output,ref\nx,"[""y"", ""z""]"\nx,"""y"""\nx,y\n')
    called = parse_columns(["references=ref"])
    listed, quoted, fault = read_csv(path, columns=called)
    assert isinstance(listed, Segment)
    assert isinstance(quoted, Segment)
    assert (listed.references, quoted.references) == (("y", "z"), ("y",))
    assert str(fault).endswith("a cell that holds one text is for the column 'reference'")


def test_columns_beside_a_mapped_one_stay() -> None:
    row = {"inputs": {"Question": "Who?"}, "text": "Nora.", "source": "web"}
    named = parse_columns(["inputs.Article=text"]).row(row)
    assert named == {"inputs": {"Question": "Who?", "Article": "Nora."}, "source": "web"}
    assert row["inputs"] == {"Question": "Who?"}


@given(st.dictionaries(st.text(), st.integers()) | st.integers() | st.none())
def test_without_a_map_a_row_stays_as_it_is(row: object) -> None:
    assert ColumnMap().row(row) is row


@pytest.mark.parametrize("info", [{"model": None}, None])
def test_a_column_inside_an_object_may_be_null_as_any_other(info: object) -> None:
    columns = parse_columns(["system=info.model", "output=text"])
    assert columns.row({"text": "x", "info": info}) == {"output": "x", "system": None, "info": info}
    with pytest.raises(DataError, match="there is no column 'info.model'"):
        columns.row({"text": "x", "info": {}})


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
