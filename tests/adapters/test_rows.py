import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from fakes.judges import located
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading import checked_rows, rows
from spanjury.adapters.files.reading.rows import parse_row, write_segments
from spanjury.adapters.files.reading.sources import by_source
from spanjury.judges.core import DataError, ErrorSpan, Segment
from spanjury.orchestration.services.judging.panels import read_segments

TEXTS = st.text(max_size=20)
SCORES = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(min_size=1, max_size=8)
FIELDS = ["id", "task", "inputs", "source", "references", "system", "human", "scores", "aspect"]
KEYS = NAMES | st.sampled_from([*FIELDS, "spans", "start", "end", "text", "severity", "meta"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | SCORES | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
    max_leaves=8,
)
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


@st.composite
def segments(draw: st.DrawFn) -> Segment:
    """Draw any segment that a row can describe."""
    output = draw(st.text(min_size=1, max_size=40))
    start = draw(st.integers(0, len(output) - 1))
    end = draw(st.integers(start + 1, len(output)))
    placed = located(
        output[start:end],
        start,
        explanation=draw(TEXTS),
        severity=draw(st.none() | st.integers(1, 5)),
        category=draw(TEXTS),
        found_by=tuple(draw(st.lists(NAMES, max_size=1))),
    )
    omission = ErrorSpan(text="", explanation=draw(TEXTS), severity=1)
    return Segment(
        segment_id=draw(NAMES),
        output=output,
        inputs=draw(st.dictionaries(NAMES, TEXTS)),
        task=draw(TEXTS),
        references=tuple(draw(st.lists(TEXTS))),
        system=draw(TEXTS),
        human=draw(
            st.dictionaries(NAMES, st.dictionaries(NAMES | st.just(""), SCORES, min_size=1))
        ),
        gold=tuple(draw(st.lists(st.sampled_from([placed, omission])))),
        meta=draw(st.dictionaries(NAMES, st.integers() | TEXTS | st.none())),
    )


def row_of(segment: Segment) -> dict[str, object]:
    """Write `segment` as its native row."""
    return {
        "id": segment.segment_id,
        "task": segment.task,
        "inputs": segment.inputs,
        "output": segment.output,
        "references": list(segment.references),
        "system": segment.system,
        "human": {
            aspect: scores[""] if list(scores) == [""] else scores
            for aspect, scores in segment.human.items()
        },
        "spans": [
            {
                "start": span.start,
                "end": span.end,
                "text": span.text,
                "explanation": span.explanation,
                "severity": span.severity,
                "category": span.category,
                "annotator": span.found_by[0] if span.found_by else None,
            }
            for span in segment.gold
        ]
        or None,
        "meta": segment.meta,
    }


@given(segments())
def test_a_segment_written_as_a_row_is_read_back_equal(segment: Segment) -> None:
    assert parse_row(row_of(segment), line=1) == segment


def test_an_empty_list_of_spans_is_kept_because_it_means_no_error() -> None:
    assert parse_row({"output": "x", "spans": []}, line=1).meta == {"spans": []}
    assert parse_row({"output": "x", "spans": None}, line=1).meta == {}
    assert parse_row({"output": "x", "supported": True}, line=1).meta == {"supported": True}


def test_the_kind_of_a_span_is_its_category_where_it_has_none() -> None:
    spans = [{"start": 0, "end": 1, "kind": "EntE", "extent": "extrinsic"}]
    segment = parse_row({"output": "x", "spans": spans}, line=1)
    assert (segment.gold[0].category, segment.meta) == ("EntE", {"spans": spans})
    (named,) = parse_row({"output": "x", "spans": [{**spans[0], "category": "Name"}]}, line=1).gold
    assert named.category == "Name"
    (other,) = parse_row({"output": "x", "spans": [{**spans[0], "kind": 3}]}, line=1).gold
    assert other.category == ""


@given(st.dictionaries(KEYS, VALUES))
def test_any_object_with_an_output_is_a_segment_or_a_data_error(row: dict[str, object]) -> None:
    try:
        segment = parse_row({**row, "output": "x"}, line=1)
    except DataError as error:
        assert "expected" in str(error)  # noqa: PT017 - either end is right
    else:
        assert segment.output == "x"


def test_the_row_in_the_document_is_one() -> None:
    document = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")
    row = json.loads(document.split("```json\n")[1].split("```")[0])
    segment = parse_row(row, line=1)
    assert [span.text for span in segment.gold] == ["dog"]
    assert (segment.human["fluency"], segment.meta) == ({"anna": 5.0, "ben": 4.0}, {"year": 2001})


def test_a_row_needs_no_more_than_an_output_even_an_empty_one() -> None:
    assert parse_row({"output": ""}, line=12) == Segment(segment_id="line-12", output="")


def test_null_is_the_same_as_nothing() -> None:
    row = {
        "id": None,
        "output": "x",
        "task": None,
        "system": None,
        "inputs": {"Article": "a", "Title": None},
        "references": None,
        "human": {"fluency": None, "coherence": {"anna": None}},
        "spans": None,
        "meta": None,
    }
    expected = Segment(segment_id="line-3", output="x", inputs={"Article": "a"})
    assert parse_row(row, line=3) == expected


@pytest.mark.parametrize(("identity", "name"), [(7, "7"), (1.5, "1.5"), ("7", "7"), ("ü\n", "ü\n")])
def test_an_id_may_be_a_number(identity: object, name: str) -> None:
    assert parse_row({"id": identity, "output": "x"}, line=1).segment_id == name


@pytest.mark.parametrize(
    ("row", "inputs"),
    [
        ({"input": "a"}, {"Input": "a"}),
        ({"source": "a"}, {"Input": "a"}),
        ({"source": {"Article": "a"}}, {"Article": "a"}),
        ({"inputs": {"A": "a"}, "input": "b", "source": "cnn"}, {"A": "a"}),
        ({"input": "b", "source": "cnn"}, {"Input": "b"}),
        ({"input": None, "source": "a"}, {"Input": "a"}),
        ({"input": ["Hello.", "Hi."]}, {"Input": "Hello.\nHi."}),
        ({"input": {"Turns": ["Hello.", "Hi."]}}, {"Turns": "Hello.\nHi."}),
        ({"input": {"Data": {"name": "Zoë", "stars": 4}}}, {"Data": '{"name":"Zoë","stars":4}'}),
        ({"input": {"Data": [{"a": 1}, "b"]}}, {"Data": '[{"a":1},"b"]'}),
        ({"input": {"Data": 4, "Open": True}}, {"Data": "4", "Open": "true"}),
        ({"source": "a", "question": "q"}, {"Question": "q", "Context": "a"}),
        (
            {"source": ["a", "b"], "question": "q"},
            {"Question": "q", "Context [1]": "a", "Context [2]": "b"},
        ),
        ({"inputs": {"Facts": "a"}, "question": "q"}, {"Question": "q", "Facts": "a"}),
        ({"source": "a", "question": "q", "task": "QA"}, {"Question": "q", "Source": "a"}),
        ({"inputs": {"question": "p"}, "question": "q"}, {"question": "p"}),
        ({"source": "a", "question": None}, {"Input": "a"}),
        ({"source": [{"id": "f.txt", "text": "a"}]}, {"f.txt": "a"}),
        (
            {"source": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}], "question": "q"},
            {"Question": "q", "1": "a", "2": "b"},
        ),
        (
            {"source": [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}]},
            {"Input": '[{"id":1,"text":"a"},{"id":1,"text":"b"}]'},
        ),
    ],
)
def test_inputs_have_names_and_shapes(row: Mapping[str, object], inputs: Mapping[str, str]) -> None:
    assert parse_row({**row, "output": "x"}, line=1).inputs == inputs


@pytest.mark.parametrize(
    ("row", "human"),
    [
        ({"human": {"fluency": 4}}, {"fluency": {"": 4.0}}),
        ({"human": {"fluency": {"anna": 4, "ben": 3.5}}}, {"fluency": {"anna": 4.0, "ben": 3.5}}),
        ({"human": 0.5, "aspect": "fluency"}, {"fluency": {"": 0.5}}),
        ({"scores": {"fluency": 4}}, {"fluency": {"": 4.0}}),
        ({"scores": {"gemma": 4}, "human": {"fluency": 1}}, {"fluency": {"": 1.0}}),
        ({"scores": {"gemma": 4}, "human": None}, {}),
    ],
)
def test_human_scores_have_several_names_and_shapes(
    row: Mapping[str, object], human: Mapping[str, Mapping[str, float]]
) -> None:
    segment = parse_row({**row, "output": "x"}, line=1)
    assert (segment.human, "scores" in segment.meta) == (human, "scores" in row and "human" in row)


def test_a_reference_may_be_one_text() -> None:
    assert parse_row({"output": "x", "reference": "a"}, line=1).references == ("a",)
    assert parse_row({"output": "x", "references": ["a", "b"]}, line=1).references == ("a", "b")


def test_keys_without_a_field_are_kept_in_meta_and_meta_goes_first() -> None:
    row = {"output": "x", "doc_id": 3, "copy": None, "meta": {"year": 2001, "doc_id": 4}}
    assert parse_row(row, line=1).meta == {"doc_id": 4, "copy": None, "year": 2001}


def test_spans_that_hold_more_than_a_span_are_kept_in_meta_as_written() -> None:
    spans = [{"start": 0, "end": 1, "correction": "y"}, {"start": 0, "end": 1}]
    segment = parse_row({"output": "x", "spans": spans}, line=1)
    assert (segment.meta, [span.text for span in segment.gold]) == ({"spans": spans}, ["x", "x"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["x"], 'got ["x"], expected a JSON object'),
        ("x", 'got "x", expected a JSON object'),
        (None, "got null, expected a JSON object"),
        ({}, "the row has no output: it is empty"),
        ({"id": "a", "text": "b"}, "the row has no output, only id, text; "),
        ({"output": None}, "the row has no output: the value is null"),
        ({"output": 3}, "output: got 3, expected a text"),
        ({"output": ["a"]}, 'output: got ["a"], expected a text'),
        ({"output": "x", "id": ""}, 'id: got "", expected a text that is not empty, or a number'),
        ({"output": "x", "id": True}, "id: got true, expected a text that is not empty"),
        ({"output": "x", "task": 1}, "task: got 1, expected a text"),
        ({"output": "x", "system": {}}, "system: got {}, expected a text"),
        ({"output": "x", "input": 3}, "input: got 3, expected a text, or an object of headers"),
        ({"output": "x", "references": 3}, "references: got 3, expected a text or a list of"),
        ({"output": "x", "reference": ["a", 3]}, "reference[1]: got 3, expected a text or a list"),
        ({"output": "x", "human": 3}, "human: got 3, expected a finite number, in an object"),
        ({"output": "x", "human": {"a": "b"}}, 'human.a: got "b", expected a finite number, in'),
        ({"output": "x", "human": {"a": True}}, "human.a: got true, expected a finite number"),
        ({"output": "x", "human": {"a": {"b": []}}}, "human.a.b: got [], expected a finite"),
        ({"output": "x", "scores": {"a": "b"}}, 'scores.a: got "b", expected a finite number'),
        ({"output": "x", "human": 3, "aspect": ["a"]}, "human: got 3, expected a finite number"),
        ({"output": "x", "meta": "m"}, 'meta: got "m", expected an object'),
        ({"output": "x", "spans": {}}, "spans: got {}, expected a list of objects"),
        ({"output": "x", "spans": [3]}, "spans[0]: got 3, expected a list of objects"),
        (
            {"output": "x", "spans": [{"start": 0.5, "end": "1"}]},
            "spans[0].start: got 0.5, expected a whole number (and 1 more)",
        ),
        (
            {"output": "x", "spans": [{"severity": 9}]},
            "spans[0].severity: got 9, expected 1 to 5 or one of neutral, minor, major, critical",
        ),
        ({"output": "x", "spans": [{"severity": "bad"}]}, 'spans[0].severity: got "bad", expected'),
        (
            {
                "output": "xy",
                "spans": [{"start": 0, "end": 1}, {"start": 0, "end": 1, "text": "y"}],
            },
            "spans[1]: got the text 'y', expected 'x', which is what the output has from 0 to 1",
        ),
    ],
)
def test_a_bad_row_says_the_field_the_value_and_the_expectation(row: object, message: str) -> None:
    with pytest.raises(DataError) as raised:
        parse_row(row, line=1)
    assert str(raised.value).startswith(message)
    assert len(str(raised.value)) < 250


def test_error_messages_quote_the_value_in_short() -> None:
    with pytest.raises(DataError) as raised:
        parse_row({"output": ["x" * 1_000_000]}, line=1)
    assert len(str(raised.value)) < 100


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(DataError, match=r"human\.fluency: got .*, expected a finite number"):
        parse_row({"output": "x", "human": {"fluency": score}}, line=1)


@given(
    row=st.dictionaries(KEYS, VALUES, max_size=6) | segments().map(row_of),
    output=TEXTS | st.integers(),
    scores=VALUES | st.dictionaries(NAMES, SCORES | st.integers() | st.booleans()),
)
def test_a_plain_row_is_read_as_the_validator_reads_it(
    row: dict[str, object], output: object, scores: object
) -> None:
    native = rows._native({**row, "output": output, "human": scores, "spans": None})
    plain = rows._plain_segment(native, line=7)
    if plain is not None:
        checked = checked_rows.checked_row(native, row=native, line=7)
        assert plain == checked
        assert repr(plain) == repr(checked)  # 1 is not 1.0


def test_rows_as_most_are_need_no_validator() -> None:
    row = {"id": 3, "source": "A.", "output": "B.", "scores": {"fluency": 4}, "more": None}
    plain = rows._plain_segment(rows._native(row), line=1)
    assert plain is not None
    assert plain == checked_rows.checked_row(rows._native(row), row=row, line=1)
    assert plain.human == {"fluency": {"": 4.0}}


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
