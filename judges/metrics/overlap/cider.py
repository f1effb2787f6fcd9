"""CIDEr and CIDEr-D: n-grams shared with many references, rare ones weighing most.

References
----------
.. [1] Vedantam, Zitnick and Parikh (2015), CIDEr: consensus-based image description
       evaluation, CVPR, arXiv:1411.5726
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Sample
from spanjury.judges.metrics.checks import check_choice, check_least
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.cuts import numbered
from spanjury.judges.metrics.words.grams import GramCounts, gram_counts
from spanjury.judges.metrics.words.ids import Ids
from spanjury.judges.metrics.words.tokens import UNITS, Units, units_cut

_Floats = NDArray[np.float64]
_BEST = 10.0  # [1] section 8 for CIDEr-D; its authors' program applies it to both


@dataclass(frozen=True, slots=True, kw_only=True)
class Cider(Signed):
    """CIDEr from 0 to 10: cosine to the references, averaged over orders and references.

    Weights come from the references of the batch: with one sample all weights are 0. Raises
    `ValueError` if `tokenize` is unknown, or `max_order` is not positive.

    Parameters
    ----------
    tokenize
        Tokenization: "words" (lower-cased, without punctuation) or "whitespace", for texts
        that are tokenised already, like the input of pycocoevalcap.
    """

    max_order: int = 4
    tokenize: Units = "words"

    kind: ClassVar[str] = "cider"

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("tokenize", self.tokenize, choices=UNITS)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score for each output; it depends on the references of all samples."""
        texts, (alike, _) = _compared(samples, units=self.tokenize, max_order=self.max_order)
        return texts.means(alike, best=_BEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class CiderD(Signed):
    """CIDEr-D from 0 to 10: CIDEr that is robust to repeated words and different lengths.

    Parameters
    ----------
    sigma
        Difference of lengths, in words, at which a score falls to 0.61 of its value.
    """

    max_order: int = 4
    sigma: float = 6.0
    tokenize: Units = "words"

    kind: ClassVar[str] = "cider-d"

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("tokenize", self.tokenize, choices=UNITS)
        if not self.sigma > 0.0:
            raise ValueError(f"sigma must be above 0, got {self.sigma!r}")

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score for each output; it depends on the references of all samples."""
        # [1] section 8: counts above those of the reference are clipped.
        texts, (_, alike) = _compared(samples, units=self.tokenize, max_order=self.max_order)
        apart = texts.lengths[texts.outputs] - texts.lengths[texts.references]
        return texts.means(alike * np.exp(-(apart**2) / (2.0 * self.sigma**2)), best=_BEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTexts:
    """The texts of a batch: for each sample the output, then its references.

    Parameters
    ----------
    words, owners
        Shape ``(words,)``: the number of each word, and the text that contains it.
    lengths, samples, firsts
        Shape ``(texts,)``: the number of words of each text, its sample, and the sample's output.
    references
        Shape ``(pairs,)``: the texts to compare outputs with.
    """

    words: Ids
    owners: Ids
    lengths: Ids
    samples: Ids
    firsts: Ids
    references: Ids

    @property
    def outputs(self) -> Ids:
        """The output to compare with each reference."""
        return self.firsts[self.references]

    @classmethod
    def read(cls, corpus: Corpus, *, units: Units) -> Self:
        """Tokenize and number all texts of a corpus."""
        texts = corpus.once(numbered, side="compared", cut=units_cut(units))
        sizes = np.array([1 + len(sample.references) for sample in corpus], dtype=np.int64)
        firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        return cls(
            words=texts.ids,
            owners=texts.owners,
            lengths=texts.sizes,
            samples=np.repeat(np.arange(sizes.size), sizes),
            firsts=firsts,
            references=np.flatnonzero(firsts != np.arange(firsts.size)),
        )

    def means(self, alike: _Floats, *, best: float) -> list[float]:
        """Return for each sample the mean over its references, scaled to 0 to `best`.

        Two texts without words are equal, so they score `best` and not 0.
        """
        both_empty = self.lengths[self.outputs] + self.lengths[self.references] == 0
        scores = np.clip(np.where(both_empty, 1.0, alike), 0.0, 1.0)
        of = self.samples[self.references]
        return [float(mean) for mean in best * np.bincount(of, weights=scores) / np.bincount(of)]


def _compared(
    samples: Sequence[Sample], *, units: Units, max_order: int
) -> tuple[ComparedTexts, tuple[_Floats, _Floats]]:
    """Return the texts of a batch and their similarities; computed once for both metrics."""
    corpus = Corpus.of(samples)
    texts = ComparedTexts.read(corpus, units=units)
    return texts, corpus.once(_similarities, units=units, max_order=max_order)


def _similarities(corpus: Corpus, *, units: Units, max_order: int) -> tuple[_Floats, _Floats]:
    """Return the tf-idf cosine of each pair's n-grams, averaged over the orders.

    In the second array, the counts of the output are clipped to those of the reference.
    """
    texts = ComparedTexts.read(corpus, units=units)
    total, clipped = np.zeros(texts.references.size), np.zeros(texts.references.size)
    for gram_count in gram_counts(texts.words, texts.owners, max_order=max_order):
        weights = gram_count.counts * _rarity(gram_count, texts=texts)[gram_count.grams]
        squares = np.bincount(gram_count.texts, weights=weights**2, minlength=texts.lengths.size)
        norms = np.sqrt(squares[texts.outputs] * squares[texts.references])
        norms[norms == 0.0] = np.inf
        whole, least = _products(gram_count, weights, texts=texts)
        total += whole[texts.references] / norms
        clipped += least[texts.references] / norms
    return total / max_order, clipped / max_order


def _rarity(counts: GramCounts, *, texts: ComparedTexts) -> _Floats:
    """Return the weight of each n-gram, [1] eq. 1; one in no reference counts as in one."""
    many = 1 + int(texts.samples.max(initial=0))
    theirs = np.flatnonzero(texts.firsts[counts.texts] != counts.texts)
    occurrences = counts.grams[theirs] * many + texts.samples[counts.texts[theirs]]
    # They are sorted by n-gram and text, and so by sample: duplicates are adjacent.
    once = occurrences[np.flatnonzero(np.diff(occurrences, prepend=-1))] // many
    frequency = np.bincount(once, minlength=counts.distinct)
    rarity: _Floats = np.log(many) - np.log(np.maximum(1, frequency))
    return rarity


def _products(
    counts: GramCounts, weights: _Floats, *, texts: ComparedTexts
) -> tuple[_Floats, _Floats]:
    """Return for each reference the sum of its weights times those of its output.

    In the second array, no weight of the output exceeds that of the reference.
    """
    many = texts.lengths.size
    theirs = np.flatnonzero(texts.firsts[counts.texts] != counts.texts)
    keys = counts.grams * many + counts.texts
    wanted = counts.grams[theirs] * many + texts.firsts[counts.texts[theirs]]
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    shared = np.where(keys[at] == wanted, weights[at], 0.0)
    of, own = counts.texts[theirs], weights[theirs]
    whole, clipped = (
        np.bincount(of, weights=ours * own, minlength=many).astype(np.float64)
        for ours in (shared, np.minimum(shared, own))
    )
    return whole, clipped
