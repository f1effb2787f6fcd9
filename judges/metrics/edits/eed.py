"""Extended edit distance: character edits and jumps between words, with a coverage penalty.

References
----------
.. [1] Stanchev, Wang and Ney (2019), EED: extended edit distance measure for machine
       translation, WMT, doi:10.18653/v1/W19-5359

Without the compiled kernel, the costs are computed in tables of many pairs at once. Rows of the
tables are pairs, columns are positions in the outputs.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from spanjury.judges.core import Sample
from spanjury.judges.metrics.checks import check_cells, check_least
from spanjury.judges.metrics.edits.native import KERNELS, MOST_COST
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.ids import character_ids, padded
from spanjury.judges.metrics.words.tokens import is_blank

_MOST_CELLS = 1_000_000_000
_SIGN = re.compile(r"([.,!?])")
_NUMBER = re.compile(r"(\d) ([.,]) (\d)")
_TITLE = re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) \.")
_ABBREVIATIONS = (("e . g .", "e.g."), ("i . e .", "i.e."), ("U . S .", "U.S."))
_FINEST = 1_000  # costs are rounded to fractions of an edit with at most this denominator
_BLANK = ord(" ")
_CELLS = 30_000  # cells of a row, over all pairs that are compared at once
_UNREACHED = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Eed(Signed):
    """EED from 0 (equal) to 1.

    Raises `ValueError` if a cost is negative.

    Parameters
    ----------
    alpha
        Cost of a jump, which is allowed where the reference has a space.
    deletion, insertion
        Cost of deleting a character of the output, and of inserting one of the reference; these
        three are rounded to fractions with denominators up to 1,000.
    rho
        Cost of each visit too many or too few to a position in the output.
    """

    alpha: float = 2.0
    deletion: float = 0.2
    insertion: float = 1.0
    rho: float = 0.3

    kind: ClassVar[str] = "eed"

    def __post_init__(self) -> None:
        for name in ("alpha", "deletion", "insertion", "rho"):
            check_least(name, getattr(self, name), least=0.0)

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        """Return the distance of each output from its one reference.

        Raises `MetricError` if the product of the lengths of two texts is above a thousand million
        characters.
        """
        lengths = [(len(sample.output), len(sample.references[0])) for sample in samples]
        check_cells(lengths, most=_MOST_CELLS, what="characters")
        scores = [
            float(is_blank(sample.output) != is_blank(sample.references[0])) for sample in samples
        ]
        pairs = [
            (len(sample.output), len(sample.references[0]), at)
            for at, sample in enumerate(samples)
            if not is_blank(sample.output) and not is_blank(sample.references[0])
        ]
        order = [at for _, _, at in sorted(pairs, reverse=True)]  # similar lengths together
        costs = _costs(self)
        costs_in_order = edit_costs([samples[at] for at in order], costs=costs)
        for at, (cost, missed, length) in zip(order, costs_in_order, strict=True):
            coverage = self.rho * missed  # [1] eq. 2
            scores[at] = min(1.0, (cost / costs.edit + coverage) / (length + coverage))
        return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class _EedCosts:
    """Costs of edits and jumps as integers, so that ties are exact."""

    edit: int
    jump: int
    deletion: int
    insertion: int

    def largest(self, columns: int, rows: int) -> int:
        """Return an upper bound of the cost of texts with up to so many characters."""
        dearest = max(self.edit, self.deletion, self.insertion)
        return 2 * self.jump + dearest * (2 * columns + rows + 2)


@lru_cache(maxsize=16)
def _costs(options: Eed) -> _EedCosts:
    parts = [
        Fraction(cost).limit_denominator(_FINEST)
        for cost in (1.0, options.alpha, options.deletion, options.insertion)
    ]
    unit = math.lcm(*(part.denominator for part in parts))
    edit, jump, deletion, insertion = (int(part * unit) for part in parts)
    return _EedCosts(edit=edit, jump=jump, deletion=deletion, insertion=insertion)


def edit_costs(samples: Sequence[Sample], *, costs: _EedCosts) -> Sequence[tuple[int, int, int]]:
    """Compare outputs, longest first, with their references; none is blank.

    Returns for each pair the cost in the unit of `costs`, the number of visits too many or too few,
    and the length of the reference.
    """
    outputs = [sample.output for sample in samples]
    references = [sample.references[0] for sample in samples]
    # Separating marks at most doubles the length of a text, and adds a space at both ends.
    columns, rows = (2 * max(map(len, side), default=0) + 2 for side in (outputs, references))
    if KERNELS is None or costs.largest(columns, rows) > MOST_COST:
        return list(_table_costs(outputs, references, costs=costs))
    units = (costs.edit, costs.jump, costs.deletion, costs.insertion)
    return KERNELS.eed_costs(outputs, references, units)


def _spaced(text: str) -> str:
    """Separate punctuation, as the authors do for English; `eed_text.c` does the same."""
    text = " ".join(_SIGN.sub(r" \1", text.rstrip()).split())
    text = _TITLE.sub(r"\1.", _NUMBER.sub(r"\1\2\3", text))
    for apart, whole in _ABBREVIATIONS:
        text = text.replace(apart, whole)
    return f" {text} "


def _table_costs(
    outputs: Sequence[str], references: Sequence[str], *, costs: _EedCosts
) -> Iterator[tuple[int, int, int]]:
    """Yield what `edit_costs` returns."""
    start = 0
    while start < len(outputs):
        stop = start + max(1, _CELLS // len(outputs[start]))
        yield from _compared(outputs[start:stop], references[start:stop], costs=costs)
        start = stop


def _compared(
    outputs: Sequence[str], references: Sequence[str], *, costs: _EedCosts
) -> Iterator[tuple[int, int, int]]:
    sides = [[character_ids(_spaced(text)) for text in side] for side in (outputs, references)]
    sizes, lengths = (np.array([text.size for text in side]) for side in sides)
    ours, theirs = (padded(side, filling=-1) for side in sides)
    columns = np.arange(ours.shape[1] + 1)
    deletions, beyond = columns * costs.deletion, columns > sizes[:, None]
    above = np.full((sizes.size, columns.size), costs.edit)
    above[:, 0] = 0
    visits, ends = np.zeros_like(above), np.zeros_like(lengths)
    for row, letters in enumerate(theirs.T[:, :, None]):
        reached = above + costs.insertion
        reached[:, 0] = above[:, 0] + costs.edit
        edited = above[:, :-1] + costs.edit * (ours != letters)
        np.minimum(reached[:, 1:], edited, out=reached[:, 1:])
        reached -= deletions
        above = np.minimum.accumulate(reached, axis=1) + deletions
        np.copyto(above, _UNREACHED, where=beyond)
        nearest = above.argmin(axis=1)
        live = np.flatnonzero(row < lengths)
        visits[live, nearest[live]] += 1
        jumping = np.flatnonzero(letters[:, 0] == _BLANK)
        jumped = above[jumping, nearest[jumping], None] + costs.jump
        above[jumping] = np.minimum(above[jumping], jumped)
        ended = np.flatnonzero(lengths == row + 1)
        ends[ended] = above[ended, sizes[ended]]
    # [1] eq. 2: each position should be visited once.
    missed = np.where(beyond, 0, np.abs(visits - 1)).sum(axis=1)
    yield from zip(ends.tolist(), missed.tolist(), lengths.tolist(), strict=True)
