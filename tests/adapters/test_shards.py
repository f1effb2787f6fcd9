from pathlib import Path
from uuid import uuid4

import pytest

from spanjury.adapters.files.places import find_place
from spanjury.adapters.files.results.merging import ShardFolder
from spanjury.judges.core import StoreError


@pytest.fixture(params=["local", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> ShardFolder:
    """A folder of shards on disk, and one where fsspec alone reaches."""
    url = str(tmp_path / "run") if request.param == "local" else f"memory://{uuid4()}"
    folder = ShardFolder(url)
    folder.create()
    return folder


def content(url: str) -> bytes:
    file = find_place(url)
    return bytes(file.files.cat_file(file.path))


def files(folder: ShardFolder) -> list[str]:
    file = find_place(folder.url)
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
    file = find_place(folder.url).below("run.json")
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
