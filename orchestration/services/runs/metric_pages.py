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

    Parameters
    ----------
    output
        The page, which ends in ``.html``.
    row
        Id of the row.
    metric
        ``NAME`` or ``NAME:option=value,…``.

    Raises
    ------
    ConfigError
        If there is no such metric, or no page of it, or `output` ends otherwise.
    DataError
        If the file cannot be read, or has no such row, or the row has no reference.
    StoreError
        If the page cannot be written.
    """
    sample = sample_of(_row(data, row, columns=columns))
    write_page(output, metric_page(metric, sample, row=row))


def _row(data: Path, row: str, *, columns: Sequence[str]) -> Segment:
    for segment in read_segments(data, columns=columns):
        if segment.segment_id == row:
            return segment
    raise DataError(f"{data}: there is no row {row!r}")
