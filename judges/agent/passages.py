"""Split a long source into passages, and rank them by relevance to a query.

Ranking is Okapi BM25: Robertson and Zaragoza (2009), "The Probabilistic Relevance
Framework: BM25 and Beyond", section 3.4, with the usual parameters.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.text import folded_words, sentences

_SIZE = 500
"""Maximum number of code points of a passage: a few sentences."""
_K1 = 1.2
_B = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A few sentences of one input.

    Parameters
    ----------
    number
        1, 2, … over all inputs; neighbours in number are neighbours in the text.
    words
        How often each of its folded words occurs.
    """

    number: int
    header: str
    text: str
    words: Counter[str]


def split_passages(inputs: Mapping[str, str], *, size: int = _SIZE) -> tuple[Passage, ...]:
    """Split `inputs` into passages of whole sentences, at most `size` code points each.

    Together the passages contain every character of the inputs except white space between
    sentences. A sentence longer than `size` is cut.
    """
    cut = [(header, text) for header, whole in inputs.items() for text in _pieces(whole, size)]
    return tuple(
        Passage(number=number, header=header, text=text, words=Counter(folded_words(text)))
        for number, (header, text) in enumerate(cut, start=1)
    )


def best_passages(passages: Sequence[Passage], query: str, *, limit: int) -> tuple[Passage, ...]:
    """Return up to `limit` passages that share a word with `query`, best first."""
    weights = {word: _rarity(word, passages) for word in set(folded_words(query))}
    mean = sum(passage.words.total() for passage in passages) / max(1, len(passages))
    scores = {passage.number: _score(passage, weights, mean=mean) for passage in passages}
    ranked = sorted(passages, key=lambda passage: -scores[passage.number])
    return tuple(passage for passage in ranked[:limit] if scores[passage.number] > 0)


def _score(passage: Passage, weights: Mapping[str, float], *, mean: float) -> float:
    shared = weights.keys() & passage.words.keys()
    relative = passage.words.total() / mean if shared else 1.0
    saturation = _K1 * (1 - _B + _B * relative)
    # sorted, because the last digit of a sum over a set would vary from run to run
    return sum(
        weights[word] * passage.words[word] / (saturation + passage.words[word])
        for word in sorted(shared)
    )


def _rarity(word: str, passages: Sequence[Passage]) -> float:
    """Return the inverse document frequency, kept positive for words that most passages contain."""
    holding = sum(word in passage.words for passage in passages)
    return math.log1p((len(passages) - holding + 0.5) / (holding + 0.5))


def _pieces(text: str, size: int) -> Iterator[str]:
    """Yield pieces of as many sentences as fit."""
    start = end = 0
    for sentence in sentences(text):
        if end > start and sentence.end - start > size:
            yield text[start:end]
            start = end
        if start == end:
            start = sentence.start
        end = sentence.end
        while end - start > size:
            yield text[start : start + size]
            start += size
    if end > start:
        yield text[start:end]
