"""The compiled part of EED and CharacTER, which an installation may lack.

It computes the same values as the Python code next to it, which is the fallback.
"""

from importlib import import_module
from typing import Protocol, cast

MODULE = "spanjury.judges.metrics.edits.kernels"
MOST_COST = 2**31 - 1  # maximum cost of `eed_costs`
MOST_CHARACTERS = 2**14  # maximum length of a text for `character_edits`

Costs = tuple[int, int, int, int]  # costs of an edit, a jump, a deletion and an insertion
# Words up to which all shifts are tried; words up to which some are; the number of those.
Reach = tuple[int, int, int]


class Kernels(Protocol):
    """Functions of `kernels.c`."""

    def eed_costs(
        self, outputs: list[str], references: list[str], costs: Costs, /
    ) -> list[tuple[int, int, int]]:
        """Return cost, missed positions and reference length of each pair of texts.

        It is fastest if pairs of similar length are adjacent. Raises `OverflowError` if a cost
        may exceed `MOST_COST`.
        """
        ...

    def character_edits(
        self, texts: list[str], reach: Reach, /
    ) -> tuple[int, int, list[tuple[int, int]]]:
        """Return edits and length of an output, and characters and words of the moved phrases.

        The texts are the reference and the output. Raises `ValueError` if one is longer than
        `MOST_CHARACTERS`.
        """
        ...


def load_kernels() -> Kernels | None:
    """Return the compiled module, or None if it was not compiled."""
    try:
        return cast("Kernels", import_module(MODULE))  # import_module knows no types
    except ImportError:
        return None


KERNELS = load_kernels()
