"""Types of a training in the token form: its options and its labelled windows."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from spanjury.adapters.training.job import DataStatistics, check_options
from spanjury.judges.core import LabelledPair, LabelledWindow

_COUNTS = (
    *("batch_tokens", "epochs", "max_steps", "max_length", "checkpoint_every", "validate_every"),
    *("patience", "threads"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenOptions:
    """Options of a training in the token form.

    Raises `ValueError` if a value is out of its range.

    Parameters
    ----------
    learning_rate
        Peak rate of the encoder's layers, reached after the warm-up; then it follows a cosine.
    head_learning_rate
        The same for new weights: the heads and the embeddings of kinds.
    weight_decay
        Weight decay of AdamW.
    warmup
        Share of the steps in which the rate rises, in ``[0, 1)``.
    kind_dropout
        Share of windows that are trained on without the kinds of their words, in ``[0, 1)``, so
        that the model does not rely on lexical overlap alone.
    error_weight
        Weight of a word with an error, relative to one without.
    order_weight
        Weight of ranking sentences with an error above those without, within a group; 0 or more.
    batch_tokens
        Word pieces per step, padding included.
    epochs
        Passes over all windows.
    max_steps
        Ends training earlier; None to complete all epochs.
    max_length
        Maximum number of word pieces per window; None for the base's default.
    seed
        Seed for the order of the windows, the initial weights and dropout.
    checkpoint_every, validate_every
        Interval in steps; None to validate only at the end of each epoch.
    patience
        Training ends after this many validations without a lower loss.
    precision
        Precision of matrix products in training; the weights stay in 32-bit floats.
        ``"bfloat16"`` halves the time on processors with instructions for it.
    threads
        Processor threads; None for torch's default.
    device
        A torch device; ``"auto"`` is a GPU if there is one.
    """

    learning_rate: float = 1e-4
    head_learning_rate: float = 5e-4
    weight_decay: float = 0.01
    warmup: float = 0.05
    kind_dropout: float = 0.0
    error_weight: float = 2.0
    order_weight: float = 0.5
    batch_tokens: int = 2600
    epochs: int = 1
    max_steps: int | None = None
    max_length: int | None = None
    seed: int = 1
    checkpoint_every: int = 100
    validate_every: int | None = None
    patience: int = 3
    precision: Literal["float32", "bfloat16"] = "float32"
    threads: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        check_options(
            self,
            shares=("warmup", "kind_dropout"),
            positive=("learning_rate", "head_learning_rate", "error_weight"),
            not_negative=("weight_decay", "order_weight", "seed"),
            counts=_COUNTS,
        )


CheckerHead = Literal["pair", "token", "guardian"]
"""The result of a checker: a class of a pair of passage and claim, or of each token of a claim, or
the answer of a chat model to a guardian's question.
"""


class Question(NamedTuple):
    """A guardian's question: two messages, and the answers for a claim that is supported or not.

    The user's message holds ``$document`` and, after a blank, ``$claim``.
    """

    system: str
    user: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerForm:
    """The form of a checker to train, as the judge `checker` reads it.

    Raises `ValueError` if the number of classes is not supported.

    Parameters
    ----------
    head
        Kind of its result.
    classes
        2 for supported and not supported; 3 divides the latter into contradicted and not in the
        source, only for a classifier of pairs.
    question
        The question, for a guardian only.
    """

    head: CheckerHead
    classes: int = 2
    question: Question | None = None

    def __post_init__(self) -> None:
        if self.classes not in {2, 3}:
            raise ValueError(f"a checker has 2 or 3 classes, got {self.classes!r}")
        if self.head != "pair" and self.classes != 2:  # noqa: PLR2004
            raise ValueError("only a classifier of pairs has 3 classes")
        if (self.head == "guardian") != (self.question is not None):
            raise ValueError("a guardian, and no other checker, is asked a question")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenJob:
    """A training to run: the encoder, by a name for `find_encoder`, the data and the target folder.

    There is at least one window, or pair if `checker` is given, which is then the form to train.
    The loss on `validation` decides when training ends early, and which weights are kept. `data` is
    for the card.
    """

    windows: Sequence[LabelledWindow | LabelledPair]
    validation: Sequence[LabelledWindow | LabelledPair] = ()
    kinds: int
    base: str
    folder: Path
    options: TokenOptions
    data: DataStatistics
    checker: CheckerForm | None = None


def windows_digest(windows: Iterable[LabelledWindow | LabelledPair]) -> str:
    """Return a digest of 12 hexadecimal digits of the windows, their labels and order."""
    digest = hashlib.sha256()
    for window in windows:
        if isinstance(window, LabelledPair):
            digest.update(repr(window).encode())
            continue
        digest.update(repr((window.window, window.words, window.sentence, window.group)).encode())
    return digest.hexdigest()[:12]
