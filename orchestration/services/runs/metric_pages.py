"""A page that shows what a metric sees in one row of a file."""

from collections.abc import Sequence
from pathlib import Path

from spanjury.judges.core import DataError, Segment
from spanjury.judges.metrics.named import sample_of
from spanjury.orchestration.report.files import write_page
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.wiring.metric_pages import metric_page


def show_metric(
    data: Path, output: Path, *, row: str, metric: str, columns: Sequence[str] = ()
) -> None:
    """Write a page on which a metric compares the text of a row with its references.

    Raise `ConfigError` if there is no such metric, no page of it, or `output` does not end in
    ``.html``, `DataError` if the file cannot be read, has no such row, or the row has no reference,
    and `StoreError` if the page cannot be written.
    """
    sample = sample_of(_row(data, row, columns=columns))
    write_page(output, metric_page(metric, sample, row=row))


def _row(data: Path, row: str, *, columns: Sequence[str]) -> Segment:
    for segment in read_segments(data, columns=columns):
        if segment.segment_id == row:
            return segment
    raise DataError(f"{data}: there is no row {row!r}")
