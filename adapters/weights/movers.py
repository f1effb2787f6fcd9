"""Word mover's distance [1] and MoverScore [2]: the cost of transforming one text into another.

MoverScore moves single tokens, weighted by their rarity; the distance is the chord between unit
vectors. A token's vector has the minimum, mean and maximum over the last layers.

References
----------
.. [1] Kusner et al. (2015), From word embeddings to document distances, ICML
.. [2] Zhao et al. (2019), MoverScore: text generation evaluating with contextualized embeddings
   and earth mover distance, EMNLP-IJCNLP, arXiv:1909.02622
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from transformers import AutoModel

from spanjury.adapters.weights.checkpoint import Checkpoint, CheckpointMetric, find_checkpoint
from spanjury.adapters.weights.encoder import Encoder, Idf, token_weights
from spanjury.adapters.weights.tokens import Pieces, Tokeniser
from spanjury.judges.core import ConfigError, Sample, signature
from spanjury.judges.core.lazy import Once

with warnings.catch_warnings():
    # Its docstrings have invalid escapes, about which Python warns when it first compiles them.
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", SyntaxWarning)
    from ot import emd, emd2  # type: ignore[import-untyped]  # no type annotations

_MOST_STEPS = 10_000_000  # the default, 100,000, stops too early for texts of about 1,000 tokens


def transport_cost(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike]
) -> float:
    """Return the optimal transport cost between two weighted sets of vectors.

    A set is its vectors ``(n, d)``, n at least 1, of which only the direction matters, and their
    weights ``(n,)``, not negative, with a positive sum. Distances are Euclidean between unit
    vectors, so the cost is in ``[0, 2]``.

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
    """Return the shares that move between vectors, and the distances, in the optimal plan.

    Shares sum to 1, and distances are in ``[0, 2]``; both have the shape ``(n, m)``. A vector
    without weight has share 0 and distance NaN.
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
    """Return unit vectors and normalised weights, without those of weight 0."""
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
    """Shares of weight that move from the output's tokens to the reference's."""

    output: tuple[str, ...]
    reference: tuple[str, ...]
    shares: np.ndarray
    """Shape ``(n, m)``; they sum to 1, or to 0 if one of the texts has no tokens."""
    distances: np.ndarray
    """Shape ``(n, m)``, in ``[0, 2]``; NaN for a token without weight."""


def token_flow(
    output: tuple[Sequence[str], ArrayLike, ArrayLike],
    reference: tuple[Sequence[str], ArrayLike, ArrayLike],
) -> TokenFlow:
    """Return the optimal flow between two texts, each given as tokens, vectors and weights."""
    tokens, others = tuple(output[0]), tuple(reference[0])
    if not tokens or not others:
        none = np.zeros((len(tokens), len(others)))
        return TokenFlow(tokens, others, none, none)
    return TokenFlow(tokens, others, *transport_plan(output[1:], reference[1:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class MoverScore(CheckpointMetric):
    """One minus the cost of moving one text's tokens to the other's.

    Parameters
    ----------
    model
        A folder or a hub id of an encoder; the paper's is a BERT trained on entailment.
    layers
        Number of last layers that make a token's vector.
    idf
        Whether rare tokens weigh more, counted over all outputs and all references; if so, as in
        the paper, a score depends on the other samples.
    """

    layers: int = 5
    idf: bool = True
    batch_size: int = 32

    def __post_init__(self) -> None:
        if self.layers < 1 or self.batch_size < 1:
            raise ValueError(
                f"layers and batch_size must be 1 or more, got {self.layers!r}, {self.batch_size!r}"
            )
        self._find("moverscore", Encoder)

    @property
    def signature(self) -> str:
        """The model, its layers and the weighting."""
        return self._signature("moverscore", library="pot", layers=self.layers, idf=self.idf)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one score in ``[-1, 1]`` per sample, for its only reference."""
        encoder: Encoder = self._engine.get()
        texts = [(sample.output.strip(), sample.references[0].strip()) for sample in samples]
        pieces = encoder.pieces(texts)
        outputs = Idf.of(pieces[output].ids for output, _ in texts) if self.idf else None
        references = Idf.of(pieces[reference].ids for _, reference in texts) if self.idf else None
        vectors = encoder.pairs(texts, pieces, layers=self._pooled, batch_size=self.batch_size)
        return [
            _score((pieces[output], first, outputs), (pieces[reference], second, references))
            for (output, reference), (first, second) in zip(texts, vectors, strict=True)
        ]

    def flow(self, sample: Sample, /) -> TokenFlow:
        """Return the flow from the output's tokens to those of the first reference.

        Tokens have equal weights, because a single sample does not show how rare they are.
        """
        encoder: Encoder = self._engine.get()
        texts = (sample.output.strip(), sample.references[0].strip())
        pieces = encoder.pieces([texts])
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


def _own(
    encoder: Encoder, pieces: Pieces, vectors: torch.Tensor
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return a text's tokens without special ones, their vectors, and equal weights."""
    own = np.flatnonzero(pieces.content)
    return encoder.tokeniser.written(pieces.own), vectors.numpy()[own], np.ones(len(own))


def _score(
    output: tuple[Pieces, torch.Tensor, Idf | None],
    reference: tuple[Pieces, torch.Tensor, Idf | None],
) -> float:
    if output[0].empty or reference[0].empty:
        return 1.0 if output[0].empty and reference[0].empty else -1.0
    (a, first, rare), (b, second, unusual) = output, reference
    return 1.0 - transport_cost(
        (first.numpy(), token_weights(a, rare)), (second.numpy(), token_weights(b, unusual))
    )


_FURTHEST = 2.0
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WMD:
    """The minimal cost of moving the output's words to the reference's.

    Raises `ConfigError` unless exactly one of `vectors` and `model` is given and exists;
    `ValueError` if an option is out of its range.

    Parameters
    ----------
    vectors
        A text file of word vectors, in the format of word2vec, GloVe and fastText.
    model
        Instead of `vectors`: a folder or a hub id of a model, whose tokens and embeddings are used.
    most_words
        Maximum number of different words per text, the most frequent first; the time grows with
        its third power.
    download
        Whether to download a model that is not on this machine.
    """

    vectors: str = ""
    model: str = ""
    most_words: int = 2000
    download: bool = False
    _identity: str = field(init=False, repr=False, compare=False)
    _vectors: Once["_WordVectors"] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.most_words < 1:
            raise ValueError(f"most_words must be 1 or more, got {self.most_words!r}")
        if bool(self.vectors) == bool(self.model):
            raise ConfigError(
                "wmd needs word vectors or, instead, a model: --metric wmd:vectors=FILE"
                " or --metric wmd:model=FOLDER_OR_HUB_ID"
            )
        load: Callable[..., _WordVectors]
        if self.model:
            checkpoint = find_checkpoint("wmd", self.model, download=self.download, device="cpu")
            identity, load = checkpoint.identity, partial(_model_vectors, checkpoint)
        else:
            file = Path(self.vectors)
            if not file.is_file():
                raise ConfigError(f"wmd: there is no file {self.vectors!r} of word vectors")
            identity, load = f"{file.name}:{file.stat().st_size}", partial(_read_vectors, file)
        object.__setattr__(self, "_identity", identity)
        object.__setattr__(self, "_vectors", Once(partial(load, most=self.most_words)))

    @property
    def signature(self) -> str:
        """The vectors and the maximum number of words."""
        return signature(
            "wmd", vectors=self._identity, most_words=self.most_words, pot=version("pot")
        )

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return one distance in ``[0, 2]`` per sample, for its only reference."""
        vectors = self._vectors.get()
        texts = dict.fromkeys(
            t for sample in samples for t in (sample.output, sample.references[0])
        )
        bags = {text: vectors.bag(text) for text in texts}
        return [_distance(bags[s.output][1:], bags[s.references[0]][1:]) for s in samples]

    def flow(self, sample: Sample, /) -> TokenFlow:
        """Return the flow from the output's words to those of the first reference."""
        vectors = self._vectors.get()
        return token_flow(vectors.bag(sample.output), vectors.bag(sample.references[0]))


def _distance(
    output: tuple[np.ndarray, np.ndarray], reference: tuple[np.ndarray, np.ndarray]
) -> float:
    empty = [not len(weights) for _, weights in (output, reference)]
    if any(empty):
        return 0.0 if all(empty) else _FURTHEST
    return transport_cost(output, reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordVectors:
    """Vectors of words, or of tokens, of which the `most` frequent ones of a text are used.

    `look_up` yields each word of a text: its row in the matrix ``(words, size)``, and its spelling.
    """

    matrix: np.ndarray
    look_up: Callable[[str], Iterable[tuple[int, str]]]
    most: int

    def bag(self, text: str, /) -> tuple[list[str], np.ndarray, np.ndarray]:
        """Return a text's words in their first spelling, their vectors, and their counts."""
        words = list(self.look_up(text))
        spellings = dict(reversed(words))
        kept = Counter(row for row, _ in words).most_common(self.most)
        rows = np.array([row for row, _ in kept], dtype=int)
        counts = np.array([count for _, count in kept], dtype=float)
        return [spellings[row] for row, _ in kept], self.matrix[rows], counts


def _model_vectors(checkpoint: Checkpoint, *, most: int) -> _WordVectors:
    """Return a model's input embeddings of its tokens; the model is loaded for them alone."""
    tokeniser = Tokeniser(checkpoint.tokenizer(), limit=1 << 30)
    weights = checkpoint.load(AutoModel).get_input_embeddings().weight
    assert isinstance(weights, torch.Tensor)

    def look_up(text: str) -> Iterator[tuple[int, str]]:
        own = tokeniser.pieces(text.strip()).own
        return zip(own, tokeniser.written(own), strict=True)

    return _WordVectors(matrix=weights.detach().cpu().numpy(), look_up=look_up, most=most)


def _read_vectors(file: Path, *, most: int) -> _WordVectors:
    """Read a file with a word and its numbers per line, as of word2vec, GloVe and fastText.

    A first line with two numbers, the number of words and of dimensions, is skipped. Words are
    looked up as written, and then in lower case; those without a vector are ignored.

    Raises `ConfigError`, naming the file, if it cannot be read or has no vectors, or if a line is
    not made of numbers or has another length.
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

    def look_up(text: str) -> Iterator[tuple[int, str]]:
        for word in _WORD.findall(text):
            row = rows.get(word, rows.get(word.lower()))
            if row is not None:
                yield row, word

    return _WordVectors(matrix=np.stack(vectors), look_up=look_up, most=most)
