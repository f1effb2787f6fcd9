"""Reading: the seam between the judge `reader` and the small model that reads for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

ROOM = 134
"""Words and marks of a window on both sides, unless a reader has room for more: their pieces rarely
exceed 192."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One sentence of an output and the part of its source that it is compared with.

    Parameters
    ----------
    words
        The words and marks of the sentence, in order.
    kinds
        A small number for each of `words`: its lexical relation to the source.
    source
        The words and marks of the source's sentences, in the source's order. A model that has no
        room for all of them leaves out the end.
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
    """Contradicted or not in the source: it is not said which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledWindow:
    """A window to learn from.

    Parameters
    ----------
    words
        The labels of its words, in order. Where all are unknown and the sentence has an error,
        some of its words carry it.
    sentence
        The label of the sentence.
    group
        Windows of one group are learnt from together, as a clean sentence and its damaged twin.
    """

    window: Window
    words: tuple[Label, ...]
    sentence: Label
    group: str


class Likelihoods(NamedTuple):
    """Probabilities that something is supported, contradicted, or not in the source; sum 1."""

    supported: float
    contradicted: float
    absent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowReading:
    """Likelihoods for a window.

    Parameters
    ----------
    words
        Those of each word of the sentence, in order.
    sentence
        Those of the sentence as a whole.
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
        """Return one reading a window, in order; blocking.

        Raises
        ------
        JudgeError
            If the model cannot be loaded or run.
        """
        ...
