"""Diversity of the outputs of a corpus: distinct-n and self-BLEU."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Literal, get_args

import numpy as np

from spanjury.judges.core import Sample
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.cuts import NumberedTexts
from spanjury.judges.metrics.words.grams import Tokens, check_order, check_tokens, gram_counts
from spanjury.judges.metrics.words.ids import Ids
from spanjury.judges.metrics.words.runs import distinct_in_all, output_words, run_counts

Divisor = Literal["grams", "words"]
_NO_MATCH = 0.1  # substitute for 0 matches: NLTK's smoothing "method1"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctN(Signed):
    """Share of distinct n-grams in a text or in a whole corpus [1]_.

    Parameters
    ----------
    divisor
        Divisor of the number of distinct n-grams: all n-grams or, as in [1]_, the words.

    References
    ----------
    .. [1] Li et al., A diversity-promoting objective function for neural conversation models,
       NAACL 2016
    """

    order: int = 2
    divisor: Divisor = "grams"
    tokens: Tokens = "words"

    kind: ClassVar[str] = "distinct-n"

    def __post_init__(self) -> None:
        check_order(self.order)
        check_tokens(self.tokens)
        if self.divisor not in get_args(Divisor):
            raise ValueError(f"divisor must be one of {get_args(Divisor)}, got {self.divisor!r}")

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares within each output, 0 to 1; one without words has 0."""
        corpus = Corpus.of(samples)
        distinct, runs = run_counts(corpus, tokens=self.tokens, order=self.order)
        shares: list[float] = (distinct / np.maximum(1, self._divisors(corpus, runs))).tolist()
        return shares

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the share among all outputs together, 0 to 1; 0 if none has a word."""
        corpus = Corpus.of(samples)
        _, runs = run_counts(corpus, tokens=self.tokens, order=self.order)
        total = int(self._divisors(corpus, runs).sum())
        distinct = distinct_in_all(corpus, tokens=self.tokens, order=self.order)
        return distinct / total if total else 0.0

    def _divisors(self, corpus: Corpus, runs: Ids) -> Ids:
        return runs if self.divisor == "grams" else output_words(corpus, tokens=self.tokens).sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfBleu(Signed):
    """Mean BLEU of each output with all the others as its references, Zhu et al. (2018) [1]_.

    Time and memory grow with the words of the corpus, not with its pairs of outputs.

    References
    ----------
    .. [1] Zhu et al., Texygen: a benchmarking platform for text generation models, SIGIR 2018
    """

    max_order: int = 4
    tokens: Tokens = "words-and-marks"

    kind: ClassVar[str] = "self-bleu"

    def __post_init__(self) -> None:
        check_order(self.max_order, name="max_order")
        check_tokens(self.tokens)

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the mean, 0 to 1: 0 for a single output, 1 for an output without words."""
        texts = output_words(Corpus.of(samples), tokens=self.tokens)
        matches = zip(*_matches(texts, max_order=self.max_order), strict=True)
        lengths: list[int] = texts.sizes.tolist()
        counts = zip(lengths, matches, _nearest_lengths(lengths), strict=True)
        return fmean(_bleu(length, matched, nearest=near) for length, matched, near in counts)


def _matches(texts: NumberedTexts, *, max_order: int) -> Iterator[list[int]]:
    """Yield for each order the n-gram count of each text, each clipped to its most in another.

    The two highest counts of an n-gram suffice to find the highest among the others of any text.
    """
    for gram_count in gram_counts(texts.ids, texts.owners, max_order=max_order):
        order = np.lexsort((gram_count.counts, gram_count.grams))
        runs, counts = gram_count.grams[order], gram_count.counts[order]
        highest = np.flatnonzero(np.diff(runs, append=-1))  # the last count of each n-gram
        holders = np.diff(highest, prepend=-1)
        elsewhere = np.repeat(counts[highest], holders)
        elsewhere[highest] = np.where(holders > 1, counts[highest - 1], 0)
        shared = np.minimum(counts, elsewhere)
        matches = np.bincount(gram_count.texts[order], weights=shared, minlength=texts.sizes.size)
        yield matches.astype(int).tolist()


def _nearest_lengths(lengths: Sequence[int]) -> list[int]:
    """Return for each length the nearest of the others (the shorter in a tie); 0 if alone."""
    counted = Counter(lengths)
    ordered = sorted(counted)

    def nearest(length: int) -> int:
        if counted[length] > 1:
            return length
        index = bisect_left(ordered, length)
        neighbours = (*ordered[max(0, index - 1) : index], *ordered[index + 1 : index + 2])
        return min(neighbours, key=lambda other: abs(other - length), default=0)

    return [nearest(length) for length in lengths]


def _bleu(length: int, matches: Sequence[int], *, nearest: int) -> float:
    """Compute the BLEU of a text from its matches of order 1, 2, and so on."""
    if not length:
        return 1.0
    if not matches[0]:
        return 0.0
    logs = [
        math.log((matched or _NO_MATCH) / max(1, length - before))
        for before, matched in enumerate(matches)
    ]
    brevity = min(0.0, 1.0 - nearest / length)
    return min(1.0, math.exp(brevity + math.fsum(logs) / len(matches)))
