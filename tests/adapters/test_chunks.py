import gzip
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec  # type: ignore[import-untyped]  # it brings no types
import pyarrow as pa  # type: ignore[import-untyped]  # likewise
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # likewise
import pytest
from fakes.rows import summary
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files.limits import USUAL, DataLimits
from spanjury.adapters.files.reading.dataset_rows import Chunk, cut_chunks, read_chunk
from spanjury.adapters.files.reading.sources import read_jsonl
from spanjury.judges.core import ConfigError, DataError, Segment

ROWS: list[dict[str, Any]] = [
    summary(f"r{number}", "é" * number, article="x") for number in range(23)
]
GOOD = b'{"output": "\xc3\xa9"}'
LINES = [
    GOOD,
    b"",
    b" \t",
    b'{"output": "y", "system": "s"}',
    b'{"output": 3}',
    b"{",
    b"[]",
    b'{"output": "\xff"}',
    b'{"output": "a", "output": "b"}',
    b"[" * 100_000,
]


def read(data: str, *, rows: int = 64, limit: int | None = None) -> list[Segment | DataError]:
    chunks = list(cut_chunks(data, rows=rows, limit=limit))
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    return [row for chunk in chunks for row in read_chunk(chunk)]


def plain(rows: list[Segment | DataError]) -> list[Segment | str]:
    return [row if isinstance(row, Segment) else str(row) for row in rows]


def ids(rows: list[Segment | DataError]) -> list[str]:
    return [row.segment_id for row in rows if isinstance(row, Segment)]


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(jsonl(ROWS))
    return path


@given(
    lines=st.lists(st.sampled_from(LINES), min_size=1).map(lambda lines: [GOOD, *lines]),
    end=st.sampled_from([b"\n", b"\r\n"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    rows=st.integers(1, 4),
)
def test_chunks_hold_what_the_whole_file_holds_whatever_it_is(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], end: bytes, mark: bytes, rows: int
) -> None:
    path = tmp_path_factory.mktemp("chunks") / "rows.jsonl"
    path.write_bytes(mark + end.join(lines))
    assert plain(read(str(path), rows=rows)) == plain(list(read_jsonl(path)))


def test_a_line_of_other_white_space_is_no_row_of_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = jsonl([{"output": "a"}])
    path.write_bytes(
        row + "\N{NO-BREAK SPACE}\n".encode() + row + "\N{IDEOGRAPHIC SPACE}\n".encode()
    )
    assert ids(read(str(path), rows=1)) == ["line-1", "line-3"]


@pytest.mark.parametrize("rows", [1, 5, 23, 64])
def test_chunks_hold_the_asked_number_of_rows_and_a_rest(file: Path, rows: int) -> None:
    sizes = [chunk.rows for chunk in cut_chunks(str(file), rows=rows)]
    assert (sizes[:-1], sum(sizes)) == ([rows] * (len(sizes) - 1), len(ROWS))


@pytest.mark.parametrize("limit", [1, 5, 7, 23, 99])
def test_a_limit_leaves_the_first_rows(file: Path, limit: int) -> None:
    assert ids(read(str(file), rows=5, limit=limit)) == [row["id"] for row in ROWS][:limit]


@pytest.mark.parametrize("group", [1, 4, 10, 100])
@pytest.mark.parametrize("rows", [1, 3, 10, 64])
def test_parquet_gives_the_rows_of_jsonl(tmp_path: Path, file: Path, group: int, rows: int) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path, row_group_size=group)
    assert read(str(path), rows=rows) == read(str(file))


def test_a_parquet_row_has_maps_nothings_and_a_number_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    columns = {
        "output": pa.array(["a", "b", None]),
        "inputs": pa.array([[("Article", "x")], [], None], pa.map_(pa.string(), pa.string())),
        "human": pa.array([{"fluency": 4, "style": None}, None, None]),
    }
    pq.write_table(pa.table(columns), path)
    first, second, third = read(str(path), rows=2)
    assert first == Segment(
        segment_id="line-1", output="a", inputs={"Article": "x"}, human={"fluency": {"": 4.0}}
    )
    assert second == Segment(segment_id="line-2", output="b")
    assert str(third).startswith(f"{path}, row 3: the row has no output")


def test_the_files_of_a_folder_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"output": "3"}\n\n{"output": "4", "id": "four"}')
    (tmp_path / "a.jsonl").write_text('{"output": "1"}\n{"output": "2"}')
    (tmp_path / "c.jsonl").write_text("\n")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "d.jsonl").write_text('{"output": "5"}')
    names = ["a.jsonl:line-1", "a.jsonl:line-2", "b.jsonl:line-1", "four"]
    assert ids(read(str(tmp_path))) == names
    assert ids(read(f"{tmp_path}/*.jsonl")) == names
    assert ids(read(f"{tmp_path}/*/?.jsonl")) == ["run/d.jsonl:line-1"]
    assert ids(read(str(tmp_path), limit=3)) == names[:3]


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows[1].jsonl"
    path.write_bytes(jsonl(ROWS))
    assert len(read(str(path))) == len(ROWS)


def test_files_may_lie_wherever_fsspec_reaches() -> None:
    folder = f"memory://{uuid4()}"
    fsspec.filesystem("memory").pipe_file(f"{folder}/rows.jsonl", jsonl(ROWS))
    (chunk, *_) = cut_chunks(f"{folder}/rows.jsonl")
    assert chunk.url == f"{folder.replace('//', '///')}/rows.jsonl"
    assert ids(read(f"{folder}/*.jsonl", rows=10)) == [row["id"] for row in ROWS]


def test_the_second_of_two_rows_with_one_id_is_a_fault_within_a_chunk(file: Path) -> None:
    file.write_bytes(jsonl([ROWS[1], ROWS[2], ROWS[1]]))
    *_, fault = read(str(file))
    assert str(fault) == f"{file}, line 3: line 1 already has the id 'r1'"
    assert len(ids(read(str(file), rows=2))) == 3


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("absent.jsonl", None, "absent.jsonl: cannot be read: No such file"),
        ("absent.parquet", None, "absent.parquet: cannot be read: No such file"),
        ("empty.jsonl", b"", "has no rows"),
        ("blank.jsonl", b"\n\n", "has no rows"),
        ("rows.csv", b"output\na\n", "only .jsonl and .parquet can be cut into chunks"),
        ("rows.jsonl.gz", gzip.compress(GOOD, mtime=0), "packed with gzip"),
        ("rows.jsonl", gzip.compress(GOOD, mtime=0), "packed with gzip"),
        ("rows.parquet", GOOD, "rows.parquet: cannot be read: "),
        ("*.jsonl", None, "has no rows"),
    ],
)
def test_input_that_cannot_be_cut_is_reported(
    tmp_path: Path, name: str, content: bytes | None, problem: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=problem):
        list(cut_chunks(str(path)))


def test_a_packed_file_is_not_passed_over_in_a_folder(tmp_path: Path, file: Path) -> None:
    (tmp_path / "more.jsonl.gz").write_bytes(gzip.compress(file.read_bytes()))
    with pytest.raises(DataError, match="more.jsonl.gz: is packed"):
        list(cut_chunks(str(tmp_path)))


def test_a_chunk_has_the_limits_of_its_data(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"id": "a", "output": "x", "meta": {{"deep": {"[" * 80 + "]" * 80}}}}}\n')
    for limits, named in ((USUAL, []), (DataLimits(depth=200), ["a"])):
        (chunk,) = cut_chunks(str(path), limits=limits)
        assert ids(list(read_chunk(chunk))) == named


def test_a_file_that_is_gone_when_its_turn_comes_is_reported(tmp_path: Path) -> None:
    chunk = Chunk(url=str(tmp_path / "rows.jsonl"), line=1, start=0, stop=9, rows=1)
    with pytest.raises(DataError, match="rows.jsonl: cannot be read: No such file"):
        list(read_chunk(chunk))


def test_a_url_of_no_known_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="nowhere://rows.jsonl: cannot be reached: "):
        list(cut_chunks("nowhere://rows.jsonl"))
