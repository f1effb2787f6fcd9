"""A judge's card, from the folders of its exams to a page."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from spanjury.judges.core import DataError, StoreError
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.studies.card import Card, ExamRecord, Gate
from spanjury.orchestration.studies.card_page import card_json, card_markdown

__all__ = ["read_card", "write_card"]

_FINDINGS = "findings.json"


class _Findings(BaseModel):
    """The part of an exam's findings that a card is made of."""

    model_config = ConfigDict(extra="ignore")

    card: ExamRecord


def read_card(folders: Sequence[Path]) -> Card:
    """Read what exams have left in their folders.

    Raises
    ------
    DataError
        If a folder holds no findings, or they are not those of a finished exam.
    ConfigError
        If the exams do not make one card, as `Card` says.
    """
    return Card(records=tuple(_record(folder / _FINDINGS) for folder in folders))


def write_card(folder: Path, card: Card, *, gates: Sequence[Gate]) -> list[Path]:
    """Write ``card.md`` and ``card.json`` into `folder`; return their paths.

    Raises
    ------
    StoreError
        If something cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    told = json.dumps(card_json(card, gates=gates), ensure_ascii=False, indent=1)
    paths = [folder / "card.md", folder / "card.json"]
    for path, text in zip(paths, (card_markdown(card, gates=gates), f"{told}\n"), strict=True):
        write_whole(path, text.encode())
    return paths


def _record(path: Path) -> ExamRecord:
    try:
        return _Findings.model_validate_json(path.read_bytes()).card
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; is the exam done?") from error
    except ValidationError as error:
        raise DataError(f"{path}: not the findings of an exam of this version") from error
