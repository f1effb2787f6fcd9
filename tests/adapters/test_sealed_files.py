"""Files that belong together come into being together, or not at all."""

import json
from pathlib import Path

import pytest

from spanjury.adapters.files.line_writer import SealedFiles
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
