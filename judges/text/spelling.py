"""English words, and slips of spelling, by the word list of pyspellchecker."""

import gzip
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import product

from spanjury.judges.text.kept import KeptByWord

_SHORTEST = 5  # letters of a word below which too many words are a slip away
_COMMON = 5_000  # least frequency of a word that another one is a slip of
_PART = 1_000  # least frequency of the parts of a compound, and of a word with an ending
_LEAST_PART = 3  # letters
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VOWELS = "aeiou"
_PREFIXES = tuple(
    """anti bio co counter fore geo hydro inter micro mid mis multi non out over photo post pre re
    semi sub super trans ultra un under up""".split()  # noqa: SIM905 - so many read best so
)
_ENDINGS = tuple("able ed er ers es ing ish less ly ness s y".split())  # noqa: SIM905
_BRITISH = (
    ("ae", "e"),
    ("ce", "se"),
    ("gg", "g"),
    ("is", "iz"),
    ("ium", "um"),
    ("l", "ll"),
    ("ll", "l"),
    ("mme", "m"),
    ("oe", "e"),
    ("ogue", "og"),
    ("ou", "o"),
    ("our", "or"),
    ("re", "er"),
    ("sc", "sk"),
    ("yre", "ire"),
    ("ys", "yz"),
)
"""Spellings of British English beside those of the list, which is American."""
_WORD = re.compile("[a-z]+")


@cache
def _lines() -> bytes:
    """Return the list as it is packed: a line ``"word": frequency,`` for each word, sorted.

    It is searched as it stands: as a dict it would take thirty times the memory and time.
    """
    return gzip.decompress((files("spellchecker") / "resources" / "en.json.gz").read_bytes())


def _frequency(word: str) -> int:
    lines, sought = _lines(), word.encode()

    def entry(at: int) -> tuple[bytes, bytes]:
        start = lines.find(b'\n"', at) + 2
        stop = lines.find(b'"', start)
        return (lines[start:stop], lines[stop + 2 : lines.find(b"\n", stop)])

    last = lines.rfind(b'\n"')
    at = bisect_left(range(last), sought, key=lambda at: entry(at)[0])
    nearest, number = entry(at)
    return int(number.strip(b" ,")) if nearest == sought else 0


_FREQUENCIES = KeptByWord(_frequency)


def is_english(word: str) -> bool:
    """Return whether the list has a word in lower case.

    Examples
    --------
    >>> is_english("museum"), is_english("musuem")
    (True, False)
    """
    return _FREQUENCIES[word] > 0


def _correction(word: str) -> str:
    if len(word) < _SHORTEST or not _WORD.fullmatch(word) or is_english(word) or _is_formed(word):
        return ""
    for slips in (_exchanged(word), _one_letter_away(word)):
        likeliest = max(slips, key=_frequency)
        if _frequency(likeliest) >= _COMMON:
            return likeliest
    return ""


CORRECTIONS = KeptByWord(_correction)
"""The common word that a word in lower case is a slip of, by the word; empty if there is none.

A slip exchanges two letters, lacks one, has one too many, or has another vowel. Its first letter
is right. Words of British English and words formed from known ones are not slips.

Examples
--------
>>> CORRECTIONS["musuem"], CORRECTIONS["neighbours"], CORRECTIONS["lidarless"]
('museum', '', '')
"""


def _is_formed(word: str) -> bool:
    """Return whether a word that the list lacks is British, a compound, or has a known affix."""
    return (
        any(is_english(word.replace(british, other, 1)) for british, other in _BRITISH)
        or any(
            word.startswith(prefix) and is_english(word.removeprefix(prefix))
            for prefix in _PREFIXES
        )
        or any(
            _FREQUENCIES[stem] >= _PART
            for ending in _ENDINGS
            if word.endswith(ending)
            for stem in (word.removesuffix(ending), word.removesuffix(ending) + "e")
        )
        or any(
            min(_FREQUENCIES[word[:at]], _FREQUENCIES[word[at:]]) >= _PART
            for at in range(_LEAST_PART, len(word) - _LEAST_PART + 1)
        )
    )


def _exchanged(word: str) -> Iterator[str]:
    """Yield the words with two letters exchanged, except the first."""
    for at in range(1, len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _one_letter_away(word: str) -> Iterator[str]:
    """Yield the words with one inner letter less, one letter more, or another inner vowel."""
    inner = range(1, len(word) - 1)
    for at in inner:
        yield word[:at] + word[at + 1 :]
    for at, letter in product(range(1, len(word)), _LETTERS):
        yield word[:at] + letter + word[at:]
    for at, vowel in product(inner, _VOWELS):
        if word[at] in _VOWELS:
            yield word[:at] + vowel + word[at + 1 :]
