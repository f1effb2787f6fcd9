"""Score arrays: errors that one judge marked beside those of people, text by text."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import DataError, ErrorSpan
from spanjury.orchestration.studies.agreement.spans.gold import Gold, GoldSpan, Marking
from spanjury.orchestration.studies.agreement.spans.measures import (
    category_overlaps,
    interval_rows,
    overlaps,
)

FloatArray = NDArray[np.float64]


class SpanPair(NamedTuple):
    """The spans that a judge and a reader marked in a text, of the shape ``(n, 2)``."""

    predicted: NDArray[np.int64]
    gold: NDArray[np.int64]
    length: int
    """Code points of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreArrays:
    """One judge's spans, compared with those of every reader of each text.

    A text that several people read is compared with each of them: a reading is one text and one
    reader. Figures are resampled by texts, so that readings of one text stay together.

    Parameters
    ----------
    texts
        Ids of the texts with a verdict and with gold, in order.
    owner
        Shape ``(readings,)``: which text it is of.
    overlaps
        Measure -> what judge and reader have in common, shape ``(readings, 3)``.
    categories
        The same by category; empty where judge or readers name none.
    gold
        Shape ``(readings,)``: spans that the reader marked.
    marked, quotes, hallucinated
        Shape ``(texts,)``: spans that the judge marked, those with a quote, and those whose
        quote is not in the text.
    severities
        For each text those of the judge's spans that have one.
    span_pairs
        For each reading the offsets of the judge's spans, and of the reader's.
    """

    judge: str
    texts: tuple[str, ...]
    owner: NDArray[np.int64]
    overlaps: Mapping[str, FloatArray]
    categories: Mapping[str, FloatArray]
    gold: FloatArray
    marked: FloatArray
    quotes: FloatArray
    hallucinated: FloatArray
    severities: tuple[tuple[int, ...], ...]
    span_pairs: tuple[SpanPair, ...]
    failures: int
    without_gold: int


def collected(markings: Iterable[Marking], gold: Gold) -> Iterator[ScoreArrays]:
    """Put every judge's spans beside the gold ones, judges in the order of their appearance.

    Raise `DataError` if a judge speaks of a text twice, or a gold span runs over the end of
    its text.
    """
    by_judge: dict[str, dict[str, tuple[str, tuple[ErrorSpan, ...] | None]]] = {}
    for judge, segment_id, output, spans in markings:
        texts = by_judge.setdefault(judge, {})
        if segment_id in texts:
            raise DataError(f"{judge!r} speaks of {segment_id!r} twice, expected one verdict")
        texts[segment_id] = (output, spans)
    for judge, texts in by_judge.items():
        yield _score_arrays(judge, texts, gold)


def _score_arrays(
    judge: str, texts: Mapping[str, tuple[str, tuple[ErrorSpan, ...] | None]], gold: Gold
) -> ScoreArrays:
    judged: dict[str, tuple[ErrorSpan, ...]] = {}
    for segment_id, (output, spans) in texts.items():
        _refuse_outside(segment_id, gold.spans.get(segment_id, ()), output)
        if spans is not None and segment_id in gold.spans:
            judged[segment_id] = spans
    readings: list[tuple[int, list[GoldSpan]]] = [
        (text, [span for span in gold.spans[segment_id] if span.annotator == reader])
        for text, segment_id in enumerate(judged)
        for reader in gold.readers[segment_id]
    ]
    marked = [*judged.values()]
    lengths = [len(texts[segment_id][0]) for segment_id in judged]
    sides = ([marked[text] for text, _ in readings], [spans for _, spans in readings])
    return ScoreArrays(
        judge=judge,
        texts=tuple(judged),
        owner=np.array([text for text, _ in readings], dtype=np.int64),
        overlaps=overlaps(*sides),
        categories=category_overlaps(*sides),
        gold=np.array([len(spans) for _, spans in readings], dtype=np.float64),
        marked=_counts(marked, lambda _: True),
        quotes=_counts(marked, lambda span: bool(span.text)),
        hallucinated=_counts(marked, lambda span: span.hallucinated),
        severities=tuple(
            tuple(span.severity for span in spans if span.severity is not None) for spans in marked
        ),
        span_pairs=tuple(
            SpanPair(interval_rows(marked[text]), interval_rows(spans), lengths[text])
            for text, spans in readings
        ),
        failures=sum(spans is None and name in gold.spans for name, (_, spans) in texts.items()),
        without_gold=sum(name not in gold.spans for name in texts),
    )


def _counts(
    marked: Sequence[Sequence[ErrorSpan]], counted: Callable[[ErrorSpan], bool]
) -> FloatArray:
    return np.array([sum(map(counted, spans)) for spans in marked], dtype=np.float64)


def _refuse_outside(segment_id: str, spans: Sequence[GoldSpan], output: str) -> None:
    for span in spans:
        if span.start is not None and not 0 <= span.start < (span.end or 0) <= len(output):
            raise DataError(
                f"{segment_id!r}: got a gold span from {span.start} to {span.end}, expected one "
                f"within the {len(output)} code points of the output"
            )
