"""Checks of options and texts, with error messages that state the valid values."""

from collections.abc import Sequence

from spanjury.judges.core import MetricError


def check_choice(name: str, value: str, *, choices: Sequence[str]) -> None:
    """Raise ValueError if `value` is not one of `choices`."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


def check_least(name: str, value: float, *, least: float) -> None:
    """Raise ValueError if `value` is below `least` or NaN."""
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}")


def check_cells(sizes: Sequence[tuple[int, int]], *, most: int, what: str) -> None:
    """Raise MetricError if a table of two texts would have more than `most` cells.

    Parameters
    ----------
    sizes
        Lengths of both texts of each sample.
    most
        Maximum number of cells; computing that many takes some seconds.
    what
        Unit of the lengths, for the message.
    """
    for index, (left, right) in enumerate(sizes):
        if left * right > most:
            raise MetricError(
                f"cannot compare {left} {what} with {right} (sample {index}): the product of the"
                f" lengths is above {most}; compare shorter parts"
            )
