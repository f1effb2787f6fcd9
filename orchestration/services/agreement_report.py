"""What a meta-evaluation leaves behind: a page, findings for programs, pictures."""

import json
from pathlib import Path

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.services.agreement import Gathered
from spanjury.orchestration.services.agreement_pictures import draw_meta
from spanjury.orchestration.studies.agreement.findings import (
    MetaFindings,
    meta_json,
    meta_markdown,
)

__all__ = ["write_meta"]


def write_meta(folder: Path, findings: MetaFindings, told: Gathered) -> list[Path]:
    """Write a page, its values and, with matplotlib, pictures into `folder`.

    Returns
    -------
    list of Path
        What was written: ``meta.md``, ``meta.json``, pictures.

    Raises
    ------
    StoreError
        If something cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures = _pictures(folder, findings, told)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    shown = [picture.name for picture in pictures if picture.suffix == ".png"]
    page, values = folder / "meta.md", folder / "meta.json"
    write_whole(page, meta_markdown(findings, pictures=shown).encode())
    plain = json.dumps(meta_json(findings), ensure_ascii=False, indent=1)
    write_whole(values, f"{plain}\n".encode())
    return [page, values, *pictures]


def _pictures(folder: Path, findings: MetaFindings, told: Gathered) -> list[Path]:
    """Draw what can be drawn; without matplotlib nothing."""
    try:
        return draw_meta(folder, findings, told)
    except ConfigError:
        return []
