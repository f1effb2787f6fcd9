"""Copying of wording from the source: coverage, density, compression [1]_ and abstractness.

References
----------
.. [1] Grusky, Naaman & Artzi, Newsroom: a dataset of 1.3 million summaries with diverse
   extractive strategies, NAACL 2018, section 4
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from spanjury.judges.core import Sample
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.cuts import FEW, NumberedTexts, numbered, ranges
from spanjury.judges.metrics.words.grams import Tokens, check_order, check_tokens, words_cut
from spanjury.judges.metrics.words.ids import Ids, contained, in_order, ranked
from spanjury.stats.arrays import FloatArray

_CROWDED = 20  # matches in the source per word of the output, above which a source is repetitive


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

    Examples
    --------
    >>> fragment_lengths(["a", "b", "x", "c"], ["c", "a", "b"])
    [2, 1]
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
    longest, doubtful = (
        longest_matches(outputs, sources)
        if len(corpus) > FEW
        else (np.ones_like(outputs.ids), np.arange(len(corpus)))
    )
    fragments = [_taken(matches.tolist()) for matches in replace(outputs, ids=longest).apart]
    for row in doubtful.tolist():
        ours, theirs = (texts.taken(np.array([row])) for texts in (outputs, sources))
        fragments[row] = fragment_lengths(ours.ids.tolist(), theirs.ids.tolist())
    return [*zip(fragments, outputs.sizes.tolist(), strict=True)]


def _taken(longest: Sequence[int]) -> list[int]:
    """Return the lengths of matches, each beginning after the end of the one before."""
    lengths, start = [], 0
    while start < len(longest):
        length = longest[start]
        if length:
            lengths.append(length)
        start += length or 1
    return lengths


def longest_matches(outputs: NumberedTexts, sources: NumberedTexts) -> tuple[Ids, Ids]:
    """Return for each word of the outputs the length of the longest match that begins there.

    The second array has the texts that are not covered: a match begins within another one of the
    same words, which the search of [1] would miss, or there are too many matches.
    """
    words = 1 + max(int(outputs.ids.max(initial=0)), int(sources.ids.max(initial=0)))
    in_sources = sources.owners * words + sources.ids
    in_sources.sort()
    longest = contained(outputs.owners * words + outputs.ids, in_sources).astype(np.int64)
    at, begins, of, crowded = _pairs_met(outputs, sources)
    # On a diagonal, along which both texts agree, matches of two words form a longer one.
    run, order = in_order((begins - at + outputs.ids.size) * (outputs.ids.size + 1) + at)
    last = np.flatnonzero(np.diff(run, append=-1) != 1)
    lengths = np.empty_like(run)
    lengths[order] = np.repeat(last, np.diff(last, prepend=-1)) - np.arange(run.size) + 2
    np.maximum.at(longest, at, lengths)
    within = (at[1:] == at[:-1]) & (begins[1:] < begins[:-1] + lengths[:-1])
    return longest, np.union1d(of[1:][within], crowded)


def _pairs_met(outputs: NumberedTexts, sources: NumberedTexts) -> tuple[Ids, Ids, Ids, Ids]:
    """Return where adjacent words of an output occur in its source, and the texts left out.

    The first three arrays have the shape ``(matches,)`` and ascend: the index of the pair's first
    word in the outputs, that in the sources, and the text. The last has the texts with too many
    matches.
    """
    ours, theirs = (
        np.flatnonzero(texts.owners[1:] == texts.owners[:-1]) for texts in (outputs, sources)
    )
    words = 1 + max(int(outputs.ids.max(initial=0)), int(sources.ids.max(initial=0)))
    pairs, many = ranked(
        np.concatenate(
            [
                texts.ids[starts] * words + texts.ids[starts + 1]
                for texts, starts in ((outputs, ours), (sources, theirs))
            ]
        )
    )
    of = outputs.owners[ours]
    wanted = of * many + pairs[: ours.size]
    available, order = in_order(sources.owners[theirs] * many + pairs[ours.size :])
    first, behind = (np.searchsorted(available, wanted, side=side) for side in ("left", "right"))
    each = behind - first
    many_met = np.bincount(of, weights=each, minlength=outputs.sizes.size)
    crowded = many_met > _CROWDED * outputs.sizes
    each[crowded[of]] = 0
    begins = theirs[order[ranges(first, each)]]
    return np.repeat(ours, each), begins, np.repeat(of, each), np.flatnonzero(crowded)


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
