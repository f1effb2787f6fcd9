"""chrF and chrF++: F scores of character n-grams, and of word n-grams besides.

References
----------
.. [1] Popović (2015), chrF: character n-gram F-score for automatic MT evaluation, WMT,
       doi:10.18653/v1/W15-3049
.. [2] Popović (2017), chrF++: words helping character n-grams, WMT, doi:10.18653/v1/W17-4770
.. [3] Post (2018), WMT: sacrebleu, whose conventions are kept
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_least
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.words.grams import batch_gram_counts
from spanjury.judges.metrics.words.ids import Ids, character_ids, flat_ids
from spanjury.judges.metrics.words.tokens import is_blank

_PUNCTUATION = frozenset(string.punctuation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chrf(SummedRows):
    """chrF from 0 to 100; with words besides, chrF++.

    Of several references the one that gives an output the best score counts. Raises `ValueError` if
    `char_order` or `beta` is not positive, or `word_order` is negative.

    Parameters
    ----------
    beta
        How many times as much recall weighs as precision.
    char_order, word_order
        Longest n-grams of characters, and of words; 0 for no words.
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
        """The options, in sacrebleu's words."""
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
        """Return the n-grams of output and reference and those shared, an order three numbers.

        The last number is 1 for an output that is not blank.
        """
        pairs = [
            (sample.output, reference) for sample in samples for reference in sample.references
        ]
        rows = iter(self._rows(pairs))
        return [
            max(islice(rows, len(sample.references)), key=self.score_statistics)
            if len(sample.references) > 1
            else next(rows)
            for sample in samples
        ]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the chrF of added counts."""
        if not any(total):
            return 100.0
        orders = zip(total[:-1:3], total[1::3], total[2::3], strict=True)
        shares = [(match / own, match / other) for own, other, match in orders if own and other]
        precision = sum(share[0] for share in shares)
        recall = sum(share[1] for share in shares)
        if not precision + recall:
            return 0.0
        weight = self.beta**2  # [1] eq. 1, of the means over the orders that there are
        score = (1.0 + weight) * precision * recall / (weight * precision + recall)
        return min(100.0, 100.0 * score / len(shares))

    def _rows(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        texts = [text.lower() if self.lowercase else text for pair in pairs for text in pair]
        characters = [*map(self._characters, texts)]
        counts = [_counts(character_ids("".join(characters)), characters, order=self.char_order)]
        if self.word_order:
            words = [*map(_words, texts)]
            counts.append(_counts(flat_ids(words), words, order=self.word_order))
        table = np.concatenate(counts, axis=1)
        # As in sacrebleu, an order that the reference has no n-gram of does not count.
        table[:, :, 0] *= table[:, :, 1] > 0
        rows = table.reshape(len(pairs), 3 * table.shape[1]).tolist()
        return [[*row, int(not is_blank(text))] for row, text in zip(rows, texts[::2], strict=True)]

    def _characters(self, text: str) -> str:
        return text if self.whitespace else "".join(text.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ChrfPlusPlus(Chrf):
    """chrF++ from 0 to 100: `Chrf` with words and pairs of words."""

    word_order: int = 2


def _counts(tokens: Ids, texts: Sequence[Sequence[str]], *, order: int) -> Ids:
    sizes = np.array([*map(len, texts)], dtype=np.int64).reshape(-1, 2)
    return batch_gram_counts(tokens, sizes, order=order)


def _words(text: str) -> list[str]:
    """Cut at whitespace, and a sign off each word: the last one, else the first one."""
    cut: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            cut += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            cut += (word[0], word[1:])
        else:
            cut.append(word)
    return cut
