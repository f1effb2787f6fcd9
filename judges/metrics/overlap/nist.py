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
from spanjury.judges.metrics.overlap.bleu_counts import TOKENIZERS, Tokenizer, bleu_cut
from spanjury.judges.metrics.versions import version
from spanjury.judges.metrics.words.cuts import NumberedTexts, numbered
from spanjury.judges.metrics.words.ids import Ids, ranked

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
    lengths, words, owners = texts.sizes, texts.ids, texts.owners
    is_output = np.diff(samples, prepend=-1) > 0
    vocabulary = 1 + int(words.max(initial=0))
    # There is one n-gram of no words, as often as the references have words.
    grams, frequency = np.zeros_like(words), np.array([lengths[~is_output].sum()])
    precisions, closest = 0.0, 0
    for order in range(1, max_order + 1):
        ends = words[order - 1 :]
        beginnings = grams[: ends.size]
        grams, count = ranked(beginnings * vocabulary + ends)
        whole = np.flatnonzero(owners[: ends.size] == owners[order - 1 :])  # within a text
        of, found = owners[whole], grams[whole]
        theirs = ~is_output[of]
        before, frequency = frequency, np.bincount(found[theirs], minlength=count)
        weights = np.zeros(count)
        known = found[theirs]
        weights[known] = np.log2(before[beginnings[whole[theirs]]] / frequency[known])
        held = samples[of[~theirs]] * count + found[~theirs]
        values = _values(held, of[theirs] * count + known, samples=samples, weights=weights)
        best = _best(values, lengths, samples=samples, is_output=is_output)
        total = np.maximum(0, lengths[is_output] - order + 1).sum()
        precisions += _share(values[best].sum(), total)
        closest += int(lengths[best].sum())
    return precisions * _brevity(_share(max_order * int(lengths[is_output].sum()), closest))


def _values(outputs: Ids, references: Ids, *, samples: Ids, weights: _Floats) -> _Floats:
    """Return what each text, as a reference, shares with its output, by the weights of n-grams.

    Numbers are those of n-grams, plus their count times that of the sample, or of the text.
    """
    ours, often = np.unique(outputs, return_counts=True)
    theirs, as_often = np.unique(references, return_counts=True)
    if not ours.size:
        return np.zeros(samples.size)
    texts, grams = np.divmod(theirs, weights.size)
    wanted = samples[texts] * weights.size + grams
    at = np.minimum(np.searchsorted(ours, wanted), ours.size - 1)
    shared = np.where(ours[at] == wanted, np.minimum(often[at], as_often), 0)
    values = np.bincount(texts, weights=weights[grams] * shared, minlength=samples.size)
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
