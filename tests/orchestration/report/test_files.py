"""Files of a report: three at once, each in full or not at all, in a folder or as one page."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from errno import ENOSPC
from pathlib import Path
from typing import NamedTuple
from unittest.mock import Mock

import pytest

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.files import Destination, make_folder, write_report, write_whole
from spanjury.orchestration.report.json import plain, versions


class Pair(NamedTuple):
    low: float
    high: float


@dataclass(frozen=True)
class Found:
    value: float
    pair: Pair
    by: Mapping[int, list[float]]


def test_a_finding_becomes_plain_values() -> None:
    found = Found(value=1 / 3, pair=Pair(math.nan, math.inf), by={1: [2 / 3]})
    assert plain(found) == {
        "value": 0.333333,
        "pair": {"low": None, "high": None},
        "by": {"1": [0.666667]},
    }
    assert plain(1 / 3, digits=None) == 1 / 3
    assert set(versions()) == {"spanjury", "numpy", "scipy"}


def test_a_report_is_written_in_three_formats(tmp_path: Path) -> None:
    written = write_report(tmp_path / "a" / "b", Report(title="t"), data={"é": 1})
    assert [path.name for path in written] == ["report.md", "report.html", "findings.json"]
    assert written[0].read_text() == "# t\n"
    assert json.loads(written[2].read_text(encoding="utf-8")) == {"é": 1}
    assert len(list((tmp_path / "a" / "b").iterdir())) == 3


def test_a_failed_write_is_an_error_and_keeps_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_whole(file, b"old")
    with pytest.raises(StoreError, match="cannot be written"):
        make_folder(file / "under")
    (tmp_path / "file.new").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        write_whole(file, b"new")
    assert file.read_bytes() == b"old"


def test_a_write_that_fails_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(ENOSPC, "No space left on device")))
    with pytest.raises(StoreError, match="No space left on device"):
        write_whole(tmp_path / "file", b"new")
    assert not [*tmp_path.iterdir()]


def test_a_folder_is_not_written_over(tmp_path: Path) -> None:
    for folder in (tmp_path, Path(), Path("/")):
        with pytest.raises(StoreError, match="it is a folder"):
            write_whole(folder, b"new")


NAMES = {"report.md", "report.html", "findings.json"}


def write(folder: Path) -> list[Path]:
    return write_report(folder, Report(title="A report"), data={})


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_folder_has_all_files_and_a_page_is_its_page(tmp_path: Path) -> None:
    folder, page = tmp_path / "out", tmp_path / "a.html"
    written = Destination(folder=folder, page=page).write(write)
    assert (written[-1], {path.name for path in written}) == (page, NAMES | {"a.html"})
    assert page.read_bytes() == (folder / "report.html").read_bytes()
    assert "A report" in page.read_text()


def test_a_page_alone_leaves_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    assert Destination(folder=None, page=page).write(write) == [page]
    assert names(tmp_path) == {"a.html"}


def test_a_folder_alone_has_no_other_page(tmp_path: Path) -> None:
    Destination(folder=tmp_path / "out", page=None).write(write)
    assert (names(tmp_path), names(tmp_path / "out")) == ({"out"}, NAMES)


def test_nothing_is_written_if_nothing_is_named() -> None:
    assert Destination(folder=None, page=None).write(write) == []


def test_a_report_that_is_written_already_lends_its_first_page(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a"), write(tmp_path / "b")
    (tmp_path / "b/report.html").write_text("other")
    page = tmp_path / "a.html"
    assert Destination(folder=None, page=page).with_page([*first, *second])[-1] == page
    assert "A report" in page.read_text()


@pytest.mark.parametrize(
    ("folder", "page", "problem"),
    [
        (None, "a.htm", r"ends in \.html, got 'a\.htm'"),
        (None, "page", r"ends in \.html, got 'page'"),
        ("a.html", None, r"--output names a folder; one page is --html a\.html"),
    ],
)
def test_a_wrong_name_fails_at_once(folder: str | None, page: str | None, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Destination(folder=Path(folder) if folder else None, page=Path(page) if page else None)


def test_a_page_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        Destination(folder=None, page=tmp_path / "none" / "a.html").write(write)
