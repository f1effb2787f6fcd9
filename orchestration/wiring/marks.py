"""People's marks: their file beside a run, and their formats for import and export."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from spanjury.adapters.files.annotations.annotators import (
    ANNOTATORS,
    MARKS,
    READINGS,
    SPANS,
    marked_row,
    write_marked_rows,
)
from spanjury.adapters.files.annotations.factgenie import SEGMENT_ID, write_factgenie
from spanjury.adapters.files.annotations.mqm import NEUTRAL, SOURCE_MARKS, write_mqm
from spanjury.adapters.files.results.result_rows import ResultName, read_results
from spanjury.adapters.runs.database import MARKS_NAME
from spanjury.adapters.runs.marks_store import (
    MarkConflictError,
    MarkKey,
    MarksStore,
    StoredMark,
    mark_name,
    read_marks,
)
from spanjury.judges.core import Segment

__all__ = [
    "ANNOTATORS",
    "FORMS",
    "MARKS",
    "MARKS_NAME",
    "NEUTRAL",
    "READINGS",
    "SEGMENT_ID",
    "SOURCE_MARKS",
    "SPANS",
    "MarkConflictError",
    "MarkKey",
    "MarksStore",
    "StoredMark",
    "mark_name",
    "marked_row",
    "read_marks",
    "result_names",
]

FORMS: Mapping[str, Callable[[Path, Iterable[Segment]], int]] = MappingProxyType(
    {"rows": write_marked_rows, "factgenie": write_factgenie, "mqm": write_mqm}
)
"""Name of a format of marked texts -> function that writes it and returns the number of lines."""


def result_names(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield id, system, task and aspect of each row of a results file; raise `DataError`."""
    for _, row in read_results(path, ResultName):
        yield row.id, row.system, row.task, row.aspect
