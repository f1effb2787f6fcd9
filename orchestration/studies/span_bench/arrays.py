"""Arrays: what a judge answers beside what people found, text by text of one set."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Decision
from spanjury.judges.text.words import words
from spanjury.orchestration.studies.span_bench.answers import Answer, Failure
from spanjury.orchestration.studies.span_bench.gold import BenchText, GoldPlace
from spanjury.stats.arrays import FloatArray
from spanjury.stats.spans.localisation import localisation
from spanjury.stats.spans.span_agreement import Overlap, character_overlap

BoolArray = NDArray[np.bool_]
Interval = tuple[int, int]
_Pair = tuple[BenchText, Answer | None]
_Row = tuple[float, ...]
_Side = Callable[[str], Callable[[_Pair], _Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """Answers of one judge to the texts of a set; NaN where there is none, or nothing is known.

    Shapes are ``(texts,)``, or ``(texts, n)`` where `n` is given.

    Parameters
    ----------
    sources
        Number of the source of each text, from 0, the same for every judge.
    judged
        Whether there is an answer with a score.
    faulty
        Whether the text has an error, 0 or 1.
    characters, words
        `Overlap` of what the judge marks with what people mark; ``n`` is 3.
    hits
        Places that the judge touches, that it would touch by chance, and that there are;
        ``n`` is 3.
    spans
        Spans that touch a place, and all that have one of their own; ``n`` is 2.
    flagged
        Whether any error is reported.
    unsure, decided
        Whether the decision is *unsure* or *faulty*, and whether it is *faulty*.
    by_category
        Category -> characters that people mark in spans of it, characters in spans of it, spans
        of it that touch a place, and spans of it; ``n`` is 4.
    by_kind, by_extent
        Kind or extent of errors -> characters at their places that the judge marks, characters
        there, places of it that are touched, and places; ``n`` is 4.
    """

    sources: NDArray[np.int64]
    judged: BoolArray
    faulty: FloatArray
    characters: FloatArray
    words: FloatArray
    hits: FloatArray
    spans: FloatArray
    flagged: FloatArray
    suspicion: FloatArray
    probability: FloatArray
    unsure: FloatArray
    decided: FloatArray
    human: FloatArray
    by_category: Mapping[str, FloatArray]
    by_kind: Mapping[str, FloatArray]
    by_extent: Mapping[str, FloatArray]

    def only(self, kept: BoolArray) -> "Arrays":
        """Leave out the answers to other texts, but for what is grouped by category or kind."""

        def of_kept(values: FloatArray) -> FloatArray:
            return np.where(kept if values.ndim == 1 else kept[:, np.newaxis], values, np.nan)

        return replace(
            self,
            judged=self.judged & kept,
            characters=of_kept(self.characters),
            words=of_kept(self.words),
            hits=of_kept(self.hits),
            spans=of_kept(self.spans),
            flagged=of_kept(self.flagged),
            suspicion=of_kept(self.suspicion),
            probability=of_kept(self.probability),
            unsure=of_kept(self.unsure),
            decided=of_kept(self.decided),
        )


def arrays_of(texts: Sequence[BenchText], answers: Sequence[Answer | Failure]) -> Arrays:
    """Put the answers of a judge beside what is known of the texts, in the same order."""
    given = [answer if isinstance(answer, Answer) else None for answer in answers]
    pairs = list(zip(texts, given, strict=True))
    _, sources = np.unique([text.source for text in texts], return_inverse=True)
    return Arrays(
        sources=sources.astype(np.int64),
        judged=np.array([answer is not None for answer in given], dtype=np.bool_),
        faulty=_numbers(text.faulty for text in texts),
        characters=_rows(pairs, _characters, width=3),
        words=_rows(pairs, _words, width=3),
        hits=_rows(pairs, _hits, width=3),
        spans=_rows(pairs, _spans, width=2),
        flagged=_stated(given, lambda answer: answer.is_flagged),
        suspicion=_stated(given, lambda answer: answer.suspicion),
        probability=_stated(given, lambda answer: answer.probability),
        unsure=_stated(given, lambda answer: answer.decision is not Decision.OK),
        decided=_stated(given, lambda answer: answer.decision is Decision.FAULTY),
        human=_numbers(text.human for text in texts),
        by_category=_grouped(pairs, _categories(given), _of_category),
        by_kind=_grouped(pairs, _named(texts, kinds_of), _at(kinds_of)),
        by_extent=_grouped(pairs, _named(texts, extents_of), _at(extents_of)),
    )


def kinds_of(gold_place: GoldPlace) -> tuple[str, ...]:
    """Return the kinds of the error at a place."""
    return gold_place.kinds


def extents_of(gold_place: GoldPlace) -> tuple[str, ...]:
    """Return the extent of the error at a place, if it is known."""
    return (gold_place.extent,) if gold_place.extent else ()


def _numbers(values: Iterable[float | None]) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _stated(
    given: Sequence[Answer | None], value_of: Callable[[Answer], float | None]
) -> FloatArray:
    return _numbers(None if answer is None else value_of(answer) for answer in given)


def _rows(pairs: Sequence[_Pair], compare: Callable[[_Pair], _Row], *, width: int) -> FloatArray:
    """Compare the pairs; NaN where there is no answer, or no place is known."""
    rows = np.full((len(pairs), width), np.nan)
    for row, pair in zip(rows, pairs, strict=True):
        text, answer = pair
        if answer is not None and text.gold is not None:
            row[:] = compare(pair)
    return rows


def _grouped(pairs: Sequence[_Pair], names: Iterable[str], compare: _Side) -> dict[str, FloatArray]:
    return {name: _rows(pairs, compare(name), width=4) for name in names}


def _marked(pair: _Pair, *, category: str | None = None) -> list[Interval]:
    """Return where a judge marks errors, of a category or at all."""
    _, answer = pair
    assert answer is not None
    return [
        (span.start, span.end)
        for span in answer.spans
        if category is None or span.category == category
    ]


def _gold(pair: _Pair) -> list[Interval]:
    """Return where people mark errors."""
    text, _ = pair
    return [(error.start, error.end) for error in text.gold or ()]


def _characters(pair: _Pair) -> Overlap:
    return character_overlap(_marked(pair), _gold(pair))


def _words(pair: _Pair) -> Overlap:
    """Count words; one is marked if any character of it is."""
    cut = words(pair[0].segment.output)
    starts, ends = [word.start for word in cut], [word.end for word in cut]

    def numbered(intervals: Sequence[Interval]) -> list[Interval]:
        """Return intervals of words in place of intervals of characters."""
        whole = ((bisect_right(ends, start), bisect_left(starts, end)) for start, end in intervals)
        return [(first, stop) for first, stop in whole if first < stop]

    return character_overlap(numbered(_marked(pair)), numbered(_gold(pair)))


def _hits(pair: _Pair) -> _Row:
    met = localisation(_marked(pair), _gold(pair), length=len(pair[0].segment.output))
    return met.hits, met.hits_by_chance, met.places


def _spans(pair: _Pair) -> _Row:
    *_, right, there = _side(_gold(pair), _marked(pair), pair)
    return right, there


def _side(spans: Sequence[Interval], within: Sequence[Interval], pair: _Pair) -> _Row:
    """Return what of `within` lies in `spans`: characters, of how many, places, of how many."""
    met = localisation(spans, within, length=len(pair[0].segment.output))
    return met.both, met.damaged, met.hits, met.places


def _categories(given: Iterable[Answer | None]) -> list[str]:
    return sorted({span.category for answer in given if answer for span in answer.spans} - {""})


def _of_category(name: str) -> Callable[[_Pair], _Row]:
    """Return the comparison of the spans of a category with all places: its precision."""
    return lambda pair: _side(_gold(pair), _marked(pair, category=name), pair)


def _named(texts: Iterable[BenchText], names_of: Callable[[GoldPlace], Sequence[str]]) -> list[str]:
    errors = (error for text in texts for error in text.gold or ())
    return sorted({name for error in errors for name in names_of(error)})


def _at(names_of: Callable[[GoldPlace], Sequence[str]]) -> _Side:
    """Return what makes the comparison of all spans with the places of a name: its recall."""

    def of_name(name: str) -> Callable[[_Pair], _Row]:
        def compare(pair: _Pair) -> _Row:
            errors = [
                (error.start, error.end) for error in pair[0].gold or () if name in names_of(error)
            ]
            return _side(_marked(pair), errors, pair)

        return compare

    return of_name
