"""Plain texts, tables of other libraries: segments like any other."""

import gzip
import importlib.util
import os
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from fakes.command import call
from fakes.installed import imported, skip_without

from spanjury.adapters.files.reading.dataset_rows import read_dataset, read_parquet_file
from spanjury.adapters.files.reading.texts import read_folder, read_txt
from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.orchestration.wiring.sources import open_rows, open_source

ROWS = [
    {"id": "a", "output": "One text.", "references": ["A text."], "system": "s1"},
    {"id": "b", "output": "", "references": ["Another."], "system": "s2"},
]


def segments(path: Path) -> list[Segment]:
    read = list(open_source(path))
    assert all(isinstance(row, Segment) for row in read), read
    return [row for row in read if isinstance(row, Segment)]


def test_every_line_is_a_text_and_an_empty_one_an_empty_text(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes("\ufeffErste Zeile.\r\n\nدومین\n".encode())
    assert [(row.segment_id, row.output) for row in segments(path)] == [
        ("line-1", "Erste Zeile."),
        ("line-2", ""),
        ("line-3", "دومین"),
    ]


def test_a_packed_file_of_lines_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "out.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo", mtime=0))
    assert [row.output for row in segments(path)] == ["one", "two"]


def test_a_line_that_is_no_utf8_is_a_fault_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(b"good\n\xff\xfe\nalso good\n")
    first, second, third = read_txt(path)
    assert isinstance(first, Segment)
    assert isinstance(second, DataError)
    assert "line 2" in str(second)
    assert isinstance(third, Segment)


def test_files_of_a_folder_are_texts_and_its_folders_systems(tmp_path: Path) -> None:
    (tmp_path / "gpt").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "gpt" / "2.txt").write_text("two\n")
    (tmp_path / "1.txt").write_text("one\nand more\n")
    (tmp_path / ".git" / "x.txt").write_text("no text")
    (tmp_path / "notes.md").write_text("no text")
    assert [(row.segment_id, row.system, row.output) for row in segments(tmp_path)] == [
        ("1.txt", "", "one\nand more"),
        ("gpt/2.txt", "gpt", "two"),
    ]


def test_links_do_not_lead_out_of_a_folder_and_only_files_are_opened(tmp_path: Path) -> None:
    folder, outside = tmp_path / "texts", tmp_path / "outside"
    for directory in (folder / "gpt", outside):
        directory.mkdir(parents=True)
        (directory / "1.txt").write_text("secret" if directory == outside else "one")
    (folder / "file.txt").symlink_to(outside / "1.txt")
    (folder / "folder").symlink_to(outside, target_is_directory=True)
    (folder / "again.txt").symlink_to(folder / "gpt" / "1.txt")
    os.mkfifo(folder / "pipe.txt")
    (folder / "device.txt").symlink_to("/dev/zero")
    (folder / "gone.txt").symlink_to(folder / "nothing.txt")
    fault, *texts = read_folder(folder)
    assert isinstance(fault, DataError)
    assert "3 links lead out of the folder" in str(fault)
    assert "2 entries are not files" in str(fault)
    assert [(row.segment_id, row.output) for row in texts if isinstance(row, Segment)] == [
        ("again.txt", "one"),
        ("gpt/1.txt", "one"),
    ]


def test_a_folder_of_links_that_lead_out_says_why_it_has_no_texts(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("secret")
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "in.txt").symlink_to(tmp_path / "out.txt")
    with pytest.raises(DataError, match="1 links lead out"):
        read_folder(folder)


def test_a_folder_without_texts_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a folder with .txt files"):
        read_folder(tmp_path)


def test_a_parquet_file_holds_rows_as_jsonl_does(tmp_path: Path) -> None:
    pq = imported("pyarrow.parquet")
    pa = imported("pyarrow")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    read = segments(path)
    assert [(row.segment_id, row.output, row.references) for row in read] == [
        ("a", "One text.", ("A text.",)),
        ("b", "", ("Another.",)),
    ]


def test_dates_numbers_and_bytes_of_a_parquet_file_are_texts_of_its_inputs(tmp_path: Path) -> None:
    pq = imported("pyarrow.parquet")
    pa = imported("pyarrow")
    path = tmp_path / "rows.parquet"
    day = date(2024, 5, 1)
    inputs = {
        "Day": day,
        "Time": datetime(2024, 5, 1, 12, 30, tzinfo=UTC),
        "Price": Decimal("1.50"),
        "Text": "The bridge, für alle.".encode(),
        "Record": {"days": [day], "name": "bridge"},
    }
    pq.write_table(pa.Table.from_pylist([{"id": "a", "output": "x", "inputs": inputs}]), path)
    (read,) = segments(path)
    assert read.inputs == {
        "Day": "2024-05-01",
        "Time": "2024-05-01T12:30:00+00:00",
        "Price": "1.50",
        "Text": "The bridge, für alle.",
        "Record": '{"days":["2024-05-01"],"name":"bridge"}',
    }


def test_bytes_that_are_no_text_cost_their_row_of_a_parquet_file_alone(tmp_path: Path) -> None:
    pq = imported("pyarrow.parquet")
    pa = imported("pyarrow")
    path = tmp_path / "rows.parquet"
    rows = [
        {"id": str(number), "output": "x", "inputs": {"Picture": picture}}
        for number, picture in enumerate((b"\xff\xd8", b"no picture"))
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    fault, sound = read_parquet_file(path)
    assert "row 1: an input holds bytes that are not text, expected a text" in str(fault)
    assert isinstance(sound, Segment)
    assert sound.inputs == {"Picture": "no picture"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt", "a.jsonl.gz", "a.parquet", "63"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(DataError, match="is a stream, which cannot be read again"):
        open_source(path)


def test_standard_input_is_refused_like_a_pipe() -> None:
    with pytest.raises(DataError, match="-: is a stream, which .* write the rows to a file"):
        open_source(Path("-"))


def test_a_file_that_is_not_parquet_says_so(tmp_path: Path) -> None:
    skip_without("pyarrow")
    path = tmp_path / "rows.parquet"
    path.write_text("nothing of the sort")
    with pytest.raises(DataError, match="is not a Parquet file"):
        read_parquet_file(path)


@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="datasets is absent")
def test_a_dataset_saved_to_disk_is_read_by_split(tmp_path: Path) -> None:
    datasets = imported("datasets")
    whole = datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)})
    whole.save_to_disk(str(tmp_path / "saved"))
    read = list(open_source(Path(f"hf:{tmp_path / 'saved'}@test")))
    assert [row.system for row in read if isinstance(row, Segment)] == ["s1", "s2"]
    with pytest.raises(DataError, match="cannot be read"):
        read_dataset(Path(f"hf:{tmp_path / 'saved'}@validation"))


@pytest.mark.skipif(importlib.util.find_spec("datasets") is None, reason="datasets is absent")
def test_results_become_a_dataset_on_disk(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "task": "story", "output": "It rained ."}')
    judged = ("--judge", "form", "--aspect", "fluency", "--run-dir", "run", "--no-progress")
    call(tmp_path, "evaluate", "rows.jsonl", *judged)
    done = call(tmp_path, "export", "run", "--texts", "--to", "hf:out")
    assert "1 assessment is in out" in done.output
    (row,) = imported("datasets").load_from_disk(str(tmp_path / "out"))
    assert (row["id"], row["outcome"], row["output"]) == ("a", "scored", "It rained .")
    refused = call(tmp_path, "export", "run", "-o", "hf:out", code=1)
    assert "out holds something already: name a new folder" in refused.output


@pytest.mark.skipif(importlib.util.find_spec("datasets") is not None, reason="datasets is there")
def test_without_the_library_a_dataset_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match="pip install"):
        read_dataset(Path("hf:some/dataset"))


def test_a_column_of_a_data_frame_names_aspect_and_rater_as_in_a_table_file() -> None:
    frame = pd.DataFrame([{"output": "a", "human.fluency.Ann": 4.0, "human.fluency.Bo": None}])
    (segment,) = open_rows(frame)
    assert isinstance(segment, Segment)
    assert segment.human == {"fluency": {"Ann": 4.0}}
