"""Results as annotated texts: what a panel found, as if an annotator had marked it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from spanjury.adapters.files.annotations.factgenie_writer import write_factgenie
from spanjury.adapters.files.annotations.gathering import ANNOTATORS
from spanjury.adapters.files.annotations.mqm import NEUTRAL, SOURCE_MARKS
from spanjury.adapters.files.annotations.mqm_writer import write_mqm
from spanjury.adapters.files.results.result_rows import ResultRow, read_results
from spanjury.judges.core import ErrorSpan, Outcome, Segment

__all__ = ["MARKED_FORMS", "PANEL", "marked_segments"]

MARKED_FORMS: Mapping[str, Callable[[Path, Iterable[Segment]], int]] = MappingProxyType(
    {"factgenie": write_factgenie, "mqm": write_mqm}
)
"""Name of a form of marked texts -> what writes it, and returns how many lines it wrote."""

PANEL = "panel"
"""Who marked what a panel found."""
_OF_GOLD = frozenset({NEUTRAL, SOURCE_MARKS})


def marked_segments(segments: Iterable[Segment], results: Path) -> Iterator[Segment]:
    """Put the spans of a results file in the place of the segments' gold ones.

    Parameters
    ----------
    segments
        What was judged, for the texts; results do not hold them.
    results
        A results file; all its rows are in memory.

    Yields
    ------
    Segment
        Each that has a score on some aspect, its spans found by `PANEL` and with the aspect
        before their category, as ``fluency/spelling``. A text without any score is left out:
        it must not look like one without error.

    Raises
    ------
    DataError
        If the results cannot be read; names file and line.
    """
    found: dict[str, list[ErrorSpan]] = {}
    for _, row in read_results(results, ResultRow):
        if row.outcome is Outcome.SCORED:
            spans = found.setdefault(row.id, [])
            spans += (_as_marked(span, row.aspect) for span in row.spans)
    for segment in segments:
        if segment.segment_id in found:
            gold = tuple(found[segment.segment_id])
            meta = {key: value for key, value in segment.meta.items() if key not in _OF_GOLD}
            yield replace(segment, gold=gold, meta={**meta, ANNOTATORS: [PANEL]})


def _as_marked(span: ErrorSpan, aspect: str) -> ErrorSpan:
    category = f"{aspect}/{span.category}" if span.category else aspect
    return replace(span, category=category, found_by=(PANEL,))
