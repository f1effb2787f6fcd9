"""Word mover's distance: how far the words of one text are from those of another [1].

References
----------
.. [1] Kusner et al. (2015), From word embeddings to document distances, ICML
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from transformers import AutoModel

from spanjury.adapters.weights.checkpoint import Checkpoint, find_checkpoint
from spanjury.adapters.weights.tokens import Tokeniser
from spanjury.adapters.weights.transport import TokenFlow, token_flow, transport_cost
from spanjury.judges.core import ConfigError, Sample, signature
from spanjury.judges.core.lazy import Once

_FURTHEST = 2.0

_WORD = re.compile(r"\w+")


class _WordVectors(Protocol):
    """Vectors of a text's words."""

    def bag(self, text: str, /) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors ``(words, size)`` and how often each word occurs, ``(words,)``."""
        ...

    def words(self, text: str, /) -> list[str]:
        """Return the words that `bag` counts, in its order."""
        ...


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
    _vectors: Once[_WordVectors] = field(init=False, repr=False, compare=False)

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

    def _of_model(self) -> tuple[str, Once[_WordVectors]]:
        checkpoint = find_checkpoint("wmd", self.model, download=self.download, device="cpu")
        return checkpoint.identity, Once(partial(_ModelVectors, checkpoint, most=self.most_words))

    def _of_file(self) -> tuple[str, Once[_WordVectors]]:
        file = Path(self.vectors)
        if not file.is_file():
            raise ConfigError(f"wmd: there is no file {self.vectors!r} of word vectors")
        identity = f"{file.name}:{file.stat().st_size}"
        return identity, Once(partial(_read_vectors, file, most=self.most_words))


def _distance(
    output: tuple[np.ndarray, np.ndarray], reference: tuple[np.ndarray, np.ndarray]
) -> float:
    empty = [not len(weights) for _, weights in (output, reference)]
    if any(empty):
        return 0.0 if all(empty) else _FURTHEST
    return transport_cost(output, reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileVectors:
    """Vectors that were read from a file; words that it lacks are passed over.

    `rows` says which row of the matrix ``(words, size)`` is a word's. Of a text the `most` most
    frequent different words are used.
    """

    rows: Mapping[str, int]
    matrix: np.ndarray
    most: int

    def bag(self, text: str, /) -> tuple[np.ndarray, np.ndarray]:
        """Look every word up as it is written, and if need be in small letters."""
        return _bag(
            Counter(row for row, _ in self._words_with_vectors(text)), self.matrix, self.most
        )

    def words(self, text: str, /) -> list[str]:
        """Return them as they are first written in the text."""
        written: dict[int, str] = {}
        for row, word in self._words_with_vectors(text):
            written.setdefault(row, word)
        counts = Counter(row for row, _ in self._words_with_vectors(text))
        return [written[row] for row, _ in counts.most_common(self.most)]

    def _words_with_vectors(self, text: str) -> Iterator[tuple[int, str]]:
        for word in _WORD.findall(text):
            row = self.rows.get(word, self.rows.get(word.lower()))
            if row is not None:
                yield row, word


class _ModelVectors:
    """The vectors that a model gives to its tokens before it reads them in their context.

    All of the model is loaded once, and only this layer kept; `most` is as in `_FileVectors`.
    """

    def __init__(self, checkpoint: Checkpoint, *, most: int) -> None:
        self._tokeniser = Tokeniser(checkpoint.tokenizer(), limit=1 << 30)
        weights = checkpoint.load(AutoModel).get_input_embeddings().weight
        assert isinstance(weights, torch.Tensor)
        self._matrix: np.ndarray = weights.detach().cpu().numpy()
        self._most = most

    def bag(self, text: str, /) -> tuple[np.ndarray, np.ndarray]:
        """Take the tokens of the text, without the marks around it."""
        return _bag(self._counts(text), self._matrix, self._most)

    def words(self, text: str, /) -> list[str]:
        """Return the tokens as the model writes them."""
        kept = [token for token, _ in self._counts(text).most_common(self._most)]
        return self._tokeniser.written(kept)

    def _counts(self, text: str) -> Counter[int]:
        pieces = self._tokeniser.pieces(text.strip())
        return Counter(token for token, own in zip(pieces.ids, pieces.content, strict=True) if own)


def _read_vectors(file: Path, *, most: int) -> _FileVectors:
    """Read a file of a word and its numbers a line, as word2vec, GloVe and fastText write.

    A first line of two numbers, how many words and how long their vectors are, is passed over.

    Raises `ConfigError` if the file cannot be read, or a line does not fit the others; names it.
    """
    rows: dict[str, int] = {}
    vectors: list[np.ndarray] = []
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                word, *numbers = line.rstrip().split(" ")
                if number == 1 and len(numbers) == 1:
                    continue
                vectors.append(np.array(numbers, dtype=np.float32))
                if not vectors[-1].size or vectors[-1].shape != vectors[0].shape:
                    raise ConfigError(f"{file}, line {number}: {len(numbers)} numbers do not fit")
                rows.setdefault(word, len(vectors) - 1)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: not a file of word vectors in text: {error}") from error
    if not vectors:
        raise ConfigError(f"{file} holds no word vectors")
    return _FileVectors(rows=rows, matrix=np.stack(vectors), most=most)


def _bag(counts: Counter[int], matrix: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    kept = counts.most_common(most)
    rows = np.array([row for row, _ in kept], dtype=int)
    return matrix[rows], np.array([count for _, count in kept], dtype=float)
