"""Prism: how likely a model that translates is to turn one text into the other [1].

To a multilingual translator, paraphrasing is translating into the same language. The paper's own
model was made for a library that is no longer kept; any encoder with a decoder can be named.

References
----------
.. [1] Thompson and Post (2020), Automatic machine translation evaluation in many languages via
   zero-shot paraphrasing, EMNLP, arXiv:2004.14564
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.adapters.weights.seq2seq import Languages, LikelihoodMetric
from spanjury.judges.core import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Prism(LikelihoodMetric):
    """The mean of H(output | reference) and H(reference | output).

    H is the mean log probability of a text's tokens, without the one that names the language.

    Parameters
    ----------
    language
        Of the texts, as the model writes it (``en_XX``, ``eng_Latn``); empty for a model that
        needs none. Other parameters are those of `LikelihoodMetric`.
    """

    language: str = ""

    def __post_init__(self) -> None:
        languages = Languages(read=self.language, written=self.language)
        self._find("prism", languages=languages, with_opening=False)

    @property
    def signature(self) -> str:
        """The model and the language."""
        return self._likelihood.signature("prism", options={"language": self.language})

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its one reference."""
        return self._likelihood.of_both(samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrismFromSource(LikelihoodMetric):
    """H(output | source), which needs no reference.

    Parameters
    ----------
    language, source_language
        Of the outputs and of the sources, as for `Prism`.
    """

    language: str = ""
    source_language: str = ""

    def __post_init__(self) -> None:
        languages = Languages(read=self.source_language, written=self.language)
        self._find("prism-source", languages=languages, with_opening=False)

    @property
    def signature(self) -> str:
        """The model and the languages."""
        languages = f"{self.source_language}-{self.language}"
        return self._likelihood.signature("prism-source", options={"language": languages})

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its source."""
        return self._likelihood.from_sources(samples)
