"""Error spans on one aspect: beside gold spans, and in the texts that people rate highest.

References
----------
.. [1] Kartáč et al. (2025), OpeNLGauge, appendix K
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Segment
from spanjury.orchestration.studies.agreement.spans.estimates import Settings
from spanjury.orchestration.studies.agreement.spans.findings import (
    OverAnnotation,
    SpanAgreement,
    collected,
    over_annotation,
    span_agreement,
)
from spanjury.orchestration.studies.agreement.spans.measures import (
    Gold,
    Marking,
    readers_of,
)

_FEWEST_SCORES = 3
"""Different scores that people must have given for the best of them to mean no error: [1] K."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRated:
    """Texts that every rater found as good as any.

    Parameters
    ----------
    best
        The best score that was given; NaN where too few different ones were given.
    texts
        Ids of those that got no other.
    """

    best: float
    texts: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTask:
    """Error spans to compare.

    Parameters
    ----------
    gold
        Spans that people marked in the same texts; None if they marked none.
    groups
        Id of the segment -> its system.
    """

    aspect: str
    markings: tuple[Marking, ...]
    gold: Gold | None
    groups: Mapping[str, str]
    top_rated: TopRated


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectSpans:
    """Findings on the error spans of one aspect.

    Parameters
    ----------
    agreement
        With gold spans; None without any. Errors on all aspects are gold.
    """

    aspect: str
    agreement: SpanAgreement | None
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
            with_annotators=False,
            settings=settings,
        )
    return AspectSpans(
        aspect=task.aspect,
        agreement=agreement,
        best=task.top_rated.best,
        top_rated=tuple(_top_rated(task, settings)),
    )


def _top_rated(task: SpanTask, settings: Settings) -> Iterator[OverAnnotation]:
    markings = [marking for marking in task.markings if marking[1] in task.top_rated.texts]
    nothing = {name: () for _, name, _, _ in markings}
    readers = {name: readers_of(()) for name in nothing}
    for score_arrays in collected(markings, Gold(nothing, readers)):
        yield over_annotation(score_arrays, settings=settings)
