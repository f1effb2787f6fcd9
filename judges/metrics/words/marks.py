"""Marks of ASCII set apart from words, far faster than by a search for each of them.

References
----------
.. [1] mteval-v13a.pl (2009), NIST, by whose rules sacrebleu's "13a" cuts words
"""

import re
import string

__all__ = ["set_apart", "without_marks", "words_13a"]

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


def set_apart(text: str) -> str:
    """Put blanks around each character of a text in ASCII that is no letter, digit or blank.

    Examples
    --------
    >>> set_apart("(a-b)").split()
    ['(', 'a', '-', 'b', ')']
    """
    for mark in set(text.translate(_MARKS)):
        text = text.replace(mark, f" {mark} ")
    return text


def without_marks(text: str) -> str:
    """Put a blank for each character of a text in ASCII that is no letter, digit or blank.

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
