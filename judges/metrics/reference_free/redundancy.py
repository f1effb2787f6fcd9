"""Redundancy within an output: repetitiveness, AUN, UNR and NID."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

import numpy as np

from spanjury.judges.core import Sample
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.cuts import NumberedTexts
from spanjury.judges.metrics.words.grams import Tokens, check_order, check_tokens, gram_counts
from spanjury.judges.metrics.words.runs import output_words, run_counts
from spanjury.stats.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetitiveness(Signed):
    """Share of an output's n-grams that occur earlier in it, Fu et al. (2021) [1]_.

    References
    ----------
    .. [1] Fu et al., A theoretical analysis of the repetition problem, AAAI 2021, "rep-n"
    """

    order: int = 1
    tokens: Tokens = "words"

    kind: ClassVar[str] = "repetitiveness"

    def __post_init__(self) -> None:
        check_order(self.order)
        check_tokens(self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares, 0 to 1; an output without words has 1."""
        shares = _distinct_shares(samples, tokens=self.tokens, order=self.order)
        return [1.0 - share for share in shares]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aun(SummedRows, Repetitiveness):
    """Share of an output's n-grams that are distinct, over a corpus counted together.

    Options as for `Repetitiveness`.
    """

    kind: ClassVar[str] = "aun"

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return the distinct n-grams and all n-grams; for an output without words 0 and 1."""
        distinct, runs = run_counts(Corpus.of(samples), tokens=self.tokens, order=self.order)
        rows: list[list[float]] = np.stack((distinct, np.maximum(1, runs)), axis=1).tolist()
        return rows

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the ratio of the two sums."""
        return total[0] / total[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unr(Signed):
    """Share of distinct n-grams, averaged over the lengths 1 to `max_order`, Peyrard et al. [1]_.

    References
    ----------
    .. [1] Peyrard, Botschen & Gurevych, Learning to score system summaries for better
       content selection evaluation, Workshop on New Frontiers in Summarization 2017
    """

    max_order: int = 3
    tokens: Tokens = "words"

    kind: ClassVar[str] = "unr"

    def __post_init__(self) -> None:
        check_order(self.max_order, name="max_order")
        check_tokens(self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the mean shares, 0 to 1; an output without words has 0."""
        corpus, orders = Corpus.of(samples), range(1, self.max_order + 1)
        shares = [_distinct_shares(corpus, tokens=self.tokens, order=order) for order in orders]
        return [*map(fmean, zip(*shares, strict=True))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nid(Signed):
    """One minus the normalized entropy of an output's words, Xiao & Carenini (2020) [1]_.

    References
    ----------
    .. [1] Xiao & Carenini, Systematically exploring redundancy reduction in summarizing long
       documents, AACL 2020, "normalized inverse of diversity"
    """

    tokens: Tokens = "words"

    kind: ClassVar[str] = "nid"

    def __post_init__(self) -> None:
        check_tokens(self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return values from 0 to 1: 1 for an output without words, 0 for one of one word."""
        texts = output_words(Corpus.of(samples), tokens=self.tokens)
        # [1] 1 - entropy / log(words), as sum(c log c) / (words log words)
        certain = _certainty(texts)
        most = texts.sizes * np.log(np.maximum(2, texts.sizes))
        values = np.where(texts.sizes > 1, certain / np.maximum(1, most), texts.sizes == 0)
        return [*map(float, np.minimum(1.0, values))]


def _distinct_shares(samples: Sequence[Sample], *, tokens: Tokens, order: int) -> list[float]:
    """Divide distinct n-grams by n-grams; 0 for texts without any."""
    distinct, runs = run_counts(Corpus.of(samples), tokens=tokens, order=order)
    shares: list[float] = (distinct / np.maximum(1, runs)).tolist()
    return shares


def _certainty(texts: NumberedTexts) -> FloatArray:
    """Return for each text the sum of c log c, where c is the count of a word in it."""
    (grams,) = gram_counts(texts.ids, texts.owners, max_order=1)
    counts = grams.counts
    weights = counts * np.log(counts)
    sums = np.bincount(grams.texts, weights=weights, minlength=texts.sizes.size)
    return sums.astype(np.float64)
