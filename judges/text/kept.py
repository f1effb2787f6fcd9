"""Bounded caches of functions of texts and of words.

Rows come in any order, so the source of one may recur after many others. The cache of texts is
bounded by their total length, not by their number: a few long ones take as much memory as many
short ones.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 1 << 19
"""Maximum number of code points of all cached texts together, apart from the latest text."""

_LONGEST_WORD = 40  # code points; longer strings are hardly words and rarely recur
_MOST_WORDS = 1 << 16  # a language has few words: texts share nearly all of them


class KeptByText(Generic[T]):
    """A function of a text that caches its results for the latest texts.

    It may be called from several threads. The result for the latest text is always cached, however
    long the text is. Earlier ones are cached while all texts together have at most `most` code
    points.

    Parameters
    ----------
    make
        The function; its result must depend on the text alone.
    """

    __slots__ = ("_kept", "_lock", "_make", "_most", "size")

    def __init__(self, make: Callable[[str], T], *, most: int = MOST) -> None:
        self._make = make
        self._most = most
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()
        self.size = 0
        """Number of code points of the cached texts."""

    def __call__(self, text: str) -> T:
        """Return the result for `text`, from the cache if possible."""
        try:
            result = self._kept[text]
            self._kept.move_to_end(text)
        except KeyError:  # not cached, or dropped by another thread before `move_to_end`
            result = self._make(text)
            self._keep(text, result)
        return result

    def clear(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._kept.clear()
            self.size = 0

    def _keep(self, text: str, result: T) -> None:
        with self._lock:
            if text not in self._kept:
                self.size += len(text)
            self._kept[text] = result
            while self.size > self._most and len(self._kept) > 1:
                dropped, _ = self._kept.popitem(last=False)
                self.size -= len(dropped)


class KeptByWord(dict[str, T]):
    """A cached function of a word, as a dict: a lookup is faster than a function call.

    Strings too long to be words are not cached. When the cache is full, it is emptied.
    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> T:
        """Compute the value of a new word, and cache it."""
        result = self._make(word)
        if len(word) <= _LONGEST_WORD:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = result
        return result
