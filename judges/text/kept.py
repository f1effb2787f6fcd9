"""Results of functions of texts and of words, kept for those that come again, within a bound.

Rows come in any order, so that the source of one may come again after many others. What is
kept of texts is bounded by their length, not by their number: a few long ones take as much
memory as many short ones.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")

MOST = 1 << 19
"""Code points of all texts together of which something is kept, the latest text aside."""

_LONGEST_WORD = 40  # code points; what is longer is hardly a word, and does not come again
_MOST_WORDS = 1 << 16  # a language has few words: texts share nearly all of them


class KeptByText(Generic[T]):
    """A function of a text that keeps what it made of the texts that came last.

    It may be called from several threads. Of the latest text the result is always kept, however
    long the text is; of those before, as long as all together have at most `most` code points.

    Parameters
    ----------
    make
        Makes the same of the same text.

    Examples
    --------
    >>> made = []
    >>> length = KeptByText(lambda text: made.append(text) or len(text), most=4)
    >>> [length(text) for text in ("one", "two", "two", "a", "one")], made
    ([3, 3, 3, 1, 3], ['one', 'two', 'a', 'one'])
    """

    __slots__ = ("_kept", "_lock", "_make", "_most", "size")

    def __init__(self, make: Callable[[str], T], *, most: int = MOST) -> None:
        self._make = make
        self._most = most
        self._kept: OrderedDict[str, T] = OrderedDict()
        self._lock = Lock()
        self.size = 0
        """Code points of the texts of which something is kept."""

    def __call__(self, text: str) -> T:
        """Return what `make` makes of `text`, from what is kept if it is there."""
        try:
            made = self._kept[text]
            self._kept.move_to_end(text)
        except KeyError:  # the second time because another thread has just dropped it
            made = self._make(text)
            self._keep(text, made)
        return made

    def clear(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._kept.clear()
            self.size = 0

    def _keep(self, text: str, made: T) -> None:
        with self._lock:
            if text not in self._kept:
                self.size += len(text)
            self._kept[text] = made
            while self.size > self._most and len(self._kept) > 1:
                dropped, _ = self._kept.popitem(last=False)
                self.size -= len(dropped)


class KeptByWord(dict[str, T]):
    """A function of a word as a mapping, which is looked up faster than a function is called.

    What is too long for a word is not kept; when there are too many words, all are forgotten.

    Examples
    --------
    >>> size = KeptByWord(len)
    >>> size["word"], [*map(size.__getitem__, ["a", "word"])]
    (4, [1, 4])
    """

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> T:
        """Make it of a new word, and keep it."""
        made = self._make(word)
        if len(word) <= _LONGEST_WORD:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = made
        return made
