"""The compiled part of EED and CharacTER, which an installation may lack.

Its values are those of the Python beside it, which is taken wherever there was no compiler.
"""

from importlib import import_module
from typing import Protocol, cast

MODULE = "spanjury.judges.metrics.edits.kernels"
MOST_COST = 2**31 - 1  # that `eed_costs` counts up to
MOST_CHARACTERS = 2**14  # of a text that `character_edits` takes

Costs = tuple[int, int, int, int]  # of an edit, a jump, a deletion and an insertion
Reach = tuple[int, int, int]  # words up to which all shifts are tried, or some, and how many


class Kernels(Protocol):
    """Functions of `kernels.c`."""

    def eed_costs(
        self, outputs: list[str], references: list[str], costs: Costs, /
    ) -> list[tuple[int, int, int]]:
        """Return cost, places missed and length of the reference of each pair of texts.

        Pairs of like lengths are best beside each other. Raises `OverflowError` if a cost may
        be above `MOST_COST`.
        """
        ...

    def character_edits(
        self, texts: list[str], reach: Reach, /
    ) -> tuple[int, int, list[tuple[int, int]]]:
        """Return edits and length of an output, and characters and words of phrases moved back.

        The texts are the reference and the output. Raises `ValueError` if one is longer than
        `MOST_CHARACTERS`.
        """
        ...


def load_kernels() -> Kernels | None:
    """Return the compiled module, if it was compiled."""
    try:
        return cast("Kernels", import_module(MODULE))  # import_module knows no types
    except ImportError:
        return None


KERNELS = load_kernels()
