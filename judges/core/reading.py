"""Interface between the judge `reader` and the small model that reads for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

ROOM = 134
"""Words and punctuation marks of a window, sentence and source together, unless a reader has room
for more: they rarely exceed 192 word pieces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One sentence of an output and the part of its source to compare it with.

    Parameters
    ----------
    words
        The words and punctuation marks of the sentence, in order.
    kinds
        A small number for each of `words`: its lexical relation to the source.
    source
        The words and punctuation marks of the source's sentences, in the order of the source. A
        model that has no room for all of them leaves out the end.
    source_kinds
        A small number for each of `source`: its lexical relation to the sentence.
    """

    words: tuple[str, ...]
    kinds: tuple[int, ...]
    source: tuple[str, ...]
    source_kinds: tuple[int, ...]


class Label(IntEnum):
    """Relation of a word, or of a sentence, to the source, as people or damage label it."""

    UNKNOWN = -1
    SUPPORTED = 0
    CONTRADICTED = 1
    ABSENT = 2
    """Not in the source."""
    ERROR = 3
    """Contradicted or not in the source: the label does not distinguish them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledWindow:
    """A labelled training window.

    Parameters
    ----------
    words
        The labels of its words, in order. If all are unknown and the sentence has an error, the
        error is in some of its words.
    sentence
        The label of the sentence.
    group
        Windows of one group are trained on together, such as a clean sentence and its damaged
        twin.
    """

    window: Window
    words: tuple[Label, ...]
    sentence: Label
    group: str


class Likelihoods(NamedTuple):
    """Probabilities of being supported, contradicted, or not in the source; they sum to 1."""

    supported: float
    contradicted: float
    absent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowReading:
    """Likelihoods for a window.

    Parameters
    ----------
    words
        Likelihoods of each word of the sentence, in order.
    sentence
        Likelihoods of the sentence as a whole.
    """

    words: tuple[Likelihoods, ...]
    sentence: Likelihoods


class WindowReader(Protocol):
    """A small model that reads windows."""

    @property
    def signature(self) -> str:
        """Everything about the model that can change a number."""
        ...

    @property
    def room(self) -> int:
        """Maximum number of words and punctuation marks per window, in both its texts."""
        ...

    def read(self, windows: Sequence[Window]) -> list[WindowReading]:
        """Return one reading for each window, in order; blocking.

        Raises `JudgeError` if the model cannot be loaded or run.
        """
        ...
