"""Grapheme clusters: letters with their accents, which must not be split."""

import re
import unicodedata

TAIL = "ʰ"
"""Replaces, in a masked text, each code point that belongs to the letter or digit before it."""

_REST = "\ufffc"  # the same after anything else: neither a word character nor white space
_ZWJ = "\u200d"
# Code points outside these ranges may join the preceding one, or be joined by the next.
_MAY_JOIN = re.compile(
    "[^\x00-\u02ff\u0370-\u0482\u048a-\u0588\u2010-\u2027\u2030-\u205e\u20a0-\u20cf"
    "\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]"
)
_JOINS_BEFORE = re.compile(
    "[\u200c\u200d\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
_JOINS_AFTER = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd"
    "\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011a84-\U00011a89\U00011d46\U00011f02]"
)
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")  # half of a flag; these join only each other
_LEADING_JAMO = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_LATER_JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")
_HANGUL = re.compile("[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]")
_VIRAMA = 9  # canonical combining class of the sign that ties consonants together


def masked(text: str) -> str:
    r"""Return `text`, code point for code point, with replacements for all but base characters.

    A match of ``\w``, ``\s`` or a letter in a masked text begins and ends at the bounds of grapheme
    clusters, which follow Unicode Standard Annex 29, section 3.1.1, rules GB6 to GB11. In doubt,
    code points are considered one cluster.
    """
    if text.isascii() or not _MAY_JOIN.search(text):
        return text
    stand_ins: list[str] = []
    before, tail, tied = "", _REST, False
    for char in text:
        if stand_ins and _joins(before, char, tied=tied):
            if stand_ins[-1].isspace() and stand_ins[-1].isprintable():
                stand_ins[-1] = _REST  # a space with an accent is not white space
            stand_ins.append(tail)
        else:
            stand_ins.append(char)
            tail, tied = TAIL if char.isalnum() else _REST, False
        tied = tied or unicodedata.combining(char) == _VIRAMA
        before = char
    return "".join(stand_ins)


def _joins(before: str, char: str, *, tied: bool) -> bool:
    """Return whether `char` belongs to the cluster that ends in `before`."""
    if before < " " or char < " ":
        return False
    if before == _ZWJ:
        return not (char.isspace() or _FLAG.match(char))
    if _JOINS_AFTER.match(before) or _JOINS_BEFORE.match(char):
        return True
    if unicodedata.category(char)[0] == "M":
        return True
    if _LATER_JAMO.match(char):
        return bool(_HANGUL.match(before))
    one_syllable = _LEADING_JAMO.match(before) and _HANGUL.match(char)
    return bool(one_syllable) or (tied and char.isalpha())
