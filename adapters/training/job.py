"""A training: its options, its examples, how far it is, and what came of it."""

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
    """The options of a training.

    Raises `ValueError` if a value is out of its range.

    Parameters
    ----------
    rank, alpha
        Rank and weight of the low-rank matrices, which count ``alpha / rank`` times.
    dropout
        The share of their inputs that is dropped, in ``[0, 1)``.
    learning_rate
        The highest; reached after the warm-up, and down to 0 at the end.
    weight_decay
        Weight decay of AdamW.
    warmup
        The share of the steps in which the rate rises, in ``[0, 1)``.
    explanation_weight
        Weight of a token of an explanation beside one of the verdict, in ``[0, 1]``.
    max_gradient_norm
        Longer gradients are shortened to this.
    batch_size
        Examples that one step learns from.
    micro_batch_size
        Examples that are in memory at once; it changes rounding only, and is halved where
        memory runs out.
    epochs
        How often every example is learnt from.
    max_steps
        Ends training earlier; None to go through all epochs.
    max_length
        Tokens of an example, at most; None for as many as the model takes.
    seed
        Seed for the order of the examples, of the matrices and of what is dropped.
    checkpoint_every, validate_every
        Steps; None to validate at the end of each epoch only.
    device
        As torch writes it; ``"auto"`` is a GPU if there is one.
    attention
        Who computes it; ``"auto"`` is xformers on a GPU where it is installed, else PyTorch.
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

    Shares are in ``[0, 1)``, the next two finite, and counts, which may be None, 1 or more.
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
    """A conversation, oldest message first, and the whole answer to it.

    `sources` are texts that stand in the messages, word for word, and of which the end may be cut
    where the whole is longer than the model's context; the longest is cut first. The last `light`
    characters of the target are explanations; `faulty` is its verdict, where it begins with one.

    Raises `ValueError` if there is no message or an empty target.
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
    """The statistics of the data that a model card shows.

    `source` is the name of the data's folder, and `digest` digits that change with the data.
    `counts` maps heading -> name -> how many examples, as ``{"task": {"summarization": 120}}``.
    The licences are those of the sources and of the teachers.
    """

    source: str
    digest: str
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    licences: Sequence[str] = ()

    def __post_init__(self) -> None:
        plain = {heading: dict(counts) for heading, counts in self.counts.items()}
        object.__setattr__(self, "counts", plain)  # as JSON takes it; the dataclass is frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictWords:
    """The beginning of every target that begins with its verdict, and the two ways to go on."""

    prefix: str
    yes: str
    no: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A probability from which a text is faulty, with what it does on `examples` for validation.

    `caught` is the share of the faulty ones that it catches, `false_alarms` that of the others.
    """

    value: float
    caught: float
    false_alarms: float
    examples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """The way in which a trained model is to be asked and read; `distilled` takes it as options.

    `threshold` is None where there was nothing to choose it on.
    """

    layout: str = "score-last"
    threshold: Threshold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """A training to do, of the base that `find_base` finds by its name, into a folder.

    There is at least one pair to learn from; on the examples of `validation` the loss is measured
    besides, and the threshold chosen, if targets begin with `verdict`. `layout` and `data` are for
    the record.
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
    """The progress of a training: the steps that are done, tokens read and seconds taken.

    `micro_batch_size` is what memory has been found to hold. `losses` and `validations` are
    ``(step, mean loss of an example)``, in the order of the steps; an example's loss is the
    weighted mean of its answer's tokens'.
    """

    step: int = 0
    micro_batch_size: int
    losses: list[tuple[int, float]] = field(default_factory=list)
    validations: list[tuple[int, float]] = field(default_factory=list)
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The outcome of a training, which has `steps` steps in all.

    If it is not `finished`, a checkpoint is there. `cut` examples lost the end of a source, and
    `skipped` ones were too long all the same.
    """

    finished: bool
    progress: Progress
    steps: int
    cut: int
    skipped: int


def pairs_digest(pairs: Iterable[TrainingPair]) -> str:
    """Return 12 hexadecimal digits that change with what the pairs say, or with their order."""
    digest = hashlib.sha256()
    for pair in pairs:
        messages = [[message.role, message.content] for message in pair.messages]
        digest.update(json.dumps([messages, pair.target, pair.sources]).encode())
    return digest.hexdigest()[:12]
