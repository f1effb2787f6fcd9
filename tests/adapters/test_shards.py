"""Files that belong together: sealed, spooled in pieces, and cut into shards."""

import json
from errno import ENOSPC
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.files import spool
from spanjury.adapters.files.line_writer import SealedFiles
from spanjury.adapters.files.locations import find_location
from spanjury.adapters.files.results.merging import ShardFolder
from spanjury.adapters.files.spool import open_spool
from spanjury.judges.core import StoreError


def write(folder: Path, *lines: bytes, breaks: bool = False) -> None:
    with SealedFiles(folder, names=("a", "b"), seal="seal.json") as files:
        for line in lines:
            files.append("a", line)
        if breaks:
            raise KeyboardInterrupt
        files.close_with({"seed": 1})


def state(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_seal_tells_of_every_file(tmp_path: Path) -> None:
    write(tmp_path / "new", b"x\n", b"y\n")
    seal = json.loads((tmp_path / "new" / "seal.json").read_text())
    assert seal["seed"] == 1
    assert {name: file["lines"] for name, file in seal["files"].items()} == {"a": 2, "b": 0}
    assert (tmp_path / "new" / "a").read_bytes() == b"x\ny\n"
    assert sorted(state(tmp_path / "new")) == ["a", "b", "seal.json"]


def test_the_same_lines_make_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path, b"x\n")
    first = state(tmp_path)
    write(tmp_path, b"x\n")
    assert state(tmp_path) == first


def test_an_interrupted_write_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, b"old\n")
    before = state(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, b"new\n", breaks=True)
    assert state(tmp_path) == before


def test_a_file_that_cannot_be_written_leaves_no_seal_that_lies(tmp_path: Path) -> None:
    write(tmp_path, b"old\n")
    (tmp_path / "b").unlink()
    (tmp_path / "b").mkdir()
    with pytest.raises(StoreError, match="b"):
        write(tmp_path, b"new\n")
    assert (tmp_path / "a").read_bytes() == b"old\n"
    assert (tmp_path / "seal.json").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        write(tmp_path / "file", b"x\n")


@given(
    pieces=st.lists(st.binary(max_size=6), max_size=20), needle=st.binary(min_size=1, max_size=3)
)
def test_pieces_come_back_and_are_found_as_in_a_list(pieces: list[bytes], needle: bytes) -> None:
    with open_spool() as opened:
        assert [opened.put(piece) for piece in pieces] == list(range(len(pieces)))
        assert [opened.get(number) for number in range(len(opened))] == pieces
        expected = [number for number, piece in enumerate(pieces) if needle in piece]
        assert list(opened.holding(needle)) == expected


def test_a_needle_across_two_pieces_is_not_found() -> None:
    with open_spool() as opened:
        for piece in (b"ab", b"ba", b"", b"bb"):
            opened.put(piece)
        assert list(opened.holding(b"bb")) == [3]


def test_pieces_longer_than_a_block_are_searched_to_their_ends() -> None:
    long = b"x" * (spool._BLOCK + 10)
    with open_spool() as opened:
        for piece in (b"needle", long + b"needle", b"none", long, b"needle"):
            opened.put(piece)
        assert list(opened.holding(b"needle")) == [0, 1, 4]


def test_pieces_that_are_put_later_are_found_too() -> None:
    with open_spool() as opened:
        opened.put(b"one")
        assert list(opened.holding(b"two")) == []
        opened.put(b"two")
        assert (list(opened.holding(b"two")), opened.get(1)) == ([1], b"two")


def test_an_empty_needle_is_in_every_piece() -> None:
    with open_spool() as opened:
        for piece in (b"a", b"b", b"c"):
            opened.put(piece)
        assert list(opened.holding(b"")) == [0, 1, 2]


class NarrowFile:
    """A file that takes three bytes at a time, on a disk that is full once and then emptied."""

    def __init__(self, *, room: int) -> None:
        self._file = BytesIO()
        self._room = room
        self.seek, self.read = self._file.seek, self._file.read

    def write(self, data: bytes) -> int:
        taken = data[: min(3, self._room)]
        if not taken:
            self._room = 1_000
            raise OSError(ENOSPC, "No space left on device")
        self._room -= len(taken)
        return self._file.write(taken)


def test_no_byte_is_lost_or_moved_where_the_disk_takes_only_some() -> None:
    opened = spool.Spool(NarrowFile(room=7))  # type: ignore[arg-type]  # a file by its shape
    pieces = [b"abcd", b"efgh", b"ijkl"]
    for piece in pieces:
        opened.put(piece)
    with pytest.raises(StoreError, match="No space left"):
        opened.get(0)
    assert [opened.get(number) for number in range(3)] == pieces


@pytest.fixture(params=["local", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> ShardFolder:
    """A folder of shards on disk, and one where fsspec alone reaches."""
    url = str(tmp_path / "run") if request.param == "local" else f"memory://{uuid4()}"
    folder = ShardFolder(url)
    folder.create()
    return folder


def content(url: str) -> bytes:
    file = find_location(url)
    return bytes(file.files.cat_file(file.path))


def files(folder: ShardFolder) -> list[str]:
    file = find_location(folder.url)
    return [path.rpartition("/")[2] for path in file.files.find(file.path)]


def test_a_shard_is_read_as_it_was_written_last(folder: ShardFolder) -> None:
    assert folder.read("a") is None
    folder.write("a", b"1\n")
    folder.write("a", b"2\n")
    assert folder.read("a") == b"2\n"
    assert files(folder) == ["a.jsonl"]


def test_shards_are_joined_in_the_order_that_is_asked_for(folder: ShardFolder) -> None:
    for key in "abc":
        folder.write(key, f"{key}\n".encode() * 3)
    folder.join(["c", "a", "b"])
    assert content(folder.results) == b"c\nc\nc\na\na\na\nb\nb\nb\n"
    folder.join(["b"])
    assert content(folder.results) == b"b\nb\nb\n"
    assert sorted(files(folder)) == ["a.jsonl", "b.jsonl", "c.jsonl", "results.jsonl"]


def test_results_that_cannot_be_joined_are_not_begun(folder: ShardFolder) -> None:
    folder.write("a", b"1\n")
    folder.join(["a"])
    with pytest.raises(StoreError, match="b.jsonl: cannot be read"):
        folder.join(["a", "b"])
    assert content(folder.results) == b"1\n"
    assert sorted(files(folder)) == ["a.jsonl", "results.jsonl"]


def test_a_folder_is_the_same_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ShardFolder("run").url == str(tmp_path / "run")


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"a.jsonl: cannot be written: No such file"):
        ShardFolder(str(tmp_path / "run")).write("a", b"1\n")


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(StoreError, match="shards: cannot be written"):
        ShardFolder(str(tmp_path / "run")).create()


def test_a_manifest_is_read_as_written_and_the_ones_before_stay(folder: ShardFolder) -> None:
    assert folder.manifest() is None
    for number in range(3):
        folder.keep_manifest({"job": {"limit": number}, "machine": "Größe"})
    assert folder.manifest() == {"job": {"limit": 2}, "machine": "Größe"}
    assert sorted(files(folder)) == ["run-1.json", "run-2.json", "run.json"]
    assert b'"limit": 0' in content(f"{folder.url}/run-1.json")


def test_a_manifest_that_is_torn_counts_for_nothing_and_is_set_aside(folder: ShardFolder) -> None:
    file = find_location(folder.url).below("run.json")
    file.files.pipe_file(file.path, b'{"job"')
    assert folder.manifest() is None
    folder.keep_manifest({"job": {}})
    assert content(f"{folder.url}/run-1.json") == b'{"job"'


def test_a_run_is_marked_as_done_and_as_begun_again(folder: ShardFolder) -> None:
    for _ in range(2):
        folder.mark(done=False)
        assert files(folder) == []
        folder.mark(done=True)
        folder.mark(done=True)
        assert files(folder) == ["done"]
