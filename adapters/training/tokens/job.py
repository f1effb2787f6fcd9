"""A training of the token form: its options and its labelled windows."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from spanjury.adapters.training.job import DataStatistics, check_options
from spanjury.judges.core import LabelledPair, LabelledWindow

_COUNTS = (
    *("batch_tokens", "epochs", "max_steps", "max_length", "checkpoint_every", "validate_every"),
    *("patience", "threads"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenOptions:
    """The options of a training of the token form.

    Raises `ValueError` if a value is out of its range.

    Parameters
    ----------
    learning_rate
        The highest, of the encoder's layers; reached after the warm-up, and down along a cosine.
    head_learning_rate
        The same for what is new: the heads and the embeddings of kinds.
    weight_decay
        Weight decay of AdamW.
    warmup
        Share of the steps in which the rate rises, in ``[0, 1)``.
    kind_dropout
        Share of windows that are learnt from without the kinds of their words, in ``[0, 1)``: what
        can be counted should not stand for what has to be understood.
    error_weight
        Times that a word with an error counts, beside one without.
    order_weight
        Weight of the order of sentences with and without an error within a group, 0 or more.
    batch_tokens
        Word pieces that one step learns from, padding included.
    epochs
        How often every window is learnt from.
    max_steps
        Ends training earlier; None to go through all epochs.
    max_length
        Word pieces of a window, at most; None for as many as the base is made for.
    seed
        Seed for the order of the windows, of the new weights and of what is dropped.
    checkpoint_every, validate_every
        Steps; None to validate at the end of each epoch only.
    patience
        Validations without a lower loss after which training ends.
    precision
        Of the products while it learns; the weights stay in 32-bit floats. ``"bfloat16"`` takes
        half the time on processors that have instructions for it.
    threads
        Processor threads; None for torch's own choice.
    device
        As torch writes it; ``"auto"`` is a GPU if there is one.
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


CheckerHead = Literal["pair", "token"]
"""Object that a checker classifies: a pair of passage and claim, or each token of a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckerForm:
    """The form of a checker to train, as the judge `checker` reads it.

    Raises `ValueError` if there are other classes.

    Parameters
    ----------
    head
        Object that it classifies.
    classes
        2 for supported and not supported; 3 parts the latter into contradicted and not in the
        source, for a classifier of pairs.
    """

    head: CheckerHead
    classes: int = 2

    def __post_init__(self) -> None:
        if self.classes not in {2, 3}:
            raise ValueError(f"a checker has 2 or 3 classes, got {self.classes!r}")
        if self.head == "token" and self.classes != 2:  # noqa: PLR2004
            raise ValueError("a classifier of tokens has 2 classes")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenJob:
    """A training to do, of the encoder that `find_encoder` finds by its name, into a folder.

    There is at least one window to learn from, or pair, if `checker` is the form of what is
    trained. Training ends early, and the best weights are kept, by the loss on those of
    `validation`. `data` is for the card.
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
    """Return 12 hexadecimal digits that change with the windows, their labels or their order."""
    digest = hashlib.sha256()
    for window in windows:
        if isinstance(window, LabelledPair):
            digest.update(repr(window).encode())
            continue
        digest.update(repr((window.window, window.words, window.sentence, window.group)).encode())
    return digest.hexdigest()[:12]
