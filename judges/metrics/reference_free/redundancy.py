"""Redundancy within an output: repetitiveness, AUN, UNR and NID."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.reductions import SummedRows
from spanjury.judges.metrics.words.word_grams import (
    Tokens,
    check_order,
    check_tokens,
    grams,
    tokenise,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetitiveness:
    """Share of an output's n-grams that stand earlier in it, Fu et al. (2021) [1]_.

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

    @property
    def signature(self) -> str:
        """The options, and the version that the words belong to."""
        return signature(self.kind, order=self.order, tokens=self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares, 0 to 1; an output without words has 1."""
        texts = (tokenise(sample.output, self.tokens) for sample in samples)
        return [1.0 - _distinct_share(words, order=self.order) for words in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aun(SummedRows, Repetitiveness):
    """Share of an output's n-grams that are distinct, over a corpus counted together.

    Options as for `Repetitiveness`.
    """

    kind: ClassVar[str] = "aun"

    def statistics(self, samples: Sequence[Sample], /) -> list[list[float]]:
        """Return distinct n-grams and n-grams; an output without words has 0 of 1."""
        texts = (tokenise(sample.output, self.tokens) for sample in samples)
        found = [grams(words, order=self.order) for words in texts]
        return [[len(set(runs)), max(1, len(runs))] for runs in found]

    def score_statistics(self, total: Sequence[float], /) -> float:
        """Return the ratio of the two sums."""
        return total[0] / total[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unr:
    """Share of distinct n-grams, averaged over the lengths 1 to `max_order`, Peyrard et al. [1]_.

    References
    ----------
    .. [1] Peyrard, Botschen & Gurevych, Learning to score system summaries for better
       content selection evaluation, Workshop on New Frontiers in Summarization 2017
    """

    max_order: int = 3
    tokens: Tokens = "words"

    def __post_init__(self) -> None:
        check_order(self.max_order, name="max_order")
        check_tokens(self.tokens)

    @property
    def signature(self) -> str:
        """The options, and the version that the words belong to."""
        return signature("unr", max_order=self.max_order, tokens=self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the mean shares, 0 to 1; an output without words has 0."""
        orders = range(1, self.max_order + 1)
        texts = (tokenise(sample.output, self.tokens) for sample in samples)
        return [fmean(_distinct_share(words, order=order) for order in orders) for words in texts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nid:
    """Distance of an output's words from all being different, Xiao & Carenini (2020) [1]_.

    References
    ----------
    .. [1] Xiao & Carenini, Systematically exploring redundancy reduction in summarizing long
       documents, AACL 2020, "normalized inverse of diversity"
    """

    tokens: Tokens = "words"

    def __post_init__(self) -> None:
        check_tokens(self.tokens)

    @property
    def signature(self) -> str:
        """The options, and the version that the words belong to."""
        return signature("nid", tokens=self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return values from 0 to 1; an output without words has 1, one of one word 0."""
        return [_inverse_diversity(tokenise(sample.output, self.tokens)) for sample in samples]


def _distinct_share(words: Sequence[str], *, order: int) -> float:
    """Divide distinct n-grams by n-grams; 0 without any."""
    runs = grams(words, order=order)
    return len(set(runs)) / len(runs) if runs else 0.0


def _inverse_diversity(words: Sequence[str]) -> float:
    """Work out [1] 1 - entropy / log(words), as sum(c log c) / (words log words)."""
    if not words:
        return 1.0
    if len(words) == 1:
        return 0.0
    certain = math.fsum(count * math.log(count) for count in Counter(words).values())
    return min(1.0, certain / (len(words) * math.log(len(words))))
