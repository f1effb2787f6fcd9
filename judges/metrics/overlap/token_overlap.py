"""Accuracy, precision, recall and F1 of the words of an answer, as SQuAD counts them.

References
----------
.. [1] Rajpurkar, Zhang, Lopyrev and Liang (2016), SQuAD: 100,000+ questions for machine
       comprehension of text, EMNLP, section 6.1, arXiv:1606.05250
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from spanjury.judges.core import Sample
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.cuts import pairs_of
from spanjury.judges.metrics.words.grams import batch_gram_counts
from spanjury.judges.metrics.words.tokens import ANSWER_CUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(Signed):
    """1 for an output with the same words as the reference in the same order, else 0."""

    kind: ClassVar[str] = "accuracy"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return 1 or 0 for each output and its one reference."""
        pairs = pairs_of(Corpus.of(samples), cut=ANSWER_CUT)
        sizes = pairs.sizes.reshape(-1, 2)
        same = sizes[:, 0] == sizes[:, 1]
        outputs = np.arange(0, pairs.sizes.size, 2)[same]
        ours, theirs = pairs.taken(outputs), pairs.taken(outputs + 1)
        same[same] = ours.summed(ours.ids != theirs.ids) == 0
        return [*map(float, same)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision(Signed):
    """Share of the output's words that are in the reference, each at most as often as there."""

    kind: ClassVar[str] = "precision"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return a number from 0 to 1 for each output and its one reference."""
        return [self._score(*counts) for counts in Corpus.of(samples).once(_counts)]

    @staticmethod
    def _score(output: int, reference: int, shared: int) -> float:
        return _share(shared, of=output, other=reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Precision):
    """Share of the reference's words that are in the output, each at most as often as there."""

    kind: ClassVar[str] = "recall"

    @staticmethod
    def _score(output: int, reference: int, shared: int) -> float:
        return _share(shared, of=reference, other=output)


@dataclass(frozen=True, slots=True, kw_only=True)
class F1(Precision):
    """Harmonic mean of `Precision` and `Recall`."""

    kind: ClassVar[str] = "f1"

    @staticmethod
    def _score(output: int, reference: int, shared: int) -> float:
        words = output + reference
        return 2.0 * shared / words if words else 1.0


def _counts(corpus: Corpus) -> list[tuple[int, int, int]]:
    """Return for each pair the number of words of the output, of the reference, and in common."""
    pairs = pairs_of(corpus, cut=ANSWER_CUT)
    counts = batch_gram_counts(pairs.ids, pairs.sizes.reshape(-1, 2), order=1)
    return [(ours, theirs, shared) for ((ours, theirs, shared),) in counts.tolist()]


def _share(shared: int, *, of: int, other: int) -> float:
    """Return the share of one side that the other contains; 1 if both are empty."""
    return shared / of if of and other else float(not of and not other)
