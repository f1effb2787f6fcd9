"""Word mover's distance: how far the words of one text are from those of another [1].

References
----------
.. [1] Kusner et al. (2015), From word embeddings to document distances, ICML
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from spanjury.adapters.weights.checkpoint import find_checkpoint
from spanjury.adapters.weights.transport import TokenFlow, token_flow, transport_cost
from spanjury.adapters.weights.word_vectors import ModelVectors, WordVectors, read_vectors
from spanjury.judges.core import ConfigError, Sample, signature
from spanjury.judges.core.lazy import Once

_FURTHEST = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WMD:
    """The least work that moves the words of the output to those of the reference.

    Parameters
    ----------
    vectors
        A text file of word vectors, as word2vec, GloVe and fastText write.
    model
        Instead of `vectors`: a folder or a hub id, whose tokens and their vectors are taken.
    most_words
        How many different words of a text are used, the most frequent first; the work grows
        with its third power.
    download
        Whether to fetch a model that is not here.

    Raises
    ------
    ConfigError
        If there is neither or both of `vectors` and `model`, or what is named is not there.
    ValueError
        If an option is out of its range.
    """

    vectors: str = ""
    model: str = ""
    most_words: int = 2000
    download: bool = False
    _identity: str = field(init=False, repr=False, compare=False)
    _vectors: Once[WordVectors] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.most_words < 1:
            raise ValueError(f"most_words must be 1 or more, got {self.most_words!r}")
        if bool(self.vectors) == bool(self.model):
            raise ConfigError(
                "wmd needs word vectors or, instead, a model: --metric wmd:vectors=FILE"
                " or --metric wmd:model=FOLDER_OR_HUB_ID"
            )
        identity, vectors = self._of_model() if self.model else self._of_file()
        object.__setattr__(self, "_identity", identity)
        object.__setattr__(self, "_vectors", vectors)

    @property
    def signature(self) -> str:
        """The vectors and how many words are used."""
        return signature(
            "wmd",
            vectors=self._identity,
            most_words=self.most_words,
            pot=version("pot"),
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one distance in ``[0, 2]`` a sample, for its one reference."""
        vectors = self._vectors.get()
        texts = dict.fromkeys(
            t for sample in samples for t in (sample.output, sample.references[0])
        )
        bags = {text: vectors.bag(text) for text in texts}
        return [_distance(bags[s.output], bags[s.references[0]]) for s in samples]

    def flow(self, sample: Sample, /) -> TokenFlow:
        """Return what words of the output move where, for the sample's first reference."""
        vectors = self._vectors.get()
        texts = (sample.output, sample.references[0])
        bags, words = [vectors.bag(text) for text in texts], [vectors.words(text) for text in texts]
        return token_flow((words[0], *bags[0]), (words[1], *bags[1]))

    def _of_model(self) -> tuple[str, Once[WordVectors]]:
        found = find_checkpoint("wmd", self.model, download=self.download, device="cpu")
        return found.identity, Once(partial(ModelVectors, found, most=self.most_words))

    def _of_file(self) -> tuple[str, Once[WordVectors]]:
        file = Path(self.vectors)
        if not file.is_file():
            raise ConfigError(f"wmd: there is no file {self.vectors!r} of word vectors")
        identity = f"{file.name}:{file.stat().st_size}"
        return identity, Once(partial(read_vectors, file, most=self.most_words))


def _distance(
    output: tuple[np.ndarray, np.ndarray], reference: tuple[np.ndarray, np.ndarray]
) -> float:
    empty = [not len(weights) for _, weights in (output, reference)]
    if any(empty):
        return 0.0 if all(empty) else _FURTHEST
    return transport_cost(output, reference)
