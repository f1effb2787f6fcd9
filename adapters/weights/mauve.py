"""MAUVE: the divergence between the distributions of a system's texts and of people's [1].

It was implemented from the paper, because the authors' own package is under the GPL.

References
----------
.. [1] Pillutla et al. (2021), MAUVE: measuring the gap between neural text and human text using
   divergence frontiers, NeurIPS, arXiv:2102.01454
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.cluster.vq import kmeans, vq

from spanjury.adapters.weights.checkpoint import CheckpointMetric
from spanjury.adapters.weights.encoder import Encoder
from spanjury.adapters.weights.tokens import Pieces
from spanjury.judges.core import Sample

_KEPT_VARIANCE = 0.9  # [1] appendix C.3: principal components before clustering
_MIXTURES = 25
_ROUNDS = 5  # runs of k-means, of which the best is kept
Pooling = Literal["last", "mean"]
_TEXTS_A_BUCKET = 10  # [1] section 4
_CHUNK = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class MAUVE(CheckpointMetric):
    """The area under the frontier of two kinds of error, as a score of a whole corpus.

    One kind is text that the system writes and people do not; the other is the reverse.

    Parameters
    ----------
    model
        A folder or a hub id; the paper uses ``gpt2-large``.
    pooling
        Vector of a text: that of its last token, as in the paper, for a model that reads from left
        to right; or the mean over its tokens, for a bidirectional one.
    buckets
        Number of clusters of texts; 0 for a tenth of the smaller number of texts.
    scale
        Rate at which the score falls with the divergence.
    seed
        Seed for the clustering; another seed gives a slightly different score.
    """

    pooling: Pooling = "last"
    buckets: int = 0
    scale: float = 5.0
    seed: int = 25
    batch_size: int = 16

    def __post_init__(self) -> None:
        if self.pooling not in get_args(Pooling):
            raise ValueError(f"pooling must be one of {get_args(Pooling)}, got {self.pooling!r}")
        if self.buckets < 0 or self.buckets == 1 or self.seed < 0 or self.batch_size < 1:
            raise ValueError(
                "buckets must be 0 or from 2, seed from 0, batch_size from 1;"
                f" got {self.buckets!r}, {self.seed!r}, {self.batch_size!r}"
            )
        if not 0 < self.scale < np.inf:
            raise ValueError(f"scale must be above 0, got {self.scale!r}")
        self._find("mauve", Encoder)

    @property
    def signature(self) -> str:
        """The model and everything that affects the clustering."""
        return self._signature(
            "mauve",
            library="scipy",
            pooling=self.pooling,
            buckets=self.buckets or "auto",
            scale=self.scale,
            seed=self.seed,
        )

    def score_corpus(self, samples: Sequence[Sample], /) -> float:
        """Return one score in ``[0, 1]`` for all outputs against all references."""
        outputs = [sample.output for sample in samples]
        references = [reference for sample in samples for reference in sample.references]
        fewer = min(len(outputs), len(references))
        vectors = self._embedded(list(dict.fromkeys(outputs + references)))
        p, q = histograms(
            np.stack([vectors[text] for text in outputs]),
            np.stack([vectors[text] for text in references]),
            buckets=self.buckets or max(2, round(fewer / _TEXTS_A_BUCKET)),
            seed=self.seed,
        )
        return frontier_area(p, q, scale=self.scale)

    def _embedded(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return a vector for each text; zeros for a text without tokens."""
        encoder: Encoder = self._engine.get()
        pieces = {text: encoder.tokeniser.pieces(text) for text in texts}
        pooled: dict[str, np.ndarray] = {}
        kept = [text for text in texts if not pieces[text].empty and text.strip()]
        for start in range(0, len(kept), _CHUNK):
            chunk = kept[start : start + _CHUNK]
            vectors = encoder.vectors(
                [pieces[text] for text in chunk],
                layers=lambda states: states[-1],
                batch_size=self.batch_size,
            )
            for text, vector in zip(chunk, vectors, strict=True):
                pooled[text] = self._pooled(pieces[text], vector)
        size = len(next(iter(pooled.values()))) if pooled else 1
        return {text: pooled.get(text, np.zeros(size)) for text in texts}

    def _pooled(self, pieces: Pieces, vectors: torch.Tensor) -> np.ndarray:
        own = vectors[torch.tensor(pieces.content)]
        return (own[-1] if self.pooling == "last" else own.mean(dim=0)).numpy().astype(float)


def histograms(
    first: ArrayLike, second: ArrayLike, *, buckets: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Cluster two sets of vectors together, and return each set's share in each cluster.

    The vectors have shapes ``(n, d)`` and ``(m, d)``. `seed` is that of k-means. Empty clusters are
    dropped, so the distributions may be shorter than `buckets`.
    """
    heaps = [np.asarray(heap, dtype=float) for heap in (first, second)]
    # Equal vectors share one row, so that rounding cannot separate them.
    rows, number = np.unique(_unit(np.concatenate(heaps)), axis=0, return_inverse=True)
    number = number.reshape(-1)  # numpy 2.0 returned another shape
    ordered = np.sort(number)  # so that the order of the texts has no effect
    points = _principal(rows, ordered)
    rng = np.random.default_rng(seed)
    count = min(buckets, len(rows))
    centres, _ = kmeans(points[ordered], count, iter=_ROUNDS, rng=rng)
    nearest, _ = vq(points, centres)
    neighbours = nearest[number]
    parts = (neighbours[: len(heaps[0])], neighbours[len(heaps[0]) :])
    p, q = (np.bincount(part, minlength=len(centres)) / len(part) for part in parts)
    return p, q


def frontier_area(p: ArrayLike, q: ArrayLike, *, scale: float) -> float:
    """Return the area under the divergence frontier of two distributions, [1] eq. 2 and 3.

    Both have the shape ``(buckets,)``; `scale`, above 0, is the rate at which the value falls with
    the divergence. The area is in ``[0, 1]``: 1 for equal distributions, near 0 for disjoint ones.

    Examples
    --------
    >>> frontier_area([0.5, 0.5], [0.5, 0.5], scale=5)
    1.0
    """
    first, second = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    inner = np.linspace(0, 1, _MIXTURES + 2)[1:-1]
    mixtures = [weight * first + (1 - weight) * second for weight in inner]
    x = np.exp([-scale * _divergence(second, mixture) for mixture in mixtures])
    y = np.exp([-scale * _divergence(first, mixture) for mixture in mixtures])
    # The end points: with all weight on one distribution, the other's divergence is infinite.
    x, y = np.concatenate([[0.0], x[::-1], [1.0]]), np.concatenate([[1.0], y[::-1], [0.0]])
    return float(np.clip(np.trapezoid(y, x), 0, 1))


def _divergence(p: np.ndarray, q: np.ndarray) -> float:
    """Return the Kullback-Leibler divergence of p from q; q is positive wherever p is."""
    positive = p > 0
    return max(0.0, float((p[positive] * np.log(p[positive] / q[positive])).sum()))


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray = vectors / np.where(lengths > 0, lengths, 1)
    return unit


def _principal(rows: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Project the rows onto the fewest principal components with 90 % of the variance.

    `number` has the index of its row for each vector, so rows count as often as they occur.
    """
    centred = rows - rows[number].mean(axis=0)
    _, spread, components = np.linalg.svd(centred[number], full_matrices=False)
    kept = np.cumsum(spread**2)
    count = 1 + int(np.searchsorted(kept, _KEPT_VARIANCE * kept[-1]))
    points: np.ndarray = centred @ components[:count].T
    return points
