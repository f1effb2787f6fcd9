"""Pages of metrics that compare a model's tokens: a map of similarities, a flow of weight."""

from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from spanjury.adapters.pages.flow import Flow, TokenFlow, flow_page
from spanjury.adapters.pages.heat_map import TokenSimilarities, heat_map_page
from spanjury.judges.core import Sample, SegmentMetric
from spanjury.judges.metrics.named import NamedMetric

__all__ = ["movement_page", "similarity_page"]

_LEAST = 1e-12
"""Shares below it come from rounding."""

Tokens = tuple[str, ...]
FloatArray = NDArray[np.float64]


class _Likening(Protocol):
    """A metric that likens tokens."""

    def similarities(self, sample: Sample, /) -> tuple[Tokens, Tokens, FloatArray]: ...


class _Moving(Protocol):
    """A metric that moves tokens: shares, and how far they go."""

    def flow(self, sample: Sample, /) -> tuple[Tokens, Tokens, FloatArray, FloatArray]: ...


def similarity_page(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show how alike tokens are; BERTScore takes the best partner of each."""
    told = cast("_Likening", named.metric)  # a metric of `SHOWN`, which names this page
    output, reference, values = told.similarities(sample)
    return heat_map_page(
        TokenSimilarities(
            title=title,
            output=output,
            reference=reference,
            similarities=values,
            scores=_scores(named, sample),
        )
    )


def movement_page(title: str, named: NamedMetric, sample: Sample) -> str:
    """Show which tokens move to which, as WMD and MoverScore have them do at least cost."""
    told = cast("_Moving", named.metric)  # a metric of `SHOWN`, which names this page
    output, reference, shares, distances = told.flow(sample)
    flows = tuple(
        Flow(
            output=int(row),
            reference=int(column),
            mass=float(shares[row, column]),
            cost=float(distances[row, column]),
        )
        for row, column in np.argwhere(shares > _LEAST)
    )
    return flow_page(
        TokenFlow(
            title=title,
            output=output,
            reference=reference,
            flows=flows,
            scores=_scores(named, sample),
        )
    )


def _scores(named: NamedMetric, sample: Sample) -> tuple[tuple[str, float], ...]:
    assert isinstance(named.metric, SegmentMetric)  # those with a page are
    (score,) = named.metric.score_segments([sample])
    return ((named.name, float(score)),)
