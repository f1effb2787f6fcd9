"""Prose: a window as one text that a causal language model reads, the source first.

The words of a window are joined as a writer would set them, and cut into pieces word by word, so
that trainer and judge cut alike: ``<|endoftext|> source cue sentence end``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import Window

CUE = "\n\nIn short:"
"""Stands between source and sentence."""

END = "\n"
"""Stands behind the sentence; the model's state there tells of the whole of it."""

_TIGHT_BEFORE = frozenset(".,;:!?)]}%…/-_'’”")
_TIGHT_BEHIND = frozenset("([{$£€#/-_“‘")
_PAIRED = '"'
_KEPT_WORDS = 1 << 15  # words whose pieces are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A window in pieces.

    Parameters
    ----------
    source
        Numbers of the pieces that all sentences beside one source share, the cue among them.
    sentence
        Numbers of the sentence's pieces, and of the end.
    lasts
        For each word of the sentence, the place in `sentence` of its last piece; None for a word
        without any.
    """

    source: tuple[int, ...]
    sentence: tuple[int, ...]
    lasts: tuple[int | None, ...]


class ProsePieces:
    """Cuts windows into pieces.

    Parameters
    ----------
    cut
        Returns the numbers of a text's pieces.
    start
        Number of the piece before every text.
    max_length
        The most pieces of source and sentence together. The sentence takes half of them at most;
        what is too long loses its end.
    """

    def __init__(self, cut: Callable[[str], Sequence[int]], *, start: int, max_length: int) -> None:
        self._word = lru_cache(maxsize=_KEPT_WORDS)(lambda text: tuple(cut(text)))
        self._start, self._max_length = start, max_length

    def prose(self, window: Window) -> Prose:
        """Return `window` in pieces."""
        end = self._word(END)
        most = self._max_length // 2 - len(end)
        pieces: list[int] = []
        lasts: list[int | None] = []
        for word in spaced(window.words, first=" "):
            cut_word = self._word(without_lone_surrogates(word))
            if len(pieces) + len(cut_word) > most:
                cut_word = ()
            pieces += cut_word
            lasts.append(len(pieces) - 1 if cut_word else None)
        cue = self._word(CUE)
        room = self._max_length - len(pieces) - len(end) - len(cue) - 1
        cut = map(self._word, map(without_lone_surrogates, spaced(window.source)))
        source = tuple(chain.from_iterable(cut))[:room]
        return Prose(
            source=(self._start, *source, *cue), sentence=(*pieces, *end), lasts=tuple(lasts)
        )


def spaced(words: Sequence[str], *, first: str = "") -> Iterator[str]:
    """Yield each word with the blank before it that belongs there; `first` is the first one's.

    Joined, they are the text as it is usually set; what blanks it had is not known.
    """
    before = first
    opened = False
    for word in words:
        tight = word[0] in _TIGHT_BEFORE or (word == _PAIRED and opened)
        yield word if tight else before + word
        if word == _PAIRED:
            opened = not opened
        behind = word in _TIGHT_BEHIND or (word == _PAIRED and opened)
        before = "" if behind else " "
