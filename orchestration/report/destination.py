"""The place of a report: a folder with all its files, one page of HTML, or both."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from spanjury.judges.core import ConfigError
from spanjury.orchestration.report.files import PAGE_ENDING, check_page, write_whole

Write = Callable[[Path], list[Path]]
"""Writes a report into a folder, and returns its files; the first page is the report's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A folder for all files of a report, and a file for its page alone.

    Raise `ConfigError` if the page does not end in ``.html``, or the folder does: then a page
    is meant.
    """

    folder: Path | None
    page: Path | None

    def __post_init__(self) -> None:
        if self.page:
            check_page(self.page)
        if self.folder and self.folder.suffix == PAGE_ENDING and not self.folder.is_dir():
            raise ConfigError(f"--output names a folder; one page is --html {self.folder}")

    def write(self, write: Write) -> list[Path]:
        """Have a report written where it goes, and return its files; none where nothing is named.

        Raise what `write` raises, and `StoreError` if the page cannot be written.
        """
        if self.folder:
            return self.with_page(write(self.folder))
        if self.page is None:
            return []
        with TemporaryDirectory(prefix="spanjury-") as folder:
            return self.with_page(write(Path(folder)))[-1:]

    def with_page(self, written: list[Path]) -> list[Path]:
        """Copy the page of a report that is written already, and return all files.

        Raise `StoreError` if the page cannot be written.
        """
        if self.page is None:
            return written
        report = next(path for path in written if path.suffix == PAGE_ENDING)
        write_whole(self.page, report.read_bytes())
        return [*written, self.page]
