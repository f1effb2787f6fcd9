"""Readability of English prose, by the length of its sentences and words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from spanjury.judges.core import Sample, fingerprint, signature
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.words.cuts import numbered, texts_of, word_strings
from spanjury.judges.metrics.words.ids import Ids
from spanjury.judges.metrics.words.readable_words import (
    FIT,
    READABLE_CUT,
    letter_count,
    read_dictionary,
    sentence_count,
    syllables_of,
    word_list,
)

_EASIEST = 121.22  # reading ease of one word of one syllable, which rounding may exceed
_SIMPLE = 2  # syllables at most


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
        File of a pronouncing dictionary, as CMUdict is one, that tells syllables; what is not
        in it, or everything without one, is counted by a rule that was fitted to CMUdict.

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
        """The dictionary, and the fit of the rule for what is not in it."""
        return _signature(self.kind, dictionary=self.dictionary)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return a value an output; one without words has 0."""
        counts = Corpus.of(samples).once(_counted, dictionary=self.dictionary)
        return [self._score(count) if count.words else 0.0 for count in counts]

    def _score(self, counts: _Counts) -> float:
        """Work the formula out, [1]."""
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
        """Work the formula out, [1]; -3.4 is the least."""
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
        """Work the formula out, [1]; 0.4 is the least."""
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
        """The version that the counts belong to."""
        return signature("coleman-liau")

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return values from -39.52 on; an output without words has 0."""
        corpus = Corpus.of(samples)
        counted = zip(corpus, corpus.once(_sentences), strict=True)
        return [_grade(sample.output, sentences=many) for sample, many in counted]


def _grade(text: str, *, sentences: int) -> float:
    """Work the formula out, [1] of `ColemanLiau`."""
    words = word_list(text)  # of one text sooner cut than put together from its pieces
    if not words:
        return 0.0
    letters = 100.0 * letter_count(text, words=words) / len(words)
    return 0.0588 * letters - 0.296 * (100.0 * sentences / len(words)) - 15.8


def _counted(corpus: Corpus, *, dictionary: str) -> list[_Counts]:
    """Count words, sentences and syllables of each output."""
    texts = corpus.once(numbered, side="outputs", cut=READABLE_CUT)
    syllables = _of_words(corpus, syllables_of(dictionary).__getitem__)
    columns = (
        texts.sizes,
        texts.summed(syllables),
        texts.summed((syllables > _SIMPLE).astype(np.int64)),
    )
    rows = zip(*(column.tolist() for column in columns), corpus.once(_sentences), strict=True)
    return [
        _Counts(words=words, sentences=many, syllables=spoken, complex_words=hard)
        for words, spoken, hard, many in rows
    ]


def _of_words(corpus: Corpus, count: Callable[[str], int]) -> Ids:
    """Return what is counted of a word, for each word of the outputs."""
    texts = corpus.once(numbered, side="outputs", cut=READABLE_CUT)
    strings = word_strings(corpus)
    counts = np.zeros(len(strings), dtype=np.int64)
    held = np.flatnonzero(np.bincount(texts.ids))
    counts[held] = [count(strings[number]) for number in held.tolist()]
    return counts[texts.ids]


def _sentences(corpus: Corpus) -> list[int]:
    return [*map(sentence_count, corpus.once(texts_of, side="outputs"))]


@lru_cache(maxsize=32)
def _signature(name: str, *, dictionary: str) -> str:
    """Tell the content of the dictionary, not its place."""
    entries = str(sorted(read_dictionary(dictionary).items())) if dictionary else ""
    return signature(name, dictionary=fingerprint(entries) if entries else "none", syllables=FIT)
