"""Failing rows of a job: their locations in its data, and a SARIF file for code scanning."""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Aspect, ConfigError, EvaluationError, Segment
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.services.judging.job import Job, Plan, pairs
from spanjury.orchestration.studies.failing.conditions import Failure
from spanjury.orchestration.studies.failing.gate import Terms, unfit_term
from spanjury.orchestration.studies.failing.lines import Location, sarif
from spanjury.orchestration.wiring.sources import numbered_rows

_ROOT = "GITHUB_WORKSPACE"
"""The variable with the folder to which GitHub's paths are relative."""


def check_aspects(terms: Terms, job: Job, planned: Plan) -> None:
    """Raise `ConfigError` if no text of `job` can miss or meet a term.

    The data are read only until aspects have occurred that all terms fit.
    """
    if not planned.assessments or not (terms.aspects or terms.conditions):
        return
    judged: dict[tuple[str, str], Aspect] = {}
    for _, aspect in pairs(job, planned=planned):
        if (aspect.task.name, aspect.name) not in judged:
            judged[aspect.task.name, aspect.name] = aspect
            if not unfit_term(terms, judged.values()):
                return
    raise ConfigError(unfit_term(terms, judged.values()))


def lines_of_rows(job: Job, failures: Sequence[Failure]) -> Mapping[str, Location]:
    """Return the location of each failing row in the data of `job`, with its line if known.

    The data are read again, up to the last failing row.
    """
    data = job.data
    ids = {failure.segment_id for failure in failures}
    if data.is_dir():  # each text is a file, identified by its path in the folder
        return {name: Location(_relative(data / name)) for name in ids}
    if not data.is_file():
        return {}
    file = _relative(data)
    lines = _lines(job, ids)
    return {name: Location(file, lines.get(name)) for name in ids}


def write_sarif(
    path: Path,
    failures: Sequence[Failure],
    locations: Mapping[str, Location],
    *,
    is_complete: bool,
) -> None:
    """Write `failures` to a SARIF file atomically.

    Raise `StoreError` if it cannot be written.
    """
    values = sarif(failures, locations, is_complete=is_complete)
    write_whole(path, json.dumps(values, indent=1).encode())


def _lines(job: Job, ids: Collection[str]) -> Mapping[str, int]:
    """Return the lines of `ids`; empty if the data can no longer be read."""
    left = set(ids)
    lines: dict[str, int] = {}
    try:
        for row, line in islice(numbered_rows(job.data, columns=job.columns), job.limit):
            if isinstance(row, Segment) and row.segment_id in left:
                left.discard(row.segment_id)
                lines[row.segment_id] = line
            if not left:
                break
    except EvaluationError:
        return {}
    return lines


def _relative(path: Path) -> str:
    """Return `path` relative to the checkout or the working folder; absolute if it lies outside."""
    root = Path(os.environ.get(_ROOT) or Path.cwd()).resolve()
    whole = path.resolve()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)
