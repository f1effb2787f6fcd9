"""ROUGE-S: pairs of words in their order, whatever stands between them.

References
----------
.. [1] Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop,
       section 5, https://aclanthology.org/W04-1013
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_least
from spanjury.judges.metrics.corpus import Corpus
from spanjury.judges.metrics.versions import version
from spanjury.judges.metrics.words.cuts import NumberedTexts, pairs_of, ranges
from spanjury.judges.metrics.words.grams import batch_gram_counts
from spanjury.judges.metrics.words.ids import Ids
from spanjury.judges.metrics.words.rouge_tokens import RougeOptions
from spanjury.judges.metrics.words.tokens import is_blank

_UNLIMITED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RougeS(RougeOptions):
    """ROUGE-S from 0 to 1; with single words besides, ROUGE-SU.

    Parameters
    ----------
    skip
        How many words may stand between the two at most; -1 for any number.
    unigrams
        Whether single words count as well.
    """

    skip: int = 4
    unigrams: bool = False

    def __post_init__(self) -> None:
        RougeOptions.__post_init__(self)
        check_least("skip", self.skip, least=_UNLIMITED)

    @property
    def signature(self) -> str:
        """The options, and the version of what cuts words."""
        return signature(
            "rouge-s",
            measure=self.measure_name,
            script=self.script,
            skip=self.skip,
            stem=self.stem,
            unigrams=self.unigrams,
            rouge_score_rs=version("rouge-score-rs"),
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the overlap of each output with its one reference."""
        texts = pairs_of(Corpus.of(samples), cut=self.cut_words)
        numbers, sizes = self._pairs(texts)
        counts = batch_gram_counts(numbers, sizes.reshape(-1, 2), order=1)
        return [
            1.0
            if is_blank(sample.output) and is_blank(sample.references[0])
            else self._score(*count)
            for sample, (count,) in zip(samples, counts.tolist(), strict=True)
        ]

    def _score(self, output: int, reference: int, shared: int) -> float:
        return self.measured(shared / max(1, output), shared / max(1, reference))

    def _pairs(self, texts: NumberedTexts) -> tuple[Ids, Ids]:
        """Return the pairs of each text, text by text, as numbers, and how many these are.

        Single words are pairs with nothing.
        """
        longest = int(texts.sizes.max(initial=0)) - 1
        furthest = longest if self.skip == _UNLIMITED else min(self.skip + 1, longest)
        words = texts.ids
        following = np.repeat(np.cumsum(texts.sizes), texts.sizes) - np.arange(words.size) - 1
        each = np.minimum(following, max(0, furthest))
        first = np.repeat(np.arange(words.size), each)
        pairs = (words[first] << 31) + words[ranges(np.arange(words.size) + 1, each)] + 1
        sizes = texts.summed(each)
        if not self.unigrams:
            return pairs, sizes
        both = NumberedTexts(
            ids=np.concatenate((pairs, words << 31)), sizes=np.concatenate((sizes, texts.sizes))
        )
        behind = np.arange(2 * sizes.size).reshape(2, -1).T.ravel()  # each text's two parts
        return both.taken(behind).ids, sizes + texts.sizes
