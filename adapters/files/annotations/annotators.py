"""Files with a row for each error or each annotator: all rows of a text become one segment."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from spanjury.adapters.files.strict_json import excerpt
from spanjury.judges.core import DataError, Segment

ANNOTATORS = "annotators"
"""Key of a segment's meta that lists who read it, whether or not they marked anything."""

READINGS = "readings"
"""Key of a segment's meta that lists ``[annotator, aspect]``: who read it for which aspect."""

Merge = Callable[[Segment, Segment], Segment]


def joined(first: Segment, second: Segment) -> Segment:
    """Put the spans of two rows of one text together; lists of their meta are joined too.

    Raises `DataError` if output or inputs differ.
    """
    for name, ours, theirs in (
        ("output", first.output, second.output),
        ("inputs", dict(first.inputs), dict(second.inputs)),
    ):
        if ours != theirs:
            raise DataError(f"got the {name} {excerpt(theirs)}, an earlier row has {excerpt(ours)}")
    meta = dict(first.meta)
    for key, value in second.meta.items():
        former = meta.get(key)
        if isinstance(former, list) and isinstance(value, list):
            meta[key] = [*former, *value]
        else:
            meta[key] = value
    if ANNOTATORS in meta:
        meta[ANNOTATORS] = [*dict.fromkeys(_listed(meta))]
    return replace(first, gold=first.gold + second.gold, meta=meta)


def annotators_of(segment: Segment) -> tuple[str, ...]:
    """Return who read a text: who its meta names, and who marked something in it."""
    marked = (";".join(span.found_by) for span in segment.gold)
    return tuple(dict.fromkeys([*_listed(segment.meta), *marked]))


def collected(
    path: Path,
    rows: Iterator[tuple[int, Segment | DataError]],
    *,
    merge: Merge = joined,
) -> Iterator[Segment | DataError]:
    """Join rows with the same id, wherever in the file they stand; each comes with its line.

    Yields first the faults, each with file and line, then the texts in the order of their first
    rows: only the end of the file tells that nothing more is said of a text.

    Raises `DataError` at once, if there are no rows, or `rows` raises it before the first one.
    """
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path}: has no rows")
    return _collected(path, chain((first,), rows), merge)


def _collected(
    path: Path, rows: Iterator[tuple[int, Segment | DataError]], merge: Merge
) -> Iterator[Segment | DataError]:
    texts: dict[str, Segment] = {}
    for line, row in rows:
        try:
            if isinstance(row, DataError):
                raise row
            former = texts.get(row.segment_id)
            texts[row.segment_id] = merge(former, row) if former else row
        except DataError as error:
            yield DataError(f"{path}, line {line}: {error}")
    yield from texts.values()


def _listed(meta: Mapping[str, object]) -> Iterator[str]:
    names = meta.get(ANNOTATORS)
    yield from map(str, names if isinstance(names, list) else [])
