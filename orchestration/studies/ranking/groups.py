"""Groups and ranks of systems, by the pairs of them that are shown to differ."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
"""Above this p-value, adjusted for all pairs, two systems are not shown to differ."""


class Rank(NamedTuple):
    """The rank of a system: from `best` to `worst`, 1 for the first; letters of its groups."""

    best: int
    worst: int
    groups: str

    @property
    def text(self) -> str:
        """The rank as a table has it: ``1``, or ``1-3`` if it is open."""
        return f"{self.best}" if self.best == self.worst else f"{self.best}-{self.worst}"


def ranks(higher: NDArray[np.bool_], *, order: Sequence[int]) -> list[Rank]:
    """Return the rank of each system.

    Parameters
    ----------
    higher
        Shape ``(systems, systems)``: whether the row's system is shown to be above the column's.
    order
        The systems, the best first: groups are named in this order.
    """
    ahead, behind = higher.sum(axis=0), higher.sum(axis=1)
    letters = group_letters(higher | higher.T, order=order)
    size = len(higher)
    return [
        Rank(int(ahead[index]) + 1, size - int(behind[index]), letters[index])
        for index in range(size)
    ]


def group_letters(apart: NDArray[np.bool_], *, order: Sequence[int]) -> list[str]:
    """Return the letters of each system's groups: those that share none are shown to differ [1]_.

    Parameters
    ----------
    apart
        Shape ``(systems, systems)``, symmetric: whether two are shown to differ.
    order
        The systems, those first that are named first.

    References
    ----------
    .. [1] Piepho (2004), Journal of Computational and Graphical Statistics 13(2):456-466
    """
    groups: list[frozenset[int]] = [frozenset(order)]
    for index, system in enumerate(order):
        for other in order[index + 1 :]:
            if apart[system, other]:
                groups = _parted(groups, system, other)
    rank = {system: index for index, system in enumerate(order)}
    named = sorted(groups, key=lambda group: sorted(rank[system] for system in group))
    return [
        "".join(_letter(number) for number, group in enumerate(named) if index in group)
        for index in range(len(order))
    ]


def _parted(groups: list[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    """Have no group hold both; a group within another is none."""
    kept = [group for group in groups if not {first, second} <= group]
    halves = [
        group - {gone} for group in groups if {first, second} <= group for gone in (first, second)
    ]
    for half in halves:
        if not any(half <= group for group in kept):
            kept.append(half)
    return kept


def _letter(number: int) -> str:
    around, letter = divmod(number, len(ascii_lowercase))
    return ascii_lowercase[letter] + (str(around + 1) if around else "")
