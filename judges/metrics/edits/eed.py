"""Extended edit distance: character edits, with jumps between words and their coverage.

References
----------
.. [1] Stanchev, Wang and Ney (2019), EED: extended edit distance measure for machine
       translation, WMT, doi:10.18653/v1/W19-5359
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Sample, signature
from spanjury.judges.metrics.checks import check_cells, check_least
from spanjury.judges.metrics.words.ids import Ids, character_ids, dense_ids, padded
from spanjury.judges.metrics.words.tokens import is_blank

_Table = NDArray[np.signedinteger]
_SMALL = np.iinfo(np.int16).max
_FINEST = 1_000  # parts of an edit that a cost is rounded to
_BLANK = ord(" ")
_WORTH = 0.9  # of a table is left when it is cut down to the pairs that go on
_FEW = 32  # pairs: a running minimum of each is then quicker than one of all
_MOST_CELLS = 1_000_000_000
_CELLS = 300_000  # of a row, over all pairs that are compared at once
_SIGN = re.compile(r"([.,!?])")
_NUMBER = re.compile(r"(\d) ([.,]) (\d)")
_TITLE = re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) \.")
_ABBREVIATIONS = (("e . g .", "e.g."), ("i . e .", "i.e."), ("U . S .", "U.S."))


@dataclass(frozen=True, slots=True, kw_only=True)
class EedCosts:
    """Costs of edits and jumps, in whole numbers, so that ties are exact."""

    edit: int
    jump: int
    deletion: int
    insertion: int

    @classmethod
    def of(cls, *, alpha: float, deletion: float, insertion: float) -> Self:
        """Take costs that are given in edits."""
        parts = [
            Fraction(cost).limit_denominator(_FINEST) for cost in (1.0, alpha, deletion, insertion)
        ]
        unit = math.lcm(*(part.denominator for part in parts))
        edit, jump, less, more = (int(part * unit) for part in parts)
        return cls(edit=edit, jump=jump, deletion=less, insertion=more)

    def largest(self, outputs: Ids, references: Ids) -> int:
        """Return what no cost of texts as long as these tables exceeds."""
        dearest = max(self.edit, self.deletion, self.insertion)
        return 2 * self.jump + dearest * (2 * len(outputs) + len(references) + 2)


def edit_costs(
    outputs: Sequence[Ids], references: Sequence[Ids], *, costs: EedCosts
) -> tuple[Ids, Ids]:
    """Return what it takes to read each output as its reference, and which places are visited.

    Rows of the tables are places of the outputs, columns are pairs. What is kept of a cell is
    its cost less that of leaving out all characters before it, so that to leave out some more
    is a running minimum.

    Parameters
    ----------
    outputs, references
        Code points of one or more texts, none of them empty; the references longest first.
    costs
        Of edits and jumps.

    Returns
    -------
    costs : numpy.ndarray
        Shape ``(pairs,)``, in the unit of `costs`.
    visits : numpy.ndarray
        Shape ``(places, pairs)``.
    """
    sizes, lengths = (np.array([text.size for text in side]) for side in (outputs, references))
    numbers, theirs = _distinct(outputs, references, costs=costs)
    largest = max(numbers.max(), theirs.max(), costs.largest(numbers, theirs))
    kind: type[np.signedinteger] = np.int16 if largest <= _SMALL else np.int64
    ours: _Table = numbers.astype(kind)
    blanks = padded(references, filling=-1).T == _BLANK
    block = math.isqrt(len(ours)) + 1
    places = np.arange(-(-(len(ours) + 1) // block) * block)[:, None]
    skipped = (places * costs.deletion).astype(kind)
    # A place beyond an output is not nearer than its end, unless one edit is cheaper than another.
    beyond = (places > sizes) if costs.insertion > costs.edit else None
    visits, ends = np.zeros((len(places), sizes.size), dtype=np.int64), np.zeros_like(lengths)
    above: _Table = np.full((len(places), sizes.size), costs.edit, dtype=kind)
    above[0] = 0
    above -= skipped
    spare, changed = np.empty_like(above), np.empty_like(ours)
    for row, characters in enumerate(theirs.astype(kind)):
        live = int(np.searchsorted(-lengths, -row, side="left"))
        if live < _WORTH * above.shape[1]:  # else what has ended is worked out, and not read
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
    outputs: Sequence[Ids], references: Sequence[Ids], *, costs: EedCosts
) -> tuple[Ids, Ids]:
    """Return characters as numbers whose bits differ by more than an edit costs, if at all.

    Both sides have the shape ``(longest, pairs)``.
    """
    ours, theirs = (padded(side, filling=-1).T for side in (outputs, references))
    numbers = dense_ids(np.concatenate((ours.ravel(), theirs.ravel())) + 1)
    numbers <<= costs.edit.bit_length()
    return numbers[: ours.size].reshape(ours.shape), numbers[ours.size :].reshape(theirs.shape)


def _without_jumps(
    above: _Table, changed: _Table, reached: _Table, *, costs: EedCosts, block: int
) -> None:
    """Put into `reached` the costs of one more character of the references.

    `changed` is 0 where that is the output's, and at least an edit elsewhere; it is overwritten.
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
    """Put into each row the least of all rows down to it: within the blocks, then across."""
    for row in range(1, blocks.shape[1]):
        np.minimum(blocks[:, row], blocks[:, row - 1], out=blocks[:, row])
    last = blocks[:, -1]
    for block in range(1, len(blocks)):
        np.minimum(last[block], last[block - 1], out=last[block])
    np.minimum(blocks[1:], last[:-1, None], out=blocks[1:])


def _least(costs: _Table, beyond: NDArray[np.bool_] | None) -> tuple[_Table, Ids]:
    """Return the least cost of each column, and the first place that has it."""
    if beyond is not None:
        costs = np.where(beyond, np.iinfo(costs.dtype).max, costs)
    least = costs.min(axis=0)
    rows, columns = np.divmod(np.flatnonzero(costs == least)[::-1], costs.shape[1])
    nearest = np.zeros(costs.shape[1], dtype=np.int64)
    nearest[columns] = rows  # of several the one that is written last: the first
    return least, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Eed:
    """EED from 0, equal, to 1.

    Raises `ValueError` if a cost is negative.

    Parameters
    ----------
    alpha
        Cost of a jump, which may be made where the reference has a blank.
    deletion, insertion
        Cost of leaving out a character of the output, and of adding one of the reference; these
        three are rounded to fractions with denominators up to 1,000.
    rho
        Cost of each visit too many or too few to a place of the output.
    """

    alpha: float = 2.0
    deletion: float = 0.2
    insertion: float = 1.0
    rho: float = 0.3

    def __post_init__(self) -> None:
        for name in ("alpha", "deletion", "insertion", "rho"):
            check_least(name, getattr(self, name), least=0.0)

    @property
    def signature(self) -> str:
        """The options."""
        return signature(
            "eed",
            alpha=self.alpha,
            deletion=self.deletion,
            insertion=self.insertion,
            rho=self.rho,
        )

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
        waiting = [
            (
                at,
                character_ids(_spaced(sample.output)),
                character_ids(_spaced(sample.references[0])),
            )
            for at, sample in enumerate(samples)
            if not is_blank(sample.output) and not is_blank(sample.references[0])
        ]
        waiting.sort(key=lambda one: (one[1].size, one[2].size))
        while waiting:
            at_once = max(1, _CELLS // (1 + waiting[-1][1].size))
            now, waiting = waiting[-at_once:], waiting[:-at_once]
            now.sort(key=lambda one: -one[2].size)
            found = self._distances([one[1] for one in now], [one[2] for one in now])
            for (at, _, _), distance in zip(now, found, strict=True):
                scores[at] = distance
        return scores

    def _distances(self, outputs: Sequence[Ids], references: Sequence[Ids]) -> list[float]:
        """Return the distances of pairs in order of the references' lengths, longest first."""
        costs = EedCosts.of(alpha=self.alpha, deletion=self.deletion, insertion=self.insertion)
        ends, visits = edit_costs(outputs, references, costs=costs)
        # [1] eq. 2: a place is to be visited once.
        missed = np.where(visits == 0, 1, visits - 1)
        sizes = np.array([output.size for output in outputs])
        missed[np.arange(len(missed))[:, None] > sizes] = 0
        coverage = self.rho * missed.sum(axis=0)
        lengths = np.array([reference.size for reference in references])
        rates = (ends / costs.edit + coverage) / (lengths + coverage)
        return [min(1.0, float(rate)) for rate in rates]


def _spaced(text: str) -> str:
    """Set punctuation apart, as the authors do for English."""
    text = " ".join(_SIGN.sub(r" \1", text.rstrip()).split())
    text = _TITLE.sub(r"\1.", _NUMBER.sub(r"\1\2\3", text))
    for apart, whole in _ABBREVIATIONS:
        text = text.replace(apart, whole)
    return f" {text} "
