"""Extended edit distance: character edits and jumps between words, with a coverage penalty.

References
----------
.. [1] Stanchev, Wang and Ney (2019), EED: extended edit distance measure for machine
       translation, WMT, doi:10.18653/v1/W19-5359

Without the compiled kernel, the costs are computed in tables of many pairs at once. Rows of the
tables are positions in the outputs, columns are pairs. A cell holds its cost minus that of deleting
all characters before it, so that further deletions become a running minimum.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Sample
from spanjury.judges.metrics.checks import check_cells, check_least
from spanjury.judges.metrics.edits.native import KERNELS, MOST_COST
from spanjury.judges.metrics.signed import Signed
from spanjury.judges.metrics.words.ids import Ids, character_ids, dense_ids, padded
from spanjury.judges.metrics.words.tokens import is_blank

_MOST_CELLS = 1_000_000_000

_SIGN = re.compile(r"([.,!?])")

_NUMBER = re.compile(r"(\d) ([.,]) (\d)")

_TITLE = re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) \.")

_ABBREVIATIONS = (("e . g .", "e.g."), ("i . e .", "i.e."), ("U . S .", "U.S."))

_Table = NDArray[np.signedinteger]

_SMALL = np.iinfo(np.int16).max

_FINEST = 1_000  # costs are rounded to fractions of an edit with at most this denominator

_BLANK = ord(" ")

_WORTH = 0.9  # share of unfinished pairs below which a table is cut down to them

_FEW = 32  # pairs below which a running minimum for each is faster than one for all

_CELLS = 300_000  # cells of a row, over all pairs that are compared at once


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
            coverage = self.rho * missed  # [1] eq. 2: each position should be visited once
            scores[at] = min(1.0, (cost / costs.edit + coverage) / (length + coverage))
        return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class _EedCosts:
    """Costs of edits and jumps as integers, so that ties are exact."""

    edit: int
    jump: int
    deletion: int
    insertion: int

    @classmethod
    def of(cls, *, alpha: float, deletion: float, insertion: float) -> Self:
        """Convert costs given in units of an edit."""
        parts = [
            Fraction(cost).limit_denominator(_FINEST) for cost in (1.0, alpha, deletion, insertion)
        ]
        unit = math.lcm(*(part.denominator for part in parts))
        edit, jump, less, more = (int(part * unit) for part in parts)
        return cls(edit=edit, jump=jump, deletion=less, insertion=more)

    def largest(self, columns: int, rows: int) -> int:
        """Return an upper bound of the cost of texts with up to so many characters."""
        dearest = max(self.edit, self.deletion, self.insertion)
        return 2 * self.jump + dearest * (2 * columns + rows + 2)


@lru_cache(maxsize=16)
def _costs(options: Eed) -> _EedCosts:
    return _EedCosts.of(alpha=options.alpha, deletion=options.deletion, insertion=options.insertion)


def edit_costs(samples: Sequence[Sample], *, costs: _EedCosts) -> Sequence[tuple[int, int, int]]:
    """Compare outputs with their references, none of which is blank.

    Returns for each pair the cost in the unit of `costs`, the number of visits too many or too few,
    and the length of the reference.
    """
    outputs = [sample.output for sample in samples]
    references = [sample.references[0] for sample in samples]
    # Separating marks at most doubles the length of a text, and adds a space at both ends.
    columns, rows = (2 * max(map(len, side), default=0) + 2 for side in (outputs, references))
    if KERNELS is None or costs.largest(columns, rows) > MOST_COST:
        ours, theirs = ([_spaced(text) for text in side] for side in (outputs, references))
        return _table_costs(ours, theirs, costs=costs)
    units = (costs.edit, costs.jump, costs.deletion, costs.insertion)
    return KERNELS.eed_costs(outputs, references, units)


def _spaced(text: str) -> str:
    """Separate punctuation, as the authors do for English; `eed_text.c` does the same."""
    text = " ".join(_SIGN.sub(r" \1", text.rstrip()).split())
    text = _TITLE.sub(r"\1.", _NUMBER.sub(r"\1\2\3", text))
    for apart, whole in _ABBREVIATIONS:
        text = text.replace(apart, whole)
    return f" {text} "


class _PairCost(NamedTuple):
    """Cost of editing an output into its reference, which has `length` characters.

    `missed` counts visits too many or too few over all positions of the output.
    """

    cost: int
    missed: int
    length: int


def _table_costs(
    outputs: Sequence[str], references: Sequence[str], *, costs: _EedCosts
) -> list[_PairCost]:
    """Compare pairs of texts, none of which is empty."""
    costs_of: dict[int, _PairCost] = {}
    sides = [[character_ids(text) for text in side] for side in (outputs, references)]
    waiting = sorted(range(len(outputs)), key=lambda at: (sides[0][at].size, sides[1][at].size))
    while waiting:
        at_once = max(1, _CELLS // (1 + sides[0][waiting[-1]].size))
        now, waiting = waiting[-at_once:], waiting[:-at_once]
        now.sort(key=lambda at: -sides[1][at].size)
        ours, theirs = ([side[at] for at in now] for side in sides)
        costs_of.update(zip(now, _compared(ours, theirs, costs=costs), strict=True))
    return [costs_of[at] for at in range(len(outputs))]


def _compared(
    outputs: Sequence[Ids], references: Sequence[Ids], *, costs: _EedCosts
) -> Iterator[_PairCost]:
    """Yield the costs of pairs sorted by the length of the reference, longest first."""
    ends, visits = _edit_costs(outputs, references, costs=costs)
    missed = np.where(visits == 0, 1, visits - 1)
    sizes = np.array([output.size for output in outputs])
    missed[np.arange(len(missed))[:, None] > sizes] = 0
    lengths = (reference.size for reference in references)
    return map(_PairCost, ends.tolist(), missed.sum(axis=0).tolist(), lengths)


def _edit_costs(
    outputs: Sequence[Ids], references: Sequence[Ids], *, costs: _EedCosts
) -> tuple[Ids, Ids]:
    """Return the cost of each pair, and the visits of positions, shape ``(positions, pairs)``."""
    sizes, lengths = (np.array([text.size for text in side]) for side in (outputs, references))
    numbers, theirs = _distinct(outputs, references, costs=costs)
    largest = max(numbers.max(), theirs.max(), costs.largest(len(numbers), len(theirs)))
    kind: type[np.signedinteger] = np.int16 if largest <= _SMALL else np.int64
    ours: _Table = numbers.astype(kind)
    blanks = padded(references, filling=-1).T == _BLANK
    block = math.isqrt(len(ours)) + 1
    columns = np.arange(-(-(len(ours) + 1) // block) * block)[:, None]
    skipped = (columns * costs.deletion).astype(kind)
    # Positions beyond an output cost no less than its end, unless insertions are dearer than edits.
    beyond = (columns > sizes) if costs.insertion > costs.edit else None
    visits, ends = np.zeros((len(columns), sizes.size), dtype=np.int64), np.zeros_like(lengths)
    above: _Table = np.full((len(columns), sizes.size), costs.edit, dtype=kind)
    above[0] = 0
    above -= skipped
    spare, changed = np.empty_like(above), np.empty_like(ours)
    for row, characters in enumerate(theirs.astype(kind)):
        live = int(np.searchsorted(-lengths, -row, side="left"))
        if live < _WORTH * above.shape[1]:  # otherwise finished pairs are computed but ignored
            above, ours = (np.ascontiguousarray(table[:, :live]) for table in (above, ours))
            spare, changed = np.empty_like(above), np.empty_like(ours)
            beyond = None if beyond is None else beyond[:, :live]
        width = above.shape[1]
        np.bitwise_xor(ours, characters[:width], out=changed)
        _without_jumps(above, changed, spare, costs=costs, block=block)
        above, spare = spare, above
        above += skipped
        least, nearest = _least(above, beyond)
        visits[nearest[:live], np.arange(live)] += 1
        jump = np.where(blanks[row, :width], least + costs.jump, np.iinfo(kind).max).astype(kind)
        np.minimum(above, jump, out=above)
        ended = np.flatnonzero(lengths[:live] == row + 1)
        ends[ended] = above[sizes[ended], ended]
        above -= skipped
    return ends, visits


def _distinct(
    outputs: Sequence[Ids], references: Sequence[Ids], *, costs: _EedCosts
) -> tuple[Ids, Ids]:
    """Return characters as numbers whose bits differ by more than the cost of an edit, if at all.

    Both sides have the shape ``(longest, pairs)``.
    """
    ours, theirs = (padded(side, filling=-1).T for side in (outputs, references))
    numbers = dense_ids(np.concatenate((ours.ravel(), theirs.ravel())) + 1)
    numbers <<= costs.edit.bit_length()
    return numbers[: ours.size].reshape(ours.shape), numbers[ours.size :].reshape(theirs.shape)


def _without_jumps(
    above: _Table, changed: _Table, reached: _Table, *, costs: _EedCosts, block: int
) -> None:
    """Write into `reached` the costs after one more character of the references.

    `changed` is 0 where the output has the same character, and at least the cost of an edit
    elsewhere; it is overwritten.
    """
    np.minimum(changed, np.full_like(changed[0], costs.edit), out=changed)
    changed -= changed.dtype.type(costs.deletion)
    np.add(above, above.dtype.type(costs.insertion), out=reached)
    np.add(above[0], above.dtype.type(costs.edit), out=reached[0])
    changed += above[: len(changed)]
    within = reached[1 : len(changed) + 1]
    np.minimum(within, changed, out=within)
    if reached.shape[1] < _FEW:
        np.minimum.accumulate(reached, axis=0, out=reached)
    else:
        _fall(reached.reshape(-1, block, reached.shape[1]))


def _fall(blocks: _Table) -> None:
    """Replace each row by the running minimum of the rows up to it: within blocks, then across."""
    for row in range(1, blocks.shape[1]):
        np.minimum(blocks[:, row], blocks[:, row - 1], out=blocks[:, row])
    last = blocks[:, -1]
    for block in range(1, len(blocks)):
        np.minimum(last[block], last[block - 1], out=last[block])
    np.minimum(blocks[1:], last[:-1, None], out=blocks[1:])


def _least(costs: _Table, beyond: NDArray[np.bool_] | None) -> tuple[_Table, Ids]:
    """Return the minimum of each column, and its first position."""
    if beyond is not None:
        costs = np.where(beyond, np.iinfo(costs.dtype).max, costs)
    least = costs.min(axis=0)
    rows, columns = np.divmod(np.flatnonzero(costs == least)[::-1], costs.shape[1])
    nearest = np.zeros(costs.shape[1], dtype=np.int64)
    nearest[columns] = rows  # duplicates: the last one written wins, which is the first row
    return least, nearest
