"""Metrics for tests; in a module of their own, so that other processes can load them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import MetricCard, MetricError, Sample, signature

References = Literal["many", "none", "one"]
Runs = Literal["native", "python", "model", "process"]


def card(
    *,
    runs: Runs = "python",
    references: References = "none",
    needs_source: bool = False,
    shares: bool = False,
) -> MetricCard:
    return MetricCard(
        name="it",
        title="It",
        family="it",
        category="statistics",
        summary="Of a test.",
        formula="a / n",
        low=0.0,
        high=1.0,
        direction="higher",
        levels=("segment",),
        references=references,
        needs_source=needs_source,
        paper="none",
        library="own",
        licence="Apache-2.0",
        limits="many",
        empty="0",
        runs=runs,
        shares=shares,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The share of a's, with sums."""

    @property
    def signature(self) -> str:
        return signature("share")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        return [self.score_statistics(row) for row in self.statistics(samples)]

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        rows = self.statistics(samples)
        return self.score_statistics([sum(column) for column in zip(*rows, strict=True)])

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        return [[sample.output.count("a"), len(sample.output)] for sample in samples]

    def score_statistics(self, total: Sequence[float], /) -> float:
        return total[0] / total[1] if total[1] else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """Says in which process it runs."""

    signature: str = "process"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        return [float(os.getpid())] * len(samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """Knows a corpus as a whole only."""

    signature: str = "whole"

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        return float(len(samples))


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Cannot measure anything."""

    signature: str = "broken"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        raise MetricError(f"{len(samples)} samples are too many")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The share of the reference's characters that the output has, too."""

    signature: str = "overlap"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        return [
            sum(reference in sample.output for reference in sample.references[0])
            / len(sample.references[0])
            for sample in samples
        ]
