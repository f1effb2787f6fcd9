"""The card of a metric: what a reader must know before believing its number."""

import math
from dataclasses import dataclass
from typing import Literal

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
