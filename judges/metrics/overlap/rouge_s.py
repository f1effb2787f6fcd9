"""ROUGE-S: pairs of words in their order, whatever stands between them.

References
----------
.. [1] Lin (2004), ROUGE: a package for automatic evaluation of summaries, ACL workshop,
       section 5, https://aclanthology.org/W04-1013
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_least
from spanjury.judges.metrics.words.grams import batch_gram_counts
from spanjury.judges.metrics.words.ids import Ids, flat_ids
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
        texts = [text for sample in samples for text in (sample.output, sample.references[0])]
        words = [self.words(text) for text in texts]
        numbers, sizes = self._pairs(flat_ids(words), np.array([*map(len, words)], dtype=np.int64))
        counts = batch_gram_counts(numbers, sizes.reshape(-1, 2), order=1)
        return [
            1.0
            if is_blank(sample.output) and is_blank(sample.references[0])
            else self._score(*count)
            for sample, (count,) in zip(samples, counts.tolist(), strict=True)
        ]

    def _score(self, output: int, reference: int, shared: int) -> float:
        return self.measured(shared / max(1, output), shared / max(1, reference))

    def _pairs(self, words: Ids, lengths: Ids) -> tuple[Ids, Ids]:
        """Return the pairs of each text, text by text, as numbers, and how many these are.

        Single words are pairs with nothing.
        """
        longest = int(lengths.max(initial=0)) - 1
        furthest = longest if self.skip == _UNLIMITED else min(self.skip + 1, longest)
        owners = np.repeat(np.arange(lengths.size), lengths)
        following = np.cumsum(lengths)[owners] - np.arange(words.size) - 1
        at = np.arange(words.size)
        parts, of = ([words << 31], [owners]) if self.unigrams else ([words[:0]], [owners[:0]])
        for apart in range(1, furthest + 1):
            at = at[following[at] >= apart]
            parts.append((words[at] << 31) + words[at + apart] + 1)
            of.append(owners[at])
        texts = np.concatenate(of)
        by_text = np.argsort(texts, kind="stable")
        return np.concatenate(parts)[by_text], np.bincount(texts, minlength=lengths.size)
