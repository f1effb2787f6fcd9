"""What an exam of faithfulness leaves behind: a page, findings, raw changes and pictures."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import ConfigError, StoreError
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.report.json import plain, versions
from spanjury.orchestration.services.faithfulness_changes import CHANGES, write_changes
from spanjury.orchestration.studies.card import ExamRecord
from spanjury.orchestration.studies.faithfulness.cautions import cautions, named
from spanjury.orchestration.studies.faithfulness.changes import Change
from spanjury.orchestration.studies.faithfulness.curves import (
    after_critical,
    by_deleted,
    by_severity,
    by_start,
)
from spanjury.orchestration.studies.faithfulness.findings import Findings
from spanjury.orchestration.studies.faithfulness.pages.as_json import findings_json
from spanjury.orchestration.studies.faithfulness.pages.as_markdown import findings_markdown
from spanjury.orchestration.studies.faithfulness.measures import measures_of
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.wiring.plots import load_faithfulness_plots

__all__ = ["write_report"]

_ENDINGS = (".png", ".svg")
_MEASURES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "severity-change": ("severity added in all", "change of the score"),
        "deleted-errors": ("errors deleted", "share of changed scores"),
    }
)
"""What the axes of lines are called, across and up."""


def write_report(
    folder: Path,
    findings: Findings,
    *,
    data: str,
    changes: Sequence[Change],
    examinee: Examinee | None,
) -> list[Path]:
    """Write findings, raw changes, a page and, with matplotlib, pictures into `folder`.

    Who was examined is known but for a record, which therefore cannot go on a judge's card.

    Returns
    -------
    list of Path
        What was written: ``report.md``, ``findings.json``, ``changes.jsonl``, pictures.

    Raises
    ------
    StoreError
        If something cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures = _pictures(folder, findings)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written: {error.strerror}") from error
    shown = [picture.name for picture in pictures if picture.suffix == _ENDINGS[0]]
    page = findings_markdown(findings, data=data, pictures=shown)
    values = findings_json(findings)
    if examinee is not None:
        values["judge"] = plain(examinee)
        values["card"] = plain(_record(findings, data=data, examinee=examinee))
    told = json.dumps(values, ensure_ascii=False, indent=1)
    paths = [folder / name for name in ("report.md", "findings.json", CHANGES)]
    write_whole(paths[0], page.encode())
    write_whole(paths[1], f"{told}\n".encode())
    write_changes(paths[2], changes)
    return [*paths, *pictures]


def _record(findings: Findings, *, data: str, examinee: Examinee) -> ExamRecord:
    return ExamRecord(
        exam="faithfulness",
        date=datetime.now(UTC).date().isoformat(),
        data=data,
        signature=examinee.signature,
        seats=examinee.seats,
        versions=versions(),
        measures=measures_of(findings),
        cautions=tuple(cautions(findings)),
    )


def _pictures(folder: Path, findings: Findings) -> list[Path]:
    """Draw what can be drawn; without matplotlib nothing."""
    try:
        plots = load_faithfulness_plots()
    except ConfigError:
        return []
    score_arrays = {named(one): one for one in findings.score_arrays}
    stacks = {
        "steps": {name: by_start(one) for name, one in score_arrays.items()},
        "critical-error": {name: after_critical(one) for name, one in score_arrays.items()},
    }
    curves = {
        "severity-change": {name: by_severity(one) for name, one in score_arrays.items()},
        "deleted-errors": {name: by_deleted(one) for name, one in score_arrays.items()},
    }
    drawn: list[Path] = []
    for ending in _ENDINGS:
        for name, panels in stacks.items():
            if any(panels.values()):
                drawn.append(folder / f"{name}{ending}")
                plots.draw_stacks(drawn[-1], panels=panels)
        for name, lines in curves.items():
            if any(lines.values()):
                drawn.append(folder / f"{name}{ending}")
                plots.draw_curves(drawn[-1], panels=lines, measure=_MEASURES[name])
    return drawn
