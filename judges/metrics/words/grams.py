"""Words and n-grams: their counts in a text, in many texts, and in common to two texts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.metrics.words.cuts import Cut
from spanjury.judges.metrics.words.ids import Ids, dense_ids, in_order

_AT_ONCE = 30_000  # tokens whose sorted n-grams fit into the cache of a core
_BITS = 62  # bits of a number, without its sign and the bit that distinguishes the two sides


def batch_gram_counts(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Count the n-grams of pairs of texts, and those that they share, n of 1 to `order`.

    Parameters
    ----------
    tokens
        Tokens of all texts, concatenated as left, right, left, right, in non-negative numbers,
        equal ones for equal tokens.
    sizes
        Shape ``(pairs, 2)``: number of tokens of each text.
    order
        Length of the longest n-grams, 1 or more.

    Returns
    -------
    numpy.ndarray
        Shape ``(pairs, order, 3)``: n-grams of the left, of the right, and shared.

    Examples
    --------
    >>> batch_gram_counts(np.array([5, 6, 7, 6, 7]), np.array([[3, 2]]), order=2).tolist()
    [[[3, 2, 2], [2, 1, 1]]]
    """
    counts = np.empty((len(sizes), order, 3), dtype=np.int64)
    counts[:, :, :2] = np.maximum(0, sizes[:, None, :] - np.arange(order)[:, None])
    start = 0
    for pairs in _batches(sizes.sum(axis=1)):
        end = start + int(sizes[pairs].sum())
        counts[pairs, :, 2] = _shared(tokens[start:end], sizes[pairs], order=order)
        start = end
    return counts


def distinct_grams(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Count the distinct n-grams of each text, n of 1 to `order`.

    Parameters
    ----------
    tokens, sizes
        As for `batch_gram_counts`, except that `sizes` has the shape ``(texts,)``.

    Returns
    -------
    numpy.ndarray
        Shape ``(texts, order)``.
    """
    counts = np.empty((len(sizes), order), dtype=np.int64)
    owners = np.repeat(np.arange(sizes.size), sizes)
    for n, grams in enumerate(gram_counts(tokens, owners, max_order=order)):
        counts[:, n] = np.bincount(grams.texts, minlength=sizes.size)
    return counts


def _packed(tokens: Ids, lengths: Ids, *, order: int, width: int, beyond: int) -> tuple[Ids, Ids]:
    """Return for each token its text, and the token with the following ones packed into one number.

    The number has `order` times `width` bits. At the end of each second text it is padded with
    `beyond`, and at that of the others with 0.
    """
    of = np.repeat(np.arange(lengths.size), lengths)
    columns = np.arange(tokens.size) + of * (order - 1)
    padded = np.zeros(tokens.size + lengths.size * (order - 1) + order, dtype=np.int64)
    behind = np.cumsum(lengths + order - 1)[1::2] - np.arange(order - 1, 0, -1)[:, None]
    padded[behind] = beyond
    padded[columns] = tokens
    whole = padded.copy()
    for n in range(1, order):
        whole = whole << width
        whole[:-n] |= padded[n:]
    return of, whole[columns]


def _batches(sizes: Ids) -> Iterator[slice]:
    """Divide pairs into batches with a limited number of tokens, or of a single pair."""
    ends = np.cumsum(sizes)
    start = 0
    while start < sizes.size:
        done = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        yield slice(start, end)
        start = end


def _shared(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Sort the longest n-grams of all pairs once, which sorts their prefixes, too.

    A gram is one number: the pair, then `order` times `width` bits, then the side. At the end of a
    text the left side is padded with another number than the right side, so that no gram that
    reaches beyond the end is shared.
    """
    if not tokens.size:
        return np.zeros((len(sizes), order), dtype=np.int64)
    tokens = dense_ids(tokens) + 1
    lengths = sizes.ravel()
    room = _BITS - len(sizes).bit_length()
    beyond = 1 + int(tokens.max())
    width = beyond.bit_length()
    if width * order > room:  # the alphabet is too large to pack
        return _shared_in_pairs(tokens, lengths, order=order)
    of, whole = _packed(tokens, lengths, order=order, width=width, beyond=beyond)
    grams = ((of >> 1) << (width * order + 1)) | (whole << 1) | (of & 1)
    grams.sort()
    return _shared_by_order(grams, np.cumsum(sizes.sum(axis=1)), order=order, width=width)


def _shared_in_pairs(tokens: Ids, lengths: Ids, *, order: int) -> Ids:
    """Count the n-grams that each text of even number shares with the next, for any alphabet."""
    pairs = lengths.size // 2
    owners = np.repeat(np.arange(lengths.size), lengths)
    shared = np.empty((pairs, order), dtype=np.int64)
    for n, grams in enumerate(gram_counts(tokens, owners, max_order=order)):
        of = grams.texts // 2
        keys = grams.grams * pairs + of
        both = np.flatnonzero(keys[1:] == keys[:-1])
        least = np.minimum(grams.counts[both], grams.counts[both + 1])
        shared[:, n] = np.bincount(of[both], weights=least, minlength=pairs)
    return shared


def _shared_by_order(grams: Ids, ends: Ids, *, order: int, width: int) -> Ids:
    """Count the shared n-grams in runs of equal prefixes, up to each of the `ends` of pairs."""
    of_right = np.concatenate(([0], np.cumsum(grams & 1)))
    apart = grams[1:] ^ grams[:-1]
    shared = np.empty((ends.size, order), dtype=np.int64)
    edge: NDArray[np.bool_] = np.ones(grams.size + 1, dtype=np.bool_)
    for n in range(order):
        np.greater_equal(apart, 1 << (1 + width * (order - 1 - n)), out=edge[1:-1])
        edges = np.flatnonzero(edge)
        runs, rights = np.diff(edges), np.diff(of_right[edges])
        both = np.concatenate(([0], np.cumsum(np.minimum(rights, runs - rights))))
        shared[:, n] = np.diff(both[np.searchsorted(edges, ends)], prepend=0)
    return shared


@dataclass(frozen=True, slots=True, kw_only=True)
class GramCounts:
    """Counts of n-grams of one length, sorted by n-gram and then by text.

    Parameters
    ----------
    grams, texts, counts
        Shape ``(pairs,)``: the number of the n-gram, from 0, the text, and its count there.
    beginnings
        Shape ``(distinct,)``: for each n-gram the number of its prefix, which is one word shorter;
        0 for single words.
    """

    grams: Ids
    texts: Ids
    counts: Ids
    beginnings: Ids

    @property
    def distinct(self) -> int:
        """The number of distinct n-grams, including those that cross the boundary of two texts."""
        return self.beginnings.size


def gram_counts(words: Ids, texts: Ids, *, max_order: int) -> Iterator[GramCounts]:
    """Yield the counts of n-grams of each length from 1 to `max_order`.

    Parameters
    ----------
    words, texts
        Shape ``(words,)``: the words of all texts, concatenated, as numbers from 0, and the
        number of the text that contains each.

    Examples
    --------
    >>> first, _ = gram_counts(np.array([4, 4, 3]), np.array([0, 0, 1]), max_order=2)
    >>> first.grams.tolist(), first.texts.tolist(), first.counts.tolist()
    ([0, 1], [1, 0], [1, 2])
    """
    size = 1 + int(words.max(initial=0))
    grams = np.zeros_like(words)
    for order in range(1, max_order + 1):
        last = words[order - 1 :]
        before = grams[: last.size]
        # Equal n-grams are sorted by position, and so by text.
        ordered, by_key = in_order(before * size + last)
        new = np.diff(ordered, prepend=-1) != 0
        ranks = np.cumsum(new) - 1
        beginnings = before[by_key[np.flatnonzero(new)]]
        grams = np.empty_like(ranks)
        grams[by_key] = ranks
        whole = np.flatnonzero((texts[: last.size] == texts[order - 1 :])[by_key])  # no boundary
        whole_ranks, owners = ranks[whole], texts[by_key[whole]]
        edge = np.diff(whole_ranks, prepend=-1) != 0
        edge |= np.diff(owners, prepend=-1) != 0
        starts = np.flatnonzero(edge)
        counts = np.diff(starts, append=whole_ranks.size)
        yield GramCounts(
            grams=whole_ranks[starts], texts=owners[starts], counts=counts, beginnings=beginnings
        )


Tokens = Literal["words", "words-and-marks", "blanks"]
"""Units of counting: words; words and each punctuation mark; or strings between white space."""
# Scripts without spaces between words: each of their characters is a word.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# Python's \w lacks combining accents, and the vowel signs of Semitic and Indic scripts.
_SIGNS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0980-\u0dff"
)
_RUN = rf"[^\W_{_ALONE}]++(?:[{_SIGNS}]++[^\W_{_ALONE}]*+)*+"
_WORD = rf"[{_ALONE}]|{_RUN}(?:['’]{_RUN}|(?<=\d)[.,]\d++)*+"
_ASCII_WORD = r"[a-z0-9]++(?:'[a-z0-9]++|(?<=\d)[.,]\d++)*+"
_PATTERNS = {
    "words": (re.compile(_ASCII_WORD), re.compile(_WORD)),
    "words-and-marks": (
        re.compile(rf"{_ASCII_WORD}|[^a-z0-9\s]"),
        re.compile(rf"{_WORD}|[^\w\s]|_"),
    ),
}


def check_order(order: int, *, name: str = "order") -> None:
    """Raise `ValueError` if `order` is not the length of an n-gram."""
    if order < 1:
        raise ValueError(f"{name} must be 1 or more, got {order!r}")


def check_tokens(tokens: str) -> None:
    """Raise `ValueError`, listing the choices, if `tokens` is not one of `Tokens`."""
    if tokens not in get_args(Tokens):
        raise ValueError(f"tokens must be one of {get_args(Tokens)}, got {tokens!r}")


def tokenise(text: str, tokens: Tokens) -> tuple[str, ...]:
    """Return the words of `text` in order, in lower case.

    A word may contain apostrophes, and a number full stops and commas; a hyphen separates words.
    In scripts without spaces, such as Chinese, each character is a word.
    """
    lowered = text.lower()
    if tokens == "blanks":
        return tuple(lowered.split())
    ascii_pattern, pattern = _PATTERNS[tokens]
    return tuple((ascii_pattern if lowered.isascii() else pattern).findall(lowered))


@lru_cache(maxsize=3)
def words_cut(tokens: Tokens) -> Cut:
    """Return `tokenise` as the cut of a corpus."""
    return Cut(words=partial(tokenise, tokens=tokens), plain="in lower case")
