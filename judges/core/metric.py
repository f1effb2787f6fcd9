"""Metrics: numbers that a formula or a small model makes of texts, without reading them.

A metric implements `SegmentMetric`, `CorpusMetric` or both. It is synchronous and knows no
event loop: `orchestration` decides whether it runs in a thread, in a process or alone. Its card
says what a reader must know before believing its number.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable


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


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricCard:
    """A metric, described.

    Parameters
    ----------
    name, title
        What it is called on the command line, and in print.
    family
        Name that variants of one metric share, as ``"rouge"``; its own name if it has none.
    category
        By what it measures.
    summary, formula
        What it says, in a sentence, and how it is worked out.
    low, high
        Its bounds; may be infinite.
    direction
        Which scores are better; "neither" for those that describe and do not judge.
    levels
        Whether it scores segments, a corpus as a whole, or both.
    references
        How many it takes of each sample: "many" are used together, of "one" the best is taken.
    needs_source
        Whether it reads the source.
    batch_dependent
        Whether a segment's score depends on the segments beside it.
    trained, supervised
        Whether something in it was learned, and from people's ratings.
    dimensions, tasks
        Which qualities it is used for, and on what; no tasks for any.
    paper, library, licence
        Where it comes from, who computes it here, under which terms.
    limits
        What it cannot see, or gets wrong.
    empty
        By which convention an empty output or reference is scored.
    runs
        Where it may run: "native" code that frees the interpreter, "python" that does not,
        a "model" that is loaded once, or a "process" with an environment of its own.
    shares
        Whether it takes its words from `Corpus`, so that it is measured in one go with others
        that do.
    requires
        Modules that must be there.
    extra
        The optional part of spanjury that installs them; empty if it is always there.
    weights
        Whether the user names a model.

    Raises
    ------
    ValueError
        If bounds are reversed, it has no level, or it is supervised and not trained.
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
        if not self.low < self.high:  # nor if one is not a number
            raise ValueError(f"bounds {self.low!r} to {self.high!r} hold nothing")
        if not self.levels:
            raise ValueError("a metric scores segments, a corpus or both; levels is empty")
        if self.supervised and not self.trained:
            raise ValueError("what is supervised is trained")

    @property
    def best(self) -> float:
        """The end of the scale that is better; NaN where neither is."""
        ends = {"higher": self.high, "lower": self.low, "neither": math.nan}
        return ends[self.direction]
