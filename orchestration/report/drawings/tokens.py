"""Pages about the tokens of two texts: their similarities, and the mass that flows between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spanjury.orchestration.report import Table, table
from spanjury.orchestration.report.drawings.drawing import (
    make_page,
    measured,
    number,
    tokens_json,
)

_MOST_TOKENS = 400
"""Most tokens of a side that are drawn: 160,000 cells of a map."""
_PARTNERS = 5
"""Most similar tokens that are listed for a token."""
_MOST_LINKS = 3000

FloatArray = NDArray[np.float64]
Scores = tuple[tuple[str, float], ...]
"""Names and numbers at the head of a page, in the order to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSimilarities:
    """Two texts of ``n`` and ``m`` tokens, and the similarity of each pair of tokens.

    `similarities` have the shape ``(n, m)``; NaN if there is none. `scores` are names and numbers
    for the head of the page, in the order to be shown. Raises `ValueError` if the shape differs, or
    a similarity is infinite.
    """

    title: str
    output: tuple[str, ...]
    reference: tuple[str, ...]
    similarities: ArrayLike
    scores: Scores = ()

    def __post_init__(self) -> None:
        values = np.asarray(self.similarities, dtype=np.float64)
        shape = (len(self.output), len(self.reference))
        if values.shape != shape:
            raise ValueError(f"expected similarities of shape {shape}, got {values.shape}")
        if np.isinf(values).any():
            raise ValueError("similarities are finite or NaN, got an infinite one")


def heat_map_page(pairs: TokenSimilarities) -> str:
    """Return a page with both texts and a heat map; pointing at a token shows its partners.

    The map contains at most 400 tokens of a side, and says so; the texts and the five best partners
    of each token are complete.
    """
    values = np.asarray(pairs.similarities, dtype=np.float64)
    mapped = values[:_MOST_TOKENS, :_MOST_TOKENS]
    best, best_back = _partners(values), _partners(values.T)
    return make_page(
        pairs.title,
        summary=_similarity_summary(pairs, mapped.shape),
        drawing="heat_map",
        data={
            "output": tokens_json(pairs.output),
            "reference": tokens_json(pairs.reference),
            "map": [[number(value) for value in row] for row in mapped.tolist()],
            "mapColumns": mapped.shape[1],
            "partners": [best, best_back],
            "range": _range(values),
        },
        table=_partner_table(pairs, best),
    )


def _similarity_summary(pairs: TokenSimilarities, mapped: tuple[int, ...]) -> list[str]:
    sizes = (len(pairs.output), len(pairs.reference))
    lines = [_listed(pairs.scores)]
    lines.append(f"{sizes[0]:,} tokens in the output, {sizes[1]:,} in the reference")
    if mapped != sizes:
        lines.append(
            f"The map holds the first {mapped[0]:,} tokens of the output and the first"
            f" {mapped[1]:,} of the reference; texts and best partners are there in full"
        )
    return [line for line in lines if line]


def _partners(values: FloatArray) -> list[list[tuple[int, float]]]:
    """Return the most similar tokens of each row, best first; equal ones in order of position."""
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


def _partner_table(pairs: TokenSimilarities, best: Sequence[Sequence[tuple[int, float]]]) -> Table:
    rows = [
        (token, pairs.reference[ranked[0][0]] if ranked else "none", measured(ranked[0][1]))
        if ranked
        else (token, "none", measured(np.nan))
        for token, ranked in zip(pairs.output, best, strict=True)
    ]
    head = ("token of the output", "most similar token of the reference", "similarity")
    return table(head, rows, title="Best partners")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Mass, above 0, that a token of the output sends to a token of the reference.

    `output` and `reference` are indices; `cost` is the cost of a unit of mass, NaN if unknown.
    """

    output: int
    reference: int
    mass: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFlow:
    """Two texts as tokens, and the flow between them, in any order.

    `scores` are names and numbers for the head of the page, in the order to be shown. Raises
    `ValueError` if a flow leads out of the texts or has no mass.
    """

    title: str
    output: tuple[str, ...]
    reference: tuple[str, ...]
    flows: tuple[Flow, ...]
    scores: Scores = ()

    def __post_init__(self) -> None:
        for flow in self.flows:
            within = 0 <= flow.output < len(self.output) and 0 <= flow.reference < len(
                self.reference
            )
            if not (within and 0 < flow.mass < math.inf):
                raise ValueError(f"expected a positive mass between two tokens, got {flow}")


def flow_page(flow: TokenFlow) -> str:
    """Return a page with links as thick as their mass; the links of one token can be isolated.

    At most 400 tokens of a side and the 3,000 heaviest links between them are drawn; the page says
    what is skipped.
    """
    heaviest = sorted(flow.flows, key=lambda edge: (-edge.mass, edge.output, edge.reference))
    inside = [
        edge for edge in heaviest if edge.output < _MOST_TOKENS and edge.reference < _MOST_TOKENS
    ]
    drawn = inside[:_MOST_LINKS]
    return make_page(
        flow.title,
        summary=_flow_summary(flow, drawn),
        drawing="flow",
        data={
            "output": tokens_json(flow.output[:_MOST_TOKENS]),
            "reference": tokens_json(flow.reference[:_MOST_TOKENS]),
            "flows": [
                [edge.output, edge.reference, edge.mass, number(edge.cost)] for edge in drawn
            ],
        },
        table=_flow_table(flow, heaviest),
    )


def _flow_summary(flow: TokenFlow, drawn: Sequence[Flow]) -> list[str]:
    total, shown = (sum(edge.mass for edge in flows) for flows in (flow.flows, drawn))
    lines = [_listed(flow.scores)]
    lines.append(
        f"{len(flow.output):,} tokens in the output, {len(flow.reference):,} in the reference,"
        f" {len(flow.flows):,} flows of mass {total:.3g} in all"
    )
    if len(drawn) < len(flow.flows):
        lines.append(
            f"Drawn are the first {_MOST_TOKENS:,} tokens of each text and the heaviest"
            f" {len(drawn):,} flows between them: {shown / total:.1%} of the mass"
        )
    elif max(len(flow.output), len(flow.reference)) > _MOST_TOKENS:
        lines.append(f"Drawn are the first {_MOST_TOKENS:,} tokens of each text, with every flow")
    return [line for line in lines if line]


def _flow_table(flow: TokenFlow, heaviest: Sequence[Flow]) -> Table:
    rows = [
        (
            flow.output[edge.output],
            flow.reference[edge.reference],
            f"{edge.mass:.4g}",
            measured(edge.cost),
        )
        for edge in heaviest
    ]
    head = ("token of the output", "token of the reference", "mass", "cost")
    return table(head, rows, title="Flows, the heaviest first")


def _listed(scores: Scores) -> str:
    return ", ".join(f"{name} {measured(value)}" for name, value in scores)
