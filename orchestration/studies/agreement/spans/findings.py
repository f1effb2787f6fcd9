"""Findings: how far judges mark what people mark, judge by judge and group by group."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.agreement.spans.annotators import (
    PairFinding,
    annotator_pairs,
)
from spanjury.orchestration.studies.agreement.spans.estimates import (
    DEFAULTS,
    Effects,
    Estimate,
    Settings,
    by_owner,
    estimates,
)
from spanjury.orchestration.studies.agreement.spans.gold import (
    Gold,
    GoldSpan,
    Marking,
    readers_of,
)
from spanjury.orchestration.studies.agreement.spans.over_annotation import (
    OverAnnotation,
    over_annotation,
)
from spanjury.orchestration.studies.agreement.spans.score_arrays import ScoreArrays, collected
from spanjury.stats.spans.gamma import Gamma, gamma
from spanjury.stats.spans.span_agreement import Agreement, macro_effect, micro_effect
from spanjury.stats.spans.span_detection import (
    Detection,
    count_correlation,
    detection_effect,
    hallucination_effect,
)
from spanjury.stats.weighted import Weighted, of_items

_ALL = ""
_NO_GROUPS: Mapping[str, str] = MappingProxyType({})
_NO_READERS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFinding:
    """Agreement of one judge with people on error spans.

    Parameters
    ----------
    group
        The texts that are counted, as those of one system; empty for all of them.
    texts, readings
        Texts with a verdict and gold, and how often people have read one of them.
    failures, without_gold
        Texts without a verdict, and texts without gold: both are skipped; of all groups.
    figures
        Name -> figure. ``MEASURE.micro.precision`` and so on, measures as in `MEASURES`;
        ``detection.f1`` and so on, whether a text has any error; ``counts.spearman``, of the
        number of errors with the mean number of its readers; ``quotes.hallucinated``, the
        share of quotes that are not in the text. ``characters`` is soft agreement, ``hard`` that
        with the same category.
    categories
        Category -> figure, ``precision`` and so on, of its characters in all texts; empty
        where the judge or people name none.
    gamma
        Agreement on places with people beyond chance, over all readings; None for a group.
    """

    judge: str
    group: str
    texts: int
    readings: int
    failures: int
    without_gold: int
    figures: Mapping[str, Estimate]
    categories: Mapping[str, Mapping[str, Estimate]]
    gamma: Gamma | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanAgreement:
    """Findings of a comparison with gold spans.

    Parameters
    ----------
    judges
        Each judge on all texts, and then on each group of them.
    annotators
        People with people, two by two; empty where no text was read by two with names.
    """

    settings: Settings
    judges: tuple[JudgeFinding, ...]
    over_annotations: tuple[OverAnnotation, ...]
    annotators: tuple[PairFinding, ...]


def span_agreement(
    markings: Iterable[Marking],
    gold: Mapping[str, tuple[GoldSpan, ...]],
    *,
    readers: Mapping[str, tuple[str, ...]] = _NO_READERS,
    groups: Mapping[str, str] = _NO_GROUPS,
    with_annotators: bool = True,
    settings: Settings = DEFAULTS,
) -> SpanAgreement:
    """Compare what judges found, on one aspect, with what people marked.

    Parameters
    ----------
    gold
        Id of the segment -> spans; a text that is here without any is one without error.
    readers
        Id of the segment -> who read it, besides those who marked something in it; see
        `readers_of`.
    groups
        Id of the segment -> its group, as its system.
    """
    listed = [*markings]
    all_readers = {name: readers_of(spans, readers.get(name, ())) for name, spans in gold.items()}
    whole = Gold(gold, all_readers)
    score_arrays = [*collected(listed, whole)]
    lengths = {segment_id: len(output) for _, segment_id, output, _ in listed}
    return SpanAgreement(
        settings=settings,
        judges=tuple(
            finding
            for each in score_arrays
            for finding in _findings(each, groups, settings=settings)
        ),
        over_annotations=tuple(
            over_annotation(score_array, settings=settings) for score_array in score_arrays
        ),
        annotators=tuple(
            annotator_pairs(whole, lengths if with_annotators else {}, settings=settings)
        ),
    )


def _findings(
    score_arrays: ScoreArrays, groups: Mapping[str, str], *, settings: Settings
) -> Iterator[JudgeFinding]:
    yield _finding(score_arrays, _ALL, settings=settings)
    for group in dict.fromkeys(groups[name] for name in score_arrays.texts if name in groups):
        inside = np.array(
            [groups.get(name) == group for name in score_arrays.texts], dtype=np.bool_
        )
        yield _finding(_part(score_arrays, inside), group, settings=settings)


def _finding(score_arrays: ScoreArrays, group: str, *, settings: Settings) -> JudgeFinding:
    return JudgeFinding(
        judge=score_arrays.judge,
        group=group,
        texts=len(score_arrays.texts),
        readings=len(score_arrays.owner),
        failures=score_arrays.failures,
        without_gold=score_arrays.without_gold,
        figures=estimates(_effects(score_arrays), texts=len(score_arrays.texts), settings=settings),
        categories={} if group else _by_category(score_arrays, settings),
        gamma=None if group else _gamma(score_arrays, settings),
    )


def _by_category(score_arrays: ScoreArrays, settings: Settings) -> dict[str, dict[str, Estimate]]:
    texts = len(score_arrays.texts)
    return {
        name: estimates(
            {Agreement._fields: by_owner(micro_effect(rows), score_arrays.owner)},
            texts=texts,
            settings=settings,
        )
        for name, rows in score_arrays.categories.items()
    }


def _gamma(score_arrays: ScoreArrays, settings: Settings) -> Gamma:
    """Compare a judge with people as one annotator with another, reading by reading."""
    marked, gold, lengths = (
        zip(*score_arrays.span_pairs, strict=True) if score_arrays.span_pairs else ((),) * 3
    )
    if not sum(lengths):
        return Gamma(np.nan, np.nan, np.nan, np.nan)
    rng = np.random.default_rng(settings.seed)
    return gamma(marked, gold, lengths=lengths, rng=rng, samples=settings.samples)


def _effects(score_arrays: ScoreArrays) -> Effects:
    owner = score_arrays.owner
    effects: dict[tuple[str, ...], Weighted] = {}
    for measure, rows in score_arrays.overlaps.items():
        for average, effect in (("micro", micro_effect(rows)), ("macro", macro_effect(rows))):
            names = tuple(f"{measure}.{average}.{part}" for part in Agreement._fields)
            effects[names] = by_owner(effect, owner)
    names = tuple(f"detection.{part}" for part in Detection._fields)
    effects[names] = by_owner(
        detection_effect(score_arrays.marked[owner], score_arrays.gold), owner
    )
    effects["quotes.hallucinated",] = hallucination_effect(
        score_arrays.hallucinated, score_arrays.quotes
    )
    totals = np.bincount(owner, score_arrays.gold, minlength=len(score_arrays.texts))
    people = totals / np.bincount(owner, minlength=len(score_arrays.texts))
    counts = np.stack([score_arrays.marked, people])
    effects["counts.spearman",] = of_items(counts, lambda drawn: count_correlation(*drawn))
    return effects


def _part(score_arrays: ScoreArrays, inside: NDArray[np.bool_]) -> ScoreArrays:
    """Return the score arrays of some of the texts."""
    readings = inside[score_arrays.owner]
    return replace(
        score_arrays,
        texts=tuple(name for name, kept in zip(score_arrays.texts, inside, strict=True) if kept),
        owner=(np.cumsum(inside) - 1)[score_arrays.owner[readings]],
        overlaps={name: rows[readings] for name, rows in score_arrays.overlaps.items()},
        categories={name: rows[readings] for name, rows in score_arrays.categories.items()},
        gold=score_arrays.gold[readings],
        marked=score_arrays.marked[inside],
        quotes=score_arrays.quotes[inside],
        hallucinated=score_arrays.hallucinated[inside],
        severities=tuple(
            severity for severity, kept in zip(score_arrays.severities, inside, strict=True) if kept
        ),
        span_pairs=tuple(
            pair for pair, kept in zip(score_arrays.span_pairs, readings, strict=True) if kept
        ),
    )
