"""A judge's card, from the folders of its exams to its report."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from spanjury.judges.core import DataError
from spanjury.orchestration.report.files import write_report
from spanjury.orchestration.report.json import versions
from spanjury.orchestration.studies.card import (
    Card,
    ExamRecord,
    Gate,
    Measure,
    card_json,
    card_report,
)
from spanjury.orchestration.studies.judging import Examinee

_FINDINGS = "findings.json"


class _Findings(BaseModel):
    """The part of an exam's findings that a card is made of."""

    model_config = ConfigDict(extra="ignore")

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


def read_card(folders: Sequence[Path]) -> Card:
    """Read the results of exams from their folders.

    Raise `DataError` if a folder holds no findings, or they are not those of a finished
    exam, and `ConfigError` if the exams do not make one card, as `Card` says.
    """
    return Card(records=tuple(_record(folder / _FINDINGS) for folder in folders))


def write_card(folder: Path, card: Card, *, gates: Sequence[Gate]) -> list[Path]:
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
