"""People with people: whether annotators give the same scores and mark the same spans.

What they are asked is what judges are asked, so their agreement is the most that can be
expected of a judge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Segment
from spanjury.orchestration.studies.agreement.seats import SeatAgreement, SeatTable, seat_agreement
from spanjury.orchestration.studies.agreement.spans.annotators import PairFinding, annotator_pairs
from spanjury.orchestration.studies.agreement.spans.estimates import Estimate, Settings
from spanjury.orchestration.studies.agreement.spans.gold import gold_of
from spanjury.stats.arrays import FloatArray
from spanjury.stats.raters.agreement import cohen_kappa, krippendorff_alpha
from spanjury.stats.resampling import bootstrap, percentile_interval
from spanjury.stats.weighted import Weighted


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOnAspect:
    """The agreement of annotators on one aspect.

    Parameters
    ----------
    annotators
        Those who finished a text, by name.
    texts, shared
        That anyone finished, and that two or more did.
    scored
        With scores of two or more.
    alpha
        Krippendorff's, ordinal, of the scores.
    kappas
        Two names -> Cohen's kappa with quadratic weights.
    scores
        All coefficients of the scores, as of the seats of a panel.
    spans
        Two by two, on the texts that both finished.
    """

    aspect: str
    annotators: tuple[str, ...]
    texts: int
    shared: int
    scored: int
    alpha: Estimate
    kappas: Mapping[tuple[str, str], Estimate]
    scores: SeatAgreement
    spans: tuple[PairFinding, ...]


def people_on_aspect(
    segments: Sequence[Segment], *, aspect: str, settings: Settings
) -> PeopleOnAspect:
    """Compare the annotators of one aspect.

    Parameters
    ----------
    segments
        The finished texts, with scores on the aspect by annotator, spans of this aspect only, and
        in their meta the ``annotators`` who looked for errors.
    """
    gold = gold_of(read_texts(segments))
    readers = {name for names in gold.readers.values() for name in names}
    names = tuple(sorted(readers.union(*(segment.human.get(aspect, {}) for segment in segments))))
    scores = np.array(
        [
            [segment.human.get(aspect, {}).get(name, np.nan) for segment in segments]
            for name in names
        ],
        dtype=np.float64,
    ).reshape(len(names), len(segments))
    table = SeatTable(run="", seats=names, scores=scores[:, np.newaxis])
    both = np.count_nonzero(~np.isnan(scores), axis=0) > 1
    return PeopleOnAspect(
        aspect=aspect,
        annotators=names,
        texts=len(segments),
        shared=sum(_people(segment, aspect) > 1 for segment in segments),
        scored=int(np.count_nonzero(both)),
        alpha=_estimate(scores[:, both], settings),
        kappas=dict(_kappas(names, scores, settings)),
        scores=seat_agreement(table),
        spans=tuple(
            annotator_pairs(
                gold,
                {segment.segment_id: len(segment.output) for segment in segments},
                settings=settings,
            )
        ),
    )


def read_texts(segments: Iterable[Segment]) -> list[Segment]:
    """Return the texts in which someone looked for errors, as their meta says."""
    return [segment for segment in segments if segment.meta.get("annotators")]


def _people(segment: Segment, aspect: str) -> int:
    readers = segment.meta.get("annotators")
    looked = map(str, readers) if isinstance(readers, list) else ()
    return len({*segment.human.get(aspect, {}), *looked})


def _kappas(
    names: Sequence[str], scores: FloatArray, settings: Settings
) -> Iterator[tuple[tuple[str, str], Estimate]]:
    for first, name in enumerate(names):
        for second in range(first + 1, len(names)):
            pair = scores[[first, second]]
            pair = pair[:, ~np.isnan(pair).any(axis=0)]
            yield (name, names[second]), _estimate(pair, settings, is_kappa=True)


def _estimate(scores: FloatArray, settings: Settings, *, is_kappa: bool = False) -> Estimate:
    """Return a coefficient of scores, ``(annotators, texts)``, texts drawn again for its bounds."""
    texts = scores.shape[1]
    if not texts:
        return Estimate(value=np.nan, low=np.nan, high=np.nan)
    effect = _drawn(scores, is_kappa=is_kappa)
    if not settings.draws:
        return Estimate(value=float(effect(np.ones((1, texts)))[0]), low=np.nan, high=np.nan)
    rng = np.random.default_rng(settings.seed)
    drawn = bootstrap(effect, items=texts, rng=rng, draws=settings.draws)
    low, high = percentile_interval(drawn, confidence=settings.confidence)
    return Estimate(value=float(drawn.estimate), low=float(low), high=float(high))


def _drawn(scores: FloatArray, *, is_kappa: bool) -> Weighted:
    """Return the coefficient as a function of how often each text counts, draw by draw."""

    def of_draw(counts: FloatArray) -> float:
        drawn = np.repeat(scores, counts.astype(np.int64), axis=1)
        if is_kappa:
            return cohen_kappa(*drawn, weights="quadratic").value
        return krippendorff_alpha(drawn.T, level="ordinal").value

    return lambda counts: np.array([of_draw(draw) for draw in counts], dtype=np.float64)
