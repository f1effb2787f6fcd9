"""CIDEr and CIDEr-D: n-grams shared with many references, rare ones weighing most.

References
----------
.. [1] Vedantam, Zitnick and Parikh (2015), CIDEr: consensus-based image description
       evaluation, CVPR, arXiv:1411.5726
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.choices import check_choice, check_least
from spanjury.judges.metrics.overlap.cider_vectors import ComparedTexts, similarities
from spanjury.judges.metrics.words.tokens import CUTS, Cut

__all__ = ["Cider", "CiderD"]

_BEST = 10.0  # [1] section 8 for CIDEr-D; its authors' program has it for both


@dataclass(frozen=True, slots=True, kw_only=True)
class Cider:
    """CIDEr from 0 to 10: mean cosine to the references, over orders and references.

    Weights come from the references of the batch: with one sample all of them are 0.

    Parameters
    ----------
    max_order
        Longest n-grams, in words.
    tokenize
        How words are cut: "words" (lower-cased, without punctuation) or "whitespace", for
        texts that are tokenised already, as pycocoevalcap takes them.

    Raises
    ------
    ValueError
        If `tokenize` is unknown, or `max_order` is not positive.
    """

    max_order: int = 4
    tokenize: Cut = "words"

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("tokenize", self.tokenize, choices=CUTS)

    @property
    def signature(self) -> str:
        """The options."""
        return signature("cider", max_order=self.max_order, tokenize=self.tokenize)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score an output; it depends on the references of all samples."""
        texts = ComparedTexts.read(samples, cut=self.tokenize)
        alike = similarities(texts, max_order=self.max_order, clip=False)
        return texts.means(alike, best=_BEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class CiderD:
    """CIDEr-D from 0 to 10: CIDEr that repeated words and other lengths do not deceive.

    Parameters
    ----------
    max_order, tokenize
        As for `Cider`.
    sigma
        Difference of lengths, in words, at which a score falls to .61 of itself.

    Raises
    ------
    ValueError
        As for `Cider`, or if `sigma` is not positive.
    """

    max_order: int = 4
    sigma: float = 6.0
    tokenize: Cut = "words"

    def __post_init__(self) -> None:
        check_least("max_order", self.max_order, least=1)
        check_choice("tokenize", self.tokenize, choices=CUTS)
        if not self.sigma > 0.0:
            raise ValueError(f"sigma must be above 0, got {self.sigma!r}")

    @property
    def signature(self) -> str:
        """The options."""
        return signature(
            "cider-d", max_order=self.max_order, sigma=self.sigma, tokenize=self.tokenize
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score an output; it depends on the references of all samples."""
        texts = ComparedTexts.read(samples, cut=self.tokenize)
        # [1] section 8: what the output repeats beyond the reference is clipped.
        alike = similarities(texts, max_order=self.max_order, clip=True)
        apart = texts.lengths[texts.outputs] - texts.lengths[texts.references]
        return texts.means(alike * np.exp(-(apart**2) / (2.0 * self.sigma**2)), best=_BEST)
