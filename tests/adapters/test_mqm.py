"""MQM tables: a table as raters leave it, and round trips."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.judges import located
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.adapters.files.annotations.mqm import (
    COLUMNS,
    escaped,
    mark,
    read_mqm,
    unescaped,
    unmark,
    write_mqm,
)
from spanjury.judges.core import DataError, ErrorSpan, Segment, StoreError

HEADER = "\t".join(COLUMNS)
TABLE = f"""{HEADER}
A\td1\t1\t7\tr1\t猫坐着。\tThe <v>dog</v> sat.\tAccuracy/Mistranslation\tMajor
A\td1\t1\t7\tr1\t猫<v>坐着</v>。\tThe dog sat.\tAccuracy/Omission\tMinor
A\td1\t1\t7\tr2\t猫坐着。\tThe dog <v>sat</v>.\tStyle/Awkward\tNeutral
B\td1\t1\t7\tr1\t猫坐着。\tThe cat sat.\tNo-error\tNo-error
A\td1\t1\t7\tr3\t猫坐着。\tThe dog <v>sat</v>.\tFluency/Grammar\tcritical
A\td1\t2\t8\tr1\t她走了。\tblah blah\tNon-translation!\tMajor
"""
TEXT = st.text(max_size=12) | st.sampled_from(["a\tb", "\r\n", "\\n", "\\", "C:\\temp", "\u2028"])
NAME = st.text("abc-_.", min_size=1, max_size=4)


def written(tmp_path: Path, table: str) -> list[Segment | DataError]:
    path = tmp_path / "ratings.mqm.tsv"
    path.write_bytes(table.encode())
    return [*read_mqm(path)]


def read_back(tmp_path: Path, segments: list[Segment]) -> list[Segment | DataError]:
    path = tmp_path / "again.mqm.tsv"
    write_mqm(path, segments)
    return [*read_mqm(path)]


def sound(read: list[Segment | DataError]) -> list[Segment]:
    assert [row for row in read if isinstance(row, DataError)] == []
    return [row for row in read if isinstance(row, Segment)]


def span(text: str, start: int, severity: int | None, *, rater: str, category: str) -> ErrorSpan:
    fields = {"severity": severity, "category": category, "found_by": (rater,)}
    return located(text, start, explanation="", **fields)


def test_the_lines_of_all_raters_become_one_segment(tmp_path: Path) -> None:
    first, second, third = sound(written(tmp_path, TABLE))
    assert first == Segment(
        segment_id="A/d1/1/7",
        output="The dog sat.",
        inputs={"Source": "猫坐着。"},
        task="translation",
        system="A",
        gold=(
            span("dog", 4, 4, rater="r1", category="Accuracy/Mistranslation"),
            ErrorSpan(
                text="", explanation="", severity=2, category="Accuracy/Omission", found_by=("r1",)
            ),
            span("sat", 8, 5, rater="r3", category="Fluency/Grammar"),
        ),
        meta={
            "doc": "d1",
            "doc_id": "1",
            "seg_id": "7",
            "annotators": ["r1", "r2", "r3"],
            "source_marks": [[1, 1, 3]],
            "neutral": [{"annotator": "r2", "category": "Style/Awkward", "target": [[8, 11]]}],
        },
    )
    assert (second.system, second.gold, second.meta["annotators"]) == ("B", (), ["r1"])
    assert third.gold == (span("blah blah", 0, 5, rater="r1", category="Non-translation!"),)


def test_a_written_value_reads_back_the_same(tmp_path: Path) -> None:
    segments = sound(written(tmp_path, TABLE))
    assert read_back(tmp_path, segments) == segments


def test_a_table_that_is_in_order_is_written_to_the_byte(tmp_path: Path) -> None:
    lines = TABLE.splitlines(keepends=True)
    ordered = "".join([*lines[:4], lines[5], lines[4], lines[6]])
    ordered = ordered.replace("critical", "Critical").replace("blah blah", "<v>blah blah</v>")
    segments = sound(written(tmp_path, ordered))
    write_mqm(tmp_path / "again.tsv", segments)
    assert (tmp_path / "again.tsv").read_text(encoding="utf-8") == ordered


@given(
    st.lists(
        st.tuples(NAME, TEXT, st.sampled_from([None, 2, 4, 5]), st.booleans()),
        min_size=1,
        max_size=4,
    ),
    TEXT,
)
@settings(max_examples=60)
def test_any_segment_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[tuple[str, str, int | None, bool]],
    source: str,
) -> None:
    output = "".join(text for _, text, _, _ in drawn)
    if any(tag in text for tag in ("<v>", "</v>") for text in (output, source)):
        return
    gold, at = [], 0
    for rater, text, severity, marked in drawn:
        if marked and text:
            gold.append(span(text, at, severity, rater=rater, category="Style"))
        at += len(text)
    raters = [*dict.fromkeys(rater for rater, _, _, _ in drawn)]
    segment = Segment(
        segment_id="S/d/1/2",
        output=output,
        inputs={"Source": source},
        task="translation",
        system="S",
        gold=tuple(sorted(gold, key=lambda row: raters.index(row.found_by[0]))),
        meta={"doc": "d", "doc_id": "1", "seg_id": "2", "annotators": raters},
    )
    assert read_back(tmp_path_factory.mktemp("mqm"), [segment]) == [segment]


@pytest.mark.parametrize(("severity", "word"), [(1, "Minor"), (3, "Major"), (None, "")])
def test_severities_mqm_lacks_are_raised(tmp_path: Path, severity: int | None, word: str) -> None:
    gold = (span("a", 0, severity, rater="r", category=""),)
    write_mqm(tmp_path / "one.tsv", [Segment(segment_id="x", output="a", gold=gold)])
    row = (tmp_path / "one.tsv").read_text(encoding="utf-8").splitlines()[1]
    assert row.split("\t")[3:] == ["x", "r", "", "<v>a</v>", "Other", word]


def test_the_columns_of_the_viewer_are_read_too(tmp_path: Path) -> None:
    names = "system doc docSegId globalSegId rater source target category severity metadata"
    rows = names.replace(" ", "\t"), "A\td\t1\t0\tr\ts\tt\tno-error\tno-error\t{}"
    read = sound(written(tmp_path, "".join(f"{row}\r\n" for row in rows)))
    assert read[0].meta["annotators"] == ["r"]


def test_a_table_without_names_of_columns_is_in_the_usual_order(tmp_path: Path) -> None:
    table = "\n\n".join(TABLE.splitlines()[1:])  # blank lines are none
    assert written(tmp_path, table) == written(tmp_path, TABLE)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("A\td\t1\t7\tr\ts\t<v>a\tX\tMajor", "line 2: got <v> without </v>"),
        ("A\td\t1\t7\tr\ts\ta</v>\tX\tMajor", "line 2: got </v> as mark 1"),
        ("A\td\t1\t7\tr\ts\t<v>a<v>b</v></v>\tX\tMajor", "line 2: got <v> as mark 2"),
        ("A\td\t1\t7\tr\ts\ta\tX\tugly", "line 2: got the severity 'ugly', expected one of Minor"),
        ("A\td\t1", "line 2: got 3 cells, expected system"),
    ],
)
def test_a_bad_line_costs_itself_only(tmp_path: Path, row: str, problem: str) -> None:
    fault, good = written(tmp_path, f"{HEADER}\n{row}\nB\td\t1\t7\tr\ts\ta\tNo-error\tNo-error\n")
    assert problem in str(fault)
    assert isinstance(good, Segment)


def test_a_target_that_reads_otherwise_is_a_fault(tmp_path: Path) -> None:
    rows = "A\td\t1\t7\tr\ts\ta\tNo-error\tNo-error\nA\td\t1\t7\tq\ts\tb\tNo-error\tNo-error\n"
    fault, kept = written(tmp_path, f"{HEADER}\n{rows}")
    assert 'line 3: got the output "b", an earlier row has "a"' in str(fault)
    assert isinstance(kept, Segment)
    assert kept.meta["annotators"] == ["r"]


@pytest.mark.parametrize(
    ("table", "problem"),
    [(f"{HEADER}\n", "has no rows"), ("system\tdoc\trater\n", "no column doc_id"), ("", "empty")],
)
def test_a_file_without_a_table_is_an_error(tmp_path: Path, table: str, problem: str) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(DataError, match=problem):
        read_mqm(path)


def test_bytes_that_are_no_text_are_a_fault_of_their_line(tmp_path: Path) -> None:
    path = tmp_path / "bytes.tsv"
    path.write_bytes(f"{HEADER}\n".encode() + b"A\t\xff\n")
    assert "line 2: not UTF-8" in str(next(read_mqm(path)))


def test_marks_of_a_texts_own_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'x' cannot be written: the text holds <v>"):
        write_mqm(tmp_path / "x.tsv", [Segment(segment_id="x", output="a <v> b")])
    assert not (tmp_path / "x.tsv").exists()


def test_a_folder_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        write_mqm(tmp_path, [])


@pytest.mark.heavy
@pytest.mark.shared_data
def test_all_ratings_of_ted_talks_survive_a_round_trip(shared_data: Path, tmp_path: Path) -> None:
    segments = []
    with gzip.open(shared_data / "spans" / "mqm_ted_zhen.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            rater, source = row["annotator"], row["source"]["source"]
            severities = {"minor": 2, "major": 4}
            gold = tuple(
                span(
                    error["text"],
                    error["start"],
                    severities[error["severity"]],
                    rater=rater,
                    category=error["category"],
                )
                for error in row["spans"]
            )
            about = {"doc": row["doc_id"], "doc_id": "", "seg_id": row["id"]}
            segments.append(
                Segment(
                    segment_id=f"{row['system']}/{row['doc_id']}//{row['id']}",
                    output=row["output"],
                    inputs={"Source": source},
                    task="translation",
                    system=row["system"],
                    gold=gold,
                    meta={**about, "annotators": [rater]},
                )
            )
    assert (len(segments), sum(len(segment.gold) for segment in segments)) == (7935, 5268)
    assert read_back(tmp_path, segments) == segments


def test_no_rater_is_a_rater_without_a_name(tmp_path: Path) -> None:
    gold = (replace(span("a", 0, 4, rater="r", category="X"), found_by=()),)
    segment = Segment(segment_id="x", output="ab", gold=gold)
    (read,) = sound(read_back(tmp_path, [segment]))
    assert read.gold == gold
    assert "annotators" not in read.meta


@given(TEXT)
def test_a_cell_stands_for_its_text(text: str) -> None:
    assert not {"\t", "\n", "\r"} & {*escaped(text)}
    assert unescaped(escaped(text)) == text


@given(st.text("ab<>/v", max_size=10), st.lists(st.integers(0, 10), max_size=4, unique=True))
def test_marks_come_out_as_they_went_in(text: str, edges: list[int]) -> None:
    within = sorted(edge for edge in edges if edge <= len(text))
    intervals = tuple(zip(within[::2], within[1::2], strict=False))
    try:
        marked = mark(text, intervals)
    except DataError:
        assert "<v>" in text or "</v>" in text
    else:
        assert unmark(marked) == (text, intervals)


def test_a_backslash_before_anything_else_stands_for_itself() -> None:
    assert unescaped(r"C:\docs \o/") == r"C:\docs \o/"
