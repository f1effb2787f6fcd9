"""No file fills the memory: every source keeps to limits, and says which of them to raise."""

import csv
import gzip
import json
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.installed import imported
from fakes.processes import completed

from spanjury.adapters.files.annotations.factgenie import read_factgenie
from spanjury.adapters.files.annotations.mqm import read_mqm
from spanjury.adapters.files.limits import USUAL, DataLimits, parse_limits
from spanjury.adapters.files.line_tail import LineTail
from spanjury.adapters.files.lines import read_lines
from spanjury.adapters.files.reading.dataset_rows import read_parquet_file
from spanjury.adapters.files.reading.sources import read_csv, read_jsonl, read_tsv
from spanjury.adapters.files.reading.texts import read_folder, read_txt
from spanjury.judges.core import ConfigError, DataError, Segment

Read = Callable[..., Iterator[Segment | DataError]]
SMALL = DataLimits(row=1000, cell=400, columns=9, depth=4)
ADVICE = "if the file is sound, raise it: spanjury --data-limit {}=NUMBER"


def faults(read: Read, path: Path, limits: DataLimits = SMALL) -> list[str]:
    """Return what is wrong with a file, at once or row by row."""
    try:
        return [str(row) for row in read(path, limits=limits) if isinstance(row, DataError)]
    except DataError as error:
        return [str(error)]


def outputs(read: Read, path: Path, limits: DataLimits = SMALL) -> list[str]:
    return [row.output for row in read(path, limits=limits) if isinstance(row, Segment)]


def factgenie_line(output: str) -> str:
    row = {"dataset": "d", "split": "s", "setup_id": "m", "example_idx": len(output)}
    return json.dumps({**row, "output": output})


def mqm_line(output: str) -> str:
    cells = ("sys", "doc", "1", str(len(output)), "ann", "Quelle", output, "No-error", "No-error")
    return "\t".join(cells)


@pytest.mark.parametrize(
    ("read", "head", "row"),
    [
        (read_jsonl, "", lambda text: json.dumps({"output": text})),
        (read_txt, "", str),
        (read_factgenie, "", factgenie_line),
        (read_mqm, "", mqm_line),
        (read_csv, "output\n", str),
        (read_tsv, "output\n", str),
    ],
)
def test_a_line_that_is_too_long_costs_itself_alone(
    tmp_path: Path, read: Read, head: str, row: Callable[[str], str]
) -> None:
    text = head + "\n".join(map(row, ("short", "x" * 200_000, "last"))) + "\n"
    for name, packed in (("plain", text.encode()), ("packed.gz", gzip.compress(text.encode()))):
        path = tmp_path / name
        path.write_bytes(packed)
        (fault,) = faults(read, path)
        assert f"{path}, line {2 + bool(head)}: the line is too long (limit row=1000; " in fault
        assert ADVICE.format("row") in fault
        assert outputs(read, path) == ["short", "last"]
        assert outputs(read, path, USUAL) == ["short", "x" * 200_000, "last"]


def test_a_line_of_just_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 999 + b"\n" + b"y" * 1000)
    assert faults(read_txt, path) == []
    path.write_bytes(b"x" * 1000 + b"\n" + b"y")
    assert len(faults(read_txt, path)) == 1


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_line_that_is_too_long_is_skipped_in_a_file_that_is_followed(
    tmp_path: Path, *, is_whole: bool
) -> None:
    path = tmp_path / "tail.txt"
    path.write_text(f"short\n{'far too long a line ' * 20_000}\neight888\n")
    limits = replace(SMALL, row=8)
    with LineTail(path, position=None, is_whole=is_whole, limits=limits) as tail:
        short, long, last = tail.added()
    assert (short.text, long.text, last.text) == ("short", "", "eight888")
    assert "limit row=8" in long.fault
    assert (long.number, last.number, last.fault) == (2, 3, "")


def test_a_table_is_limited_in_its_cells_columns_and_records(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for text, limit, says in (
        ('output\n"' + "x" * 500 + '"\n', "cell", "a cell is too long, or its quotes are not"),
        ('output\n"' + "x\n" * 300 + '"\n', "cell", "a cell is too long, or its quotes are not"),
        (f"output{',' * 9}\n", "columns", "there are too many cells"),
        (f'"output"{",a" * 9}\n', "columns", "there are 10 columns"),
        (f"output\n{',' * 900}\n", "columns", "there are too many cells"),
        ("output,a\n" + '"x\n",' * 500, "row", "the record is too long"),
    ):
        path.write_text(text)
        assert says in faults(read_csv, path)[0]
        assert ADVICE.format(limit) in faults(read_csv, path)[0]
    path.write_text(f'output\n"{"a," * 100}"\nlast\n')
    assert outputs(read_csv, path) == ["a," * 100, "last"]
    assert csv.field_size_limit() == 131072


def test_json_is_limited_in_its_depth(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    limits = DataLimits(depth=4)
    for depth, refused in ((3, False), (4, True), (900, True), (100_000, True)):
        path.write_text('{"output": "x", "y": ' + "[" * depth + "]" * depth + "}\n")
        problems = faults(read_jsonl, path, limits)
        assert [" line 1: nested too deeply to be read" in fault for fault in problems] == [
            True
        ] * refused
    path.write_text(json.dumps({"output": "x", "y": [[1], [2], [3], [4]]}))
    assert faults(read_jsonl, path, limits) == []


def test_json_in_a_cell_has_the_same_limit_of_depth(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('output,meta\nx,"{""y"": ' + "[" * 80 + "]" * 80 + '}"\n')
    assert "nested too deeply" in faults(read_csv, path, USUAL)[0]
    assert faults(read_csv, path, DataLimits(depth=200)) == []


def test_a_packed_file_is_limited_in_what_it_unpacks_to(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress((b"x" * 9_999 + b"\n") * 14_000, 9))
    *_, last = read_lines(path)
    assert "the rest of the file cannot be read: " in last.fault
    assert ADVICE.format("ratio") in last.fault
    assert (last.number - 2) * 10_000 < 2**23
    *_, last = read_lines(path, limits=DataLimits(ratio=2000, unpacked=7_000_000))
    assert ADVICE.format("unpacked") in last.fault
    assert last.number == 701


def test_a_file_of_a_folder_is_limited_in_its_length(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 2000)
    (tmp_path / "b.txt").write_text("fine")
    (fault,) = faults(read_folder, tmp_path)
    assert "a.txt: cannot be read: the file is too long (limit row=1000" in fault
    assert outputs(read_folder, tmp_path) == ["fine"]


def test_a_parquet_file_is_limited_in_rows_columns_and_what_it_unpacks_to(tmp_path: Path) -> None:
    arrow = imported("pyarrow")
    parquet = imported("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"output": ["short", "x" * 5000, "last"] * 20}), path)
    problems = faults(read_parquet_file, path)
    assert len(problems) == 20
    assert f"{path}, row 2: the row takes" in problems[0]
    assert outputs(read_parquet_file, path) == ["short", "last"] * 20
    limits = DataLimits(unpacked=1000)
    assert ADVICE.format("unpacked") in faults(read_parquet_file, path, limits)[0]
    parquet.write_table(arrow.table({f"c{n}": ["a"] for n in range(10)}), path)
    assert "there are 10 columns" in faults(read_parquet_file, path)[0]


def test_limits_are_named_and_numbered_with_units() -> None:
    assert parse_limits([]) == USUAL
    assert parse_limits(["row=2KiB", "cell=3 MB", "ratio=7"]) == DataLimits(
        row=2048, cell=3_000_000, ratio=7
    )
    for wrong in ("rows=3", "row", "row=-1", "row=0", "row=1TB", "row=" + "9" * 16):
        with pytest.raises(ConfigError, match="data limit"):
            parse_limits([wrong])


def test_a_bomb_is_refused_in_little_memory_and_read_where_it_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", 9) as file:
        file.write(b'{"output": "fine", "inputs": "fine"}\n{"output": "')
        for _ in range(150):
            file.write(b"x" * 2**20)
        file.write(b'"}\n')

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (2**29, 2**29))

    command = (sys.executable, "-m", "spanjury")
    output = str(tmp_path / "results.jsonl")
    flags = ["evaluate", str(path), "--task", "summarization", "--output", output]
    refused = completed([*command, *flags], code=1, preexec_fn=limited)
    assert ADVICE.format("ratio") in " ".join(refused.stderr.split())
    wrong = completed([*command, "--data-limit", "rows=3", *flags], code=2)
    assert "got the data limit 'rows=3'" in wrong.stderr
    flags.append("--skip-bad-rows")
    raised = ("--data-limit", "ratio=2000", "--data-limit", "row=100MB")
    read = completed([*command, *raised, *flags], preexec_fn=limited)
    assert "limit row=100000000" in " ".join(read.stderr.split())
