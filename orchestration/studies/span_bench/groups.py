"""Groups: a judge's figures by category of its spans, by kind of error, and by kind of text."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Decision
from spanjury.orchestration.studies.estimates import Effects, Estimate, Settings
from spanjury.orchestration.studies.span_bench.figures import (
    Arrays,
    BoolArray,
    effects_of,
    estimated,
)
from spanjury.orchestration.studies.span_bench.gold import Answer, BenchText, Failure
from spanjury.stats.arrays import FloatArray
from spanjury.stats.weighted import Weighted, ratio

GAINS = ("characters.f1", "score.auroc", "decision.balanced_accuracy")
"""The figures that are compared."""
OF_GROUPS = (
    "flagged.faulty",
    "flagged.error_free",
    "score.auroc",
    "faulty.balanced_accuracy",
    "places.hit",
    "characters.f1",
)
"""The figures of a group of texts."""


def gains_of(judge: Arrays, baseline: Arrays, *, settings: Settings) -> Mapping[str, Estimate]:
    """Return the differences of `GAINS`; both sides meet the same draws of sources."""
    both = judge.judged & baseline.judged
    sides = [effects_of(side.only(both)) for side in (judge, baseline)]
    differences: Effects = {
        (name,): _difference(sides[0][names], sides[1][names], at=names.index(name))
        for names in sides[0]
        for name in GAINS
        if name in names
    }
    return estimated(differences, judge, settings=settings)


def _difference(first: Weighted, second: Weighted, *, at: int) -> Weighted:
    """Return by how much one of the figures of an effect is greater."""

    def weighted(counts: FloatArray) -> FloatArray:
        shape = (len(counts), -1)
        return (first(counts).reshape(shape) - second(counts).reshape(shape))[:, at]

    return weighted


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Texts with an answer, and texts that there are, of each sort.

    `error_free`, `faulty`: those of which it is known.
    """

    texts: tuple[int, int]
    """All of which anything is known."""
    marked: tuple[int, int]
    """Those whose places of errors are known, or that have none: spans are compared on them."""
    error_free: tuple[int, int]
    faulty: tuple[int, int]
    rated: tuple[int, int]
    """Those with people's scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Spans of one category, or places of one kind of error.

    `spans`, `texts`: how many there are, and on how many texts.
    """

    name: str
    share: Estimate
    """Share of the spans' characters that people mark, or of the places' that the judge marks."""
    touched: Estimate
    """Share of the spans that touch a place, or of the places that a span touches."""
    spans: int
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDecisions:
    """The decisions on the texts that have an error of one kind."""

    name: str
    texts: int
    decisions: Mapping[Decision, int]
    """Decision -> texts; those without an answer are in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextGroup:
    """Some of the texts, as those of one kind of error or of one system."""

    name: str
    coverage: Coverage
    figures: Mapping[str, Estimate]
    """Those of `OF_GROUPS`."""


def text_groups(
    texts: Sequence[BenchText], arrays: Arrays, *, settings: Settings
) -> Iterator[TextGroup]:
    """Yield the figures of each group, in the order of their names."""
    for name in sorted({name for text in texts for name in text.groups}):
        inside = np.array([name in text.groups for text in texts], dtype=np.bool_)
        part = arrays.only(inside)
        effects = {
            names: effect
            for names, effect in effects_of(part).items()
            if not set(OF_GROUPS).isdisjoint(names)
        }
        figures = estimated(effects, part, settings=settings)
        yield TextGroup(
            name=name,
            coverage=coverage_of(texts, part, among=inside),
            figures={figure: figures[figure] for figure in OF_GROUPS},
        )


def decisions_by_kind(
    texts: Sequence[BenchText], answers: Sequence[Answer | Failure]
) -> Iterator[KindDecisions]:
    """Yield the decisions by kind of the marked errors; a text with two kinds is in both."""
    kinds = [{kind for error in text.gold or () for kind in error.kinds} for text in texts]
    for name in sorted(set().union(*kinds)):
        inside = [answer for answer, own in zip(answers, kinds, strict=True) if name in own]
        counts = Counter(answer.decision for answer in inside if isinstance(answer, Answer))
        yield KindDecisions(
            name=name,
            texts=len(inside),
            decisions={decision: counts[decision] for decision in Decision},
        )


def coverage_of(
    texts: Sequence[BenchText], arrays: Arrays, *, among: BoolArray | None = None
) -> Coverage:
    """Count the texts of each sort, all of them or some, and those with an answer."""
    sorts = {
        "texts": [True for _ in texts],
        "marked": [text.gold is not None for text in texts],
        "error_free": [text.faulty is False for text in texts],
        "faulty": [text.faulty is True for text in texts],
        "rated": [text.human is not None for text in texts],
    }
    inside = np.ones(len(texts), dtype=np.bool_) if among is None else among
    counted = {name: inside & np.array(such, dtype=np.bool_) for name, such in sorts.items()}
    return Coverage(
        **{
            name: (int(np.count_nonzero(arrays.judged & such)), int(np.count_nonzero(such)))
            for name, such in counted.items()
        }
    )


def groups_of(
    rows: Mapping[str, FloatArray], arrays: Arrays, *, settings: Settings
) -> tuple[Group, ...]:
    """Estimate the two shares of each group, those with most spans first."""
    groups = [_group(name, row, arrays, settings=settings) for name, row in rows.items()]
    return tuple(sorted(groups, key=lambda group: (-group.spans, group.name)))


def _group(name: str, rows: FloatArray, arrays: Arrays, *, settings: Settings) -> Group:
    both, characters, touched, spans = rows.T
    effect = ratio(np.stack([both, touched]), np.stack([characters, spans]))
    shares = estimated({("share", "touched"): effect}, arrays, settings=settings)
    return Group(
        name=name,
        share=shares["share"],
        touched=shares["touched"],
        spans=int(np.nansum(spans)),
        texts=int(np.count_nonzero(np.nan_to_num(spans))),
    )
