"""Pairs of texts that are too long to be compared cell by cell."""

from collections.abc import Sequence

from spanjury.judges.core import MetricError

__all__ = ["check_cells"]


def check_cells(sizes: Sequence[tuple[int, int]], *, most: int, what: str) -> None:
    """Raise MetricError if a table of two texts would have more than `most` cells.

    Parameters
    ----------
    sizes
        Of each sample the lengths of both texts.
    most
        Cells that take some seconds.
    what
        What lengths are counted in, for the message.
    """
    for index, (left, right) in enumerate(sizes):
        if left * right > most:
            raise MetricError(
                f"cannot compare {left} {what} with {right} (sample {index}): the product of the"
                f" lengths is above {most}; compare shorter parts"
            )
