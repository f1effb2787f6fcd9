"""Accuracy, precision, recall and F1 of the words of an answer, as SQuAD counts them.

References
----------
.. [1] Rajpurkar, Zhang, Lopyrev and Liang (2016), SQuAD: 100,000+ questions for machine
       comprehension of text, EMNLP, section 6.1, arXiv:1606.05250
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.words.tokens import answer_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """1 for an output whose words are those of the reference in their order, else 0."""

    @property
    def signature(self) -> str:
        """Its name: it has no options."""
        return signature("accuracy")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return 1 or 0 for each output and its one reference."""
        return [float(output == reference) for output, reference in map(_words, samples)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """Share of the output's words that are in the reference, each as often as there."""

    @property
    def signature(self) -> str:
        """Its name: it has no options."""
        return signature("precision")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return a share from 0 to 1 for each output and its one reference."""
        return [_share(*_words(sample)) for sample in samples]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Share of the reference's words that are in the output, each as often as there."""

    @property
    def signature(self) -> str:
        """Its name: it has no options."""
        return signature("recall")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return a share from 0 to 1 for each output and its one reference."""
        return [_share(*reversed(_words(sample))) for sample in samples]


@dataclass(frozen=True, slots=True, kw_only=True)
class F1:
    """Harmonic mean of `Precision` and `Recall`."""

    @property
    def signature(self) -> str:
        """Its name: it has no options."""
        return signature("f1")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return a mean from 0 to 1 for each output and its one reference."""
        return [_f1(*_words(sample)) for sample in samples]


def _words(sample: Sample) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return answer_tokens(sample.output), answer_tokens(sample.references[0])


def _share(part: Sequence[str], whole: Sequence[str]) -> float:
    """Return which share of `part` is in `whole`; of two that are empty, 1."""
    if not part or not whole:
        return float(not part and not whole)
    return _common(part, whole) / len(part)


def _f1(output: Sequence[str], reference: Sequence[str]) -> float:
    total = len(output) + len(reference)
    return 2.0 * _common(output, reference) / total if total else 1.0


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    return (Counter(left) & Counter(right)).total()
