"""Words and n-grams: their counts in a text, in many texts, and in what two texts share.

References
----------
.. [1] mteval-v13a.pl (2009), NIST, by whose rules sacrebleu's "13a" cuts words
"""

import re
import string
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.metrics.words.cuts import Cut
from spanjury.judges.metrics.words.ids import Ids, dense_ids, in_order, ranked

_AT_ONCE = 30_000  # tokens: what is sorted stays in the cache of a core
_BITS = 62  # of a number, beside its sign and the bit that tells the two sides apart


def shared_count(left: Ids, right: Ids) -> int:
    """Return the size of the intersection of two multisets of numbers that are not negative.

    Examples
    --------
    >>> shared_count(np.array([5, 5, 7]), np.array([5, 7, 7]))
    2
    """
    if not left.size or not right.size:
        return 0
    both = np.concatenate((left * 2, right * 2 + 1))
    both.sort()
    values = both >> 1
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    of_right = np.add.reduceat(both & 1, starts)
    of_both = np.diff(starts, append=both.size)
    return int(np.minimum(of_right, of_both - of_right).sum())


def shared_by_order(left: Ids, right: Ids, *, order: int) -> list[int]:
    """Return how many n-grams two sequences share, n of 1 to `order`, of any alphabet."""
    ours, theirs, shared = left, right, [shared_count(left, right)]
    for n in range(1, order):
        ours, theirs, _ = _renumbered(ours, theirs)
        left, right, base = _renumbered(left, right)
        ours, theirs = ours[:-1] * base + left[n:], theirs[:-1] * base + right[n:]
        shared.append(shared_count(ours, theirs))
    return shared


def _renumbered(left: Ids, right: Ids) -> tuple[Ids, Ids, int]:
    """Replace numbers by their ranks, and return how many there are."""
    values, ranks = np.unique(np.concatenate((left, right)), return_inverse=True)
    return ranks[: left.size], ranks[left.size :], values.size


def batch_gram_counts(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Count the n-grams of pairs of texts, and those that they share, n of 1 to `order`.

    Parameters
    ----------
    tokens
        Those of all texts one after another, left, right, left, right, as numbers that are not
        negative, equal ones for equal tokens.
    sizes
        Shape ``(pairs, 2)``: tokens of each text.
    order
        Longest n-grams, 1 or more.

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
        As for `batch_gram_counts`, but for the shape ``(texts,)`` of `sizes`.

    Returns
    -------
    numpy.ndarray
        Shape ``(texts, order)``.

    Examples
    --------
    >>> distinct_grams(np.array([5, 6, 5, 6]), np.array([3, 1]), order=2).tolist()
    [[2, 2], [1, 0]]
    """
    counts = np.empty((len(sizes), order), dtype=np.int64)
    start = 0
    for texts in _batches(sizes):
        end = start + int(sizes[texts].sum())
        counts[texts] = _distinct(tokens[start:end], sizes[texts], order=order)
        start = end
    return counts


def _distinct(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Sort the longest n-grams of all texts once, as `_shared` does."""
    counts = np.zeros((sizes.size, order), dtype=np.int64)
    if not tokens.size:
        return counts
    tokens = dense_ids(tokens) + 1
    room = _BITS - sizes.size.bit_length()
    if int(tokens.max()).bit_length() * order > room:
        tokens = _numbered_within(tokens, sizes) + 1
    width = int(tokens.max()).bit_length()
    if width * order > room:
        owners = np.repeat(np.arange(sizes.size), sizes)
        for n, gram_count in enumerate(gram_counts(tokens, owners, max_order=order)):
            counts[:, n] = np.bincount(gram_count.texts, minlength=sizes.size)
        return counts
    of, whole = _packed(tokens, sizes, order=order, width=width)
    grams = (of << (width * order)) | whole
    grams.sort()
    apart = grams[1:] ^ grams[:-1]
    new: NDArray[np.bool_] = np.ones(grams.size, dtype=np.bool_)
    for n in range(order):
        shift = width * (order - 1 - n)
        np.greater_equal(apart, 1 << shift, out=new[1:])
        numbers = grams[np.flatnonzero(new)]
        numbers = numbers[np.flatnonzero((numbers >> shift) & ((1 << width) - 1))]
        counts[:, n] = np.bincount(numbers >> (width * order), minlength=sizes.size)
    return counts


def _packed(
    tokens: Ids, lengths: Ids, *, order: int, width: int, ends: tuple[int, ...] = (0,)
) -> tuple[Ids, Ids]:
    """Return of each token the text, and it with those after it as one number.

    That has `order` times `width` bits. Where a text is at its end, it has one of `ends`, which
    come in turn.
    """
    of = np.repeat(np.arange(lengths.size), lengths)
    columns = np.arange(tokens.size) + of * (order - 1)
    padded = np.zeros(tokens.size + lengths.size * (order - 1) + order, dtype=np.int64)
    for n, end in enumerate(ends):
        if end:
            behind = (
                np.cumsum(lengths + order - 1)[n :: len(ends)]
                - np.arange(order - 1, 0, -1)[:, None]
            )
            padded[behind] = end
    padded[columns] = tokens
    whole = padded.copy()
    for n in range(1, order):
        whole = whole << width
        whole[:-n] |= padded[n:]
    return of, whole[columns]


def _batches(sizes: Ids) -> Iterator[slice]:
    """Divide pairs into runs that together have a limited number of tokens, or are one pair."""
    ends = np.cumsum(sizes)
    start = 0
    while start < sizes.size:
        done = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        yield slice(start, end)
        start = end


def _shared(tokens: Ids, sizes: Ids, *, order: int) -> Ids:
    """Sort the longest n-grams of all pairs once: their beginnings are then sorted too.

    A gram is one number: of which pair, then `order` times `width` bits, then of which side. Where
    a text is at its end, the left one has another number than the right one, so that nothing
    which reaches beyond is shared.
    """
    if not tokens.size:
        return np.zeros((len(sizes), order), dtype=np.int64)
    tokens = dense_ids(tokens) + 1
    lengths = sizes.ravel()
    room = _BITS - len(sizes).bit_length()
    if (1 + int(tokens.max())).bit_length() * order > room:  # equal ones need be in a pair only
        tokens = _numbered_within(tokens, sizes.sum(axis=1)) + 1
    beyond = 1 + int(tokens.max())
    width = beyond.bit_length()
    if width * order > room:  # an alphabet of any size
        ends = np.cumsum(lengths)
        if len(sizes) == 1:
            return np.array([shared_by_order(tokens[: ends[0]], tokens[ends[0] :], order=order)])
        pairs = zip(np.split(tokens, ends[1:-1:2]), sizes, strict=True)
        return np.vstack([_shared(pair, size[None], order=order) for pair, size in pairs])
    of, whole = _packed(tokens, lengths, order=order, width=width, ends=(0, beyond))
    grams = ((of >> 1) << (width * order + 1)) | (whole << 1) | (of & 1)
    grams.sort()
    return _shared_by_order(grams, np.cumsum(sizes.sum(axis=1)), order=order, width=width)


def _numbered_within(tokens: Ids, sizes: Ids) -> Ids:
    """Give the tokens of each of some runs numbers from 0."""
    owners = np.repeat(np.arange(sizes.size), sizes)
    ranks, _ = ranked(owners * (1 + int(tokens.max())) + tokens)
    lowest = np.minimum.reduceat(ranks, (np.cumsum(sizes) - sizes)[sizes > 0])
    numbers: Ids = ranks - np.repeat(lowest, sizes[sizes > 0])
    return numbers


def _shared_by_order(grams: Ids, ends: Ids, *, order: int, width: int) -> Ids:
    """Count what runs of equal beginnings have of both sides, until each of the `ends` of pairs."""
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
    """Counts of n-grams of one length, by n-gram and then by text.

    Parameters
    ----------
    grams, texts, counts
        Shape ``(pairs,)``: a number from 0 for the n-gram, the text, and how often it is there.
    beginnings
        Shape ``(distinct,)``: of each n-gram the number of the one it begins with, which has a
        word less; of single words 0.
    """

    grams: Ids
    texts: Ids
    counts: Ids
    beginnings: Ids

    @property
    def distinct(self) -> int:
        """The number of n-grams, those across the border of two texts among them."""
        return self.beginnings.size


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
    size = 1 + int(words.max(initial=0))
    grams = np.zeros_like(words)
    for order in range(1, max_order + 1):
        last = words[order - 1 :]
        before = grams[: last.size]
        # Of equal n-grams the places, and with them the texts, are in order, too.
        ordered, by_key = in_order(before * size + last)
        new = np.diff(ordered, prepend=-1) != 0
        ranks = np.cumsum(new) - 1
        beginnings = before[by_key[np.flatnonzero(new)]]
        grams = np.empty_like(ranks)
        grams[by_key] = ranks
        whole = np.flatnonzero((texts[: last.size] == texts[order - 1 :])[by_key])  # no border
        held, owners = ranks[whole], texts[by_key[whole]]
        edge = np.diff(held, prepend=-1) != 0
        edge |= np.diff(owners, prepend=-1) != 0
        starts = np.flatnonzero(edge)
        counts = np.diff(starts, append=held.size)
        yield GramCounts(
            grams=held[starts], texts=owners[starts], counts=counts, beginnings=beginnings
        )


_ASCII = [chr(code) for code in range(128)]
# Of these letters, digits and blanks are left out, of the others letters and blanks.
_BLANKS = str.maketrans({char: " " for char in _ASCII if not char.isalnum()})
_MARKS = str.maketrans({char: None for char in _ASCII if char.isalnum() or char.isspace()})
_MARKS_AND_DIGITS = str.maketrans(
    {char: None for char in _ASCII if char.isalpha() or char.isspace()}
)
_DIGITS = frozenset(string.digits)
_STOPS, _IN_NUMBERS = frozenset(".,"), frozenset(".,-")
_APART = frozenset(string.punctuation) - _IN_NUMBERS - {"'"}
# [1]: not what stands between digits, and of hyphens only what a digit stands before.
_BESIDE_DIGITS = re.compile(r"(?<![0-9])[.,]|[.,](?![0-9])|(?<=[0-9])-")
_DOUBLED = ("..", ".,", ",.", ",,")
Tokens = Literal["words", "words-and-marks", "blanks"]
"""Units that count as words: words alone; each mark of punctuation too; whatever blanks divide."""
# Scripts that put no blanks between words: each of their characters stands alone.
_ALONE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# Python's \w leaves out combining accents, and the vowel signs of Semitic and Indic scripts.
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
_MARK_IN_NUMBER = re.compile(r"\d[.,]\d")


def set_apart(text: str) -> str:
    """Put blanks around each character of a text in ASCII that is not a letter, digit or blank.

    Examples
    --------
    >>> set_apart("(a-b)").split()
    ['(', 'a', '-', 'b', ')']
    """
    for mark in set(text.translate(_MARKS)):
        text = text.replace(mark, f" {mark} ")
    return text


def without_marks(text: str) -> str:
    """Put a blank for each character of a text in ASCII that is not a letter, digit or blank.

    Examples
    --------
    >>> without_marks("(a-b)").split()
    ['a', 'b']
    """
    return text.translate(_BLANKS)


def words_13a(text: str) -> list[str] | None:
    """Return the words of `text` by the rules of "13a", or None if it is not a plain one.

    Plain is ASCII without entities, marks that follow each other, or words broken at a hyphen.

    Examples
    --------
    >>> words_13a("It's 3.5, or so-so.")
    ["It's", '3.5', ',', 'or', 'so-so', '.']
    """
    if not text.isascii() or "-\n" in text or any(pair in text for pair in _DOUBLED):
        return None
    held = set(text.translate(_MARKS_AND_DIGITS))
    if "&" in held or "<" in held:
        return None
    apart = held & _APART
    if not held.isdisjoint(_IN_NUMBERS):
        if held.isdisjoint(_DIGITS):
            apart |= held & _STOPS
        else:
            text = _BESIDE_DIGITS.sub(r" \g<0> ", text)
    for mark in apart:
        text = text.replace(mark, f" {mark} ")
    return text.split()


def check_order(order: int, *, name: str = "order") -> None:
    """Raise `ValueError` if `order` is not the length of an n-gram."""
    if order < 1:
        raise ValueError(f"{name} must be 1 or more, got {order!r}")


def check_tokens(tokens: str) -> None:
    """Raise `ValueError` with the choices if `tokens` is none of `Tokens`."""
    if tokens not in get_args(Tokens):
        raise ValueError(f"tokens must be one of {get_args(Tokens)}, got {tokens!r}")


def tokenise(text: str, tokens: Tokens) -> tuple[str, ...]:
    """Return the words of `text` in order, in lower case.

    A word may hold apostrophes, and a number stops and commas; a hyphen divides words. Of
    scripts without blanks, as Chinese, each character is a word.

    Examples
    --------
    >>> tokenise("Don't pay 1,200.50!", "words-and-marks")
    ("don't", 'pay', '1,200.50', '!')
    """
    lowered = text.lower()
    if tokens == "blanks":
        return tuple(lowered.split())
    # Where no mark stands within a word, it is several times as fast to set marks apart.
    if lowered.isascii() and "'" not in lowered and not _MARK_IN_NUMBER.search(lowered):
        plain = without_marks(lowered) if tokens == "words" else set_apart(lowered)
        return tuple(plain.split())
    ascii_pattern, pattern = _PATTERNS[tokens]
    return tuple((ascii_pattern if lowered.isascii() else pattern).findall(lowered))


@lru_cache(maxsize=3)
def words_cut(tokens: Tokens) -> Cut:
    """Return `tokenise` as the cut of a corpus."""
    return Cut(words=partial(tokenise, tokens=tokens), plain="in lower case")


def grams(words: Sequence[str], *, order: int) -> Sequence[Hashable]:
    """Return the runs of `order` words, from first to last.

    Fewer words than that are one run, so that only a text without words has none.
    """
    order = min(order, len(words))
    if order <= 1:
        return words
    return list(zip(*(words[start:] for start in range(order)), strict=False))
