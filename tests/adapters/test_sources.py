import csv
import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.reading import shapes
from spanjury.adapters.files.reading.sources import read_csv, read_jsonl, read_tsv
from spanjury.adapters.files.reading.texts import row_lines
from spanjury.judges.core import DataError, Segment, Source

READERS = {"jsonl": read_jsonl, "csv": read_csv, "tsv": read_tsv}
TWO_ROWS = {
    "jsonl": b'{"id": "a", "output": "x"}\n{"id": "b", "output": "y"}\n',
    "csv": b"id,output\na,x\nb,y\n",
    "tsv": b"id\toutput\na\tx\nb\ty\n",
}
TWO_SEGMENTS = [Segment(segment_id="a", output="x"), Segment(segment_id="b", output="y")]

NAME_THE_COLUMNS = (
    "name the columns, for example --column output=COLUMN --column inputs.Question=COLUMN, or a"
    f" shape: --shape {'|'.join(shapes.NAMES)}"
)
every_kind = pytest.mark.parametrize("kind", READERS)


def names_of(rows: Iterator[Segment | DataError]) -> list[str]:
    """Name every row: a segment by its id, a fault by its message without the folder."""
    return [
        row.segment_id if isinstance(row, Segment) else str(row).rpartition("/")[2] for row in rows
    ]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes | str], Path]:
    def written(content: bytes | str) -> Path:
        path = tmp_path / "rows"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@every_kind
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_each_kind_is_read_plain_and_packed(tmp_path: Path, kind: str, suffix: str) -> None:
    path = tmp_path / f"rows.{kind}{suffix}"
    path.write_bytes(gzip.compress(TWO_ROWS[kind]) if suffix else TWO_ROWS[kind])
    read: Source = READERS[kind]
    assert list(read(path)) == TWO_SEGMENTS


@every_kind
@pytest.mark.parametrize(
    "change",
    [
        gzip.compress,
        lambda rows: b"\xef\xbb\xbf" + rows,
        lambda rows: rows.replace(b"\n", b"\r\n"),
        lambda rows: rows.removesuffix(b"\n"),
        lambda rows: b"\n\n" + rows + b"\n\r\n",
    ],
    ids=["packed whatever its name", "byte order mark", "CRLF", "no last line end", "blank lines"],
)
def test_the_way_a_file_was_written_changes_nothing(
    write: Callable[[bytes], Path], kind: str, change: Callable[[bytes], bytes]
) -> None:
    assert list(READERS[kind](write(change(TWO_ROWS[kind])))) == TWO_SEGMENTS


@every_kind
def test_an_invalid_file_is_reported_before_the_first_row(tmp_path: Path, kind: str) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    read = READERS[kind]
    for path, problem in {
        tmp_path / "missing": "cannot be read: No such file or directory",
        tmp_path: "cannot be read: Is a directory",
        loop: "cannot be read: Too many levels of symbolic links",
        tmp_path / "a\0b": "cannot be read: embedded null byte",
    }.items():
        with pytest.raises(DataError) as raised:
            read(path)
        assert str(raised.value) == f"{path}: {problem}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_reported(write: Callable[[str], Path]) -> None:
    path = write("x")
    path.chmod(0)
    with pytest.raises(DataError, match="cannot be read: Permission denied"):
        read_jsonl(path)


@every_kind
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_empty_file_is_reported_as_such(
    write: Callable[[bytes], Path], kind: str, pack: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(DataError, match=r"rows: is empty$"):
        READERS[kind](write(pack(b"")))


@pytest.mark.parametrize(
    ("read", "content", "problem"),
    [
        (read_jsonl, "\n \n", "rows: has no rows"),
        (read_csv, "id,output\n", "rows: has no rows"),
        (read_csv, "\n\n", "rows, line 1: there is no row that names the columns"),
    ],
)
def test_a_file_without_rows_is_reported(
    write: Callable[[str], Path], *, read: Source, content: str, problem: str
) -> None:
    with pytest.raises(DataError) as raised:
        read(write(content))
    assert str(raised.value).endswith(problem)


@every_kind
def test_an_unpacked_file_named_gz_is_reported(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rows.gz"
    path.write_bytes(TWO_ROWS[kind])
    with pytest.raises(DataError, match=r"its name ends in \.gz, but it is not gzip"):
        READERS[kind](path)


def test_a_packed_file_broken_from_the_start_is_reported(write: Callable[[bytes], Path]) -> None:
    packed = gzip.compress(TWO_ROWS["jsonl"])
    with pytest.raises(DataError, match="cannot be read: Unknown compression method"):
        read_jsonl(write(packed[:2] + b"\xff" + packed[3:]))
    with pytest.raises(DataError, match="cannot be read: Compressed file ended before"):
        read_jsonl(write(packed[:12]))


@every_kind
def test_a_torn_packed_file_gives_its_first_rows(write: Callable[[bytes], Path], kind: str) -> None:
    packed = gzip.compress(TWO_ROWS[kind])
    rows = names_of(READERS[kind](write(packed[:-6])))
    line = 3 if kind == "jsonl" else 4
    assert (rows[:2], len(rows)) == (["a", "b"], 3)
    assert rows[2].startswith(f"rows, line {line}: the rest of the file cannot be read: Compressed")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"output": "x"', "not JSON: Expecting ',' delimiter at column 15"),
        (b"<html>", "not JSON: Expecting value at column 1"),
        (b"[1, 2]", "got [1, 2], expected a JSON object"),
        (b'{"output": "\xff"}', "not UTF-8: byte 0xff at byte 13 of the line"),
        (b'{"output": "\xed\xa0\x80"}', "not UTF-8: byte 0xed at byte 13 of the line"),
        (b'{"id": "c"}', f"the row has no output, only id; {NAME_THE_COLUMNS}"),
        (b'{"id": "a", "output": "z"}', "line 2 already has the id 'a'"),
        (b'{"id": "line-6", "output": "z"}', None),
        (b'{"output": "x", "output": "y"}', 'the key "output" occurs twice in one object'),
        (b'{"output": "x", "human": {"a": NaN}}', 'the number "NaN" is not finite'),
        (b'{"a":' * 5000, "nested too deeply to be read"),
        (b'{"output": "x", "source": ' + b"[" * 900 + b"]" * 900 + b"}", None),
    ],
)
def test_a_bad_line_is_numbered_and_the_others_are_read(
    write: Callable[[bytes], Path], line: bytes, problem: str | None
) -> None:
    path = write(b"\n" + TWO_ROWS["jsonl"] + b" \n" + line + b"\n" + b'{"output": "z"}')
    rows = names_of(read_jsonl(path))
    assert len(rows) == 4
    if problem:
        assert rows == ["a", "b", f"rows, line 5: {problem}", "line-6"]


def test_an_id_made_of_a_line_can_be_taken_already(write: Callable[[str], Path]) -> None:
    rows = names_of(read_jsonl(write('{"id": "line-2", "output": "x"}\n{"output": "y"}')))
    assert rows == ["line-2", "rows, line 2: line 1 already has the id 'line-2'"]


def test_a_row_that_cannot_be_read_takes_no_id(write: Callable[[str], Path]) -> None:
    rows = names_of(read_jsonl(write('{"id": "a"}\n{"id": "a", "output": "y"}')))
    assert rows == [f"rows, line 1: the row has no output, only id; {NAME_THE_COLUMNS}", "a"]


def test_lone_surrogates_are_replaced_so_that_offsets_hold(write: Callable[[str], Path]) -> None:
    span = {"start": 2, "end": 3, "text": "b"}
    (segment,) = read_jsonl(write(json.dumps({"output": "a\ud800b\0", "spans": [span]})))
    assert isinstance(segment, Segment)
    assert (segment.output, segment.gold[0].interval) == ("a\ufffdb\0", (2, 3))


def test_a_row_of_a_megabyte_is_read(write: Callable[[str], Path]) -> None:
    text = 'ä "quoted", ' * 100_000
    (segment,) = read_jsonl(write(json.dumps({"output": text})))
    assert isinstance(segment, Segment)
    assert segment.output == text


def test_rows_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDWR)  # keeps both ends open: reading on would block forever
    try:
        os.write(end, b'{"output": "x"}\n' * 3)
        rows = read_jsonl(pipe)
        assert [next(rows) for _ in range(3)]
    finally:
        os.close(end)


def test_every_column_finds_its_place(write: Callable[[str], Path]) -> None:
    (segment,) = read_csv(
        write(
            ",id, task ,input.Article,input,output,reference,reference_2,system,"
            "human.fluency,human.coherence.anna,human.coherence.ben,spans,meta,doc_id\n"
            '0,7,story,"a, ""b""\nc",i,x,r1,r2,s,4,1e0,,"[{""start"":0,""end"":1}]",'
            '"{""year"": 2001}",d\n'
        )
    )
    assert isinstance(segment, Segment)
    assert (segment.segment_id, segment.task) == ("7", "story")
    assert segment.inputs == {"Article": 'a, "b"\nc', "Input": "i"}
    assert (segment.references, segment.system) == (("r1", "r2"), "s")
    assert segment.human == {"fluency": {"": 4.0}, "coherence": {"anna": 1.0}}
    assert [span.text for span in segment.gold] == ["x"]
    assert segment.meta == {"doc_id": "d", "year": 2001}


def test_semicolons_separate_cells_if_the_header_has_no_comma(write: Callable[[str], Path]) -> None:
    path = write('\n"id";"output";"inputs.Article"\n1;"It rained; it snowed.";Rain, snow.\n')
    expected = Segment(
        segment_id="1",
        output="It rained; it snowed.",
        inputs={"Article": "Rain, snow."},
    )
    assert list(read_csv(path)) == [expected]
    assert list(row_lines(path, "csv")) == [3]


def test_columns_have_the_other_names_that_keys_have(write: Callable[[str], Path]) -> None:
    path = write('source,output,references,scores.fluency\na,x,"[""b"", ""c""]",3\n')
    expected = Segment(
        segment_id="line-2",
        output="x",
        inputs={"Input": "a"},
        references=("b", "c"),
        human={"fluency": {"": 3.0}},
    )
    assert list(read_csv(path)) == [expected]


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("jsonl", '{"output": "x", "source": "a", "question": "q"}\n'),
        ("csv", "source,question,output\na,q,x\n"),
    ],
)
def test_the_question_of_a_row_is_an_input(
    write: Callable[[str], Path], kind: str, content: str
) -> None:
    (segment,) = READERS[kind](write(content))
    assert isinstance(segment, Segment)
    assert segment.inputs == {"Question": "q", "Context": "a"}


def test_an_empty_cell_is_nothing_but_empty_output_is_judged(write: Callable[[str], Path]) -> None:
    path = write("id,output,input,system,human.fluency,doc_id\n,,,,,\n")
    assert list(read_csv(path)) == [Segment(segment_id="line-2", output="")]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("id,words", f"the row has no output, only id, words; {NAME_THE_COLUMNS}"),
        (
            "id|output",
            "got '|' between columns (id|output), expected ',' or ';' in .csv, or a tab in .tsv",
        ),
        ("output,output", "two columns map to output"),
        ("output,input,inputs.Input", "two columns map to inputs.Input"),
        ("output,input.A,source.A", "two columns map to inputs.A"),
        ("output,human,human.fluency", "two columns map to human"),
        ("output,human.fluency,human.fluency.anna", None),
        ('output,"id', "not a row of a table: unexpected end of data"),
        (b"output,\xff", "not UTF-8: byte 0xff at byte 8 of the line"),
    ],
)
def test_columns_that_make_no_row_are_reported_at_once(
    write: Callable[[str | bytes], Path], header: str | bytes, problem: str | None
) -> None:
    raw = header.encode() if isinstance(header, str) else header
    path = write(b"\n" + raw + b"\n" + b"1," * raw.count(b",") + b"1\n")
    if problem is None:
        assert names_of(read_csv(path)) == ["line-3"]
        return
    with pytest.raises(DataError) as raised:
        read_csv(path)
    assert str(raised.value).endswith(f"rows, line 2: {problem}")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"c,z", "got 2 cells, expected 3: id, output, human.fluency"),
        (b"c,z,1,2", "got 4 cells, expected 3: id, output, human.fluency"),
        (b"c,z,high", 'human.fluency: got "high", expected a finite number'),
        (b"c,z,1_0", 'human.fluency: got "1_0", expected a finite number'),
        (b"c,z,nan", "human.fluency: got NaN, expected a finite number"),
        (b'c,"z"y,1', "not a row of a table: ',' expected after '\"'"),
        (b'c,"z\nz\xffz",1', "not UTF-8: byte 0xff at byte 2 of the line (line 7)"),
        (b'c,"z\nz",1,2', "got 4 cells, expected 3: id, output, human.fluency"),
        (b"a,z,1", "line 2 already has the id 'a'"),
    ],
)
def test_a_bad_record_is_numbered_by_the_line_where_it_begins(
    write: Callable[[bytes], Path], row: bytes, problem: str
) -> None:
    path = write(
        b"id,output,human.fluency\n"  # line 1
        b'a,"x\nx",1\n'  # lines 2 and 3
        b"\n"  # line 4
        b"b,y,\n" + row + b"\n"  # line 5, and 6 on
        b"d,z,3\n"
    )
    rows = names_of(read_csv(path))
    assert ([*rows[:2], rows[-1]], len(rows)) == (["a", "b", "d"], 4)
    assert rows[2].startswith(f"rows, line 6: {problem}")


def test_a_quote_that_never_closes_is_a_fault_and_not_a_cell(write: Callable[[str], Path]) -> None:
    rows = names_of(read_csv(write('id,output\na,x\nb,"y\nc,z\nd,z\n')))
    assert rows == ["a", "rows, line 3: not a row of a table: unexpected end of data"]


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("references", "a text", "column references: not JSON: Expecting value at column 1"),
        ("references", "3", "references: got 3, expected a text or a list of texts"),
        ("spans", "{}", "spans: got {}, expected a list of objects"),
        ("meta", "[1]", "meta: got [1], expected an object"),
        ("human", "3", "human: got 3.0, expected a finite number, in an object"),
    ],
)
def test_a_cell_that_is_not_what_its_column_asks_for_is_named(
    write: Callable[[str], Path], *, column: str, cell: str, problem: str
) -> None:
    (row,) = names_of(read_csv(write(f"output,{column}\nx,{cell}\n")))
    assert row.startswith(f"rows, line 2: {problem}")


def test_a_megabyte_cell_is_read_and_the_process_limit_kept(write: Callable[[str], Path]) -> None:
    before = csv.field_size_limit()
    text = 'ä "quoted", ' * 100_000
    rows = read_csv(write('output\n"{}"\ny\n'.format(text.replace('"', '""'))))
    first = next(rows)
    assert csv.field_size_limit() == before < len(text)
    assert isinstance(first, Segment)
    assert first.output == text
    assert names_of(rows) == ["line-3"]


@given(
    cells=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=5),
    packed=st.booleans(),
)
@pytest.mark.parametrize(("read", "delimiter"), [(read_csv, ","), (read_tsv, "\t")])
def test_any_cells_are_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory,
    *,
    read: Source,
    delimiter: str,
    cells: list[str],
    packed: bool,
) -> None:
    path = tmp_path_factory.mktemp("table") / "rows"
    with (gzip.open if packed else open)(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerows([["output", "note"], *([cell, cell] for cell in cells)])
    rows = list(read(path))
    assert all(isinstance(row, Segment) for row in rows)
    assert [row.output for row in rows if isinstance(row, Segment)] == cells
    assert [row.meta["note"] for row in rows if isinstance(row, Segment)] == cells


@given(content=st.binary(max_size=200) | st.text('{}[]",:\n\t\\u d800aoutpi1.').map(str.encode))
@every_kind
def test_any_bytes_are_rows_or_data_errors(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "rows"
    head = b"" if kind == "jsonl" else TWO_ROWS[kind][:10]
    path.write_bytes(head + content)
    try:
        rows = list(READERS[kind](path))
    except DataError as error:
        assert str(path) in str(error)  # noqa: PT017 - either end is right
    else:
        assert 0 < len(rows) <= content.count(b"\n") + 2


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "rows", "aspects", "spans"),
    [
        ("scores/summeval_scores", 1600, 4, 0),
        ("scores/topicalchat_usr_scores", 360, 6, 0),
        ("scores/sfres_scores", 1181, 3, 0),
        ("scores/newsroom_scores", 420, 4, 0),
        ("scores/evouna_qa_scores", 5000, 1, 0),
        ("scores/simpeval2022_scores", 360, 7, 0),
        ("spans/rotowire_accuracy_spans", 90, 0, 1836),
        ("spans/mqm_ted_zhen", 7935, 1, 5268),
        ("spans/xsum_hallucination_spans", 2500, 0, 10358),
        ("sources/dhp_sumpubmed", 150, 0, 0),
        ("sources/dhp_qa_pubmedqa", 300, 0, 0),
        ("sources/dhp_wmt22_zhen", 224, 0, 0),
        ("sources/ministories", 60, 0, 0),
        ("sources/demetr_perturbed", 1000, 0, 0),
        ("judgements/qags_four_judges", 474, 1, 0),
    ],
)
def test_collected_data_sets_load_as_they_are(
    shared_data: Path, *, name: str, rows: int, aspects: int, spans: int
) -> None:
    read = list(read_jsonl(shared_data / f"{name}.jsonl.gz"))
    segments = [row for row in read if isinstance(row, Segment)]
    assert len(segments) == len(read) == rows
    assert len({aspect for segment in segments for aspect in segment.human}) == aspects
    assert sum(len(segment.gold) for segment in segments) == spans
    assert all(segment.inputs for segment in segments) == (
        name not in {"scores/summeval_scores", "spans/xsum_hallucination_spans"}
    )


@pytest.mark.shared_data
def test_the_collected_judgements_keep_people_and_models_apart(shared_data: Path) -> None:
    segment = next(read_jsonl(shared_data / "judgements" / "qags_four_judges.jsonl.gz"))
    assert isinstance(segment, Segment)
    assert segment.human == {"factual consistency": {"": 1.0}}
    assert list(segment.inputs) == ["Article"]
    assert set(segment.meta) == {"row", "dataset", "scores", "raw"}


@pytest.mark.heavy
@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "rows"), [("summeval_docs", 100), ("frank_metric_scores", 2246)])
def test_collected_files_without_outputs_say_so(shared_data: Path, name: str, rows: int) -> None:
    read = list(read_jsonl(shared_data / "scores" / f"{name}.jsonl.gz"))
    assert len(read) == rows
    for line, row in enumerate(read, start=1):
        assert isinstance(row, DataError)
        assert f".jsonl.gz, line {line}: the row has no output, only " in str(row)
