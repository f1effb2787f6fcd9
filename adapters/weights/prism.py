"""Prism: how likely a model that translates is to turn one text into the other [1].

To a multilingual translator, paraphrasing is translating into the same language. The paper's own
model was made for a library that is no longer kept; any encoder with a decoder can be named.

References
----------
.. [1] Thompson and Post (2020), Automatic machine translation evaluation in many languages via
   zero-shot paraphrasing, EMNLP, arXiv:2004.14564
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from spanjury.adapters.weights.seq2seq import Languages, Likelihood, find_likelihood
from spanjury.judges.core import Sample

__all__ = ["Prism", "PrismFromSource"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prism:
    """The mean of H(output | reference) and H(reference | output).

    H is the mean log probability of a text's tokens, without the one that tells the language.

    Parameters
    ----------
    model
        A folder or a hub id of an encoder with a decoder.
    language
        Of the texts, as the model writes it (``en_XX``, ``eng_Latn``); empty for a model that
        needs none.
    batch_size
        Pairs at once; changes no score.
    download
        Whether to fetch a model that is not here.
    device
        As torch writes it.

    Raises
    ------
    ConfigError
        If there is no such model or device.
    ValueError
        If an option is out of its range.
    """

    model: str = ""
    language: str = ""
    batch_size: int = 8
    download: bool = False
    device: str = "cpu"
    _likelihood: Likelihood = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_likelihood", _likelihood("prism", self, read=self.language))

    @property
    def signature(self) -> str:
        """The model and the language."""
        return self._likelihood.signature("prism", options={"language": self.language})

    @property
    def cut_texts(self) -> int:
        """Texts that were longer than the model takes, since the metric was made."""
        return self._likelihood.cut_texts

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its one reference."""
        return self._likelihood.of_both(samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrismFromSource:
    """H(output | source), which needs no reference.

    Its parameters and errors are those of `Prism`; `source_language` is that of the source.
    """

    model: str = ""
    language: str = ""
    source_language: str = ""
    batch_size: int = 8
    download: bool = False
    device: str = "cpu"
    _likelihood: Likelihood = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = _likelihood("prism-source", self, read=self.source_language)
        object.__setattr__(self, "_likelihood", found)

    @property
    def signature(self) -> str:
        """The model and the languages."""
        languages = f"{self.source_language}-{self.language}"
        return self._likelihood.signature("prism-source", options={"language": languages})

    @property
    def cut_texts(self) -> int:
        """Texts that were longer than the model takes, since the metric was made."""
        return self._likelihood.cut_texts

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its source."""
        return self._likelihood.from_sources(samples)


def _likelihood(name: str, metric: Prism | PrismFromSource, *, read: str) -> Likelihood:
    return find_likelihood(
        name,
        metric.model,
        languages=Languages(read=read, written=metric.language),
        batch_size=metric.batch_size,
        with_opening=False,
        download=metric.download,
        device=metric.device,
    )
