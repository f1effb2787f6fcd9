"""Runs of words within the outputs of a corpus: their number, and the number of distinct ones.

A text with fewer words than a run counts as one run, so that only a text without words has none.
"""

import numpy as np

from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.words.cuts import NumberedTexts, numbered
from spanjury.judges.metrics.words.grams import Tokens, distinct_grams, words_cut
from spanjury.judges.metrics.words.ids import Ids, ranked

_USUAL = 3  # length of the longest runs that metrics use by default


def run_counts(corpus: Corpus, *, tokens: Tokens, order: int) -> tuple[Ids, Ids]:
    """Return for each output the number of distinct runs of `order` words, and of all runs.

    Both have the shape ``(samples,)``.
    """
    sizes = output_words(corpus, tokens=tokens).sizes
    order = min(order, max(1, int(sizes.max(initial=0))))  # longer runs are whole texts, too
    distinct = corpus.once(_distinct, tokens=tokens, order=max(order, _USUAL))[:, order - 1]
    is_one = np.minimum(1, sizes)
    long = sizes >= order
    return np.where(long, distinct, is_one), np.where(long, sizes - order + 1, is_one)


def distinct_in_all(corpus: Corpus, *, tokens: Tokens, order: int) -> int:
    """Return how many distinct runs of `order` words all outputs have together."""
    texts = output_words(corpus, tokens=tokens)
    if not texts.ids.size:
        return 0
    order = min(order, int(texts.sizes.max()))
    # Zeros after each text mark the runs that reach beyond its end.
    columns = np.arange(texts.ids.size) + texts.owners * (order - 1)
    padded = np.zeros(texts.ids.size + (texts.sizes.size + 1) * (order - 1), dtype=np.int64)
    padded[columns] = texts.ids + 1
    base = int(padded.max()) + 1
    runs = padded
    for n in range(1, order):
        runs = ranked(runs[:-1] * base + padded[n:])[0]
    starts = np.cumsum(texts.sizes) - texts.sizes
    first = np.repeat(starts, texts.sizes) == np.arange(texts.ids.size)
    left = np.repeat(starts + texts.sizes, texts.sizes) - np.arange(texts.ids.size)
    return ranked(runs[columns[first | (left >= order)]])[1]


def output_words(corpus: Corpus, *, tokens: Tokens) -> NumberedTexts:
    """Return the words of the outputs."""
    return corpus.once(numbered, side="outputs", cut=words_cut(tokens))


def _distinct(corpus: Corpus, *, tokens: Tokens, order: int) -> Ids:
    texts = output_words(corpus, tokens=tokens)
    return distinct_grams(texts.ids, texts.sizes, order=order)
