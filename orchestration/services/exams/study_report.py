"""The report of a study: findings as tables, values and files, an exam's scores, and its card."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from spanjury.judges.core import DataError, Segment, counted, first_problem
from spanjury.orchestration.report import Picture, Report, Table
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.files import PICTURES, Destination, write_report, write_whole
from spanjury.orchestration.report.html import report_fragment
from spanjury.orchestration.report.json import json_text, plain, versions
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.prose import parts
from spanjury.orchestration.services.viewing.sources import JUDGED_RESULTS, JUDGED_TEXTS
from spanjury.orchestration.studies.card import (
    Card,
    ExamRecord,
    Gate,
    Measure,
    Ranges,
    card_json,
    card_report,
    ranges_of,
)
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.judging import Examinee, JudgedText
from spanjury.orchestration.wiring.results import result_line, write_segments
from spanjury.orchestration.wiring.runs import MEMORY_NAME, RunFolder

SCORES = "scores.jsonl"
"""Name of the file in an exam's folder."""

_FORMAT = 1
_FINDINGS = "findings.json"
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_NAMED = 3
"""So many measures are in a line."""
_ROW: TypeAdapter[ScoreRow] = TypeAdapter(ScoreRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamScores:
    """The contents of an exam's file of scores.

    `data`, `recipe` and `seed` say on which texts, and how they were damaged.
    """

    examinee: Examinee
    data: str
    recipe: str
    seed: int
    rows: Sequence[ScoreRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """The first line."""

    format: int
    judge: str
    seats: dict[str, str]
    data: str
    recipe: str
    seed: int
    rows: int


_HEAD: TypeAdapter[_Head] = TypeAdapter(_Head)


def write_scores(path: Path, scores: ExamScores) -> None:
    """Write the scores of an exam as JSON Lines; raise `StoreError` if that fails."""
    head = _Head(
        format=_FORMAT,
        judge=scores.examinee.signature,
        seats=dict(scores.examinee.seats),
        data=scores.data,
        recipe=scores.recipe,
        seed=scores.seed,
        rows=len(scores.rows),
    )
    lines = (_HEAD.dump_json(head), *(_ROW.dump_json(row) for row in scores.rows))
    write_whole(path, b"".join(line + b"\n" for line in lines))


def read_scores(folder: Path) -> ExamScores:
    """Read the scores that an exam has left in its folder.

    Raise `DataError` if there are none, or they cannot be read; the message says what to do.
    """
    path = folder / SCORES
    try:
        first, *lines = path.read_bytes().splitlines() or [b""]
    except OSError as error:
        raise DataError(_absent(folder)) from error
    head = _head(first, path)
    if len(lines) != head.rows:
        raise DataError(f"{path} is cut short: it has {len(lines)} of {head.rows} rows")
    return ExamScores(
        examinee=Examinee(signature=head.judge, seats=head.seats),
        data=head.data,
        recipe=head.recipe,
        seed=head.seed,
        rows=[_row(line, f"{path}:{number}") for number, line in enumerate(lines, start=2)],
    )


def _absent(folder: Path) -> str:
    """Say why there are no scores in `folder`."""
    if not folder.is_dir():
        return f"{folder} is not the folder of an exam"
    again = "run it again with the same command: no question is asked twice"
    if (folder / _FINDINGS).exists():
        return (
            f"{folder} holds no readable {SCORES}, which `exam discernment` and `exam robustness` "
            f"write: compare folders of these; if it is one, {again}"
        )
    if RunFolder(folder).exists:
        return f"{folder} holds a run of texts, no exam: compare two runs with `spanjury compare`"
    if (folder / MEMORY_NAME).exists():
        return f"{folder} holds an exam that has not ended: {again}"
    return f"{folder} holds no exam: there is no {SCORES} in it"


def _head(line: bytes, path: Path) -> _Head:
    try:
        head = json.loads(line)
    except ValueError as error:
        raise DataError(f"{path} holds no scores of an exam: its first line is not JSON") from error
    version = head.get("format") if isinstance(head, dict) else None
    if version != _FORMAT:
        raise DataError(
            f"{path} has format {version!r}, expected {_FORMAT}: it was written by another version"
        )
    try:
        return _HEAD.validate_python(head)
    except ValidationError as error:
        raise DataError(f"{path}:1: {first_problem(error)}") from error


def _row(line: bytes, where: str) -> ScoreRow:
    try:
        row = json.loads(line)
        if isinstance(row, dict) and "treatment" in row:  # as releases until 0.2 wrote it
            row["condition"] = row.pop("treatment")
        return _ROW.validate_python(row)
    except ValidationError as error:
        raise DataError(f"{where}: {first_problem(error)}") from error
    except ValueError as error:
        raise DataError(f"{where} is not JSON: {error}") from error


class _Findings(BaseModel):
    """The part of an exam's findings that a card is made of."""

    card: ExamRecord


def exam_record(
    exam: str,
    examinee: Examinee,
    *,
    data: str,
    measures: tuple[Measure, ...],
    cautions: tuple[str, ...] = (),
) -> ExamRecord:
    """Return the part of an exam's findings that goes on a card, with today's date and versions."""
    return ExamRecord(
        exam=exam,
        date=datetime.now(UTC).date().isoformat(),
        data=data,
        signature=examinee.signature,
        seats=examinee.seats,
        versions=versions(),
        measures=measures,
        cautions=cautions,
    )


def examined_seats(folder: Path) -> tuple[str, ...]:
    """Return the seats whose exam has left its findings in `folder`; none if there are none."""
    try:
        return tuple(_record(folder / _FINDINGS).seats)
    except DataError:
        return ()


def read_judge_card(folders: Sequence[Path]) -> Card:
    """Read the results of exams from their folders.

    Raise `DataError` if a folder holds no findings, or they are not those of a finished
    exam, and `ConfigError` if the exams do not make one card, as `Card` says.
    """
    return Card(records=tuple(_record(folder / _FINDINGS) for folder in folders))


def write_judge_card(folder: Path, card: Card, *, gates: Sequence[Gate]) -> list[Path]:
    """Write ``card.md``, ``card.html`` and ``card.json`` into `folder`; return their paths.

    Raise `StoreError` if something cannot be written.
    """
    report, data = card_report(card, gates=gates), card_json(card, gates=gates)
    return write_report(folder, report, data=data, page="card", values="card")


def _record(path: Path) -> ExamRecord:
    try:
        return _Findings.model_validate_json(path.read_bytes()).card
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; is the exam done?") from error
    except ValidationError as error:
        raise DataError(f"{path}: not the findings of an exam of this version") from error


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
    missed
        Requirements that are not met; with any, the command exits with 5.
    """

    result: T_co
    document: Report
    values: Mapping[str, object]
    write: Callable[[Path], list[Path]]
    measures: Mapping[str, Measure] = field(default_factory=lambda: MappingProxyType({}))
    scores: ExamScores | None = None
    closing: Sequence[str] = ()
    missed: Sequence[str] = ()

    @property
    def answer(self) -> str:
        """The findings in a sentence or two, with which a page begins."""
        return "".join(piece.text for piece in parts(self.document.answer))

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
        parts = [*figures, counted(tables, "table")]
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
    missed: Sequence[str] = (),
) -> StudyReport[T]:
    """Return the report of a study of files; its own are ``NAME.md``, ``.html`` and ``.json``."""
    return StudyReport(
        result=result,
        document=document,
        values=values,
        write=partial(write_report, report=document, data=values, page=name, values=name),
        closing=closing,
        missed=missed,
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
    declared: Ranges | Sequence[str] = (),
    cautions: tuple[str, ...] = (),
    scores: ExamScores | None = None,
    judged: Sequence[JudgedText] = (),
    files: Mapping[str, Callable[[Path], None]] = MappingProxyType({}),
    draw: Callable[[Path], Sequence[tuple[Picture, Sequence[Path]]]] = lambda _: (),
) -> StudyReport[T]:
    """Return the report of an exam, with its part of a judge's card.

    Its files are ``report.md``, ``report.html``, ``findings.json``, with scores ``scores.jsonl``,
    with judged texts ``judged_results.jsonl`` and ``judged_texts.jsonl``, and what else is named;
    then pictures.

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
    measures
        Those that the run could measure, for the card.
    declared
        All measures of the plan, with their ranges; those without a measure are undefined.
    judged
        The texts with the panel's results, which ``spanjury view FOLDER`` shows.
    files
        Name -> writes the file of this name.
    draw
        Draws pictures into a folder: each with all files that hold it.
    """
    undefined = {
        name: Measure(name=name, value=None, says="", count=0, range=values_of)
        for name, values_of in ranges_of(declared).items()
    }
    measures = tuple(
        replace(each, range=undefined[each.name].range) if each.name in undefined else each
        for each in measures
    )
    card: dict[str, object] = {}
    if examinee is not None:
        record = exam_record(exam, examinee, data=data, measures=measures, cautions=cautions)
        card = {"card": plain(record)}
    findings = {**values, **card}

    def write(folder: Path) -> list[Path]:
        drawn = draw(folder / PICTURES)
        report = document([picture for picture, _ in drawn])
        written = write_report(folder, report, data=findings)
        if scores is not None:
            write_scores(folder / SCORES, scores)
            written.append(folder / SCORES)
        if judged:
            written += _write_judged(folder, judged)
        for name, write_file in files.items():
            write_file(folder / name)
            written.append(folder / name)
        return [*written, *(path for _, paths in drawn for path in paths)]

    return StudyReport(
        result=result,
        document=document(()),
        values=findings,
        write=write,
        measures=MappingProxyType({**undefined, **{measure.name: measure for measure in measures}}),
        scores=scores,
    )


def _write_judged(folder: Path, judged: Sequence[JudgedText]) -> list[Path]:
    """Write results as a run's, and their texts; each names its condition and its clean text.

    Times are left out, so that the same exam leaves the same bytes.
    """
    by_id = grouped(judged, lambda text: text.result.segment.segment_id)
    write_segments(folder / JUDGED_TEXTS, map(_with_origin, by_id.values()))
    lines = []
    for text in judged:
        report = text.result.report
        seats = tuple(replace(seat, seconds=0.0) for seat in report.seats)
        lines.append(result_line(replace(text.result, report=replace(report, seats=seats))))
    write_whole(folder / JUDGED_RESULTS, b"".join(lines))
    return [folder / JUDGED_RESULTS, folder / JUDGED_TEXTS]


def _with_origin(texts: Sequence[JudgedText]) -> Segment:
    """Return a segment, judged on several aspects, with its origin in place of other metadata."""
    text = texts[0]
    origin: dict[str, object] = {"condition": text.condition} if text.condition else {}
    if text.clean_id:
        caught = {each.result.aspect.name: each.caught for each in texts if each.caught}
        origin |= {"clean_id": text.clean_id, "caught": caught}
    return replace(text.result.segment, meta=origin)


def json_lines(kind: type[T], rows: Sequence[T]) -> Callable[[Path], None]:
    """Return what writes rows of a dataclass as JSON Lines."""
    adapter = TypeAdapter(kind)

    def write(path: Path) -> None:
        write_whole(path, b"".join(adapter.dump_json(row) + b"\n" for row in rows))

    return write
