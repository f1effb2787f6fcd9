"""Counts of readability formulas: words, sentences, letters and syllables of English.

Words, sentences and letters are those of textstat 0.7, several times as fast; syllables are
those of a pronouncing dictionary, as textstat's are, or of a rule that was fitted to it.

By the rule a word has a syllable for each group of vowels (a, e, i, o, u, y), more where a
piece of it is spoken as two groups (``ia``, ``tled$``), and fewer where a vowel is silent
(``ele$``, ``^lifes``). The pieces lie beside this file, in ``syllables.toml``. They were fitted to
CMUdict [1]_, of which they give the number of 99.4 of 100 running words (`benchmarks.syllables`).

References
----------
.. [1] The Carnegie Mellon University Pronouncing Dictionary, BSD-2-Clause,
   http://www.speech.cs.cmu.edu/cgi-bin/cmudict
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Final

from spanjury.judges.core import ConfigError
from spanjury.judges.metrics.words.by_word import ByWord
from spanjury.judges.metrics.words.cuts import Cut

FIT: Final = "cmudict-1"
"""Names the fit; another one gives other numbers."""
_VOWELS = re.compile("[aeiouy]+")
_NO_CONTRACTION = re.compile("'(?![tsd]|ve|ll|re)")
_MARK = re.compile(r"[^\w\s']")
_NO_LETTER = re.compile(r"\W+")
_ASCII = [chr(code) for code in range(128)]
# The same for ASCII, in lower case; a table is several times as fast.
_PLAIN = str.maketrans(
    {char: char.lower() if re.match(r"[\w\s']", char) else None for char in _ASCII}
)
# From a word on until a stop; the group holds a letter iff there are three words or more.
_SENTENCE = re.compile(r"\b\w[^.!?\s]*+(?:(?:\s[^.!?\w]*+\w[^.!?\s]*+)\s[^.!?\w]*+(\w))?+[^.!?]*+")
_VARIANT = re.compile(r"\(\d+\)$")


def syllable_count(word: str) -> int:
    """Count the syllables of `word`, in lower case; 1 for what has no vowel, as a number.

    Examples
    --------
    >>> [syllable_count(word) for word in ("very", "comfortable", "sometimes", "1935")]
    [2, 4, 2, 1]
    """
    if not word.isascii():
        word = _without_accents(word)
    steps, longest = _pieces()
    count = len(_VOWELS.findall(word))
    for piece in longest.findall(f"^{word}$"):
        count += steps[piece]
    return max(1, count)


@lru_cache(maxsize=1)
def _pieces() -> tuple[Mapping[str, int], re.Pattern[str]]:
    """Return by how much pieces change the count, and what finds them, wherever they begin.

    Of pieces that begin at one place the longest is found, and counted with those it begins with.
    """
    text = files(__package__).joinpath("syllables.toml").read_text(encoding="utf-8")
    fitted: dict[str, str] = tomllib.loads(text)
    steps = Counter(fitted["more"].split())
    steps.subtract(fitted["fewer"].split())
    beginnings = {
        piece: sum(steps[piece[:end]] for end in range(1, 1 + len(piece))) for piece in [*steps]
    }
    return beginnings, re.compile(f"(?=({_longest_of(sorted(steps))}))")


def _longest_of(pieces: Sequence[str]) -> str:
    """Return a pattern that matches the longest of pieces, which are in order.

    It reads each letter once, as a tree of the pieces has it.
    """
    branches = [
        re.escape(letter) + _longest_of([piece[1:] for piece in group])
        for letter, group in groupby(filter(None, pieces), key=lambda piece: piece[0])
    ]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)}){'' if all(pieces) else '?'}"


def _without_accents(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word)
    return "".join(char for char in parts if not unicodedata.combining(char))


def word_list(text: str) -> list[str]:
    """Return what blanks divide, in lower case and without marks; a hyphen joins.

    Examples
    --------
    >>> word_list("The well-known 'Tom' didn't!")
    ['the', 'wellknown', 'tom', "didn't"]
    """
    if "'" in text:
        text = _NO_CONTRACTION.sub("", text)
    if text.isascii():
        return text.translate(_PLAIN).split()
    return _MARK.sub("", text).lower().split()


READABLE_CUT: Final = Cut(words=word_list, plain="in lower case")
"""`word_list` as the cut of a corpus."""


def sentence_count(text: str) -> int:
    """Count what stops end, but for what has only one or two words; never below 1.

    Examples
    --------
    >>> sentence_count("He left. Really? Nobody had seen him!")
    1
    """
    sentences: list[str] = _SENTENCE.findall(text)
    return max(1, len(sentences) - sentences.count(""))


def letter_count(text: str, *, words: Sequence[str]) -> int:
    """Count letters and digits of a text whose `word_list` is `words`."""
    joined = "".join(words)
    if joined.isascii():  # else small letters may be more than capital ones
        return len(joined) - joined.count("'")
    return len(_NO_LETTER.sub("", text))


def read_dictionary(path: str) -> Mapping[str, int]:
    """Read the syllables of words from a pronouncing dictionary, as CMUdict is one.

    Each line has a word and its phones, whose vowels end in a digit; of several pronunciations the
    first counts. Raises `ConfigError` if there is no such file, or no word in it.
    """
    try:
        lines = Path(path).read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise ConfigError(f"cannot read the pronouncing dictionary {path!r}: {error}") from error
    syllables: dict[str, int] = {}
    for line in lines:
        word, *phones = line.partition("#")[0].split() or [""]
        count = sum(phone[:1].isalpha() and phone[-1].isdecimal() for phone in phones)
        if count:
            syllables.setdefault(_VARIANT.sub("", word).lower(), count)
    if not syllables:
        raise ConfigError(f"{path!r} is not a pronouncing dictionary: it has no word with phones")
    return syllables


class Syllables(ByWord[int]):
    """The syllables of a word of a `word_list`.

    A word that is not in the `dictionary`, a file that `read_dictionary` reads, is counted by its
    spelling (`syllable_count`). An empty path stands for no dictionary.
    """

    def __init__(self, *, dictionary: str = "") -> None:
        counts = read_dictionary(dictionary) if dictionary else {}
        super().__init__(lambda word: counts.get(word) or syllable_count(word))


@lru_cache(maxsize=4)
def syllables_of(dictionary: str) -> Syllables:
    """Return the `Syllables` that go by a dictionary, kept from call to call."""
    return Syllables(dictionary=dictionary)
