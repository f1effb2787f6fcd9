"""BARTScore: how likely one text is to a model that has read the other [1].

References
----------
.. [1] Yuan, Neubig and Liu (2021), BARTScore: evaluating generated text as text generation,
   NeurIPS, arXiv:2106.11520
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from spanjury.adapters.weights.seq2seq import Languages, LikelihoodMetric
from spanjury.judges.core import Sample

Direction = Literal["f", "precision", "recall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BARTScore(LikelihoodMetric):
    """The mean log probability of a token of the output or of the reference, given the other.

    Parameters
    ----------
    direction
        The output's tokens given the reference (precision), the reference's given the output
        (recall), or the mean of both (f). Other parameters are those of `LikelihoodMetric`.
    """

    direction: Direction = "f"

    def __post_init__(self) -> None:
        if self.direction not in get_args(Direction):
            choices = get_args(Direction)
            raise ValueError(f"direction must be one of {choices}, got {self.direction!r}")
        self._find("bartscore", languages=Languages(), with_opening=True)

    @property
    def signature(self) -> str:
        """The model and the direction."""
        return self._likelihood.signature("bartscore", options={"direction": self.direction})

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its one reference."""
        if self.direction == "f":
            return self._likelihood.of_both(samples)
        if self.direction == "precision":
            return self._likelihood.of_outputs(samples)
        return self._likelihood.of_references(samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class BARTScoreFromSource(LikelihoodMetric):
    """The mean log probability of the output's tokens, given the source (faithfulness)."""

    def __post_init__(self) -> None:
        self._find("bartscore-source", languages=Languages(), with_opening=True)

    @property
    def signature(self) -> str:
        """The model."""
        return self._likelihood.signature("bartscore-source", options={"direction": "faithfulness"})

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its source."""
        return self._likelihood.from_sources(samples)
