"""BARTScore: how likely one text is to a model that has read the other [1].

References
----------
.. [1] Yuan, Neubig and Liu (2021), BARTScore: evaluating generated text as text generation,
   NeurIPS, arXiv:2106.11520
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from spanjury.adapters.weights.seq2seq import Languages, Likelihood, find_likelihood
from spanjury.judges.core import Sample

__all__ = ["BARTScore", "BARTScoreFromSource", "Direction"]

Direction = Literal["f", "precision", "recall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BARTScore:
    """The mean log probability of a token of the output or of the reference, given the other.

    Parameters
    ----------
    model
        A folder or a hub id of an encoder with a decoder, as ``facebook/bart-large-cnn``.
    direction
        The output's tokens given the reference (precision), the reference's given the output
        (recall), or the mean of both (f).
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
    direction: Direction = "f"
    batch_size: int = 8
    download: bool = False
    device: str = "cpu"
    _likelihood: Likelihood = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.direction not in get_args(Direction):
            choices = get_args(Direction)
            raise ValueError(f"direction must be one of {choices}, got {self.direction!r}")
        object.__setattr__(self, "_likelihood", _likelihood("bartscore", self))

    @property
    def signature(self) -> str:
        """The model and the direction."""
        return self._likelihood.signature("bartscore", options={"direction": self.direction})

    @property
    def cut_texts(self) -> int:
        """Texts that were longer than the model takes, since the metric was made."""
        return self._likelihood.cut_texts

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its one reference."""
        if self.direction == "f":
            return self._likelihood.of_both(samples)
        if self.direction == "precision":
            return self._likelihood.of_outputs(samples)
        return self._likelihood.of_references(samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class BARTScoreFromSource:
    """The mean log probability of the output's tokens, given the source (faithfulness).

    Its parameters and errors are those of `BARTScore`, but for the direction.
    """

    model: str = ""
    batch_size: int = 8
    download: bool = False
    device: str = "cpu"
    _likelihood: Likelihood = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_likelihood", _likelihood("bartscore-source", self))

    @property
    def signature(self) -> str:
        """The model."""
        return self._likelihood.signature("bartscore-source", options={"direction": "faithfulness"})

    @property
    def cut_texts(self) -> int:
        """Texts that were longer than the model takes, since the metric was made."""
        return self._likelihood.cut_texts

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score, 0 at best, a sample, for its source."""
        return self._likelihood.from_sources(samples)


def _likelihood(name: str, metric: BARTScore | BARTScoreFromSource) -> Likelihood:
    return find_likelihood(
        name,
        metric.model,
        languages=Languages(),
        batch_size=metric.batch_size,
        with_opening=True,
        download=metric.download,
        device=metric.device,
    )
