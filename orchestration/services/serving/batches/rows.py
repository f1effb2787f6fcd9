"""The rows of a batch, read once before any is judged."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from spanjury.judges.core import ConfigError, DataError, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import pair
from spanjury.orchestration.services.judging.job import Job, readable
from spanjury.orchestration.services.runs.run_folder import manifest_of
from spanjury.orchestration.services.serving.batches.batch import BadRowsError
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import open_source


class Examined(NamedTuple):
    """The number of rows, of the results that they will have, and of rows that are skipped."""

    rows: int
    assessments: int
    skipped: int


def require_storable(panel: PanelConfig) -> None:
    """Raise `ConfigError` if `panel` holds a secret, which would be stored with each batch."""
    manifest_of(Job(data=Path("rows.jsonl"), panel=panel, output=Path("results.jsonl")))


def examined(job: Job) -> Examined:
    """Read the rows of `job` once, before any is judged.

    Raises
    ------
    BadRowsError
        If there are such rows and they may not be skipped, or there are no others.
    ConfigError
        If a task or an aspect is unknown.
    """
    bad: list[DataError] = []
    try:
        segments = readable(open_source(job.data), bad, skip=True)
        seen: set[str] = set()
        assessments = 0
        catalogue = job.catalogue
        named = segments if job.task else _naming_tasks(segments, catalogue)
        for segment, _ in pair(named, catalogue, task=job.task, aspects=job.asked_aspects):
            seen.add(segment.segment_id)
            assessments += 1
    except DataError as error:
        raise BadRowsError((_without_path(error, job.data),)) from error
    if bad and not (job.skip_bad_rows and assessments):
        raise BadRowsError(tuple(_without_path(row, job.data) for row in bad))
    return Examined(rows=len(seen), assessments=assessments, skipped=len(bad))


def _naming_tasks(segments: Iterable[Segment], catalogue: Catalogue) -> Iterator[Segment]:
    for segment in segments:
        if not segment.task:
            choices = ", ".join(task.name for task in catalogue.tasks())
            raise ConfigError(
                f"row {segment.segment_id!r} names no task: name one there, or for the whole batch"
                f" ({choices})"
            )
        yield segment


def _without_path(error: DataError, path: Path) -> str:
    """Return what is wrong with a row, without the folders of this machine."""
    return str(error).removeprefix(str(path)).lstrip(":, ")
