"""A page of mass that flows between the tokens of two texts, as in WMD and MoverScore."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.orchestration.report.drawings.drawing import (
    Table,
    make_page,
    measured,
    number,
    tokens_json,
)

_MOST_TOKENS = 400
_MOST_LINKS = 3000


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Mass, above 0, that a token of the output sends to a token of the reference.

    `output` and `reference` are indices; `cost` is what a unit of mass pays, NaN where it is not
    known.
    """

    output: int
    reference: int
    mass: float
    cost: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFlow:
    """Two texts as tokens, and the flow between them, in any order.

    `scores` are names and numbers that stand at the head of the page, as they should be read.
    Raises `ValueError` if a flow leads out of the texts or has no mass.
    """

    title: str
    output: tuple[str, ...]
    reference: tuple[str, ...]
    flows: tuple[Flow, ...]
    scores: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        for flow in self.flows:
            within = 0 <= flow.output < len(self.output) and 0 <= flow.reference < len(
                self.reference
            )
            if not (within and 0 < flow.mass < math.inf):
                raise ValueError(f"expected a positive mass between two tokens, got {flow}")


def flow_page(flow: TokenFlow) -> str:
    """Return a page on which links are as thick as their mass, and one token's can be isolated.

    At most 400 tokens of a side and the 3,000 heaviest links between them are drawn; what is
    skipped is said.
    """
    heaviest = sorted(flow.flows, key=lambda edge: (-edge.mass, edge.output, edge.reference))
    inside = [
        edge for edge in heaviest if edge.output < _MOST_TOKENS and edge.reference < _MOST_TOKENS
    ]
    drawn = inside[:_MOST_LINKS]
    return make_page(
        flow.title,
        summary=_summary(flow, drawn),
        drawing="flow",
        data={
            "output": tokens_json(flow.output[:_MOST_TOKENS]),
            "reference": tokens_json(flow.reference[:_MOST_TOKENS]),
            "flows": [
                [edge.output, edge.reference, edge.mass, number(edge.cost)] for edge in drawn
            ],
        },
        table=_table(flow, heaviest),
    )


def _summary(flow: TokenFlow, drawn: Sequence[Flow]) -> list[str]:
    total, shown = (sum(edge.mass for edge in flows) for flows in (flow.flows, drawn))
    lines = [", ".join(f"{name} {measured(value)}" for name, value in flow.scores)]
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


def _table(flow: TokenFlow, heaviest: Sequence[Flow]) -> Table:
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
    return Table(caption="Flows, the heaviest first", head=head, rows=rows)
