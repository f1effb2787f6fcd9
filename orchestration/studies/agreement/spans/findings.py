"""Findings: how far judges mark what people mark, and errors where people find none [1].

References
----------
.. [1] OpeNLGauge, Appendix K: among outputs that every person gave the best score on an aspect,
   those in which a judge finds an error. Where scales are binary the best score says too little.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import DataError, ErrorSpan, Segment
from spanjury.orchestration.studies.agreement.spans.measures import (
    AVERAGES,
    Gold,
    GoldSpan,
    Marking,
    category_overlaps,
    interval_rows,
    overlaps,
    readers_of,
)
from spanjury.orchestration.studies.estimates import (
    DEFAULTS,
    Effects,
    Settings,
    estimates,
    numbered,
)
from spanjury.stats.arrays import FloatArray, mean_of_defined
from spanjury.stats.proportions import clustered_proportion
from spanjury.stats.resampling import Estimate
from spanjury.stats.spans.gamma import Gamma, gamma
from spanjury.stats.spans.span_agreement import Agreement, micro_effect
from spanjury.stats.spans.span_detection import (
    Detection,
    count_correlation,
    detection_effect,
    hallucination_effect,
)
from spanjury.stats.weighted import Weighted, by_owner, mean_drop, of_items

_Verdicts = dict[str, tuple[str, tuple[ErrorSpan, ...] | None]]
"""Id of the segment -> its output, and the spans that a judge marked; None without a verdict."""


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
    reader. Figures are resampled by sources, so that readings of texts of one source stay together.

    `marked`, `quotes`, `hallucinated`: shape ``(texts,)``: spans that the judge marked, those with
    a quote, and those whose quote is not in the text.
    """

    judge: str
    texts: tuple[str, ...]
    """Ids of the texts with a verdict and with gold, in order."""
    sources: NDArray[np.intp]
    """Shape ``(texts,)``: number of the source of each text, from 0."""
    owner: NDArray[np.int64]
    """Shape ``(readings,)``: which text it is of."""
    overlaps: Mapping[str, FloatArray]
    """Measure -> what judge and reader have in common, shape ``(readings, 3)``."""
    categories: Mapping[str, FloatArray]
    """The same by category; empty where judge or readers name none."""
    gold: FloatArray
    """Shape ``(readings,)``: spans that the reader marked."""
    marked: FloatArray
    quotes: FloatArray
    hallucinated: FloatArray
    severities: tuple[tuple[int, ...], ...]
    """For each text those of the judge's spans that have one."""
    span_pairs: tuple[SpanPair, ...]
    """For each reading the offsets of the judge's spans, and of the reader's."""
    failures: int
    without_gold: int


def collected(
    markings: Iterable[Marking], gold: Gold, sources: Mapping[str, str]
) -> Iterator[ScoreArrays]:
    """Put every judge's spans beside the gold ones, judges in the order of their appearance.

    `sources`: id of the segment -> its source; a text that is not here is its own.

    Raise `DataError` if a judge speaks of a text twice, or a gold span runs over the end of
    its text.
    """
    by_judge: dict[str, _Verdicts] = {}
    for judge, segment_id, output, spans in markings:
        texts = by_judge.setdefault(judge, {})
        if segment_id in texts:
            raise DataError(f"{judge!r} has two verdicts on {segment_id!r}, expected one")
        texts[segment_id] = (output, spans)
    for judge, texts in by_judge.items():
        yield _score_arrays(judge, texts, gold, sources=sources)


def _score_arrays(
    judge: str, texts: _Verdicts, gold: Gold, *, sources: Mapping[str, str]
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
        sources=numbered([sources.get(name, name) for name in judged])[0],
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
    marked: Iterable[Sequence[ErrorSpan]], counted: Callable[[ErrorSpan], bool]
) -> FloatArray:
    return np.array([sum(map(counted, spans)) for spans in marked], dtype=np.float64)


def _refuse_outside(segment_id: str, spans: Sequence[GoldSpan], output: str) -> None:
    for span in spans:
        if span.start is not None and not 0 <= span.start < (span.end or 0) <= len(output):
            raise DataError(
                f"{segment_id!r}: got a gold span from {span.start} to {span.end}, expected one "
                f"within the {len(output)} code points of the output"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class OverAnnotation:
    """Errors that a judge marks where people mark none, or fewer.

    `mean_severity`, `max_severity`: mean over those in which it finds errors that have a severity.
    """

    judge: str
    flawless: int
    """Texts that people find without error and the judge has a verdict on; those `erring` to
    `max_severity` are about."""
    erring: Estimate
    """Share of them in which it finds an error."""
    spans: Estimate
    """Mean number of errors that it finds in one of them."""
    histogram: tuple[int, ...]
    """In how many of them it finds no error, one, two and so on."""
    mean_severity: float
    max_severity: float
    surplus: Estimate
    """By how many errors it finds more than a reader does, mean over all texts."""


def over_annotation(score_arrays: ScoreArrays, *, settings: Settings) -> OverAnnotation:
    """Count a judge's errors in the texts that no reader marked."""
    readings = np.bincount(score_arrays.owner, minlength=len(score_arrays.texts))
    gold = np.bincount(score_arrays.owner, score_arrays.gold, minlength=len(score_arrays.texts))
    clean = gold == 0
    counts = np.where(clean, score_arrays.marked, np.nan)
    graded = list(filter(None, compress(score_arrays.severities, clean)))
    means = mean_drop([counts, score_arrays.marked - gold / readings])
    effects: Effects = {("spans", "surplus"): means}
    figures = estimates(effects, sources=score_arrays.sources, settings=settings)
    return OverAnnotation(
        judge=score_arrays.judge,
        flawless=int(clean.sum()),
        erring=_erring(score_arrays, clean, settings=settings),
        histogram=tuple(np.bincount(score_arrays.marked[clean].astype(np.int64)).tolist()),
        mean_severity=float(mean_of_defined(list(map(fmean, graded)))),
        max_severity=float(mean_of_defined(list(map(max, graded)))),
        **figures,
    )


def _erring(score_arrays: ScoreArrays, clean: NDArray[np.bool_], *, settings: Settings) -> Estimate:
    """Return the share of texts with an error, with an interval over sources also if it is 0."""
    sources, marked = score_arrays.sources[clean], score_arrays.marked[clean] > 0
    share = clustered_proportion(
        np.bincount(sources, marked), np.bincount(sources), confidence=settings.confidence
    )
    return Estimate(share.value, share.low, share.high) if settings.draws else Estimate(share.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFinding:
    """Agreement of one judge with people on error spans.

    `texts`, `readings`: texts with a verdict and gold, and how often people have read one of them.
    `failures`, `without_gold`: texts without a verdict, and texts without gold: both are skipped;
    of all groups.
    """

    judge: str
    group: str
    """The texts that are counted, as those of one system; empty for all of them."""
    texts: int
    readings: int
    failures: int
    without_gold: int
    figures: Mapping[str, Estimate]
    """Name -> figure. ``MEASURE.micro.precision`` and so on, measures as in `MEASURES`;
    ``detection.f1`` and so on, whether a text has any error; ``counts.spearman``, of the number of
    errors with the mean number of its readers; ``quotes.hallucinated``, the share of quotes that
    are not in the text. ``characters`` is soft agreement, ``hard`` that with the same category."""
    categories: Mapping[str, Mapping[str, Estimate]]
    """Category -> figure, ``precision`` and so on, of its characters in all texts; empty where the
    judge or people name none."""
    gamma: Gamma | None
    """Agreement on places with people beyond chance, over all readings; None for a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanAgreement:
    """Findings of a comparison with gold spans."""

    settings: Settings
    judges: tuple[JudgeFinding, ...]
    """Each judge on all texts, and then on each group of them."""
    over_annotations: tuple[OverAnnotation, ...]


def span_agreement(
    markings: Iterable[Marking],
    gold: Mapping[str, tuple[GoldSpan, ...]],
    *,
    readers: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    groups: Mapping[str, str] = MappingProxyType({}),
    sources: Mapping[str, str] = MappingProxyType({}),
    settings: Settings = DEFAULTS,
) -> SpanAgreement:
    """Compare what judges found, on one aspect, with what people marked.

    `gold`: id of the segment -> spans; a text that is here without any is one without error.
    `readers`: id of the segment -> who read it, besides those who marked something in it; see
    `readers_of`.
    `groups`: id of the segment -> its group, as its system.
    `sources`: id of the segment -> its source; a text that is not here is its own.
    """
    all_readers = {name: readers_of(spans, readers.get(name, ())) for name, spans in gold.items()}
    judges = [*collected(markings, Gold(gold, all_readers), sources)]
    return SpanAgreement(
        settings=settings,
        judges=tuple(
            finding for judge in judges for finding in _findings(judge, groups, settings=settings)
        ),
        over_annotations=tuple(over_annotation(judge, settings=settings) for judge in judges),
    )


def _findings(
    score_arrays: ScoreArrays, groups: Mapping[str, str], *, settings: Settings
) -> Iterator[JudgeFinding]:
    yield _finding(score_arrays, "", settings=settings)
    of_texts = [groups.get(name) for name in score_arrays.texts]
    for group in dict.fromkeys(of_text for of_text in of_texts if of_text is not None):
        inside = np.array([of_text == group for of_text in of_texts])
        yield _finding(_part(score_arrays, inside), group, settings=settings)


def _finding(score_arrays: ScoreArrays, group: str, *, settings: Settings) -> JudgeFinding:
    estimated = partial(estimates, sources=score_arrays.sources, settings=settings)
    categories = {
        name: estimated({Agreement._fields: by_owner(micro_effect(rows), score_arrays.owner)})
        for name, rows in ({} if group else score_arrays.categories).items()
    }
    return JudgeFinding(
        judge=score_arrays.judge,
        group=group,
        texts=len(score_arrays.texts),
        readings=len(score_arrays.owner),
        failures=score_arrays.failures,
        without_gold=score_arrays.without_gold,
        figures=estimated(_effects(score_arrays)),
        categories=categories,
        gamma=None if group else _gamma(score_arrays, settings),
    )


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
        for average, effect_of in AVERAGES.items():
            names = tuple(f"{measure}.{average}.{part}" for part in Agreement._fields)
            effects[names] = by_owner(effect_of(rows), owner)
    names = tuple(f"detection.{part}" for part in Detection._fields)
    detected = detection_effect(score_arrays.marked[owner], score_arrays.gold)
    effects[names] = by_owner(detected, owner)
    quotes = score_arrays.quotes
    effects["quotes.hallucinated",] = hallucination_effect(score_arrays.hallucinated, quotes)
    totals = np.bincount(owner, score_arrays.gold, minlength=len(score_arrays.texts))
    people = totals / np.bincount(owner, minlength=len(score_arrays.texts))
    counts = np.stack([score_arrays.marked, people])
    effects["counts.spearman",] = of_items(counts, lambda drawn: count_correlation(*drawn))
    return effects


def _part(score_arrays: ScoreArrays, inside: NDArray[np.bool_]) -> ScoreArrays:
    readings = inside[score_arrays.owner]
    return replace(
        score_arrays,
        texts=tuple(compress(score_arrays.texts, inside)),
        sources=numbered(score_arrays.sources[inside].tolist())[0],
        owner=(np.cumsum(inside) - 1)[score_arrays.owner[readings]],
        overlaps={name: rows[readings] for name, rows in score_arrays.overlaps.items()},
        categories={name: rows[readings] for name, rows in score_arrays.categories.items()},
        gold=score_arrays.gold[readings],
        marked=score_arrays.marked[inside],
        quotes=score_arrays.quotes[inside],
        hallucinated=score_arrays.hallucinated[inside],
        severities=tuple(compress(score_arrays.severities, inside)),
        span_pairs=tuple(compress(score_arrays.span_pairs, readings)),
    )


_FEWEST_SCORES = 3
"""Different scores that people must have given for the best of them to mean no error: [1]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRated:
    """Texts that every rater found as good as any."""

    best: float
    """The best score that was given; NaN where too few different ones were given."""
    texts: frozenset[str]
    """Ids of those that got no other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTask:
    """Error spans to compare."""

    aspect: str
    markings: tuple[Marking, ...]
    gold: Gold | None
    """Spans that people marked in the same texts; None if they marked none."""
    groups: Mapping[str, str]
    """Id of the segment -> its system."""
    sources: Mapping[str, str]
    """Id of the segment -> its source."""
    top_rated: TopRated


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectSpans:
    """Findings on the error spans of one aspect."""

    aspect: str
    agreement: SpanAgreement | None
    """With gold spans; None without any. Errors on all aspects are gold."""
    best: float
    top_rated: tuple[OverAnnotation, ...]


def top_rated_texts(segments: Sequence[Segment], *, aspect: str) -> TopRated:
    """Find the texts to which every rater gave the best score that was given on `aspect`."""
    given = {score for segment in segments for score in segment.human.get(aspect, {}).values()}
    if len(given) < _FEWEST_SCORES:
        return TopRated(best=float("nan"), texts=frozenset())
    best = max(given)
    texts = frozenset(
        segment.segment_id
        for segment in segments
        if (scores := segment.human.get(aspect)) and all(score == best for score in scores.values())
    )
    return TopRated(best=best, texts=texts)


def aspect_spans(task: SpanTask, settings: Settings) -> AspectSpans:
    """Compare the errors that judges marked with those that people did.

    Raise `DataError` as `span_agreement`.
    """
    agreement = None
    if task.gold is not None:
        agreement = span_agreement(
            task.markings,
            task.gold.spans,
            readers=task.gold.readers,
            groups=task.groups,
            sources=task.sources,
            settings=settings,
        )
    markings = [marking for marking in task.markings if marking[1] in task.top_rated.texts]
    nothing = {name: () for _, name, _, _ in markings}
    readers = {name: readers_of(()) for name in nothing}
    return AspectSpans(
        aspect=task.aspect,
        agreement=agreement,
        best=task.top_rated.best,
        top_rated=tuple(
            over_annotation(score_arrays, settings=settings)
            for score_arrays in collected(markings, Gold(nothing, readers), task.sources)
        ),
    )
