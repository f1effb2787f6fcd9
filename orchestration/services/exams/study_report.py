"""The report of a study from Python: its findings as tables, values, pages and files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

from spanjury.orchestration.report import Report, Table
from spanjury.orchestration.report.destination import Destination
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.html import report_fragment
from spanjury.orchestration.report.json import json_text
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.services.exam_scores import ExamScores
from spanjury.orchestration.studies.card import Measure

T_co = TypeVar("T_co", covariant=True)

_NAMED = 3
"""So many measures are in a line."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StudyReport(Generic[T_co]):
    """The findings of an exam, a bench, a comparison or a meta-evaluation.

    Parameters
    ----------
    result
        All that was computed, as the study has it.
    document
        The report for people, of no format.
    values
        The findings for programs: numbers, texts, and what holds them.
    write
        Writes the files into a folder and returns their paths.
    measures
        Name -> measure, as for a judge's card and its requirements.
    scores
        Raw scores, by which two judges are compared; None where the study has none.
    """

    result: T_co
    document: Report
    values: Mapping[str, object]
    write: Callable[[Path], list[Path]]
    measures: Mapping[str, Measure] = field(default_factory=lambda: MappingProxyType({}))
    scores: ExamScores | None = None

    @property
    def tables(self) -> Mapping[str, Table]:
        """Title of the section -> table, in the order of the page."""
        return MappingProxyType(tables_of(self.document))

    def to_dict(self) -> dict[str, object]:
        """Return what the file of findings holds."""
        return dict(self.values)

    def to_json(self) -> str:
        """Return the text of the file of findings."""
        return json_text(self.to_dict())

    def to_markdown(self) -> str:
        """Return the page in Markdown, without pictures."""
        return report_markdown(self.document)

    def save(self, folder: Path | str) -> list[Path]:
        """Write what the command writes into `folder`: pages, values, and what else there is.

        Raise `StoreError` if something cannot be written.

        Returns
        -------
        list of Path
            The files.
        """
        return self.write(Path(folder))

    def save_page(self, file: Path | str) -> None:
        """Write the page alone, with its pictures, as one file that ends in ``.html``.

        Raise `ConfigError` if it ends otherwise, and `StoreError` if it cannot be written.
        """
        Destination(folder=None, page=Path(file)).write(self.write)

    def __repr__(self) -> str:
        """Say in a line what it is, with the first measures."""
        figures = [f"{one.name} {one.figure}" for one in islice(self.measures.values(), _NAMED)]
        tables = len(self.tables)
        parts = [*figures, "1 table" if tables == 1 else f"{tables} tables"]
        return f"<StudyReport {self.document.title!r}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """Show the page in a notebook."""
        return report_fragment(self.document)


def by_name(measures: tuple[Measure, ...]) -> Mapping[str, Measure]:
    """Return measures by name."""
    return MappingProxyType({one.name: one for one in measures})
