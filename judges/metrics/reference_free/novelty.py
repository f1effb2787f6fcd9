"""Abstractness: how much of an output's wording is its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.words.cuts import NumberedTexts, numbered, ranges
from spanjury.judges.metrics.words.ids import Ids, contained, ranked
from spanjury.judges.metrics.words.word_grams import Tokens, check_order, check_tokens, words_cut
from spanjury.stats.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstractness:
    """Share of an output's n-grams that are not in the source, See et al. (2017) [1]_.

    References
    ----------
    .. [1] See, Liu & Manning, Get to the point: summarization with pointer-generator
       networks, ACL 2017, "novel n-grams"
    """

    order: int = 1
    tokens: Tokens = "words"

    def __post_init__(self) -> None:
        check_order(self.order)
        check_tokens(self.tokens)

    @property
    def signature(self) -> str:
        """The options, and the version that the words belong to."""
        return signature("abstractness", order=self.order, tokens=self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares, 0 to 1; an output without words has 0."""
        corpus, cut = Corpus.of(samples), words_cut(self.tokens)
        outputs = corpus.once(numbered, side="outputs", cut=cut)
        sources = corpus.once(numbered, side="sources", cut=cut)
        # An output with fewer words than an n-gram has is one.
        orders = np.minimum(self.order, outputs.sizes)
        shares = np.zeros(orders.size)
        for order in np.unique(orders[orders > 0]).tolist():
            texts = np.flatnonzero(orders == order)
            shares[texts] = _novel(outputs.taken(texts), sources.taken(texts), order=order)
        return [*map(float, shares)]


def _novel(outputs: NumberedTexts, sources: NumberedTexts, *, order: int) -> FloatArray:
    """Return the share of each output's n-grams that its source has not."""
    both = np.concatenate((outputs.ids, sources.ids))
    grams, many = both, 1 + int(both.max(initial=0))
    words = many
    for n in range(1, order):
        grams, many = ranked(grams[:-1] * words + both[n:])
    ours, of = _grams(outputs, order=order)
    theirs, holders = _grams(sources, order=order)
    held = holders * many + grams[outputs.ids.size :][theirs]
    held.sort()
    is_new = ~contained(of * many + grams[ours], held)
    runs = outputs.sizes - order + 1
    shares: FloatArray = np.bincount(of, weights=is_new, minlength=runs.size) / runs
    return shares


def _grams(texts: NumberedTexts, *, order: int) -> tuple[Ids, Ids]:
    """Return where the n-grams of texts begin, and the text of each."""
    runs = np.maximum(0, texts.sizes - order + 1)
    starts = np.cumsum(texts.sizes) - texts.sizes
    return ranges(starts, runs), np.repeat(np.arange(runs.size), runs)
