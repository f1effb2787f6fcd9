"""chrF and chrF++: F scores of character n-grams, for chrF++ also of word n-grams.

References
----------
.. [1] Popović (2015), chrF: character n-gram F-score for automatic MT evaluation, WMT,
       doi:10.18653/v1/W15-3049
.. [2] Popović (2017), chrF++: words helping character n-grams, WMT, doi:10.18653/v1/W17-4770
.. [3] Post (2018), WMT: sacrebleu, whose conventions are followed
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_least
from spanjury.judges.metrics.corpus import Corpus, all_pairs, first_pairs
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.words.cuts import Cut, numbered, texts_of
from spanjury.judges.metrics.words.grams import batch_gram_counts
from spanjury.judges.metrics.words.ids import Ids, character_ids
from spanjury.judges.metrics.words.tokens import is_blank

_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chrf(SummedRows):
    """chrF from 0 to 100; with word n-grams, chrF++.

    The reference that gives an output the best score counts. Raises `ValueError` if
    `char_order` or `beta` is not positive, or `word_order` is negative.

    Parameters
    ----------
    beta
        Weight of recall relative to precision.
    char_order, word_order
        Length of the longest n-grams of characters and of words; 0 for no words.
    whitespace
        Whether whitespace counts as characters.
    """

    beta: float = 2.0
    char_order: int = 6
    word_order: int = 0
    lowercase: bool = False
    whitespace: bool = False

    def __post_init__(self) -> None:
        check_least("char_order", self.char_order, least=1)
        check_least("word_order", self.word_order, least=0)
        if not self.beta > 0.0:
            raise ValueError(f"beta must be above 0, got {self.beta!r}")

    @property
    def signature(self) -> str:
        """The options, in sacrebleu's terms."""
        return signature(
            "chrf",
            case="lc" if self.lowercase else "mixed",
            eff="yes",
            nc=self.char_order,
            nw=self.word_order,
            beta=self.beta,
            space="yes" if self.whitespace else "no",
        )

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return the n-grams of output, of reference, and in common: three numbers for each order.

        The last number is 1 for an output that is not blank.
        """
        corpus = Corpus.of(samples)
        distinct = self._rows(corpus)
        if corpus.once(first_pairs) is corpus:
            return distinct
        rows = iter(distinct)
        return [
            max(islice(rows, len(sample.references)), key=self.score_statistics)
            if len(sample.references) > 1
            else next(rows)
            for sample in samples
        ]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the chrF of summed counts."""
        if not any(total):
            return 100.0
        orders = zip(total[:-1:3], total[1::3], total[2::3], strict=True)
        precision, recall, present = 0.0, 0.0, 0
        for own, other, match in orders:
            if own and other:
                precision += match / own
                recall += match / other
                present += 1
        if not precision + recall:
            return 0.0
        weight = self.beta**2  # [1] eq. 1, with means over the orders that occur
        score = (1.0 + weight) * precision * recall / (weight * precision + recall)
        return min(100.0, 100.0 * score / present)

    def _rows(self, corpus: Corpus) -> list[list[float]]:
        """Return a row for each pair of an output and a reference."""
        pairs = corpus.once(all_pairs)
        counts = [
            pairs.once(
                _character_counts,
                order=self.char_order,
                lowercase=self.lowercase,
                whitespace=self.whitespace,
            )
        ]
        if self.word_order:
            words = pairs.once(numbered, side="compared", cut=word_cut(lowercase=self.lowercase))
            sizes = words.sizes.reshape(-1, 2)
            counts.append(batch_gram_counts(words.ids, sizes, order=self.word_order))
        table = np.concatenate(counts, axis=1)
        # As in sacrebleu, an order of which the reference has no n-gram does not count.
        table[:, :, 0] *= table[:, :, 1] > 0
        written = np.array([not is_blank(sample.output) for sample in pairs])
        rows: list[list[float]] = np.column_stack(
            (table.reshape(len(pairs), 3 * table.shape[1]), written)
        ).tolist()
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ChrfPlusPlus(Chrf):
    """chrF++ from 0 to 100: `Chrf` with words and pairs of words."""

    word_order: int = 2


def _character_counts(corpus: Corpus, *, order: int, lowercase: bool, whitespace: bool) -> Ids:
    texts = corpus.once(texts_of, side="compared")
    if lowercase:
        texts = [text.lower() for text in texts]
    if not whitespace:
        texts = ["".join(text.split()) for text in texts]
    sizes = np.array([*map(len, texts)], dtype=np.int64).reshape(-1, 2)
    return batch_gram_counts(character_ids("".join(texts)), sizes, order=order)


@lru_cache(maxsize=2)
def word_cut(*, lowercase: bool) -> Cut:
    """Return the tokenization of chrF++ as the cut of a corpus."""
    if lowercase:
        return Cut(words=lambda text: _words(text.lower()), plain="in lower case")
    return Cut(words=_words, plain="as it is")


def _words(text: str) -> list[str]:
    """Split at white space; split off one punctuation mark per word, the last or else the first."""
    cut: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            cut += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            cut += (word[0], word[1:])
        else:
            cut.append(word)
    return cut
