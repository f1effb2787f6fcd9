"""Metrics: numbers computed from texts by a formula or a small model, without understanding them.

A metric implements `SegmentMetric`, `CorpusMetric` or both. It is synchronous and uses no event
loop: `orchestration` decides whether it runs in a thread, in a process or alone. Its card says what
a reader must know before trusting its number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One output with everything that a metric may use.

    Parameters
    ----------
    output
        The measured text; may be empty, and is measured all the same.
    references
        Texts that people would have accepted; the card says how many the metric uses.
    source
        The system's inputs, one after another.
    """

    output: str
    references: tuple[str, ...] = ()
    source: str = ""


class Metric(Protocol):
    """Properties of every metric.

    A plugin of the group ``spanjury.metrics`` is a callable that returns a metric, such as a class;
    its keyword parameters are its options. Its card is a TOML file of the same name in a package
    registered in the group ``spanjury.metric_cards``.
    """

    @property
    def signature(self) -> str:
        """Everything about the metric that can change a number, as written by `core.signature`."""
        ...


@runtime_checkable
class SegmentMetric(Metric, Protocol):
    """A metric that scores each output; its score of a corpus is the mean."""

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return one score for each sample, in order.

        An empty text is scored as the card says, never left out. Unless the card says otherwise, a
        score does not depend on the other samples. Raises `MetricError` if a sample lacks an input
        that the metric needs; the message names its index.
        """
        ...


@runtime_checkable
class CorpusMetric(Metric, Protocol):
    """A metric that scores a corpus as a whole rather than by the mean of its segments."""

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the score of one or more samples; raises the errors of `score_segments`."""
        ...


@runtime_checkable
class MergeableMetric(CorpusMetric, Protocol):
    """A corpus metric that is a function of summed statistics.

    A resampled or sharded corpus is scored without reading its texts again.
    """

    def statistics(self, samples: Sequence[Sample], /) -> Sequence[Sequence[float]]:
        """Return a row of counts for each sample, all of one length."""
        ...

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the score of a corpus from the sum of its rows."""
        ...


Category = Literal[
    "classification",
    "edit distance",
    "embedding",
    "language model",
    "learned",
    "n-gram overlap",
    "readability",
    "statistics",
]
Direction = Literal["higher", "lower", "neither"]
Level = Literal["corpus", "segment"]
References = Literal["many", "none", "one"]
Runs = Literal["native", "python", "model", "process"]

_ROUNDING = 1e-6
"""Distance that rounding in single precision may take a score beyond its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCard:
    """Description of a metric.

    Raises `ValueError` if bounds are reversed, it has no level, or it is supervised and not
    trained.

    Parameters
    ----------
    name, title
        Name on the command line, and name in print.
    family
        Name that variants of one metric share, such as ``"rouge"``; its own name if it has none.
    category
        Kind of measurement.
    summary, formula
        Its meaning in a sentence, and how it is computed.
    low, high
        Its bounds; may be infinite.
    direction
        Which scores are better; "neither" for metrics that describe and do not evaluate.
    levels
        Whether it scores segments, a corpus as a whole, or both.
    references
        Number of references used per sample: "many" are used together, "one" takes the best of
        them.
    needs_source
        Whether it reads the source.
    batch_dependent
        Whether a segment's score depends on the other segments of the batch.
    trained, supervised
        Whether it has learned parameters, and whether they come from human ratings.
    dimensions, tasks
        Qualities and tasks that it is used for; no tasks means any.
    paper, library, licence
        Its source, the library that computes it here, and the licence.
    limits
        Errors that it misses or misjudges.
    empty
        Convention for scoring an empty output or reference.
    runs
        Where it may run: "native" code that releases the GIL, "python" code that does not,
        a "model" that is loaded once, or a "process" with its own environment.
    shares
        Whether it takes its words from `Corpus`, so that it is measured in one pass with others
        that do.
    requires
        Modules that must be installed.
    extra
        The extra of spanjury that installs them; empty if they are always installed.
    weights
        Whether the user chooses a model.
    """

    name: str
    title: str
    family: str
    category: Category
    summary: str
    formula: str
    low: float
    high: float
    direction: Direction
    levels: tuple[Level, ...]
    references: References
    needs_source: bool = False
    batch_dependent: bool = False
    trained: bool = False
    supervised: bool = False
    dimensions: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    paper: str
    library: str
    licence: str
    limits: str
    empty: str
    runs: Runs
    shares: bool = False
    requires: tuple[str, ...] = ()
    extra: str = ""
    weights: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:  # NaN fails this comparison, too
            raise ValueError(f"bounds {self.low!r} to {self.high!r} hold nothing")
        if not self.levels:
            raise ValueError("a metric scores segments, a corpus or both; levels is empty")
        if self.supervised and not self.trained:
            raise ValueError("what is supervised is trained")

    @property
    def best(self) -> float:
        """The better end of the scale; NaN if neither is."""
        ends = {"higher": self.high, "lower": self.low, "neither": math.nan}
        return ends[self.direction]

    @property
    def bounds(self) -> str:
        """The bounds in words."""
        return f"{self.low:g} to {self.high:g}"

    def __contains__(self, score: float) -> bool:
        """Return whether a score is finite and within the bounds, apart from rounding."""
        is_within = self.low - _ROUNDING <= score <= self.high + _ROUNDING
        return is_within and math.isfinite(score)
