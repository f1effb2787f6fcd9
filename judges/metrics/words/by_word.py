"""Values of words, each worked out when it is first asked for and kept for a while."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_KEPT = 1 << 16  # words
_LONG = 40  # characters of what is hardly a word, and not kept


class ByWord(dict[str, T]):
    """A value for each word, by a function of the word.

    So many are kept that the words of a language are among them, and no more.

    Examples
    --------
    >>> ByWord(len)["word"]
    4
    """

    def __init__(self, make: Callable[[str], T]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> T:
        made = self._make(word)
        if len(word) <= _LONG:
            if len(self) >= _KEPT:
                self.clear()
            self[word] = made
        return made
