"""Fold a text into one form for all its spellings, with a map back to its code points.

Two passages fold to the same string if they differ only in case, white space, kind and
number of quotation marks, dashes and dots, Unicode composition and compatibility
(``é`` in one or two code points, ``ﬁ`` and ``fi``), or invisible characters. A space
counts only between two words, so that tokenised text (``said .``) folds like prose.
"""

import re
import string
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_QUOTES = frozenset("'\"`´′″‴‵‶‷ʹʺʻʼʽˈˊˋˮ❛❜❝❞〝〞〟「」『』")
_QUOTE_CATEGORIES = frozenset({"Pi", "Pf"})
_MINUS = "\N{MINUS SIGN}"
_GRAPHEME_JOINER = "\N{COMBINING GRAPHEME JOINER}"
_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
_LONGEST_UNFOLDING = 4
_FEW = 64

# `_folded_character` for ASCII, in the form for which `str.translate` is fast.
_ASCII = str.maketrans(
    string.ascii_uppercase + '"`\t\n\v\f\r\x1c\x1d\x1e\x1f',
    string.ascii_lowercase + "''" + " " * 9,
)

# Possessive quantifiers rule out backtracking, so that folding takes linear time.
_RUN = re.compile(
    r"[ '.-](?:"
    r"(?<=(['.-]))(?: *+\1)*+ *+"  # marks of one kind count as one mark,
    r"| *+(['.-])(?: *+\2)*+ *+"  # with white space around them as without
    r"|(?<!\w ) *+| *+(?!\w)"  # white space next to anything but words is ignored
    r"|( ) *+"  # and between words it counts as one space
    r")"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A folded text that remembers the code points from which it was made.

    Parameters
    ----------
    text
        The folded form.
    origins
        For each character before runs were collapsed, the code point from which it was made.
    keys, firsts, widths
        Pieces of `text`: the index at which each begins, the index of its first character
        before runs were collapsed, and how many such characters each of its own represents.
    """

    text: str
    origins: Sequence[int]
    keys: Sequence[int]
    firsts: Sequence[int]
    widths: Sequence[int]

    def origin(self, start: int, *, end: int) -> tuple[int, int]:
        """Return the half-open code points of the non-empty ``text[start:end]``."""
        return self._code_points(start)[0], self._code_points(end - 1)[1]

    def splits(self, index: int) -> bool:
        """Return whether a cut before `index` splits what a reader sees as one letter."""
        if not 0 < index < len(self.text):
            return False
        if unicodedata.category(self.text[index])[0] == "M":
            return True
        return self._code_points(index)[0] < self._code_points(index - 1)[1]

    def _code_points(self, index: int) -> tuple[int, int]:
        piece = bisect_right(self.keys, index) - 1
        first = self.firsts[piece] + index - self.keys[piece]
        last = first + self.widths[piece] - 1
        return self.origins[first], self.origins[last] + 1


def fold(text: str) -> str:
    r"""Fold `text`, which may be any string, in time proportional to its length.

    Examples
    --------
    >>> fold("“Straße”  —\n‘Eﬃcient …’")
    "'strasse'-'efficient.'"
    """
    return fold_with_map(text).text


def fold_with_map(text: str) -> Folded:
    """Fold `text` as `fold` does, and keep a map to its code points."""
    characters, origins = _characters(text)
    kept: list[str] = []
    keys, firsts, widths = [0], [0], [1]
    done = length = 0
    for run in _RUN.finditer(characters):
        start, end = run.span()
        kept.append(characters[done:start])
        length += start - done
        done = end
        if group := run.lastindex:
            first = run.start(group)
            kept.append(characters[first])
            keys.append(length)
            firsts.append(first)
            widths.append(len(characters[first:end].rstrip(" ")) or end - first)
            length += 1
        keys.append(length)
        firsts.append(done)
        widths.append(1)
    kept.append(characters[done:])
    folded = "".join(kept)
    if not folded.isascii():  # combining marks that a dropped space made adjacent are reordered
        folded = unicodedata.normalize("NFD", folded)
    return Folded(text=folded, origins=origins, keys=keys, firsts=firsts, widths=widths)


def _characters(text: str) -> tuple[str, Sequence[int]]:
    """Fold `text` character by character; return also the index from which each was made."""
    if text.isascii():
        return text.translate(_ASCII), range(len(text))
    table = {character: _folded_character(character) for character in set(text)}
    # All characters are decomposed already: this only orders combining marks.
    characters = unicodedata.normalize("NFD", _replaced(text, table))
    if all(len(folded) == 1 for folded in table.values()):
        return characters, range(len(text))
    signs = {character: range(len(folded)) for character, folded in table.items()}
    return characters, [index for index, character in enumerate(text) for _ in signs[character]]


def _replaced(text: str, table: dict[str, str]) -> str:
    """Replace each character according to `table`; no replacement is itself a key that changes."""
    changed = [pair for pair in table.items() if pair[0] != pair[1]]
    if len(changed) > _FEW:
        return "".join(map(table.__getitem__, text))
    for character, folded in changed:  # faster for most alphabets
        text = text.replace(character, folded)
    return text


@lru_cache(maxsize=4096)
def _folded_character(character: str) -> str:
    """Fold one code point; unlike composition, decomposition does not depend on the neighbours."""
    if _mark(character) != character:
        return _mark(character)
    decomposed = unicodedata.normalize("NFKD", character)
    folded = unicodedata.normalize("NFKD", decomposed.casefold())
    if _mark_of_its_own(character, folded) or len(folded) > _LONGEST_UNFOLDING:
        folded = unicodedata.normalize("NFD", character)  # some signs expand to a phrase
    return "".join(_mark(part) for part in folded)


def _mark_of_its_own(character: str, folded: str) -> bool:
    """Return whether a letter would fold to a combining mark, alone or on the letter before it."""
    if folded.startswith(" "):
        return True
    return unicodedata.category(character) == "Lo" and unicodedata.category(folded[:1])[0] == "M"


def _mark(character: str) -> str:
    """Return the folded form of a space, quotation mark, dash or invisible character."""
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if character in _QUOTES or category in _QUOTE_CATEGORIES:
        return "'"
    if category == "Pd" or character == _MINUS:
        return "-"
    if category == "Cf" or character == _GRAPHEME_JOINER:
        return ""
    if any(ord(character) in selectors for selectors in _VARIATION_SELECTORS):
        return ""
    return character
