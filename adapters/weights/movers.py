"""Word mover's distance [1] and MoverScore [2]: the work that turns one text into another.

MoverScore moves single tokens, each by the shortest chord of the unit sphere, weighted by how rare
they are. Their vectors are the least, mean and greatest value of the last layers.

References
----------
.. [1] Kusner et al. (2015), From word embeddings to document distances, ICML
.. [2] Zhao et al. (2019), MoverScore: text generation evaluating with contextualized embeddings
   and earth mover distance, EMNLP-IJCNLP, arXiv:1909.02622
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from transformers import AutoModel

from spanjury.adapters.weights.checkpoint import Checkpoint, find_checkpoint
from spanjury.adapters.weights.encoder import Encoder, EncoderMetric, Idf
from spanjury.adapters.weights.tokens import Pieces, Tokeniser
from spanjury.judges.core import ConfigError, Sample, signature
from spanjury.judges.core.lazy import Once

with warnings.catch_warnings():
    # Its docstrings hold backslashes that Python complains of when it first compiles them.
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", SyntaxWarning)
    from ot import emd, emd2  # type: ignore[import-untyped]  # it brings no types

_MOST_STEPS = 10_000_000  # the default, 100,000, ends too early for texts of some 1,000 tokens


def transport_cost(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]
) -> float:
    """Return the mean distance that a share must travel between two heaps, at best.

    A heap is its vectors ``(n, d)``, of any length but 0, of which the direction alone counts, and
    their weights ``(n,)``, not negative, with a sum above 0. The distance is the Euclidean one of
    unit vectors, in ``[0, 2]``.

    References
    ----------
    .. [1] Flamary et al. (2021), POT: Python optimal transport, JMLR 22(78)
    """
    (points, shares), (others, parts) = _heap(*first), _heap(*second)
    cost = float(emd2(shares, parts, cdist(points, others), numItermax=_MOST_STEPS))
    return min(2.0, max(0.0, cost))


def transport_plan(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]
) -> tuple[np.ndarray, np.ndarray]:
    """Return which share travels where, and how far that is, in the plan of `transport_cost`.

    Shares sum to 1, distances are in ``[0, 2]``; both have the shape ``(n, m)``, with share 0 and
    distance NaN where a vector weighs nothing.
    """
    (points, shares), (others, parts) = _heap(*first), _heap(*second)
    distances = cdist(points, others)
    moved = emd(shares, parts, distances, numItermax=_MOST_STEPS)
    weighed = np.ix_(*(np.flatnonzero(np.asarray(weights) > 0) for _, weights in (first, second)))
    plan = np.zeros((len(np.asarray(first[1])), len(np.asarray(second[1]))))
    far = np.full_like(plan, np.nan)
    plan[weighed], far[weighed] = moved, distances
    return plan, far


def _heap(vectors: ArrayLike, weights: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors and shares that sum to 1, without what weighs nothing."""
    shares = np.asarray(weights, dtype=float)
    kept = shares > 0
    points = np.asarray(vectors, dtype=float)[kept]
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(lengths > 0, lengths, 1), shares[kept] / shares[kept].sum()


class TokenSimilarities(NamedTuple):
    """Similarities of the tokens of an output and of a reference."""

    output: tuple[str, ...]
    reference: tuple[str, ...]
    values: np.ndarray
    """Cosines, shape ``(n, m)``."""


class TokenFlow(NamedTuple):
    """Shares of the output's weight that its tokens send to tokens of the reference."""

    output: tuple[str, ...]
    reference: tuple[str, ...]
    shares: np.ndarray
    """Shape ``(n, m)``; they sum to 1, or to 0 if one of the texts has no token."""
    distances: np.ndarray
    """Shape ``(n, m)``, in ``[0, 2]``; NaN for a token without weight."""


def token_flow(
    output: tuple[Sequence[str], ArrayLike, ArrayLike],
    reference: tuple[Sequence[str], ArrayLike, ArrayLike],
) -> TokenFlow:
    """Move the tokens of one text to those of the other; each side's tokens, vectors, weights."""
    tokens, others = tuple(output[0]), tuple(reference[0])
    if not tokens or not others:
        none = np.zeros((len(tokens), len(others)))
        return TokenFlow(tokens, others, none, none)
    return TokenFlow(tokens, others, *transport_plan(output[1:], reference[1:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class MoverScore(EncoderMetric):
    """One less the work of moving one text's tokens to the other's.

    Parameters
    ----------
    model
        A folder or a hub id of an encoder; the paper's is a BERT trained to tell entailment.
    layers
        How many of the last layers make a token's vector.
    idf
        Whether rare tokens weigh more, by all outputs and by all references; if so, as in the
        paper, a score depends on the other samples.
    """

    layers: int = 5
    idf: bool = True
    batch_size: int = 32

    def __post_init__(self) -> None:
        if self.layers < 1 or self.batch_size < 1:
            raise ValueError(
                f"layers and batch_size must be 1 or more, got {self.layers!r}, {self.batch_size!r}"
            )
        self._find_encoder("moverscore")

    @property
    def signature(self) -> str:
        """The model, its layers and the weights."""
        return signature(
            "moverscore",
            model=self._checkpoint.identity,
            layers=self.layers,
            idf=self.idf,
            max_tokens=self._checkpoint.window,
            device=self._checkpoint.device,
            pot=version("pot"),
            transformers=version("transformers"),
            torch=version("torch"),
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score in ``[-1, 1]`` a sample, for its one reference."""
        encoder = self._encoder.get()
        texts = [(sample.output.strip(), sample.references[0].strip()) for sample in samples]
        pieces = _pieces(encoder, texts)
        outputs = Idf.of(pieces[output].ids for output, _ in texts) if self.idf else None
        references = Idf.of(pieces[reference].ids for _, reference in texts) if self.idf else None
        vectors = encoder.pairs(texts, pieces, layers=self._pooled, batch_size=self.batch_size)
        return [
            _score((pieces[output], first, outputs), (pieces[reference], second, references))
            for (output, reference), (first, second) in zip(texts, vectors, strict=True)
        ]

    def flow(self, sample: Sample, /) -> TokenFlow:
        """Return what tokens of the output move where, for the sample's first reference.

        Tokens weigh alike: how rare they are, a single sample does not tell.
        """
        encoder = self._encoder.get()
        texts = (sample.output.strip(), sample.references[0].strip())
        pieces = _pieces(encoder, [texts])
        (vectors,) = encoder.pairs([texts], pieces, layers=self._pooled, batch_size=1)
        sides = [
            _own(encoder, pieces[text], vector) for text, vector in zip(texts, vectors, strict=True)
        ]
        return token_flow(*sides)

    def _pooled(self, states: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Return the power means of the last layers, for the powers -inf, 1 and inf: [2] 3.2."""
        last = torch.stack(
            [torch.nn.functional.normalize(s, dim=-1) for s in states[-self.layers :]]
        )
        return torch.cat([last.amin(0), last.mean(0), last.amax(0)], dim=-1)


def _pieces(encoder: Encoder, texts: Sequence[tuple[str, str]]) -> dict[str, Pieces]:
    every = dict.fromkeys(text for pair in texts for text in pair)
    return {text: encoder.tokeniser.pieces(text) for text in every}


def _own(
    encoder: Encoder, pieces: Pieces, vectors: torch.Tensor
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return a text's own tokens, their vectors and equal weights."""
    own = np.flatnonzero(pieces.content)
    ids = [pieces.ids[index] for index in own]
    return encoder.tokeniser.written(ids), vectors.numpy()[own], np.ones(len(own))


def _score(
    output: tuple[Pieces, torch.Tensor, Idf | None],
    reference: tuple[Pieces, torch.Tensor, Idf | None],
) -> float:
    if output[0].empty or reference[0].empty:
        return 1.0 if output[0].empty and reference[0].empty else -1.0
    (a, first, rare), (b, second, unusual) = output, reference
    return 1.0 - transport_cost(
        (first.numpy(), _weights(a, rare)), (second.numpy(), _weights(b, unusual))
    )


def _weights(pieces: Pieces, idf: Idf | None) -> list[float]:
    """Return what each token weighs; nothing for the marks, and alike where all would be 0."""
    alike = [float(own) for own in pieces.content]
    if idf is None:
        return alike
    rare = [idf(token) * own for token, own in zip(pieces.ids, alike, strict=True)]
    return rare if any(rare) else alike


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

    Raises `ConfigError` if there is neither or both of `vectors` and `model`, or what is named is
    not there; `ValueError` if an option is out of its range.

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
