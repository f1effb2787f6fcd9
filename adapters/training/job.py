"""Types of a training: its options, examples, progress and result."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from spanjury.judges.core import Message

AttentionName = Literal["auto", "eager", "sdpa", "xformers"]
_COUNTS = (
    "rank",
    "alpha",
    "batch_size",
    "micro_batch_size",
    "epochs",
    "max_steps",
    "max_length",
    "checkpoint_every",
    "validate_every",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """Options of a training.

    Raises `ValueError` if a value is out of its range.

    Parameters
    ----------
    rank, alpha
        Rank and scale of the low-rank matrices, whose output is multiplied by ``alpha / rank``.
    dropout
        The share of their inputs that is dropped, in ``[0, 1)``.
    learning_rate
        The peak, reached after the warm-up; the rate then falls to 0.
    weight_decay
        Weight decay of AdamW.
    warmup
        The share of the steps in which the rate rises, in ``[0, 1)``.
    explanation_weight
        Weight of a token in an explanation, relative to one in the verdict, in ``[0, 1]``.
    max_gradient_norm
        Norm to which longer gradients are clipped.
    batch_size
        Examples per step.
    micro_batch_size
        Examples in memory at once; it affects only rounding, and is halved if memory runs out.
    epochs
        Passes over all examples.
    max_steps
        Ends training earlier; None to complete all epochs.
    max_length
        Maximum number of tokens per example; None for the model's maximum.
    seed
        Seed for the order of the examples, the initial matrices and dropout.
    checkpoint_every, validate_every
        Interval in steps; None to validate only at the end of each epoch.
    device
        A torch device; ``"auto"`` is a GPU if there is one.
    attention
        Implementation of attention; ``"auto"`` is xformers on a GPU if installed, else PyTorch.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    learning_rate: float = 2e-4
    weight_decay: float = 0.01
    warmup: float = 0.05
    explanation_weight: float = 0.2
    max_gradient_norm: float = 1.0
    batch_size: int = 16
    micro_batch_size: int = 4
    epochs: int = 1
    max_steps: int | None = None
    max_length: int | None = None
    seed: int = 1
    checkpoint_every: int = 50
    validate_every: int | None = None
    device: str = "auto"
    attention: AttentionName = "auto"

    def __post_init__(self) -> None:
        check_options(
            self,
            shares=("dropout", "warmup"),
            positive=("learning_rate", "max_gradient_norm"),
            not_negative=("weight_decay", "seed"),
            counts=_COUNTS,
        )
        if not 0 <= self.explanation_weight <= 1:
            raise ValueError(
                f"explanation_weight must be in [0, 1], got {self.explanation_weight!r}"
            )


def check_options(
    options: object,
    *,
    shares: Iterable[str],
    positive: Iterable[str],
    not_negative: Iterable[str],
    counts: Iterable[str],
) -> None:
    """Raise `ValueError` if a field of `options` is out of its range.

    `shares` must be in ``[0, 1)``, the next two finite, and `counts`, which may be None, 1 or more.
    """
    ranges: tuple[tuple[Iterable[str], Callable[[float], bool], str], ...] = (
        (shares, lambda value: 0 <= value < 1, "be in [0, 1)"),
        (positive, lambda value: 0 < value < math.inf, "be positive"),
        (not_negative, lambda value: 0 <= value < math.inf, "not be negative"),
        (counts, lambda value: value >= 1, "be 1 or more"),
    )
    for names, fits, wanted in ranges:
        for name in names:
            value = getattr(options, name)
            if value is not None and not fits(value):
                raise ValueError(f"{name} must {wanted}, got {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPair:
    """A conversation, oldest message first, and the complete answer to it.

    `sources` are texts in the messages, verbatim, whose end may be cut if the whole exceeds the
    model's context; the longest is cut first. The last `light` characters of the target are
    explanations; `faulty` is its verdict, if it begins with one.

    Raises `ValueError` if there is no message, or the target is empty.
    """

    messages: tuple[Message, ...]
    target: str
    sources: tuple[str, ...] = ()
    light: int = 0
    faulty: bool | None = None

    def __post_init__(self) -> None:
        if not self.messages or not self.target.strip():
            raise ValueError("a training pair needs a message and a target that says something")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataStatistics:
    """Statistics of the data, for the model card.

    `source` is the name of the data's folder, and `digest` is a digest of the data. `counts` maps
    heading -> name -> number of examples, as in ``{"task": {"summarization": 120}}``. The licences
    are those of the sources and of the teachers.
    """

    source: str
    digest: str
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    licences: Sequence[str] = ()

    def __post_init__(self) -> None:
        plain = {heading: dict(counts) for heading, counts in self.counts.items()}
        object.__setattr__(self, "counts", plain)  # plain dicts for JSON; the dataclass is frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictWords:
    """The common prefix of all targets that begin with a verdict, and its two continuations."""

    prefix: str
    yes: str
    no: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Probability from which a text counts as faulty, with its error rates on `examples`.

    The examples are for validation. `caught` is the share of faulty ones that it catches, and
    `false_alarms` the share of others that it flags.
    """

    value: float
    caught: float
    false_alarms: float
    examples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Settings for judging with a trained model, which `distilled` takes as options.

    `threshold` is None if there were no examples to choose it on.
    """

    layout: str = "score-last"
    threshold: Threshold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """A training to run: the base, by a name for `find_base`, the data and the target folder.

    There is at least one pair. `validation` is for measuring the loss, and for choosing the
    threshold if targets begin with `verdict`. `layout` and `data` are only recorded.
    """

    pairs: Sequence[TrainingPair]
    validation: Sequence[TrainingPair] = ()
    base: str
    folder: Path
    options: TrainingOptions
    data: DataStatistics
    layout: str = "score-last"
    verdict: VerdictWords | None = None


@dataclass(slots=True, kw_only=True)
class Progress:
    """Progress of a training: steps done, tokens read, and seconds taken.

    `micro_batch_size` fits into memory. `losses` and `validations` are lists of ``(step,
    mean loss per example)``, in order; an example's loss is the weighted mean over its answer's
    tokens.
    """

    step: int = 0
    micro_batch_size: int
    losses: list[tuple[int, float]] = field(default_factory=list)
    validations: list[tuple[int, float]] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The result of a training that has `steps` steps in all.

    If it is not `finished`, there is a checkpoint. `cut` examples lost the end of a source, and
    `skipped` ones were too long even so.
    """

    finished: bool
    progress: Progress
    steps: int
    cut: int
    skipped: int


def pairs_digest(pairs: Iterable[TrainingPair]) -> str:
    """Return a digest of 12 hexadecimal digits of the pairs' contents and order."""
    digest = hashlib.sha256()
    for pair in pairs:
        messages = [[message.role, message.content] for message in pair.messages]
        digest.update(json.dumps([messages, pair.target, pair.sources]).encode())
    return digest.hexdigest()[:12]
