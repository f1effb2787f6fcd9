import csv
import errno
import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.earlier_rows import as_written_earlier
from fakes.result_files import result, write_results
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.reading.tables import read_records
from spanjury.adapters.files.results.exports import Export, ExportForm, ExportUnit
from spanjury.judges.core import (
    ConfigError,
    DataError,
    Decision,
    DecisionBasis,
    ErrorSpan,
    Evidence,
    Ground,
    Located,
    Result,
    StoreError,
)

SPAN = ErrorSpan(
    text="dog",
    explanation="It was a cat.",
    severity=4,
    start=4,
    end=7,
    category="entity",
    located=Located.NORMALISED,
    found_by=("s1", "s2"),
    evidence=(Evidence(input="Article", start=5, end=8, text="cat"),),
    probability=0.75,
)
OMISSION = ErrorSpan(text="", explanation="No end.", severity=None, found_by=("s2",))
LIKELY = DecisionBasis(
    ground=Ground.PROBABILITY,
    reason="It is 0.90.",
    threshold=0.8,
    false_alarms=0.05,
    measured_on="160 texts",
)
CLEAN = DecisionBasis(ground=Ground.SPANS, reason="No error is marked.")


def with_decision(
    row: Result, decision: Decision, basis: DecisionBasis, probability: float | None = None
) -> Result:
    report = replace(row.report, decision=decision, basis=basis, error_probability=probability)
    return replace(row, report=report)


ROWS = [
    with_decision(
        result("a", scores=(2.5, 3), spans=(SPAN, OMISSION)), Decision.FAULTY, LIKELY, 0.9
    ),
    result("b", scores=(None, 3)),
    with_decision(result("b", scores=(4, None), aspect="fluency"), Decision.OK, CLEAN),
]
SPREADSHEET = ("=1+1", "+1", "-1", "@SUM(A1)", "\ufeff", "007", " x ", "NA", "1e5")
TEXTS = st.text(max_size=8) | st.sampled_from(["\r", "\n", "\r\n", '"', ",", "\t", *SPREADSHEET])


def exported(
    path: Path, *, form: ExportForm = ExportForm.CSV, unit: ExportUnit = ExportUnit.ASSESSMENTS
) -> str:
    stream = io.BytesIO()
    Export(results=path, form=form, unit=unit).to_stream(stream)
    return stream.getvalue().decode()


def records(table: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(table, newline=""), delimiter=delimiter, strict=True))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write_results(tmp_path / "results.jsonl", ROWS)


def test_a_table_has_a_record_for_each_assessment_and_a_column_a_seat(results: Path) -> None:
    columns = "id,system,task,aspect,score,outcome,spans,reason,score: s1,score: s2,"
    tokens = "prompt tokens,cached tokens,completion tokens,reasoning tokens"
    decision = "decision,false alarms,error probability,misses,unverified"
    assert exported(results).split("\r\n") == [
        f"{columns}{tokens},{decision}",
        "a,bart,summarization,consistency,2.5,scored,2,,2.5,3,40,20,10,4,faulty,0.05,0.9,,0",
        "b,bart,summarization,consistency,,unparseable,0,no score line,,3,40,20,10,4,,,,,0",
        "b,bart,summarization,fluency,4,scored,0,,4,,40,20,10,4,ok,,,,0",
        "",
    ]


def test_a_table_of_spans_has_one_record_for_each(results: Path) -> None:
    table = exported(results, unit=ExportUnit.SPANS, form=ExportForm.TSV)
    columns = "id|system|task|aspect|start|end|text|severity|category|explanation|found_by|located"
    more = "probability|evidence|at"
    evidence = '"[{""input"": ""Article"", ""start"": 5, ""end"": 8, ""text"": ""cat""}]"'
    about = "a|bart|summarization|consistency"
    assert table.replace("\t", "|").split("\r\n") == [
        f"{columns}|{more}",
        f"{about}|4|7|dog|4|entity|It was a cat.|s1;s2|normalised|0.75|{evidence}|",
        f"{about}||||||No end.|s2|unlocated|||",
        "",
    ]


def test_rows_of_earlier_runs_have_no_decision_and_are_exported_without(results: Path) -> None:
    earlier = map(as_written_earlier, results.read_text().splitlines())
    results.write_text("".join(f"{line}\n" for line in earlier))
    (_, first, *_), (_, span, *_) = (
        records(exported(results, unit=unit)) for unit in (ExportUnit.ASSESSMENTS, ExportUnit.SPANS)
    )
    assert (first[4], first[-5:], span[6], span[-3:]) == ("2.5", [""] * 5, "dog", [""] * 3)


def test_rows_as_they_are_keep_every_byte(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.jsonl"
    assert Export(results=results, form=ExportForm.JSONL).to_file(target) == 3
    assert target.read_bytes() == results.read_bytes()


def test_a_seat_that_comes_late_has_a_column_too(tmp_path: Path) -> None:
    rows = [result("a", scores=(2,)), result("b", scores=(3, 4))]
    header, first, second = records(exported(write_results(tmp_path / "r", rows)))
    column = header.index("score: s2")
    assert [first[column], second[column]] == ["", "4"]


@pytest.mark.parametrize("form", [ExportForm.CSV, ExportForm.TSV])
@given(texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4))
def test_every_text_is_read_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, form: ExportForm, texts: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("export")
    spans = [ErrorSpan(text=text, explanation=why, severity=None) for text, why in texts]
    results = write_results(folder / "results.jsonl", [result("a", spans=spans)])
    table = folder / "table"
    assert Export(results=results, form=form, unit=ExportUnit.SPANS).to_file(table) == len(texts)
    delimiter = {ExportForm.CSV: ",", ExportForm.TSV: "\t"}[form]
    header, *read = records(table.read_bytes().decode(), delimiter)
    text, why = header.index("text"), header.index("explanation")
    assert [(cells[text], cells[why]) for cells in read] == texts
    ours = [cells for _, cells in read_records(read_lines(table), delimiter=delimiter)]
    assert ours == [header, *read]


def test_a_file_has_no_byte_order_mark(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    assert Export(results=results).to_file(target) == 3
    assert target.read_bytes().startswith(b"id,")


def test_whole_rows_of_a_part_file_are_exported(results: Path) -> None:
    part = results.rename(results.with_name("results.jsonl.part"))
    whole = exported(part)
    with part.open("ab") as file:
        file.write(b'{"id": "c", "asp')
    assert exported(part) == whole


def test_a_run_that_has_judged_nothing_yet_is_a_header(tmp_path: Path) -> None:
    part = tmp_path / "results.jsonl.part"
    part.touch()
    assert exported(part, unit=ExportUnit.SPANS).startswith("id,system,task,aspect,start,")
    assert len(records(exported(part))) == 1


@pytest.mark.parametrize(
    ("tail", "problem"),
    [
        (b'{"id": "c"', "line 4: breaks off, so rows are missing"),
        (b'{"id": "c"}\n', "line 4: is not a result row: [a-z]+: Field required"),
    ],
)
@pytest.mark.parametrize("form", ExportForm)
def test_a_damaged_file_is_named_with_the_line_and_nothing_is_written(
    results: Path, tail: bytes, problem: str, form: ExportForm
) -> None:
    with results.open("ab") as file:
        file.write(tail)
    target = results.with_name("table")
    with pytest.raises(DataError, match=f"results.jsonl, {problem}"):
        Export(results=results, form=form).to_file(target)
    assert list(results.parent.iterdir()) == [results]


def test_a_span_that_contradicts_itself_is_reported(results: Path) -> None:
    results.write_text(results.read_text().replace('"end": 7', '"end": 8'))
    with pytest.raises(DataError, match=r"line 1: is not a result row: spans\.0: .*\(4, 8\)"):
        exported(results)


def test_the_results_are_never_overwritten(results: Path) -> None:
    before = results.read_bytes()
    with pytest.raises(StoreError, match="holds the results themselves"):
        Export(results=results).to_file(results.parent / "." / results.name)
    assert results.read_bytes() == before


def test_spans_are_exported_as_tables_only(results: Path) -> None:
    with pytest.raises(ConfigError, match="expected csv or tsv"):
        Export(results=results, form=ExportForm.JSONL, unit=ExportUnit.SPANS)


class BrokenStream(io.BytesIO):
    """Takes nothing."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, _: object) -> int:
        raise self.error


def test_a_full_disk_behind_a_stream_is_reported(results: Path) -> None:
    full = BrokenStream(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    with pytest.raises(StoreError, match="the output cannot be written: No space left"):
        Export(results=results).to_stream(full)


def test_a_reader_who_leaves_is_no_fault_of_ours(results: Path) -> None:
    with pytest.raises(BrokenPipeError):
        Export(results=results).to_stream(BrokenStream(BrokenPipeError()))
