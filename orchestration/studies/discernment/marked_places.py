"""Marked places: whether the spans that a judge adds to a damaged text lie where the damage is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.orchestration.studies.discernment.score_arrays import Judgements
from spanjury.perturbations.pairs import PerturbedPair
from spanjury.stats.spans.localisation import Localisation, localisation, new_spans, pooled


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """Spans on one aspect beside the damage of one condition.

    Parameters
    ----------
    claims_spans
        Whether the judge marks anything in any text on this aspect.
    """

    aspect: str
    claims_spans: bool
    localisation: Localisation

    @property
    def misses(self) -> bool:
        """True if the judge marks spans, and there is damage to mark, but none touches it."""
        spans = self.localisation
        return self.claims_spans and spans.damaged > 0 and not spans.hits


def marked_places(
    pairs: Sequence[PerturbedPair], aspects: Sequence[str], judgements: Judgements
) -> Localisation:
    """Compare what is marked in the damaged texts only, on any of `aspects`, with the damage."""
    return pooled(_localised(pair, aspects, judgements) for pair in pairs)


def markings(
    pairs: Sequence[PerturbedPair], aspects: Sequence[str], judgements: Judgements
) -> tuple[Marking, ...]:
    """Compare what is marked with the damage aspect by aspect; parameters as above."""
    marking = {aspect for (_, aspect), judgement in judgements.items() if judgement.spans}
    return tuple(
        Marking(
            aspect=aspect,
            claims_spans=aspect in marking,
            localisation=marked_places(pairs, [aspect], judgements),
        )
        for aspect in aspects
    )


def _localised(pair: PerturbedPair, aspects: Sequence[str], judgements: Judgements) -> Localisation:
    spans = [span for aspect in aspects for span in _new(pair, aspect, judgements)]
    return localisation(_rows(spans), _rows(pair.damage.places), length=len(pair.damaged.output))


def _new(pair: PerturbedPair, aspect: str, judgements: Judgements) -> Iterator[tuple[int, int]]:
    now = judgements[pair.damaged.segment_id, aspect].spans
    before = judgements[pair.clean.segment_id, aspect].spans
    carried = [pair.damage.carried(*span) for span in before]
    for start, end in new_spans(_rows(now), _rows(carried)):
        yield int(start), int(end)


def _rows(intervals: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(intervals, dtype=np.int64).reshape(-1, 2)
