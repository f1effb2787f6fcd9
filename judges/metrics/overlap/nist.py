"""NIST: matching n-grams, each counting the more the rarer it is in the references.

References
----------
.. [1] Doddington (2002), Automatic evaluation of machine translation quality using n-gram
       co-occurrence statistics, HLT
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_choice, check_least
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.overlap.bleu import TOKENIZERS, Tokenizer, bleu_cut
from spanjury.judges.metrics.versions import version
from spanjury.judges.metrics.words.cuts import NumberedTexts, numbered
from spanjury.judges.metrics.words.grams import GramCounts, gram_counts
from spanjury.judges.metrics.words.ids import Ids

_Floats = NDArray[np.float64]
# Two thirds of the references' length halve the score: [1] section 4.
_BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Nist:
    """NIST of a corpus, with the conventions of NLTK.

    Of several references, each order counts the one with the highest precision. What an n-gram
    counts depends on all references, so that sums of segments do not make a corpus. Raises
    `ValueError` if `tokenize` is unknown, or `max_order` is not positive.
    """

    lowercase: bool = False
    max_order: int = 5
    tokenize: Tokenizer = "13a"

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("tokenize", self.tokenize, choices=TOKENIZERS)

    @property
    def signature(self) -> str:
        """The options, and the versions of what cuts words."""
        return signature(
            "nist",
            lowercase=self.lowercase,
            max_order=self.max_order,
            tokenize=self.tokenize,
            bleuscore=version("bleuscore"),
            sacrebleu=version("sacrebleu"),
        )

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return the score of all outputs together."""
        corpus = Corpus.of(samples)
        cut = bleu_cut(self.tokenize, lowercase=self.lowercase)
        texts = corpus.once(numbered, side="compared", cut=cut)
        sizes = np.array([1 + len(sample.references) for sample in corpus])
        return _nist(texts, np.repeat(np.arange(sizes.size), sizes), max_order=self.max_order)


def _nist(texts: NumberedTexts, samples: Ids, *, max_order: int) -> float:
    """Score texts: of each of `samples` first the output, and then its references."""
    lengths = texts.sizes
    is_output = np.diff(samples, prepend=-1) > 0
    # There is one n-gram of no words, as often as the references have words.
    frequency = np.array([float(lengths[~is_output].sum())])
    precisions, closest = 0.0, 0
    grams_by_order = gram_counts(texts.ids, texts.owners, max_order=max_order)
    for order, grams in enumerate(grams_by_order, start=1):
        theirs = np.flatnonzero(~is_output[grams.texts])
        before, frequency = (
            frequency,
            np.bincount(
                grams.grams[theirs], weights=grams.counts[theirs], minlength=grams.distinct
            ),
        )
        seen = np.flatnonzero(frequency)
        weights = np.zeros(grams.distinct)
        weights[seen] = np.log2(before[grams.beginnings[seen]] / frequency[seen])
        values = _values(grams, samples=samples, is_output=is_output, weights=weights)
        best = _best(values, lengths, samples=samples, is_output=is_output)
        total = np.maximum(0, lengths[is_output] - order + 1).sum()
        precisions += _share(values[best].sum(), total)
        closest += int(lengths[best].sum())
    return precisions * _brevity(_share(max_order * int(lengths[is_output].sum()), closest))


def _values(
    counts: GramCounts, *, samples: Ids, is_output: NDArray[np.bool_], weights: _Floats
) -> _Floats:
    """Return what each text, as a reference, shares with its output, by the weights of n-grams."""
    many = 1 + int(samples.max(initial=0))
    keys, from_output = counts.grams * many + samples[counts.texts], is_output[counts.texts]
    ours, theirs = np.flatnonzero(from_output), np.flatnonzero(~from_output)
    if not ours.size:
        return np.zeros(samples.size)
    held, wanted = keys[ours], keys[theirs]
    at = ours[np.minimum(np.searchsorted(held, wanted), ours.size - 1)]
    often = np.minimum(counts.counts[at], counts.counts[theirs])
    shared = np.where(keys[at] == wanted, often, 0)
    gains = weights[counts.grams[theirs]] * shared
    values = np.bincount(counts.texts[theirs], weights=gains, minlength=samples.size)
    return values.astype(np.float64)


def _best(values: _Floats, lengths: Ids, *, samples: Ids, is_output: NDArray[np.bool_]) -> Ids:
    """Return for each sample the reference of the highest value, of those the longest."""
    references = np.flatnonzero(~is_output)
    of = samples[references]
    order = np.lexsort((lengths[references], values[references], of))
    last: Ids = order[np.diff(of[order], append=-1) != 0]
    return references[last]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _brevity(ratio: float) -> float:
    return math.exp(_BETA * math.log(ratio) ** 2) if 0.0 < ratio < 1.0 else min(1.0, ratio)
