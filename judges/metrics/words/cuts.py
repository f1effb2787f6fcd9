"""Words of a corpus as numbers, tokenized once for all metrics.

Nearly every tokenizer treats each string between two spaces independently. So texts are split at
white space once, and each tokenizer is called once for each distinct piece; the rest is arithmetic
with the numbers of the pieces.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.metrics.corpus import Corpus, first_pairs
from spanjury.judges.metrics.words.ids import Ids
from spanjury.judges.text.kept import KeptByWord

Plain = Literal["as it is", "in lower case"]
Side = Literal["outputs", "references", "sources", "compared"]
"""Texts of a corpus; "compared" are for each sample the output, then its references."""

_FEW = 8  # samples for which tokenizing one by one is faster than setting up the arithmetic


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A tokenization.

    Parameters
    ----------
    words
        Function that tokenizes any text.
    plain
        Result for a word of only ASCII letters and digits: the word as it is, or in lower case.
        None for a function that looks across spaces, which therefore gets whole texts.
    but
        Such words, in lower case, for which the result differs.
    across
        Strings that prevent splitting a text at white space.
    """

    words: Callable[[str], Sequence[str]]
    plain: Plain | None = None
    but: frozenset[str] = frozenset()
    across: tuple[str, ...] = ()

    def looks_across(self, texts: Iterable[str]) -> bool:
        """Return whether any of `texts` must be tokenized as a whole."""
        return self.plain is None or any(sign in text for sign in self.across for text in texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedTexts:
    """The words of texts as numbers: equal ones for equal words, independent of the tokenization.

    Parameters
    ----------
    ids
        Shape ``(words,)``: the words of all texts, concatenated.
    sizes
        Shape ``(texts,)``: number of words of each text.
    """

    ids: Ids
    sizes: Ids

    @property
    def owners(self) -> Ids:
        """The text that contains each word."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @property
    def apart(self) -> list[Ids]:
        """The words of each text."""
        ends = np.cumsum(self.sizes).tolist()
        return [self.ids[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def summed(self, values: Ids) -> Ids:
        """Return for each text the sum of `values`, one for each word of all texts."""
        sums = np.concatenate(([0], np.cumsum(values)))
        return np.diff(sums[np.cumsum(self.sizes)], prepend=0)

    def taken(self, texts: Ids) -> "NumberedTexts":
        """Return a selection of the texts, possibly with repetitions."""
        starts, sizes = np.cumsum(self.sizes) - self.sizes, self.sizes[texts]
        return NumberedTexts(ids=self.ids[ranges(starts[texts], sizes)], sizes=sizes)


def ranges(starts: Ids, sizes: Ids) -> Ids:
    """Return consecutive numbers from each start, as many as its size, concatenated.

    Examples
    --------
    >>> ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    ends = np.cumsum(sizes)
    many = int(ends[-1]) if ends.size else 0
    return np.repeat(starts - ends + sizes, sizes) + np.arange(many)


def numbered(corpus: Corpus, *, side: Side, cut: Cut) -> NumberedTexts:
    """Return the words of the texts of one side; call it through `Corpus.once`."""
    if len(corpus) <= _FEW or cut.looks_across(corpus.once(texts_of, side=side)):
        return _one_by_one(corpus, cut.words, side=side)
    return _piece_by_piece(corpus, cut, side=side)


def pairs_of(corpus: Corpus, *, cut: Cut) -> NumberedTexts:
    """Return the words of each output and of its first reference, alternating."""
    return corpus.once(first_pairs).once(numbered, side="compared", cut=cut)


def word_strings(corpus: Corpus) -> list[str]:
    """Return the words by number, as many as have been numbered so far."""
    return [*corpus.once(_numbers)]


def texts_of(corpus: Corpus, *, side: Side) -> list[str]:
    """Return the texts of one side."""
    match side:
        case "outputs":
            return [sample.output for sample in corpus]
        case "sources":
            return [sample.source for sample in corpus]
        case "references":
            return [text for sample in corpus for text in sample.references]
        case "compared":
            return [text for sample in corpus for text in (sample.output, *sample.references)]


def _numbers(_: Corpus) -> defaultdict[str, int]:
    """Return the numbers of words, assigned in order of occurrence."""
    return defaultdict(count().__next__)


def _one_by_one(
    corpus: Corpus, words: Callable[[str], Sequence[str]], *, side: Side
) -> NumberedTexts:
    """Tokenize each distinct text as a whole."""
    texts = corpus.once(texts_of, side=side)
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    numbers = corpus.once(_numbers)
    cut = [*map(words, rows)]
    as_numbers = NumberedTexts(
        ids=np.fromiter(map(numbers.__getitem__, chain.from_iterable(cut)), dtype=np.int64),
        sizes=np.fromiter(map(len, cut), dtype=np.int64),
    )
    if len(rows) == len(texts):
        return as_numbers
    return as_numbers.taken(np.array([*map(rows.__getitem__, texts)], dtype=np.int64))


def _compared(corpus: Corpus, outputs: NumberedTexts, references: NumberedTexts) -> NumberedTexts:
    """Put the references of each sample after its output."""
    both = NumberedTexts(
        ids=np.concatenate((outputs.ids, references.ids)),
        sizes=np.concatenate((outputs.sizes, references.sizes)),
    )
    each = np.array([len(sample.references) for sample in corpus], dtype=np.int64)
    of = np.concatenate((np.arange(each.size), np.repeat(np.arange(each.size), each)))
    return both.taken(np.argsort(of, kind="stable"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pieces:
    """Strings between white space in the texts of a side, with the distinct ones and their numbers.

    `plain` says for each whether it consists of ASCII letters and digits.
    """

    texts: NumberedTexts
    strings: list[str]
    numbers: Ids
    plain: NDArray[np.bool_]


def _pieces(corpus: Corpus, *, side: Side) -> _Pieces:
    texts = _divided(corpus, side=side)
    numbers = np.flatnonzero(np.bincount(texts.ids))
    named = word_strings(corpus)
    strings = [named[number] for number in numbers.tolist()]
    plain = [piece.isalnum() and piece.isascii() for piece in strings]
    return _Pieces(texts=texts, strings=strings, numbers=numbers, plain=np.array(plain, dtype=bool))


def _divided(corpus: Corpus, *, side: Side) -> NumberedTexts:
    if side != "compared":
        return _one_by_one(corpus, str.split, side=side)
    outputs, references = (
        corpus.once(_pieces, side=role).texts for role in ("outputs", "references")
    )
    return _compared(corpus, outputs, references)


def _lowered(corpus: Corpus, *, side: Side) -> Ids:
    """Map the number of each plain piece to that of its lower-cased form."""
    pieces, numbers = corpus.once(_pieces, side=side), corpus.once(_numbers)
    lowered = np.arange(1 + int(pieces.numbers.max(initial=-1)))
    for number, piece, plain in zip(
        pieces.numbers.tolist(), pieces.strings, pieces.plain.tolist(), strict=True
    ):
        if plain and not piece.islower():
            lowered[number] = numbers[piece.lower()]
    return lowered


def _piece_by_piece(corpus: Corpus, cut: Cut, *, side: Side) -> NumberedTexts:
    """Replace the number of each piece by those of its words."""
    pieces = corpus.once(_pieces, side=side)
    numbers = corpus.once(_numbers)
    if cut.plain == "as it is":
        single = np.arange(1 + int(pieces.numbers.max(initial=-1)))
    else:
        single = corpus.once(_lowered, side=side)
    single_words = zip(pieces.strings, pieces.plain.tolist(), strict=True)
    rest = np.array(
        [
            index
            for index, (piece, plain) in enumerate(single_words)
            if not plain or (cut.but and piece.lower() in cut.but)
        ],
        dtype=np.int64,
    )
    words_of = _kept(cut.words)
    words = [words_of[pieces.strings[index]] for index in rest.tolist()]
    more = np.fromiter(map(numbers.__getitem__, chain.from_iterable(words)), dtype=np.int64)
    lengths = np.fromiter(map(len, words), dtype=np.int64)
    starts, sizes = np.arange(single.size), np.ones(single.size, dtype=np.int64)
    starts[pieces.numbers[rest]] = single.size + np.cumsum(lengths) - lengths
    sizes[pieces.numbers[rest]] = lengths
    of = pieces.texts.ids
    each = sizes[of]
    ids = np.concatenate((single, more))[ranges(starts[of], each)]
    return NumberedTexts(ids=ids, sizes=pieces.texts.summed(each))


@lru_cache(maxsize=32)
def _kept(words: Callable[[str], Sequence[str]]) -> KeptByWord[Sequence[str]]:
    """Return a cache of a function of pieces that persists from corpus to corpus."""
    return KeptByWord(words)
