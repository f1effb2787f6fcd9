"""A page of similarities between the tokens of two texts, as BERTScore pairs them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.orchestration.report.drawings.drawing import (
    Table,
    make_page,
    measured,
    number,
    tokens_json,
)

_MOST_TOKENS = 400
"""Number of tokens on a side of the map: 160,000 cells."""
_PARTNERS = 5

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSimilarities:
    """Two texts of ``n`` and ``m`` tokens, and how similar each is to each of the other.

    `similarities` have the shape ``(n, m)``; NaN where there is none. `scores` are names and
    numbers that stand at the head of the page, as they should be read. Raises `ValueError` if the
    shape is another, or a similarity is infinite.
    """

    title: str
    output: tuple[str, ...]
    reference: tuple[str, ...]
    similarities: ArrayLike
    scores: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        values = np.asarray(self.similarities, dtype=np.float64)
        shape = (len(self.output), len(self.reference))
        if values.shape != shape:
            raise ValueError(f"expected similarities of shape {shape}, got {values.shape}")
        if np.isinf(values).any():
            raise ValueError("similarities are finite or NaN, got an infinite one")


def heat_map_page(pairs: TokenSimilarities) -> str:
    """Return a page with both texts and a map; a token that is pointed at shows its partners.

    The map holds at most 400 tokens of a side, which is said; the texts and the five best
    partners of each token are there in full.
    """
    values = np.asarray(pairs.similarities, dtype=np.float64)
    mapped = values[:_MOST_TOKENS, :_MOST_TOKENS]
    best, best_back = _partners(values), _partners(values.T)
    return make_page(
        pairs.title,
        summary=_summary(pairs, mapped.shape),
        drawing="heat_map",
        data={
            "output": tokens_json(pairs.output),
            "reference": tokens_json(pairs.reference),
            "map": [[number(value) for value in row] for row in mapped.tolist()],
            "mapColumns": mapped.shape[1],
            "partners": [best, best_back],
            "range": _range(values),
        },
        table=_table(pairs, best),
    )


def _summary(pairs: TokenSimilarities, mapped: tuple[int, ...]) -> list[str]:
    sizes = (len(pairs.output), len(pairs.reference))
    lines = [", ".join(f"{name} {measured(value)}" for name, value in pairs.scores)]
    lines.append(f"{sizes[0]:,} tokens in the output, {sizes[1]:,} in the reference")
    if mapped != sizes:
        lines.append(
            f"The map holds the first {mapped[0]:,} tokens of the output and the first"
            f" {mapped[1]:,} of the reference; texts and best partners are there in full"
        )
    return [line for line in lines if line]


def _partners(values: FloatArray) -> list[list[tuple[int, float]]]:
    """Return the most similar tokens of each row, the best first, of equals the earlier."""
    matches: list[list[tuple[int, float]]] = [[] for _ in values]
    left = np.where(np.isnan(values), -np.inf, values)
    rows = np.arange(len(left))
    for _ in range(min(_PARTNERS, left.shape[1])):
        columns = left.argmax(axis=1)
        best = left[rows, columns]
        for partners, column, value in zip(matches, columns.tolist(), best.tolist(), strict=True):
            if value > -np.inf:
                partners.append((column, round(value, 4)))
        left[rows, columns] = -np.inf
    return matches


def _range(values: FloatArray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (round(float(finite.min()), 4), round(float(finite.max()), 4)) if finite.size else (0, 1)


def _table(pairs: TokenSimilarities, best: Sequence[Sequence[tuple[int, float]]]) -> Table:
    rows = [
        (token, pairs.reference[ranked[0][0]] if ranked else "none", measured(ranked[0][1]))
        if ranked
        else (token, "none", measured(np.nan))
        for token, ranked in zip(pairs.output, best, strict=True)
    ]
    head = ("token of the output", "most similar token of the reference", "similarity")
    return Table(caption="Best partners", head=head, rows=rows)
