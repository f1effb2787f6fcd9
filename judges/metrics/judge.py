"""A judge that gives a metric's score, on the scale of the aspect."""

import math
from dataclasses import dataclass, replace
from functools import partial

import anyio.to_thread

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    JudgeError,
    MetricCard,
    MetricError,
    Report,
    Sample,
    Scale,
    Segment,
    SegmentMetric,
    abstention,
    fingerprint,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.metrics.named import sample_of
from spanjury.judges.metrics.reductions import over_references
from spanjury.judges.text.turns import in_turn

_PAIRS = 100  # pairs of characters compared in the time in which a rule reads one character


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricJudge:
    """A metric, as a judge that marks no spans.

    Its value is mapped linearly to the aspect's scale: the worse of `low` and `high` to the worst
    label, the better to the best. Values beyond `low` and `high` are clipped; a value beyond the
    card's bounds is an error. The best of several references counts if the metric takes one at a
    time. The metric sees the inputs that the aspect may read.

    It abstains if a reference or the source that the metric needs is missing, and if its value is
    undefined. For a metric without references, an empty output has the lowest score. Raises
    `ConfigError` if the metric cannot score a single segment or does not say which scores are
    better, or if `low` and `high` are not two finite values in this order.

    Parameters
    ----------
    low, high
        Values of the metric at the ends of the scale; None for the bounds of the card.
    """

    metric: SegmentMetric
    card: MetricCard
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        problem = _unfit(self.metric, card=self.card)
        if problem:
            raise ConfigError(f"{self.card.name} cannot be a judge: {problem}")
        low, high = self._ends()
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ConfigError(
                f"{self.card.name} has values from {low:g} to {high:g}: set low and high to the"
                " values at the ends of the scale"
            )
        if low >= high:
            raise ConfigError(f"low must be below high, got {low!r} and {high!r}")

    @property
    def signature(self) -> str:
        """The metric, and the mapping from its values to scores."""
        low, high = self._ends()
        return signature(
            "metric",
            metric=self.card.name,
            options=fingerprint(self.metric.signature),
            low=low,
            high=high,
            code=code_digest(*self._code()),
        )

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a digest of the measured texts and the scale; the aspect's words do not matter."""
        sample = self._sample(segment, aspect)
        texts = (sample.output, sample.source, *sample.references)
        return digest(canonical(aspect.scale), *texts)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Measure the output; raise `JudgeError` if the metric fails or contradicts its card."""
        sample = self._sample(segment, aspect)
        missing = self._missing(sample)
        if missing:
            return abstention(missing)
        measure = partial(self._measure, sample, scale=aspect.scale)
        if self.card.runs in {"model", "process"}:
            # It mostly waits, or computes outside the interpreter, so it delays no other text.
            return await anyio.to_thread.run_sync(measure, abandon_on_cancel=True)
        return await in_turn(measure, length=_length(sample))

    def _code(self) -> list[str]:
        """Return the modules that compute; the signature of a foreign metric covers its code."""
        names = (__name__, type(self.metric).__module__)
        return [name for name in names if name.startswith("spanjury.")]

    def _sample(self, segment: Segment, aspect: Aspect) -> Sample:
        return sample_of(replace(segment, inputs=aspect.view(segment.inputs)))

    def _ends(self) -> tuple[float, float]:
        """Return the values at the ends of the scale."""
        return (
            self.card.low if self.low is None else self.low,
            self.card.high if self.high is None else self.high,
        )

    def _missing(self, sample: Sample) -> str:
        """Return a message about what the metric needs and the sample lacks; empty if nothing."""
        if self.card.references != "none" and not sample.references:
            return f"{self.card.name} needs a reference, and there is none"
        if self.card.needs_source and not sample.source.strip():
            return f"{self.card.name} needs the source, and there is no input that it may see"
        return ""

    def _measure(self, sample: Sample, *, scale: Scale) -> Report:
        if self.card.references == "none" and not sample.output.strip():
            return Report(score=scale.low, rationale="Empty.")
        try:
            (value,) = over_references(self.metric, [sample], card=self.card)
        except MetricError as error:
            raise JudgeError(f"{self.card.name}: {error}") from error
        if math.isnan(value):
            return abstention(f"{self.card.name} is undefined for this text")
        if value not in self.card:
            raise JudgeError(
                f"{self.card.name} is {value:.9g} for this text, but its card says that it is"
                f" {self.card.bounds}"
            )
        score = self._score(value, scale=scale)
        return Report(score=score, rationale=f"{self.card.title}: {value:.4g}.")

    def _score(self, value: float, *, scale: Scale) -> float:
        """Map a value of the metric to the scale."""
        low, high = self._ends()
        share = (min(high, max(low, value)) - low) / (high - low)
        if self.card.direction == "lower":
            share = 1.0 - share
        return scale.low + (scale.high - scale.low) * share


def _length(sample: Sample) -> int:
    """Return the length of a text whose reading would take as long as comparing the sample.

    Some metrics compare every character of the output with every one of a reference.
    """
    references = sum(map(len, sample.references))
    pairs = len(sample.output) * references // _PAIRS
    return max(len(sample.output) + len(sample.source) + references, pairs)


def _unfit(metric: SegmentMetric, *, card: MetricCard) -> str:
    """Return why a metric cannot judge single texts; empty if it can."""
    if "segment" not in card.levels or not isinstance(metric, SegmentMetric):
        return "it scores a corpus as a whole, and answers at the end of a run"
    if card.batch_dependent:
        return "its score of a text depends on the other texts"
    if card.direction == "neither":
        return "it describes a text, and neither more nor less of it is better"
    return ""
