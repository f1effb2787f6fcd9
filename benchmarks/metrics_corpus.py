"""Random pairs of similar texts, for timing metrics."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from spanjury.judges.core import Sample

__all__ = ["samples_of"]

_LETTERS = list("etaoinshrdlucmfwypvbgkjqxz")
_OFTEN = 1.0 / np.arange(3, 3 + len(_LETTERS))
_WORDS = 5_000
_KEPT, _REPLACED, _DROPPED, _DOUBLED = 0.75, 0.12, 0.08, 0.05
_SENTENCE, _PHRASE = 12, 4  # words
_Words = NDArray[np.str_]
_SOURCE = 3  # length of a source, relative to the reference in it


def samples_of(
    *, words: int, pairs: int, seed: int = 1, language: int | None = None, new: bool = False
) -> list[Sample]:
    """Return outputs of about `words` words with one reference and a source.

    Words follow Zipf's law. An output is its reference with words replaced, dropped and doubled,
    and in every third pair a phrase moved to the end.

    Parameters
    ----------
    seed, language
        Seeds of the texts and of the vocabulary; None for a vocabulary specific to `seed`.
    new
        Whether hardly any word occurs in two samples, unlike in natural text.
    """
    rng = np.random.default_rng(seed)
    if new:
        vocabulary = _new_words(rng, pairs * words)
        drawn = _new_words(rng, pairs * _SOURCE * words).reshape(pairs, _SOURCE, words)
    else:
        own = rng if language is None else np.random.default_rng(language)
        vocabulary = np.array([*_vocabulary(own)])
        chances = 1.0 / np.arange(2, 2 + len(vocabulary))
        drawn = rng.choice(vocabulary, size=(pairs, _SOURCE, words), p=chances / chances.sum())
    return [
        Sample(
            output=_sentences(_edited(parts[0].tolist(), vocabulary, rng, moved=index % 3 == 0)),
            references=(_sentences(parts[0].tolist()),),
            source=" ".join(_sentences(part.tolist()) for part in parts),
        )
        for index, parts in enumerate(drawn)
    ]


def _vocabulary(rng: Generator) -> Iterator[str]:
    lengths = np.minimum(14, 2 + rng.poisson(np.linspace(1.5, 6.0, _WORDS)))
    for length in lengths:
        yield "".join(rng.choice(_LETTERS, size=length, p=_OFTEN / _OFTEN.sum()))


def _new_words(rng: Generator, count: int) -> _Words:
    """Return random words of six or more letters, almost all of them different."""
    lengths = 6 + rng.poisson(2.0, size=count)
    ends = np.cumsum(lengths)
    letters = "".join(rng.choice(_LETTERS, size=ends[-1], p=_OFTEN / _OFTEN.sum()))
    words = [letters[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    return np.array(words)


def _edited(
    words: list[str],
    vocabulary: _Words,
    rng: Generator,
    *,
    moved: bool,
) -> list[str]:
    edits = rng.choice(4, size=len(words), p=(_KEPT, _REPLACED, _DROPPED, _DOUBLED))
    others = rng.choice(vocabulary, size=len(words)).tolist()
    edited: list[str] = []
    for word, other, edit in zip(words, others, edits, strict=True):
        edited += ([word], [other], [], [word, word])[edit]
    start = len(edited) // 2
    end = start + _PHRASE
    return edited[:start] + edited[end:] + edited[start:end] if moved else edited


def _sentences(words: list[str]) -> str:
    parts = [words[start : start + _SENTENCE] for start in range(0, len(words), _SENTENCE)]
    return " ".join(" ".join(part).capitalize() + "." for part in parts)
