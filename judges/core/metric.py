"""Metrics: numbers that a formula or a small model makes of texts, without reading them.

A metric implements `SegmentMetric`, `CorpusMetric` or both. It is synchronous and knows no
event loop: `orchestration` decides whether it runs in a thread, in a process or alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One output with all that a metric may know of it.

    Parameters
    ----------
    output
        The text that is measured; may be empty, which is measured too.
    references
        Texts that people would have accepted; how many a metric takes, its card says.
    source
        What the system was given, its inputs one after another.
    """

    output: str
    references: tuple[str, ...] = ()
    source: str = ""


class Metric(Protocol):
    """Properties that every metric has.

    A plugin of the group ``spanjury.metrics`` is a callable that returns a metric, as a class
    does; its keyword parameters are its options. Its card is a TOML file of the same name in
    a package that the group ``spanjury.metric_cards`` names.
    """

    @property
    def signature(self) -> str:
        """Everything about the metric that can change a number, as `core.signature` writes it."""
        ...


@runtime_checkable
class SegmentMetric(Metric, Protocol):
    """A metric that scores each output; over a corpus it is the mean."""

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return one score a sample, in their order.

        An empty text is scored as the card says, never left out. Unless the card says
        otherwise, a score does not depend on the other samples.

        Raises
        ------
        MetricError
            If a sample lacks what the metric needs; names its index.
        """
        ...


@runtime_checkable
class CorpusMetric(Metric, Protocol):
    """A metric that scores a corpus as a whole, and not by the mean of its segments."""

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the score of one or more samples; raises as `score_segments`."""
        ...


@runtime_checkable
class MergeableMetric(CorpusMetric, Protocol):
    """A corpus metric of sums: resampled or sharded corpora are scored without reading again."""

    def statistics(self, samples: Sequence[Sample], /) -> Sequence[Sequence[float]]:
        """Return a row of counts for each sample, all of one length."""
        ...

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the score of a corpus from the sum of its rows."""
        ...
