"""Gold spans and measures: what the spans of two sides have in common, and annotators in pairs.

Soft agreement asks for the same characters, hard agreement for the same category besides [1]_.
Upper and lower case, and blanks around a name, make no other category. A span without a category
agrees with none, but counts among those of its side.

References
----------
.. [1] Kasner et al. (2025), Large language models as span annotators, arXiv:2504.08697
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import ConfigError, ErrorSpan, Segment
from spanjury.orchestration.studies.estimates import Effects, Settings, estimates, numbered
from spanjury.orchestration.studies.sources import source_of
from spanjury.stats.resampling import Estimate
from spanjury.stats.spans.gamma import Gamma, gamma
from spanjury.stats.spans.span_agreement import (
    Agreement,
    Overlap,
    character_overlap,
    exact_overlap,
    graded_overlap,
    macro_effect,
    micro_effect,
)
from spanjury.stats.spans.span_matching import matched_overlap
from spanjury.stats.weighted import Weighted

Marking = tuple[str, str, str, tuple[ErrorSpan, ...] | None]
"""Judge, id of the segment, its output, and the spans that it marked; None without a verdict."""

_READERS = ("annotators", "annotator")
"""Keys of a segment's meta that say who read it."""
NO_CATEGORIES: Mapping[str, str] = MappingProxyType({})
_GRADED = "graded"
_HARD = "hard"
_MAJOR = 3
"""From this severity on an error counts as major where there are two grades only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSpan:
    """One error that a person marked.

    `start`, `end`: half-open offsets in code points of the output; both None for an omission.
    """

    start: int | None
    end: int | None
    category: str = ""
    """Sort of error; empty where it is not known."""
    severity: int | None = None
    """1 to 5; None where it is not known."""
    annotator: str = ""
    """Name of who marked it; empty where it is not known."""


class Gold(NamedTuple):
    """Gold spans of texts; a text that is here without any was found to have no error."""

    spans: Mapping[str, tuple[GoldSpan, ...]]
    """Id of the segment -> all annotators' spans."""
    readers: Mapping[str, tuple[str, ...]]
    """Id of the segment -> who read it, with or without marking anything."""
    lengths: Mapping[str, int] = MappingProxyType({})
    """Id of the segment -> code points of its output; annotators are compared on these texts."""
    sources: Mapping[str, str] = MappingProxyType({})
    """Id of the segment -> its source; a text that is not here is its own."""

    @property
    def has_pairs(self) -> bool:
        """True if two people with names read one text."""
        return any(len({*readers} - {""}) > 1 for readers in self.readers.values())


def gold_of(segments: Iterable[Segment]) -> Gold:
    """Take the gold spans out of segments.

    A text's meta names its readers, under ``annotators`` (a list) or ``annotator``, and so does
    who marked something in it, as `readers_of` has it. Where the meta names one reader, spans
    without a name are that reader's.
    """
    spans: dict[str, tuple[GoldSpan, ...]] = {}
    readers: dict[str, tuple[str, ...]] = {}
    lengths: dict[str, int] = {}
    sources: dict[str, str] = {}
    for segment in segments:
        names = next((segment.meta[key] for key in _READERS if key in segment.meta), ())
        several = names if isinstance(names, list) else ()
        named = (names,) if isinstance(names, str) else tuple(map(str, several))
        only = named[0] if len(named) == 1 else ""
        marked = tuple(
            GoldSpan(
                start=span.start,
                end=span.end,
                category=span.category,
                severity=span.severity,
                annotator=span.found_by[0] if span.found_by else only,
            )
            for span in segment.gold
        )
        spans[segment.segment_id] = marked
        readers[segment.segment_id] = readers_of(marked, named)
        lengths[segment.segment_id] = len(segment.output)
        sources[segment.segment_id] = source_of(segment)
    return Gold(spans, readers, lengths, sources)


def readers_of(spans: Sequence[GoldSpan], named: Iterable[str] = ()) -> tuple[str, ...]:
    """Return who read a text: those `named`, and those who marked something in it.

    There is one reader at least; it has no name where none was given.
    Annotators who read a text and marked nothing look the same as those who did not read
    it: say who read it wherever several did.
    """
    return tuple(dict.fromkeys([*named, *(span.annotator for span in spans)])) or ("",)


Mark = ErrorSpan | GoldSpan
Side = Sequence[Sequence[Mark]]
Compare = Callable[[Sequence[Mark], Sequence[Mark]], Overlap]


def overlaps(side: Side, gold: Side) -> dict[str, NDArray[np.float64]]:
    """Compare two sides on the same texts.

    Return measure, as in `MEASURES` -> `Overlap` of each text, shape ``(texts, 3)``. Spans without
    a place are skipped, and of ``graded`` those without a severity too; it is NaN throughout if one
    side has spans and never a severity. So is ``hard`` if one side never has a category.
    """
    rows = {
        name: np.array(
            [compare(*spans) for spans in zip(side, gold, strict=True)], dtype=np.float64
        ).reshape(-1, len(Overlap._fields))
        for name, compare in MEASURES.items()
    }
    if not all(map(_has_severities, (side, gold))):
        rows[_GRADED][:] = np.nan
    if not all(map(_has_categories, (side, gold))):
        rows[_HARD][:] = np.nan
    return rows


def category_overlaps(side: Side, gold: Side) -> dict[str, NDArray[np.float64]]:
    """Compare two sides category by category, on the same texts.

    Return category, in the order of the alphabet -> `Overlap` of each text, shape ``(texts, 3)``;
    empty if one side has no categories.
    """
    if not (named_categories(side) and named_categories(gold)):
        return {}
    pairs = list(zip(side, gold, strict=True))
    return {
        name: np.array([_of_category(name, *pair) for pair in pairs], dtype=np.float64)
        for name in named_categories(side, gold)
    }


def category_map(pairs: Iterable[str], *, gold: Gold | None) -> dict[str, str]:
    """Read which of a judge's categories means which gold category.

    Raise `ConfigError` if a pair has another form, a judge's category comes twice, or
    people marked no such gold category.

    `pairs`: each of the form ``JUDGE=GOLD``; several of a judge's may mean one gold category.
    `gold`: spans that people marked; None without any.
    """
    marked = [span for spans in gold.spans.values() for span in spans] if gold else []
    sorts = {_folded(span.category): span.category for span in marked if span.category}
    meanings: dict[str, str] = {}
    for pair in pairs:
        judge, sign, people = pair.partition("=")
        meaning, problem = sorts.get(_folded(people)), ""
        if not sign or not judge.strip() or not people.strip():
            problem = "expected JUDGE=GOLD, as hallucination=Addition"
        elif meaning is None:
            names = ", ".join(sorted(sorts.values())) or "none at all"
            problem = f"people marked no {people!r}; they marked {names}"
        elif meanings.setdefault(_folded(judge), meaning) != meaning:
            problem = f"{judge!r} was paired with another category before; keep one"
        if problem:
            raise ConfigError(f"--category {pair!r}: {problem}")
    return meanings


def renamed(spans: Iterable[ErrorSpan], categories: Mapping[str, str]) -> tuple[ErrorSpan, ...]:
    """Return `spans` with the gold categories that theirs mean; others are kept."""
    if not categories:
        return tuple(spans)
    return tuple(
        replace(span, category=meaning) if meaning is not None else span
        for span in spans
        for meaning in (categories.get(_folded(span.category)),)
    )


def named_categories(*sides: Side) -> list[str]:
    """Return the categories of placed spans, in lower case."""
    marks = (span for side in sides for spans in side for span in spans)
    return sorted({_folded(span.category) for span in marks if span.start is not None} - {""})


def hard_overlap(predicted: Sequence[Mark], gold: Sequence[Mark]) -> Overlap:
    """Count the characters that both sides mark with the same category.

    Characters of each category are counted once on each side, and added up over categories.
    """
    parts = [_of_category(name, predicted, gold) for name in named_categories([predicted], [gold])]
    parts.append(_of_category("", predicted, gold)._replace(both=0.0))
    both, marked, true = (sum(column) for column in zip(*parts, strict=True))
    return Overlap(both, marked, true)


def interval_rows(spans: Iterable[Mark]) -> NDArray[np.int64]:
    """Return where spans are, shape ``(n, 2)``, without those that have no place."""
    return np.array(
        [(span.start, span.end) for span in spans if span.start is not None], dtype=np.int64
    ).reshape(-1, 2)


def _has_severities(side: Side) -> bool:
    given = [span.severity for spans in side for span in spans if span.start is not None]
    return not given or any(severity is not None for severity in given)


def _has_categories(side: Side) -> bool:
    return bool(named_categories(side)) or not any(map(len, map(interval_rows, side)))


def _graded(predicted: Sequence[Mark], gold: Sequence[Mark]) -> Overlap:
    sides, grades = [], []
    for side in (predicted, gold):
        kept = [(span, span.severity) for span in side if span.start is not None]
        sides.append(interval_rows(span for span, severity in kept if severity is not None))
        grades.append([int(severity >= _MAJOR) for _, severity in kept if severity is not None])
    return graded_overlap(*sides, predicted_grades=grades[0], gold_grades=grades[1])


def _of_category(name: str, predicted: Sequence[Mark], gold: Sequence[Mark]) -> Overlap:
    sides = (
        interval_rows(span for span in side if _folded(span.category) == name)
        for side in (predicted, gold)
    )
    return character_overlap(*sides)


def _folded(category: str) -> str:
    return category.strip().casefold()


def _placed(measure: Callable[[NDArray[np.int64], NDArray[np.int64]], Overlap]) -> Compare:
    return lambda predicted, gold: measure(interval_rows(predicted), interval_rows(gold))


MEASURES: Mapping[str, Compare] = {
    "characters": _placed(character_overlap),
    "exact": _placed(exact_overlap),
    _GRADED: _graded,
    _HARD: hard_overlap,
    "matched": _placed(matched_overlap),
}
"""Characters in common; the same spans; characters by severity, minor or major; characters of the
same category; pairs of spans that overlap by half."""
AVERAGES: Mapping[str, Callable[[NDArray[np.float64]], Weighted]] = {
    "micro": micro_effect,
    "macro": macro_effect,
}
"""All texts counted together, and the mean of texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFinding:
    """Agreement of two annotators on the texts that both have read: the most to ask of a judge."""

    first: str
    second: str
    texts: int
    figures: Mapping[str, Estimate]
    """``MEASURE.micro`` and ``MEASURE.macro`` -> F1, the same whoever is taken for gold; measures
    as in `MEASURES`."""
    gamma: Gamma
    """Agreement on places beyond chance."""
    gamma_with_categories: Gamma
    """On places and categories; NaN if one side has spans and never a category."""


def annotator_pairs(gold: Gold, *, settings: Settings) -> Iterator[PairFinding]:
    """Compare all annotators with a name, two by two, on the texts that both have read."""
    names = sorted({name for readers in gold.readers.values() for name in readers} - {""})
    for first, second in combinations(names, 2):
        texts = [
            name
            for name, readers in gold.readers.items()
            if {first, second} <= {*readers} and gold.lengths.get(name)
        ]
        if texts:
            yield _pair(first, second, texts=texts, gold=gold, settings=settings)


def _pair(
    first: str, second: str, *, texts: Sequence[str], gold: Gold, settings: Settings
) -> PairFinding:
    lengths = [gold.lengths[name] for name in texts]
    sources, _ = numbered([gold.sources.get(name, name) for name in texts])
    sides = [
        [[span for span in gold.spans[name] if span.annotator == who] for name in texts]
        for who in (first, second)
    ]
    intervals = [[interval_rows(spans) for spans in side] for side in sides]

    def compared(labels: tuple[list[list[int]], list[list[int]]] | None = None) -> Gamma:
        rng = np.random.default_rng(settings.seed)
        samples = settings.samples
        return gamma(*intervals, lengths=lengths, rng=rng, labels=labels, samples=samples)

    effects: Effects = {
        (f"{measure}.{average}",): _f1(effect_of(rows))
        for measure, rows in overlaps(*sides).items()
        for average, effect_of in AVERAGES.items()
    }
    return PairFinding(
        first=first,
        second=second,
        texts=len(texts),
        figures=estimates(effects, sources=sources, settings=settings),
        gamma=compared(),
        gamma_with_categories=compared(_labels(*sides))
        if all(map(_has_categories, sides))
        else Gamma(np.nan, np.nan, np.nan, np.nan),
    )


def _f1(effect: Weighted) -> Weighted:
    column = Agreement._fields.index("f1")
    return lambda counts: effect(counts)[:, [column]]


def _labels(first: Side, second: Side) -> tuple[list[list[int]], list[list[int]]]:
    """Return the number of each category, one for each span without, of spans that have a place."""
    numbers: dict[str, int] = {}

    def labelled(side: Side) -> list[list[int]]:
        return [
            [
                numbers.setdefault(_folded(span.category) or f" {len(numbers)}", len(numbers))
                for span in spans
                if span.start is not None
            ]
            for spans in side
        ]

    return labelled(first), labelled(second)
