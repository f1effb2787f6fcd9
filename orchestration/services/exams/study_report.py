"""The report of a study from Python: its findings as tables, values, pages and files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from spanjury.judges.core import StoreError
from spanjury.orchestration.report import Picture, Report, Table
from spanjury.orchestration.report.destination import Destination
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.files import PICTURES, write_report, write_whole
from spanjury.orchestration.report.html import report_fragment
from spanjury.orchestration.report.json import json_text, plain
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.services.exams.exam_card import exam_record
from spanjury.orchestration.services.exams.exam_scores import SCORES, ExamScores, write_scores
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.judging import Examinee

T = TypeVar("T")
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
    closing
        Lines that the command ends with.
    """

    result: T_co
    document: Report
    values: Mapping[str, object]
    write: Callable[[Path], list[Path]]
    measures: Mapping[str, Measure] = field(default_factory=lambda: MappingProxyType({}))
    scores: ExamScores | None = None
    closing: Sequence[str] = ()

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
        figures = [
            f"{measure.name} {measure.figure}" for measure in islice(self.measures.values(), _NAMED)
        ]
        tables = len(self.tables)
        parts = [*figures, "1 table" if tables == 1 else f"{tables} tables"]
        return f"<StudyReport {self.document.title!r}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """Show the page in a notebook."""
        return report_fragment(self.document)


def file_report(
    result: T,
    *,
    name: str,
    document: Report,
    values: Mapping[str, object],
    closing: Sequence[str] = (),
) -> StudyReport[T]:
    """Return the report of a study of files; its own are ``NAME.md``, ``.html`` and ``.json``."""
    return StudyReport(
        result=result,
        document=document,
        values=values,
        write=partial(write_report, report=document, data=values, page=name, values=name),
        closing=closing,
    )


def exam_report(
    exam: str,
    result: T,
    *,
    examinee: Examinee | None,
    data: str,
    document: Callable[[Sequence[Picture]], Report],
    values: Mapping[str, object],
    measures: tuple[Measure, ...],
    cautions: tuple[str, ...] = (),
    scores: ExamScores | None = None,
    files: Mapping[str, Callable[[Path], None]] = MappingProxyType({}),
    draw: Callable[[Path], Sequence[tuple[Picture, Sequence[Path]]]] = lambda _: (),
) -> StudyReport[T]:
    """Return the report of an exam, with its part of a judge's card.

    Its files are ``report.md``, ``report.html``, ``findings.json``, with scores ``scores.jsonl``,
    and what else is named; then pictures.

    Parameters
    ----------
    exam
        What a card calls it.
    examinee
        The panel that was examined; None where it is not known, and then there is no card.
    data
        What the texts are called.
    document
        Makes the report for people, with pictures.
    values
        The findings for programs; the card's part is added.
    files
        Name -> writes the file of this name.
    draw
        Draws pictures into a folder: each with all files that hold it.
    """
    card: dict[str, object] = {}
    if examinee is not None:
        record = exam_record(exam, examinee, data=data, measures=measures, cautions=cautions)
        card = {"card": plain(record)}
    findings = {**values, **card}

    def write(folder: Path) -> list[Path]:
        try:
            drawn = draw(folder / PICTURES)
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
        report = document([picture for picture, _ in drawn])
        written = write_report(folder, report, data=findings)
        if scores is not None:
            write_scores(folder / SCORES, scores)
            written.append(folder / SCORES)
        for name, write_file in files.items():
            write_file(folder / name)
            written.append(folder / name)
        return [*written, *(path for _, paths in drawn for path in paths)]

    return StudyReport(
        result=result,
        document=document(()),
        values=findings,
        write=write,
        measures=by_name(measures),
        scores=scores,
    )


def json_lines(kind: type[T], rows: Sequence[T]) -> Callable[[Path], None]:
    """Return what writes rows of a dataclass as JSON Lines."""
    adapter = TypeAdapter(kind)

    def write(path: Path) -> None:
        write_whole(path, b"".join(adapter.dump_json(row) + b"\n" for row in rows))

    return write


def by_name(measures: tuple[Measure, ...]) -> Mapping[str, Measure]:
    """Return measures by name."""
    return MappingProxyType({measure.name: measure for measure in measures})
