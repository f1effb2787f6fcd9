"""Abstractness: how much of an output's wording is its own."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.words.word_grams import (
    Tokens,
    check_order,
    check_tokens,
    grams,
    tokenise,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstractness:
    """Share of an output's n-grams that are not in the source, See et al. (2017) [1]_.

    References
    ----------
    .. [1] See, Liu & Manning, Get to the point: summarization with pointer-generator
       networks, ACL 2017, "novel n-grams"
    """

    order: int = 1
    tokens: Tokens = "words"

    def __post_init__(self) -> None:
        check_order(self.order)
        check_tokens(self.tokens)

    @property
    def signature(self) -> str:
        """The options, and the version that the words belong to."""
        return signature("abstractness", order=self.order, tokens=self.tokens)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        """Return the shares, 0 to 1; an output without words has 0."""
        return [self._score(sample) for sample in samples]

    def _score(self, sample: Sample) -> float:
        words = tokenise(sample.output, self.tokens)
        if not words:
            return 0.0
        order = min(self.order, len(words))
        known = _known(tokenise(sample.source, self.tokens), order)
        runs = grams(words, order=order)
        return sum(run not in known for run in runs) / len(runs)


@lru_cache(maxsize=8)  # the outputs of several systems for one source come together
def _known(words: tuple[str, ...], order: int) -> frozenset[Hashable]:
    """Return the n-grams of a source; one that is too short has none."""
    return frozenset(grams(words, order=order)) if len(words) >= order else frozenset()
