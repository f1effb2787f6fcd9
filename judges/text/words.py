"""Words: the letters and numbers of a text, with their offsets, and folded for comparison."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from spanjury.judges.text.kept import KeptByWord

# A comma groups thousands. In tokenised data a comma and a space do, but elsewhere they separate
# numbers, so only round ones count. An ordinal keeps its ending. A possessive "s" is not a word.
# Python's \w lacks combining accents and the vowel signs of Indic scripts, without which words
# would fall apart.
GROUPED = (
    r"[1-9]\d{0,2}(?:,\d{3})+(?!\d)(?:\.\d+)?"
    r"|[1-9]\d{0,2}(?:, \d{3}){0,3}, 000(?!\d)|[1-9]\d?, [1-9]00(?!\d)"
)
"""Pattern of a number with groups of three digits."""
_NUMBER = rf"(?:{GROUPED}|\d+(?:\.\d+)*)(?: ?(?:st|nd|rd|th)\b)?"
_MARKS = (
    "[\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962-\u0963\u0980-\u0dff]"
)
_LETTERS = rf"[^\W\d_]++(?<!['’][sS])(?:{_MARKS}+[^\W\d_]*)*+"
_WORD = re.compile(rf"{_LETTERS}|{_NUMBER}|%")
_ASCII_WORD = re.compile(rf"[A-Za-z]++(?<!'[sS])|{_NUMBER}|%")  # the same in ASCII, faster
_ACCENTS = re.compile("[\u0300-\u036f]+")
_ENDING = re.compile(r"[, a-zA-Z]+")
_JOINER = "\N{ZERO WIDTH JOINER}"
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""The border between two words of an identifier in camel case."""


class Word(NamedTuple):
    """A word of a text.

    Parameters
    ----------
    start, end
        Half-open offsets in code points.
    folded
        The folded form for comparison, as returned by `fold_word`.
    """

    start: int
    end: int
    text: str
    folded: str


def fold_word(word: str) -> str:
    """Fold case, accents and the spellings of a number.

    Examples
    --------
    >>> [fold_word(word) for word in ("Élan", "1,200", "07", "2.50", "21st", "%")]
    ['elan', '1200', '7', '2.5', '21', 'percent']
    """
    if not word.isascii():
        word = _ACCENTS.sub("", unicodedata.normalize("NFKD", word)).casefold()
    if word[:1].isdecimal():
        return _fold_number(word)
    return "percent" if word == "%" else word.lower()


def _fold_number(word: str) -> str:
    """Remove digit grouping, an ordinal's ending and insignificant zeros."""
    if word.isdecimal():
        return word.lstrip("0") or "0"
    whole, point, rest = _ENDING.sub("", word).partition(".")
    if "." not in rest:  # not a version or a date
        rest = rest.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + rest if rest else "")


FOLDED = KeptByWord(fold_word)
"""Word -> the result of `fold_word`."""


def words(text: str, *, offset: int = 0) -> list[Word]:
    """Return the words of `text` in order.

    A word is a run of letters, a number, or a percent sign; it never contains an apostrophe
    (``don't`` is two words, and the ``'s`` of ``Ann's`` is not a word) or an underscore.

    Parameters
    ----------
    offset
        Added to all starts and ends, for a `text` within a longer one.
    """
    result = []
    for match in (_ASCII_WORD if text.isascii() else _WORD).finditer(text):
        word = match.group()
        start, end = match.span()
        result.append(Word(offset + start, offset + end, word, FOLDED[word]))
    return result


def folded_words(text: str) -> list[str]:
    """Return ``[word.folded for word in words(text)]``, several times as fast."""
    text = text.lower()
    matches = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    return [*map(FOLDED.__getitem__, matches)]


def name_words(name: str) -> list[str]:
    """Return the words of an identifier, in order and in lower case.

    Examples
    --------
    >>> name_words("SendEmail"), name_words("max_price[0]")
    (['send', 'email'], ['max', 'price', '0'])
    """
    return [word.lower() for word in re.split(r"[_\W]+", HUMP.sub(" ", name)) if word]


def joined(left: str, right: str) -> bool:
    """Return whether two neighbouring characters belong to one word or one letter."""
    if _JOINER in {left, right} or unicodedata.category(right)[0] == "M":
        return True
    if not (left.isalnum() and right.isalnum()):
        return False
    if left.isascii() and right.isascii():
        return True
    return not (_spaceless(left) or _spaceless(right))


def stands_alone(text: str, start: int, *, end: int) -> bool:
    """Return whether the non-empty ``text[start:end]`` cuts no word and no letter in two."""
    if start > 0 and joined(text[start - 1], text[start]):
        return False
    return end == len(text) or not joined(text[end - 1], text[end])


def _spaceless(character: str) -> bool:
    """Return whether the character's script has no spaces between words."""
    code = ord(character)
    if code < 0x2E80:  # noqa: PLR2004 - Thai to Myanmar, Khmer
        return 0x0E00 <= code < 0x10A0 or 0x1780 <= code < 0x1800  # noqa: PLR2004
    # from the CJK radicals on, except Hangul syllables
    return not (0xAC00 <= code < 0xD800 or 0xFB00 <= code < 0x20000)  # noqa: PLR2004


def each_once(texts: Iterable[str]) -> list[str]:
    """Return `texts` without those that differ from an earlier one only in case.

    Examples
    --------
    >>> each_once(["People", "came", "people"])
    ['People', 'came']
    """
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(text.lower(), text)
    return [*first.values()]
