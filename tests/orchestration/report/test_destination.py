"""The place of a report: a folder, one page, both or neither."""

from pathlib import Path

import pytest

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.destination import Destination
from spanjury.orchestration.report.files import write_report

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
