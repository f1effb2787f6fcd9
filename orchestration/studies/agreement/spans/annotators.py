"""Annotators: whether people mark what other people mark, the most a judge can be asked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from spanjury.orchestration.studies.agreement.spans.estimates import (
    Effects,
    Estimate,
    Settings,
    estimates,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    Gold,
    GoldSpan,
    interval_rows,
    overlaps,
)
from spanjury.stats.spans.gamma import Gamma, gamma
from spanjury.stats.spans.span_agreement import Agreement, macro_effect, micro_effect
from spanjury.stats.weighted import Weighted


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFinding:
    """Agreement of two annotators on the texts that both have read.

    Parameters
    ----------
    figures
        ``MEASURE.micro`` and ``MEASURE.macro`` -> F1, the same whoever is taken for gold;
        measures as in `MEASURES`.
    gamma
        Agreement on places beyond chance.
    gamma_with_categories
        On places and categories.
    """

    first: str
    second: str
    texts: int
    figures: Mapping[str, Estimate]
    gamma: Gamma
    gamma_with_categories: Gamma


def annotator_pairs(
    gold: Gold, lengths: Mapping[str, int], *, settings: Settings
) -> Iterator[PairFinding]:
    """Compare all annotators with a name, two by two, on the texts that both have read.

    Parameters
    ----------
    lengths
        Id of the segment -> code points of its output; texts that are not here are skipped.
    """
    names = sorted({name for readers in gold.readers.values() for name in readers} - {""})
    for first, second in combinations(names, 2):
        texts = [
            name
            for name, readers in gold.readers.items()
            if {first, second} <= {*readers} and lengths.get(name)
        ]
        if texts:
            yield _pair(first, second, texts=texts, gold=gold, lengths=lengths, settings=settings)


def _pair(
    first: str,
    second: str,
    *,
    texts: Sequence[str],
    gold: Gold,
    lengths: Mapping[str, int],
    settings: Settings,
) -> PairFinding:
    sides = [
        [[span for span in gold.spans[name] if span.annotator == who] for name in texts]
        for who in (first, second)
    ]
    intervals = [[interval_rows(spans) for spans in side] for side in sides]
    sizes = [lengths[name] for name in texts]

    def compared(labels: tuple[list[list[int]], list[list[int]]] | None = None) -> Gamma:
        rng = np.random.default_rng(settings.seed)
        samples = settings.samples
        return gamma(*intervals, lengths=sizes, rng=rng, labels=labels, samples=samples)

    return PairFinding(
        first=first,
        second=second,
        texts=len(texts),
        figures=estimates(_effects(*sides), texts=len(texts), settings=settings),
        gamma=compared(),
        gamma_with_categories=compared(_labels(*sides)),
    )


def _effects(first: Sequence[Sequence[GoldSpan]], second: Sequence[Sequence[GoldSpan]]) -> Effects:
    effects: dict[tuple[str, ...], Weighted] = {}
    for measure, rows in overlaps(first, second).items():
        for average, effect in (("micro", micro_effect(rows)), ("macro", macro_effect(rows))):
            effects[f"{measure}.{average}",] = _f1(effect)
    return effects


def _f1(effect: Weighted) -> Weighted:
    column = Agreement._fields.index("f1")
    return lambda counts: effect(counts)[:, [column]]


def _labels(
    first: Sequence[Sequence[GoldSpan]], second: Sequence[Sequence[GoldSpan]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the number of each category, for the spans that have a place."""
    numbers: dict[str, int] = {}

    def labelled(side: Sequence[Sequence[GoldSpan]]) -> list[list[int]]:
        return [
            [
                numbers.setdefault(span.category, len(numbers))
                for span in spans
                if span.start is not None
            ]
            for spans in side
        ]

    return labelled(first), labelled(second)
