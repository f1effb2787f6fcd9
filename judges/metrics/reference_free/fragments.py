"""Copying of wording from the source: coverage, density, compression [1]_ and abstractness.

References
----------
.. [1] Grusky, Naaman & Artzi, Newsroom: a dataset of 1.3 million summaries with diverse
   extractive strategies, NAACL 2018, section 4
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from spanjury.judges.core import Sample
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.cuts import NumberedTexts, numbered, ranges
from spanjury.judges.metrics.words.grams import Tokens, check_order, check_tokens, words_cut
from spanjury.judges.metrics.words.ids import Ids, contained, ranked
from spanjury.stats.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfWords(Signed):
    """Base of metrics whose only option is the tokenization."""

    tokens: Tokens = "words-and-marks"

    def __post_init__(self) -> None:
        check_tokens(self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage(_OfWords):
    """Share of an output's words that lie in fragments copied from the source."""

    kind: ClassVar[str] = "coverage"

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares, 0 to 1; an output without words has 0."""
        fragments = Corpus.of(samples).once(_fragments, tokens=self.tokens)
        return [sum(lengths) / max(1, words) for lengths, words in fragments]


@dataclass(frozen=True, slots=True, kw_only=True)
class Density(_OfWords):
    """Mean length of the copied fragment that contains a word of the output."""

    kind: ClassVar[str] = "density"

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the means in words, 0 or more; an output without words has 0."""
        fragments = Corpus.of(samples).once(_fragments, tokens=self.tokens)
        return [
            sum(length * length for length in lengths) / max(1, words)
            for lengths, words in fragments
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression(_OfWords):
    """Ratio of the length of the source to that of the output."""

    kind: ClassVar[str] = "compression"

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the ratios in words, 0 or more; an output without words counts as one word."""
        outputs, sources = _both_sides(Corpus.of(samples), tokens=self.tokens)
        return [*map(float, sources.sizes / np.maximum(1, outputs.sizes))]


def fragment_lengths(output: Sequence[Hashable], source: Sequence[Hashable]) -> list[int]:
    """Return the lengths of the fragments that `output` shares with `source`.

    From each word that is not in a fragment yet, the longest match is taken, as in [1]_, figure 3:
    the search continues after each match that it meets, not within it.
    """
    tokens = set(source)
    pairs = set(pairwise(output))
    starts: dict[tuple[Hashable, Hashable], list[int]] = {}
    for index, pair in enumerate(pairwise(source)):
        if pair in pairs:
            starts.setdefault(pair, []).append(index)
    lengths = []
    start = 0
    while start < len(output):
        # A match of one word hides no other, so if there are longer matches only these matter.
        candidates = (
            starts.get((output[start], output[start + 1])) if start + 1 < len(output) else None
        )
        length = (
            _longest(output, source, start=start, starts=candidates)
            if candidates
            else int(output[start] in tokens)
        )
        if length:
            lengths.append(length)
        start += max(1, length)
    return lengths


def _longest(
    output: Sequence[Hashable], source: Sequence[Hashable], *, start: int, starts: Sequence[int]
) -> int:
    """Return the length of the longest match of ``output[start:]`` at one of `starts`."""
    longest = behind = 0
    for index in starts:
        if index < behind:
            continue
        length = 2
        room = min(len(output) - start, len(source) - index)
        while length < room and output[start + length] == source[index + length]:
            length += 1
        longest = max(longest, length)
        behind = index + length
    return longest


def _both_sides(corpus: Corpus, *, tokens: Tokens) -> tuple[NumberedTexts, NumberedTexts]:
    """Return the words of outputs and sources."""
    cut = words_cut(tokens)
    return (
        corpus.once(numbered, side="outputs", cut=cut),
        corpus.once(numbered, side="sources", cut=cut),
    )


def _fragments(corpus: Corpus, *, tokens: Tokens) -> list[tuple[Sequence[int], int]]:
    """Return the lengths of the fragments, and of the output, for each sample."""
    outputs, sources = _both_sides(corpus, tokens=tokens)
    pairs = zip(outputs.apart, sources.apart, strict=True)
    return [(fragment_lengths(ours.tolist(), theirs.tolist()), ours.size) for ours, theirs in pairs]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstractness(Signed):
    """Share of an output's n-grams that do not occur in the source, See et al. (2017) [1]_.

    References
    ----------
    .. [1] See, Liu & Manning, Get to the point: summarization with pointer-generator
       networks, ACL 2017, "novel n-grams"
    """

    order: int = 1
    tokens: Tokens = "words"

    kind: ClassVar[str] = "abstractness"

    def __post_init__(self) -> None:
        check_order(self.order)
        check_tokens(self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares, 0 to 1; an output without words has 0."""
        corpus, cut = Corpus.of(samples), words_cut(self.tokens)
        outputs = corpus.once(numbered, side="outputs", cut=cut)
        sources = corpus.once(numbered, side="sources", cut=cut)
        # An output with fewer words than an n-gram counts as one n-gram.
        orders = np.minimum(self.order, outputs.sizes)
        shares = np.zeros(orders.size)
        for order in np.unique(orders[orders > 0]).tolist():
            texts = np.flatnonzero(orders == order)
            shares[texts] = _novel(outputs.taken(texts), sources.taken(texts), order=order)
        return [*map(float, shares)]


def _novel(outputs: NumberedTexts, sources: NumberedTexts, *, order: int) -> FloatArray:
    """Return the share of each output's n-grams that do not occur in its source."""
    both = np.concatenate((outputs.ids, sources.ids))
    grams, many = both, 1 + int(both.max(initial=0))
    words = many
    for n in range(1, order):
        grams, many = ranked(grams[:-1] * words + both[n:])
    ours, of = _grams(outputs, order=order)
    theirs, holders = _grams(sources, order=order)
    in_sources = holders * many + grams[outputs.ids.size :][theirs]
    in_sources.sort()
    is_new = ~contained(of * many + grams[ours], in_sources)
    runs = outputs.sizes - order + 1
    shares: FloatArray = np.bincount(of, weights=is_new, minlength=runs.size) / runs
    return shares


def _grams(texts: NumberedTexts, *, order: int) -> tuple[Ids, Ids]:
    """Return the start and the text of each n-gram."""
    runs = np.maximum(0, texts.sizes - order + 1)
    starts = np.cumsum(texts.sizes) - texts.sizes
    return ranges(starts, runs), np.repeat(np.arange(runs.size), runs)
