"""All that is found of spans on one aspect: beside gold spans, and in texts that people praise.

References
----------
.. [1] Kartáč et al. (2025), OpeNLGauge, appendix K
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Segment
from spanjury.orchestration.studies.agreement.spans.estimates import Settings
from spanjury.orchestration.studies.agreement.spans.findings import (
    SpanAgreement,
    span_agreement,
)
from spanjury.orchestration.studies.agreement.spans.gold import (
    Found,
    Gold,
    readers_of,
    top_rated,
)
from spanjury.orchestration.studies.agreement.spans.over_annotation import (
    OverAnnotation,
    over_annotation,
)
from spanjury.orchestration.studies.agreement.spans.score_arrays import collected

__all__ = ["AspectSpans", "Praise", "SpanTask", "aspect_spans", "praise"]

_FEWEST_SCORES = 3
"""Different scores that people must have given for the best of them to mean no error: [1] K."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Praise:
    """Texts that every rater found as good as any.

    Parameters
    ----------
    best
        The best score that anybody gave; NaN where too few different ones were given.
    texts
        Ids of those that got no other.
    """

    best: float
    texts: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTask:
    """What is looked at.

    Parameters
    ----------
    aspect
        What judges marked errors of.
    found
        What each marked in each text.
    gold
        What people marked in the same texts; None if they marked none.
    groups
        Id of the segment -> its system.
    praise
        Which texts people praise.
    """

    aspect: str
    found: tuple[Found, ...]
    gold: Gold | None
    groups: Mapping[str, str]
    praise: Praise


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectSpans:
    """What came of it.

    Parameters
    ----------
    aspect
        As in `SpanTask`.
    agreement
        With gold spans; None without any. Errors on all aspects are gold.
    best, top_rated
        The best score that people gave, and what judges marked in the texts with no other.
    """

    aspect: str
    agreement: SpanAgreement | None
    best: float
    top_rated: tuple[OverAnnotation, ...]


def praise(segments: Sequence[Segment], *, aspect: str) -> Praise:
    """Find the texts to which every rater gave the best score on `aspect` that anybody gave."""
    given = {score for one in segments for score in one.human.get(aspect, {}).values()}
    if len(given) < _FEWEST_SCORES:
        return Praise(best=float("nan"), texts=frozenset())
    best = max(given)
    return Praise(best=best, texts=top_rated(segments, aspect=aspect, best=best))


def aspect_spans(task: SpanTask, settings: Settings) -> AspectSpans:
    """Compare what judges marked with what people did.

    Raises
    ------
    DataError
        As `span_agreement`.
    """
    agreement = None
    if task.gold is not None:
        agreement = span_agreement(
            task.found,
            task.gold.spans,
            readers=task.gold.readers,
            groups=task.groups,
            with_annotators=False,
            settings=settings,
        )
    return AspectSpans(
        aspect=task.aspect,
        agreement=agreement,
        best=task.praise.best,
        top_rated=tuple(_top_rated(task, settings)),
    )


def _top_rated(task: SpanTask, settings: Settings) -> Iterator[OverAnnotation]:
    praised = [one for one in task.found if one[1] in task.praise.texts]
    nothing = {name: () for _, name, _, _ in praised}
    readers = {name: readers_of(()) for name in nothing}
    for score_arrays in collected(praised, Gold(nothing, readers)):
        yield over_annotation(score_arrays, settings=settings)
