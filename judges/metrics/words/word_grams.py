"""Words and n-grams of a text, for metrics that count them.

References
----------
.. [1] mteval-v13a.pl (2009), NIST, by whose rules sacrebleu's "13a" cuts words
"""

import re
import string
from collections.abc import Hashable, Sequence
from functools import lru_cache, partial
from typing import Literal, get_args

from spanjury.judges.metrics.words.cuts import Cut

_ASCII = [chr(code) for code in range(128)]
# Of these letters, digits and blanks are left out, of the others letters and blanks.
_BLANKS = str.maketrans({char: " " for char in _ASCII if not char.isalnum()})
_MARKS = str.maketrans({char: None for char in _ASCII if char.isalnum() or char.isspace()})
_MARKS_AND_DIGITS = str.maketrans(
    {char: None for char in _ASCII if char.isalpha() or char.isspace()}
)
_DIGITS = frozenset(string.digits)
_STOPS, _IN_NUMBERS = frozenset(".,"), frozenset(".,-")
_APART = frozenset(string.punctuation) - _IN_NUMBERS - {"'"}
# [1]: not what stands between digits, and of hyphens only what a digit stands before.
_BESIDE_DIGITS = re.compile(r"(?<![0-9])[.,]|[.,](?![0-9])|(?<=[0-9])-")
_DOUBLED = ("..", ".,", ",.", ",,")
Tokens = Literal["words", "words-and-marks", "blanks"]
"""Units that count as words: words alone; each mark of punctuation too; whatever blanks divide."""
# Scripts that put no blanks between words: each of their characters stands alone.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# Python's \w leaves out combining accents, and the vowel signs of Semitic and Indic scripts.
_SIGNS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0980-\u0dff"
)
_RUN = rf"[^\W_{_ALONE}]++(?:[{_SIGNS}]++[^\W_{_ALONE}]*+)*+"
_WORD = rf"[{_ALONE}]|{_RUN}(?:['’]{_RUN}|(?<=\d)[.,]\d++)*+"
_ASCII_WORD = r"[a-z0-9]++(?:'[a-z0-9]++|(?<=\d)[.,]\d++)*+"
_PATTERNS = {
    "words": (re.compile(_ASCII_WORD), re.compile(_WORD)),
    "words-and-marks": (
        re.compile(rf"{_ASCII_WORD}|[^a-z0-9\s]"),
        re.compile(rf"{_WORD}|[^\w\s]|_"),
    ),
}
_MARK_IN_NUMBER = re.compile(r"\d[.,]\d")


def set_apart(text: str) -> str:
    """Put blanks around each character of a text in ASCII that is not a letter, digit or blank.

    Examples
    --------
    >>> set_apart("(a-b)").split()
    ['(', 'a', '-', 'b', ')']
    """
    for mark in set(text.translate(_MARKS)):
        text = text.replace(mark, f" {mark} ")
    return text


def without_marks(text: str) -> str:
    """Put a blank for each character of a text in ASCII that is not a letter, digit or blank.

    Examples
    --------
    >>> without_marks("(a-b)").split()
    ['a', 'b']
    """
    return text.translate(_BLANKS)


def words_13a(text: str) -> list[str] | None:
    """Return the words of `text` by the rules of "13a", or None if it is not a plain one.

    Plain is ASCII without entities, marks that follow each other, or words broken at a hyphen.

    Examples
    --------
    >>> words_13a("It's 3.5, or so-so.")
    ["It's", '3.5', ',', 'or', 'so-so', '.']
    """
    if not text.isascii() or "-\n" in text or any(pair in text for pair in _DOUBLED):
        return None
    held = set(text.translate(_MARKS_AND_DIGITS))
    if "&" in held or "<" in held:
        return None
    apart = held & _APART
    if not held.isdisjoint(_IN_NUMBERS):
        if held.isdisjoint(_DIGITS):
            apart |= held & _STOPS
        else:
            text = _BESIDE_DIGITS.sub(r" \g<0> ", text)
    for mark in apart:
        text = text.replace(mark, f" {mark} ")
    return text.split()


def check_order(order: int, *, name: str = "order") -> None:
    """Raise `ValueError` if `order` is not the length of an n-gram."""
    if order < 1:
        raise ValueError(f"{name} must be 1 or more, got {order!r}")


def check_tokens(tokens: str) -> None:
    """Raise `ValueError` with the choices if `tokens` is none of `Tokens`."""
    if tokens not in get_args(Tokens):
        raise ValueError(f"tokens must be one of {get_args(Tokens)}, got {tokens!r}")


def tokenise(text: str, tokens: Tokens) -> tuple[str, ...]:
    """Return the words of `text` in order, in lower case.

    A word may hold apostrophes, and a number stops and commas; a hyphen divides words. Of
    scripts without blanks, as Chinese, each character is a word.

    Examples
    --------
    >>> tokenise("Don't pay 1,200.50!", "words-and-marks")
    ("don't", 'pay', '1,200.50', '!')
    """
    lowered = text.lower()
    if tokens == "blanks":
        return tuple(lowered.split())
    # Where no mark stands within a word, it is several times as fast to set marks apart.
    if lowered.isascii() and "'" not in lowered and not _MARK_IN_NUMBER.search(lowered):
        plain = without_marks(lowered) if tokens == "words" else set_apart(lowered)
        return tuple(plain.split())
    ascii_pattern, pattern = _PATTERNS[tokens]
    return tuple((ascii_pattern if lowered.isascii() else pattern).findall(lowered))


@lru_cache(maxsize=3)
def words_cut(tokens: Tokens) -> Cut:
    """Return `tokenise` as the cut of a corpus."""
    return Cut(words=partial(tokenise, tokens=tokens), plain="in lower case")


def grams(words: Sequence[str], *, order: int) -> Sequence[Hashable]:
    """Return the runs of `order` words, from first to last.

    Fewer words than that are one run, so that only a text without words has none.
    """
    order = min(order, len(words))
    if order <= 1:
        return words
    return list(zip(*(words[start:] for start in range(order)), strict=False))
