"""Measures: what the spans of two sides have in common, text by text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import ErrorSpan
from spanjury.orchestration.studies.agreement.spans.categories import (
    hard_overlap,
    named_categories,
)
from spanjury.orchestration.studies.agreement.spans.gold import GoldSpan
from spanjury.stats.spans.span_agreement import (
    Overlap,
    character_overlap,
    exact_overlap,
    graded_overlap,
)
from spanjury.stats.spans.span_matching import matched_overlap

__all__ = ["MEASURES", "Mark", "interval_rows", "overlaps"]

Mark = ErrorSpan | GoldSpan
Compare = Callable[[Sequence[Mark], Sequence[Mark]], Overlap]

_GRADED, _HARD = "graded", "hard"
_MAJOR = 3
"""From this severity on an error counts as major where there are two grades only."""


def overlaps(
    found: Sequence[Sequence[Mark]], gold: Sequence[Sequence[Mark]]
) -> dict[str, NDArray[np.float64]]:
    """Compare two sides on the same texts.

    Spans without a place are skipped, and of ``graded`` those without a severity too; it is
    NaN throughout if one side has spans and never a severity. So is ``hard`` if one side never
    has a category.

    Returns
    -------
    dict
        Measure, as in `MEASURES` -> shape ``(texts, 3)``: `Overlap` of each text.
    """
    rows = {
        name: np.array(
            [compare(*spans) for spans in zip(found, gold, strict=True)], dtype=np.float64
        ).reshape(-1, len(Overlap._fields))
        for name, compare in MEASURES.items()
    }
    if not (_has_severities(found) and _has_severities(gold)):
        rows[_GRADED][:] = np.nan
    if not (_has_categories(found) and _has_categories(gold)):
        rows[_HARD][:] = np.nan
    return rows


def interval_rows(spans: Iterable[Mark]) -> NDArray[np.int64]:
    """Return where spans are, shape ``(n, 2)``, without those that have no place."""
    return np.array(
        [(span.start, span.end) for span in spans if span.start is not None], dtype=np.int64
    ).reshape(-1, 2)


def _has_severities(side: Sequence[Sequence[Mark]]) -> bool:
    given = [span.severity for spans in side for span in spans if span.start is not None]
    return not given or any(severity is not None for severity in given)


def _has_categories(side: Sequence[Sequence[Mark]]) -> bool:
    return bool(named_categories(side)) or not any(map(len, map(interval_rows, side)))


def _graded(found: Sequence[Mark], gold: Sequence[Mark]) -> Overlap:
    sides, grades = [], []
    for side in (found, gold):
        kept = [(span, span.severity) for span in side if span.start is not None]
        sides.append(interval_rows(span for span, severity in kept if severity is not None))
        grades.append([int(severity >= _MAJOR) for _, severity in kept if severity is not None])
    return graded_overlap(*sides, found_grades=grades[0], gold_grades=grades[1])


def _placed(measure: Callable[[NDArray[np.int64], NDArray[np.int64]], Overlap]) -> Compare:
    return lambda found, gold: measure(interval_rows(found), interval_rows(gold))


MEASURES: Mapping[str, Compare] = MappingProxyType(
    {
        "characters": _placed(character_overlap),
        "exact": _placed(exact_overlap),
        _GRADED: _graded,
        _HARD: hard_overlap,
        "matched": _placed(matched_overlap),
    }
)
"""Characters in common; the same spans; characters by severity, minor or major; characters of the
same category; pairs of spans that overlap by half."""
