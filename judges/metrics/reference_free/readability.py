"""Readability of English prose, by the length of its sentences and words.

Words, sentences and letters are counted as in textstat 0.7, several times as fast. Syllables come
from a pronouncing dictionary, as in textstat, or from a rule that was fitted to one.

By the rule a word has a syllable for each group of vowels (a, e, i, o, u, y), more if a piece of it
is spoken as two groups (``ia``, ``tled$``), and fewer if a vowel is silent (``ele$``, ``^lifes``).
The pieces are in ``syllables.toml``. They were fitted to CMUdict [1]_ and give the
right number for 99.4 of 100 running words (`benchmarks.syllables`).

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
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

import numpy as np

from spanjury.judges.core import ConfigError, Sample, fingerprint, signature
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.words.cuts import Cut, numbered, texts_of, word_strings
from spanjury.judges.text.kept import KeptByWord

FIT: Final = "cmudict-1"
"""Name of the fit; another fit gives other numbers."""
_VOWELS = re.compile("[aeiouy]+")
_NO_CONTRACTION = re.compile("'(?![tsd]|ve|ll|re)")
_MARK = re.compile(r"[^\w\s']")
_NO_LETTER = re.compile(r"\W+")
_ASCII = [chr(code) for code in range(128)]
# The same for ASCII, in lower case; a table is several times as fast as a pattern.
_PLAIN = str.maketrans(
    {char: char.lower() if re.match(r"[\w\s']", char) else None for char in _ASCII}
)
# From a word to a stop; the group matches iff there are three words or more.
_SENTENCE = re.compile(r"\b\w[^.!?\s]*+(?:(?:\s[^.!?\w]*+\w[^.!?\s]*+)\s[^.!?\w]*+(\w))?+[^.!?]*+")
_VARIANT = re.compile(r"\(\d+\)$")


def syllable_count(word: str) -> int:
    """Count the syllables of `word`, in lower case; 1 without a vowel, as in a number."""
    if not word.isascii():
        parts = unicodedata.normalize("NFKD", word)
        word = "".join(char for char in parts if not unicodedata.combining(char))
    steps, longest = _pieces()
    count = len(_VOWELS.findall(word))
    for piece in longest.findall(f"^{word}$"):
        count += steps[piece]
    return max(1, count)


@lru_cache(maxsize=1)
def _pieces() -> tuple[Mapping[str, int], re.Pattern[str]]:
    """Return the change of the count for each piece, and a pattern that finds overlapping pieces.

    Of the pieces that begin at one position the longest is found, and its change includes those of
    the pieces with which it begins.
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
    """Return a pattern that matches the longest of the sorted `pieces`.

    It has the form of a prefix tree, so that each letter is read once.
    """
    branches = [
        re.escape(letter) + _longest_of([piece[1:] for piece in group])
        for letter, group in groupby(filter(None, pieces), key=lambda piece: piece[0])
    ]
    if not branches:
        return ""
    return f"(?:{'|'.join(branches)}){'' if all(pieces) else '?'}"


def word_list(text: str) -> list[str]:
    """Split at white space, in lower case and without punctuation; a hyphen joins.

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
    """Count the sentences with more than two words; at least 1."""
    sentences: list[str] = _SENTENCE.findall(text)
    return max(1, len(sentences) - sentences.count(""))


def letter_count(text: str, *, words: Sequence[str]) -> int:
    """Count letters and digits of a text whose `word_list` is `words`."""
    joined = "".join(words)
    if joined.isascii():  # otherwise lower-casing may change the number of letters
        return len(joined) - joined.count("'")
    return len(_NO_LETTER.sub("", text))


def read_dictionary(path: str) -> Mapping[str, int]:
    """Read the syllables of words from a pronouncing dictionary such as CMUdict.

    Each line has a word and its phones, whose vowels end in a digit; of several pronunciations the
    first counts. Raises `ConfigError` if the file does not exist or has no words.
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


@lru_cache(maxsize=4)
def syllables_of(dictionary: str) -> KeptByWord[int]:
    """Return the syllables of the words of a `word_list`, cached between calls.

    A word that is not in the `dictionary`, a file for `read_dictionary`, is counted by its spelling
    (`syllable_count`). An empty path means no dictionary.
    """
    counts = read_dictionary(dictionary) if dictionary else {}
    return KeptByWord(lambda word: counts.get(word) or syllable_count(word))


_EASIEST = 121.22  # reading ease of one monosyllabic word; rounding may exceed it
_SIMPLE = 2  # maximum syllables of a word that is not complex


class _Counts(NamedTuple):
    words: int
    sentences: int
    syllables: int
    complex_words: int  # of three syllables or more


@dataclass(frozen=True, slots=True, kw_only=True)
class FleschReadingEase:
    """Reading ease, about 0 (very hard) to 100 (very easy), Flesch (1948) [1]_.

    Raises `ConfigError` if the dictionary cannot be read.

    Parameters
    ----------
    dictionary
        File of a pronouncing dictionary such as CMUdict. Syllables of other words, or of all
        words without a dictionary, are counted by a rule that was fitted to CMUdict.

    References
    ----------
    .. [1] Flesch, A new readability yardstick, Journal of Applied Psychology 32(3), 1948
    """

    dictionary: str = ""

    kind: ClassVar[str] = "flesch-reading-ease"

    def __post_init__(self) -> None:
        syllables_of(self.dictionary)

    @property
    def signature(self) -> str:
        """The dictionary, and the fit of the rule for other words."""
        return _signature(self.kind, dictionary=self.dictionary)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return a value for each output; 0 for one without words."""
        counts = Corpus.of(samples).once(_counted, dictionary=self.dictionary)
        return [self._score(count) if count.words else 0.0 for count in counts]

    def _score(self, counts: _Counts) -> float:
        """Compute the formula of [1]."""
        ease = 206.835 - 1.015 * counts.words / counts.sentences
        return min(_EASIEST, ease - 84.6 * counts.syllables / counts.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleschKincaidGrade(FleschReadingEase):
    """Grade of school that can read the text, Kincaid et al. (1975) [1]_.

    Options as for `FleschReadingEase`.

    References
    ----------
    .. [1] Kincaid et al., Derivation of new readability formulas for Navy enlisted personnel,
       Research Branch Report 8-75, 1975
    """

    kind: ClassVar[str] = "flesch-kincaid-grade"

    def _score(self, counts: _Counts) -> float:
        """Compute the formula of [1]; the minimum is -3.4."""
        return (
            0.39 * counts.words / counts.sentences + 11.8 * counts.syllables / counts.words - 15.59
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GunningFog(FleschReadingEase):
    """Years of school needed to read the text at once, Gunning (1952) [1]_.

    Options as for `FleschReadingEase`.

    References
    ----------
    .. [1] Gunning, The technique of clear writing, McGraw-Hill 1952
    """

    kind: ClassVar[str] = "gunning-fog"

    def _score(self, counts: _Counts) -> float:
        """Compute the formula of [1]; the minimum is 0.4."""
        return 0.4 * (counts.words / counts.sentences + 100.0 * counts.complex_words / counts.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColemanLiau:
    """Grade of school that can read the text, by letters, Coleman & Liau (1975) [1]_.

    References
    ----------
    .. [1] Coleman & Liau, A computer readability formula designed for machine scoring,
       Journal of Applied Psychology 60(2), 1975
    """

    @property
    def signature(self) -> str:
        """The version of the counts."""
        return signature("coleman-liau")

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return values from -39.52 up; an output without words has 0."""
        corpus = Corpus.of(samples)
        return [*map(self._score, corpus, corpus.once(_sentences))]

    def _score(self, sample: Sample, sentences: int) -> float:
        """Compute the formula of [1]."""
        words = word_list(sample.output)  # faster for one text than joining its numbered pieces
        if not words:
            return 0.0
        letters = 100.0 * letter_count(sample.output, words=words) / len(words)
        return 0.0588 * letters - 0.296 * (100.0 * sentences / len(words)) - 15.8


def _counted(corpus: Corpus, *, dictionary: str) -> list[_Counts]:
    """Count words, sentences and syllables of each output."""
    texts = corpus.once(numbered, side="outputs", cut=READABLE_CUT)
    strings, spoken = word_strings(corpus), syllables_of(dictionary)
    counts = np.zeros(len(strings), dtype=np.int64)
    present = np.flatnonzero(np.bincount(texts.ids))
    counts[present] = [spoken[strings[number]] for number in present.tolist()]
    syllables = counts[texts.ids]
    columns = (
        texts.sizes,
        texts.summed(syllables),
        texts.summed((syllables > _SIMPLE).astype(np.int64)),
    )
    rows = zip(*(column.tolist() for column in columns), corpus.once(_sentences), strict=True)
    return [
        _Counts(words=words, sentences=many, syllables=each, complex_words=hard)
        for words, each, hard, many in rows
    ]


def _sentences(corpus: Corpus) -> list[int]:
    return [*map(sentence_count, corpus.once(texts_of, side="outputs"))]


@lru_cache(maxsize=32)
def _signature(name: str, *, dictionary: str) -> str:
    """Return a signature with the content of the dictionary, not its path."""
    entries = str(sorted(read_dictionary(dictionary).items())) if dictionary else ""
    return signature(name, dictionary=fingerprint(entries) if entries else "none", syllables=FIT)
