"""Errors taken off the list, so that the text looks better than the judge found it."""

from typing import Literal, get_args

from numpy.random import Generator

from spanjury.judges.core import ErrorSpan, PerturbationError
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    NothingToChangeError,
    Unchanged,
    explanation_perturbation,
)
from spanjury.perturbations.text.places import require_count

__all__ = ["Which", "remove_errors"]

Which = Literal["first", "last", "random", "gravest"]
"""Which errors go; of equally grave ones the first, and those without a severity last."""


@explanation_perturbation(push="rises", family="removal")
def remove_errors(
    errors: ErrorList, rng: Generator, *, k: int = 1, which: Which = "first"
) -> list[ErrorSpan]:
    """Remove `k` errors; the others keep their order. All may go."""
    require_count(k)
    if k > len(errors.spans):
        raise NothingToChangeError(
            f"only {len(errors.spans)} errors, {k} are to go", reason=Unchanged.TOO_FEW_ERRORS
        )
    gone = _order(errors, rng, which=which)[:k]
    return [span for index, span in enumerate(errors.spans) if index not in gone]


def _order(errors: ErrorList, rng: Generator, *, which: Which) -> list[int]:
    """Return the indices of the errors in the order in which they would go."""
    indices = list(range(len(errors.spans)))
    if which == "first":
        return indices
    if which == "last":
        return indices[::-1]
    if which == "random":
        return [int(index) for index in rng.permutation(len(indices))]
    if which == "gravest":
        return sorted(indices, key=lambda index: -(errors.spans[index].severity or 0))
    raise PerturbationError(f"which must be one of {', '.join(get_args(Which))}, got {which!r}")
