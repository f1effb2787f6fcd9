"""Write factgenie's JSON Lines: what `factgenie.read_factgenie` reads, for factgenie itself."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import NamedTuple

from spanjury.adapters.files.annotations.factgenie import CATEGORIES, UNLOCATED
from spanjury.adapters.files.annotations.gathering import annotators_of
from spanjury.adapters.files.line_writer import LineWriter
from spanjury.judges.core import DataError, ErrorSpan, Segment

__all__ = ["write_factgenie"]

_SETUP = "system"
_DATASET, _SPLIT = "spanjury", "test"


class _Numbers(NamedTuple):
    """What factgenie calls by number, the same throughout a file."""

    categories: Mapping[str, int]
    groups: defaultdict[str, int]
    examples: defaultdict[tuple[str, str, str], Iterator[int]]


def write_factgenie(path: Path, segments: Iterable[Segment]) -> int:
    """Write the gold spans of `segments`, a line for each annotator; return how many lines.

    A segment that nobody annotated is a line without ``annotations``. The names of dataset and
    split and the number of the example are those of the meta; without them, the task or
    ``spanjury``, ``test``, and the number among the outputs of the system.

    Raises
    ------
    StoreError
        If the file cannot be written.
    DataError
        If a segment holds what JSON or UTF-8 cannot; names it.
    """
    kept = [*segments]
    categories = dict.fromkeys(span.category for segment in kept for span in segment.gold)
    names = _Numbers(
        categories={name: number for number, name in enumerate(categories)},
        groups=defaultdict(count().__next__),
        examples=defaultdict(count),
    )
    with LineWriter(path, keep_part=False) as lines:
        for segment in kept:
            for row in _rows(segment, names):
                lines.append(_line(row, segment))
        return lines.lines


def _line(row: Mapping[str, object], segment: Segment) -> bytes:
    try:
        return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except (TypeError, ValueError) as error:
        name = segment.segment_id
        raise DataError(f"row {name!r} holds what a file cannot: {error}") from error


def _rows(segment: Segment, numbers: _Numbers) -> Iterator[dict[str, object]]:
    dataset = str(segment.meta.get("dataset", segment.task or _DATASET))
    group = (dataset, str(segment.meta.get("split", _SPLIT)), segment.system or _SETUP)
    about = dict(zip(("dataset", "split", "setup_id"), group, strict=True))
    example = segment.meta.get("example_idx", next(numbers.examples[group]))
    row: dict[str, object] = {**about, "example_idx": example, "output": segment.output}
    annotators = annotators_of(segment)
    if not annotators:
        yield {**row, "metadata": {}}
    for who in annotators:
        spans = [span for span in segment.gold if ";".join(span.found_by) == who]
        told: dict[str, object] = (
            {"annotator_id": who, "annotator_group": numbers.groups[who]} if who else {}
        )
        metadata: dict[str, object] = {
            **told,
            CATEGORIES: [{"name": name} for name in numbers.categories],
        }
        unlocated = [_annotation(span, numbers) for span in spans if span.start is None]
        if unlocated:
            metadata[UNLOCATED] = unlocated
        marked = [_annotation(span, numbers) for span in spans if span.start is not None]
        yield {**row, "metadata": metadata, "annotations": marked, **told}


def _annotation(span: ErrorSpan, numbers: _Numbers) -> dict[str, object]:
    told: dict[str, object] = {
        "type": numbers.categories[span.category],
        "text": span.text,
        "start": span.start,
        "reason": span.explanation,
        "severity": span.severity,
    }
    return {key: value for key, value in told.items() if value is not None}
