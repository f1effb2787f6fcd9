"""Vectors of words: from a text file, or from the layer where a model's tokens come in."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from transformers import AutoModel

from spanjury.adapters.weights.checkpoint import Checkpoint
from spanjury.adapters.weights.tokens import Tokeniser
from spanjury.judges.core import ConfigError

_WORD = re.compile(r"\w+")


class WordVectors(Protocol):
    """Vectors of a text's words."""

    def bag(self, text: str, /) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors ``(words, size)`` and how often each word occurs, ``(words,)``."""
        ...

    def words(self, text: str, /) -> list[str]:
        """Return the words that `bag` counts, in its order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVectors:
    """Vectors that were read from a file; words that it lacks are passed over.

    `rows` says which row of the matrix ``(words, size)`` is a word's. Of a text the `most` most
    frequent different words are used.
    """

    rows: Mapping[str, int]
    matrix: np.ndarray
    most: int

    def bag(self, text: str, /) -> tuple[np.ndarray, np.ndarray]:
        """Look every word up as it is written, and if need be in small letters."""
        return _bag(Counter(row for row, _ in self._found(text)), self.matrix, self.most)

    def words(self, text: str, /) -> list[str]:
        """Return them as they are first written in the text."""
        written: dict[int, str] = {}
        for row, word in self._found(text):
            written.setdefault(row, word)
        counts = Counter(row for row, _ in self._found(text))
        return [written[row] for row, _ in counts.most_common(self.most)]

    def _found(self, text: str) -> Iterator[tuple[int, str]]:
        for word in _WORD.findall(text):
            row = self.rows.get(word, self.rows.get(word.lower()))
            if row is not None:
                yield row, word


class ModelVectors:
    """The vectors that a model gives to its tokens before it reads them in their context.

    All of the model is loaded once, and only this layer kept; `most` is as in `FileVectors`.
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


def read_vectors(file: Path, *, most: int) -> FileVectors:
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
    return FileVectors(rows=rows, matrix=np.stack(vectors), most=most)


def _bag(counts: Counter[int], matrix: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    kept = counts.most_common(most)
    rows = np.array([row for row, _ in kept], dtype=int)
    return matrix[rows], np.array([count for _, count in kept], dtype=float)
