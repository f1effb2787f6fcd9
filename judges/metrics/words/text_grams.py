"""The n-grams of many texts as numbers, and how often each text has each of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spanjury.judges.metrics.words.ids import Ids, ranked

__all__ = ["GramCounts", "gram_counts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GramCounts:
    """How often texts have n-grams of one length, by n-gram and then by text.

    Parameters
    ----------
    grams, texts, counts
        Shape ``(pairs,)``: a number from 0 for the n-gram, the text, and how often it is there.
    distinct
        How many n-grams differ.
    """

    grams: Ids
    texts: Ids
    counts: Ids
    distinct: int


def gram_counts(words: Ids, texts: Ids, *, max_order: int) -> Iterator[GramCounts]:
    """Yield the counts of n-grams of each length from 1 to `max_order`.

    Parameters
    ----------
    words, texts
        Shape ``(words,)``: of all texts one after another each word as a number from 0, and the
        number of the text that it is in.

    Examples
    --------
    >>> first, _ = gram_counts(np.array([4, 4, 3]), np.array([0, 0, 1]), max_order=2)
    >>> first.grams.tolist(), first.texts.tolist(), first.counts.tolist()
    ([0, 1], [1, 0], [1, 2])
    """
    size, many = 1 + int(words.max(initial=0)), 1 + int(texts.max(initial=0))
    grams = words
    for order in range(1, max_order + 1):
        if order > 1:
            grams = grams[:-1] * size + words[order - 1 :]
        grams, distinct = ranked(grams)
        whole = texts[: grams.size] == texts[order - 1 :]  # not across the border of two texts
        keys = grams[whole] * many + texts[: grams.size][whole]
        keys.sort()
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        held, owners = np.divmod(keys[starts], many)
        counts = np.diff(starts, append=keys.size)
        yield GramCounts(grams=held, texts=owners, counts=counts, distinct=distinct)
