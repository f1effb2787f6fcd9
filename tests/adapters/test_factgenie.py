"""factgenie's files: outputs with and without annotations, and round trips."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.judges import located
from fakes.result_files import result, write_results
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.adapters.files.annotations.factgenie import read_factgenie, write_factgenie
from spanjury.adapters.files.annotations.mqm import write_mqm
from spanjury.adapters.files.results.exports import marked_segments
from spanjury.judges.core import DataError, ErrorSpan, Evidence, Segment

OUTPUT = {
    "dataset": "wx",
    "split": "test",
    "setup_id": "gpt",
    "example_idx": 3,
    "output": "It rains.",
}
CATEGORIES = [{"name": "Incorrect", "color": "red"}, {"name": "Misleading"}]
ANNA = {
    **OUTPUT,
    "metadata": {"annotator_id": "anna", "annotation_span_categories": CATEGORIES},
    "annotations": [{"type": 1, "text": "rains", "start": 3, "reason": "It snows."}],
}
RAINS = located(
    "rains", 3, explanation="It snows.", severity=None, category="Misleading", found_by=("anna",)
)
OMISSION = ErrorSpan(
    text="", explanation="no wind", severity=3, category="Incorrect", found_by=("ben",)
)


def read(tmp_path: Path, *rows: object) -> list[Segment | DataError]:
    path = tmp_path / "x.factgenie.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return [*read_factgenie(path)]


def read_back(tmp_path: Path, segments: list[Segment]) -> list[Segment | DataError]:
    write_factgenie(tmp_path / "y.jsonl", segments)
    return [*read_factgenie(tmp_path / "y.jsonl")]


def annotated(*spans: ErrorSpan, annotators: list[str]) -> Segment:
    about = {"dataset": "wx", "split": "test", "example_idx": 3}
    return Segment(
        segment_id="wx/test/gpt/3",
        output="It rains.",
        system="gpt",
        gold=spans,
        meta={**about, "annotators": annotators},
    )


def test_the_lines_of_all_annotators_become_one_segment(tmp_path: Path) -> None:
    ben = {**OUTPUT, "metadata": {"annotator_id": "ben"}, "annotations": []}
    assert read(tmp_path, ANNA, ben) == [annotated(RAINS, annotators=["anna", "ben"])]


def test_an_output_without_annotations_has_no_annotators(tmp_path: Path) -> None:
    (segment,) = read(tmp_path, OUTPUT, OUTPUT)
    assert isinstance(segment, Segment)
    assert "annotators" not in segment.meta
    assert read_back(tmp_path, [segment]) == [segment]


def test_a_nameless_number_is_its_own_category_and_a_group_an_annotator(tmp_path: Path) -> None:
    row = {**OUTPUT, "annotator_group": 2, "annotations": [{"type": 0, "text": "It", "start": 0}]}
    (segment,) = read(tmp_path, row)
    assert isinstance(segment, Segment)
    assert (segment.gold[0].category, segment.gold[0].found_by) == ("0", ("2",))


def test_spans_of_all_sorts_survive_a_round_trip(tmp_path: Path) -> None:
    located = replace(RAINS, severity=4, found_by=("ben",))
    segment = annotated(RAINS, located, OMISSION, annotators=["anna", "ben", "cleo"])
    assert read_back(tmp_path, [segment]) == [segment]


def test_a_line_holds_what_factgenie_reads(tmp_path: Path) -> None:
    path = tmp_path / "y.jsonl"
    assert write_factgenie(path, [annotated(RAINS, OMISSION, annotators=["anna", "ben"])]) == 2
    anna, ben = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    categories = [{"name": "Misleading"}, {"name": "Incorrect"}]
    by_anna = {"annotator_id": "anna", "annotator_group": 0}
    metadata = {**by_anna, "annotation_span_categories": categories}
    marked = [{"type": 0, "text": "rains", "start": 3, "reason": "It snows."}]
    assert anna == {**OUTPUT, **by_anna, "metadata": metadata, "annotations": marked}
    assert (ben["annotator_group"], ben["annotations"]) == (1, [])
    assert ben["metadata"]["unlocated"] == [
        {"type": 1, "text": "", "reason": "no wind", "severity": 3}
    ]


def test_segments_from_elsewhere_are_numbered_system_by_system(tmp_path: Path) -> None:
    segments = [
        Segment(segment_id=name, output=name, system=system, task="story")
        for name, system in (("a", "x"), ("b", "y"), ("c", "x"))
    ]
    names = [
        marked.segment_id for marked in read_back(tmp_path, segments) if isinstance(marked, Segment)
    ]
    assert names == ["story/test/x/0", "story/test/y/0", "story/test/x/1"]


@given(st.text(max_size=20), st.data())
@settings(max_examples=60)
def test_any_place_in_any_text_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, output: str, data: st.DataObject
) -> None:
    spans = []
    if output:
        start = data.draw(st.integers(0, len(output) - 1))
        end = data.draw(st.integers(start + 1, len(output)))
        severity = data.draw(st.none() | st.integers(1, 5))
        marked = replace(RAINS, text=output[start:end], start=start, end=end, severity=severity)
        spans.append(replace(marked, category=data.draw(st.text(max_size=3))))
    segment = replace(annotated(*spans, annotators=["anna"]), output=output)
    assert read_back(tmp_path_factory.mktemp("genie"), [segment]) == [segment]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**OUTPUT, "output": None}, "output: got null"),
        ({**OUTPUT, "annotations": [{"type": 0, "text": "snows", "start": 3}]}, 'expected "rains"'),
        ({**OUTPUT, "annotations": [{"type": 0, "text": "x", "start": 40}]}, "expected 0 <= start"),
        ({**OUTPUT, "annotations": [{"type": [], "text": "x"}]}, "annotations.0.type"),
        ([1], "got [1]"),
    ],
)
def test_a_bad_line_costs_itself_only(tmp_path: Path, row: object, problem: str) -> None:
    fault, good = read(tmp_path, row, {**OUTPUT, "example_idx": 4})
    assert "line 1: " in str(fault)
    assert problem.replace('"', "'") in str(fault).replace('"', "'")
    assert isinstance(good, Segment)


def test_a_file_without_rows_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no rows"):
        read_factgenie(tmp_path / "none.jsonl")


def test_bytes_that_are_no_text_are_a_fault_of_their_line(tmp_path: Path) -> None:
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\n")
    assert "line 1: not UTF-8" in str(next(read_factgenie(tmp_path / "bytes.jsonl")))


def test_values_that_json_cannot_hold_are_reported_with_the_row(tmp_path: Path) -> None:
    segment = Segment(segment_id="bad", output="\ud800")
    with pytest.raises(DataError, match="row 'bad' cannot be written to a file"):
        write_factgenie(tmp_path / "x.jsonl", [segment])


def test_results_are_marked_as_an_annotator_would(tmp_path: Path) -> None:
    segment = replace(RAINS, found_by=("s1", "s2"))
    results = write_results(
        tmp_path / "results.jsonl",
        [
            result("a", scores=(3,), spans=(segment,)),
            result("a", scores=(2,), spans=(replace(segment, category=""),), aspect="fluency"),
            result("b", scores=(5,)),
            result("c", scores=(None,)),
        ],
    )
    segments = [
        Segment(
            segment_id=name, output="It rains.", gold=(OMISSION,), meta={"neutral": [1], "x": 2}
        )
        for name in "abcd"
    ]
    first, second = marked_segments(segments, results)
    marks = [(span.category, span.found_by) for span in first.gold]
    assert marks == [("consistency/Misleading", ("panel",)), ("fluency", ("panel",))]
    assert (second.segment_id, second.gold) == ("b", ())
    assert second.meta == {"x": 2, "annotators": ["panel"]}


def test_evidence_and_probability_are_written_and_do_not_disturb_the_reader(tmp_path: Path) -> None:
    evidence = Evidence(input="Article", start=0, end=3, text="It ")
    marked = replace(RAINS, evidence=(evidence,), probability=0.75)
    segment = Segment(segment_id="a", output="It rains.", gold=(marked,))
    write_factgenie(tmp_path / "x.jsonl", [segment])
    (annotation,) = json.loads((tmp_path / "x.jsonl").read_text())["annotations"]
    assert annotation["evidence"] == [{"input": "Article", "start": 0, "end": 3, "text": "It "}]
    assert annotation["probability"] == 0.75
    (again,) = read_factgenie(tmp_path / "x.jsonl")
    assert isinstance(again, Segment)
    assert [span.interval for span in again.gold] == [marked.interval]


def test_evidence_in_the_source_becomes_marks_there(tmp_path: Path) -> None:
    def evidence_at(start: int, end: int, header: str = "Article") -> Evidence:
        return Evidence(input=header, start=start, end=end, text=article[start:end])

    article = "It will not rain."
    evidence = (
        evidence_at(8, 11),
        evidence_at(3, 7),
        evidence_at(5, 9),
        evidence_at(0, 2, "Title"),
    )
    span = replace(RAINS, evidence=evidence)
    segment = Segment(
        segment_id="a", output="It rains.", inputs={"Article": article, "Title": article}
    )
    rows = [result("a", scores=(3,), spans=(span, span))]
    results = write_results(tmp_path / "results.jsonl", rows)
    marks = [[0, 3, 7], [0, 8, 11]]
    (marked,) = marked_segments([segment], results)
    assert marked.meta["source_marks"] == [*marks, [1, 3, 7], [1, 8, 11]]
    write_mqm(tmp_path / "x.tsv", [marked])
    assert "It <v>will</v> <v>not</v> rain." in (tmp_path / "x.tsv").read_text()
    changed = replace(segment, inputs={"Article": "Something else was judged."})
    (other,) = marked_segments([changed], results)
    assert "source_marks" not in other.meta
