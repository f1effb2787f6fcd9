"""A metric of a run, with its name and card."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import DataError, Metric, MetricCard, Sample, Segment

Over = Literal["best", "mean", "worst"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedMetric:
    """A metric of a run.

    Parameters
    ----------
    name
        Name of its scores, unique in a run.
    over_refs
        Which score counts if there are several references but the metric takes one.
    """

    name: str
    metric: Metric
    card: MetricCard
    over_refs: Over = "best"

    @property
    def signature(self) -> str:
        """The metric's signature, and how several references are handled."""
        if self.card.references != "one":
            return self.metric.signature
        return f"{self.metric.signature}|over_refs:{self.over_refs}"


def check_samples(named: NamedMetric, samples: Sequence[Sample], *, ids: Sequence[str]) -> None:
    """Check that every sample has the texts that the metric needs.

    Raises `DataError` if one lacks something; the message names the metric and the first such row,
    and counts the others.
    """
    if named.card.references != "none":
        _refuse(named.name, "references", [not sample.references for sample in samples], ids=ids)
    if named.card.needs_source:
        _refuse(named.name, "a source", [not sample.source for sample in samples], ids=ids)


def _refuse(name: str, need: str, lacking: Sequence[bool], *, ids: Sequence[str]) -> None:
    rows = [segment_id for segment_id, lacks in zip(ids, lacking, strict=True) if lacks]
    if rows:
        lacks = f" and {len(rows) - 1} more have none" if len(rows) > 1 else " has none"
        raise DataError(f"metric {name!r} needs {need}, and row {rows[0]!r}{lacks}")


def sample_of(segment: Segment) -> Sample:
    """Return a sample whose source is the inputs of `segment`, one after another."""
    return Sample(
        output=segment.output,
        references=segment.references,
        source="\n\n".join(segment.inputs.values()),
    )
