"""Files of a report, and their destinations; each file is written atomically."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from spanjury.judges.core import VERSION, ConfigError, StoreError
from spanjury.orchestration.report.document import Report
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.json import json_text
from spanjury.orchestration.report.markdown import report_markdown

PAGE_ENDING = ".html"
PICTURES = "pictures"
"""Name of the subfolder for pictures in the folder of a report."""


def write_report(
    folder: Path, report: Report, *, data: object, page: str = "report", values: str = "findings"
) -> list[Path]:
    """Write a report into `folder`: as Markdown, as HTML, and its findings as JSON.

    The folder is created if it does not exist; the pictures of the report are in it. Returns
    ``PAGE.md``, ``PAGE.html`` and ``VALUES.json``. Raise `StoreError` if a file cannot be written,
    or a picture cannot be read.
    """
    make_folder(folder)
    origin = f"Made on {datetime.now(UTC).date().isoformat()} by spanjury {VERSION}"
    texts = {
        folder / f"{page}.md": report_markdown(report, folder=folder),
        folder / f"{page}.html": report_html(report, origin=origin),
        folder / f"{values}.json": json_text(data),
    }
    for path, text in texts.items():
        write_whole(path, text.encode())
    return list(texts)


Write = Callable[[Path], list[Path]]
"""Writes a report into a folder, and returns its files; the first page is the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A folder for all files of a report, and a file for its page alone.

    Raise `ConfigError` if the page does not end in ``.html``, or the folder does: then the user
    meant a page.
    """

    folder: Path | None
    page: Path | None

    def __post_init__(self) -> None:
        if self.page:
            check_page(self.page)
        if self.folder and self.folder.suffix == PAGE_ENDING and not self.folder.is_dir():
            raise ConfigError(f"--output names a folder; one page is --html {self.folder}")

    def write(self, write: Write) -> list[Path]:
        """Write a report to its destination, and return its files; an empty list without one.

        Raise the errors of `write`, and `StoreError` if the page cannot be written.
        """
        if self.folder:
            return self.with_page(write(self.folder))
        if self.page is None:
            return []
        with TemporaryDirectory(prefix="spanjury-") as folder:
            return self.with_page(write(Path(folder)))[-1:]

    def with_page(self, written: list[Path]) -> list[Path]:
        """Copy the page of a report that is already written, and return all files.

        Raise `StoreError` if the page cannot be written.
        """
        if self.page is None:
            return written
        report = next(path for path in written if path.suffix == PAGE_ENDING)
        write_whole(self.page, report.read_bytes())
        return [*written, self.page]


def write_page(path: Path, page: str) -> None:
    """Write an HTML page.

    Raise `ConfigError` if `path` does not end in ``.html``, and `StoreError` if it cannot be
    written.
    """
    check_page(path)
    write_whole(path, page.encode())


def check_page(path: Path) -> None:
    """Raise `ConfigError` if `path` does not end in ``.html``."""
    if path.suffix != PAGE_ENDING:
        raise ConfigError(f"a page ends in .html, got {path.name!r}")


def make_folder(folder: Path) -> None:
    """Create a folder if it does not exist; raise `StoreError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically.

    Raise `StoreError` if it cannot be written; an existing file then stays unchanged.
    """
    if path.is_dir():
        raise StoreError(f"{path}: cannot be written: it is a folder")
    new = path.with_name(f"{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path}: cannot be written: {error.strerror}")
