"""Moves: which errors of a list come to which new severity, clipped to the scale."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

from numpy.random import Generator

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, ErrorSpan, PerturbationError
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    NothingToChangeError,
    Push,
    Unchanged,
    explanation_perturbation,
)
from spanjury.perturbations.explanation.wording import reworded

__all__ = [
    "Only",
    "moves",
    "soften_both",
    "soften_explanation",
    "soften_severity",
    "worsen_both",
    "worsen_explanation",
    "worsen_severity",
]

Only = Literal["all", "one"]
"""Whether every error that can moves, or one of them drawn at random."""

_WIDEST = MAX_SEVERITY - MIN_SEVERITY


def moves(
    errors: ErrorList, rng: Generator, *, by: int, push: Push, only: Only
) -> Mapping[int, int]:
    """Say which errors move, and where to.

    Parameters
    ----------
    errors
        The list; an error without a severity does not move.
    rng
        Draws the one error.
    by
        How many levels of severity, 1 to 4.
    push
        Where the score should go: it rises where errors become milder.
    only
        All that can move, or one of them.

    Returns
    -------
    mapping
        Index in the list -> new severity, 1 to 5, other than the old one; never empty.

    Raises
    ------
    NothingToChangeError
        If no error has a severity, or all are at the end of the scale.
    PerturbationError
        If an option is none of the above.
    """
    _require(by=by, only=only)
    shift = -by if push == "rises" else by
    old = {i: span.severity for i, span in enumerate(errors.spans) if span.severity is not None}
    if not old:
        raise NothingToChangeError("no error has a severity", reason=Unchanged.NO_SEVERITIES)
    new = {i: _clipped(severity + shift) for i, severity in old.items()}
    moving = [i for i in old if new[i] != old[i]]
    if not moving:
        end = MAX_SEVERITY if shift > 0 else MIN_SEVERITY
        raise NothingToChangeError(f"every severity is {end}", reason=Unchanged.NO_ROOM)
    if only == "one":
        moving = [moving[int(rng.integers(len(moving)))]]
    return {i: new[i] for i in moving}


def _require(*, by: object, only: object) -> None:
    if type(by) is not int or not 1 <= by <= _WIDEST:
        raise PerturbationError(f"by must be 1 to {_WIDEST} levels, got {by!r}")
    if only not in get_args(Only):
        raise PerturbationError(f"only must be one of {', '.join(get_args(Only))}, got {only!r}")


def _clipped(severity: int) -> int:
    return min(MAX_SEVERITY, max(MIN_SEVERITY, severity))


@explanation_perturbation(push="rises", family="severity")
def soften_severity(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Lower the severity of all errors, or of one, by `by` levels, down to 1."""
    return _moved(errors, moves(errors, rng, by=by, push="rises", only=only))


@explanation_perturbation(push="falls", family="severity")
def worsen_severity(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Raise the severity of all errors, or of one, by `by` levels, up to 5."""
    return _moved(errors, moves(errors, rng, by=by, push="falls", only=only))


def _moved(errors: ErrorList, new: Mapping[int, int]) -> list[ErrorSpan]:
    return [
        replace(span, severity=new.get(index, span.severity))
        for index, span in enumerate(errors.spans)
    ]


@explanation_perturbation(push="rises", family="explanation")
def soften_explanation(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Word explanations as if the errors were `by` levels milder; the severities stay."""
    return _told(errors, rng, by=by, push="rises", only=only)


@explanation_perturbation(push="falls", family="explanation")
def worsen_explanation(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Word explanations as if the errors were `by` levels graver; the severities stay."""
    return _told(errors, rng, by=by, push="falls", only=only)


@explanation_perturbation(push="rises", family="both")
def soften_both(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Lower severities by `by` levels, and word the explanations to match."""
    return _told(errors, rng, by=by, push="rises", only=only, with_severity=True)


@explanation_perturbation(push="falls", family="both")
def worsen_both(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Raise severities by `by` levels, and word the explanations to match."""
    return _told(errors, rng, by=by, push="falls", only=only, with_severity=True)


def _told(
    errors: ErrorList,
    rng: Generator,
    *,
    by: int,
    push: Push,
    only: Only,
    with_severity: bool = False,
) -> list[ErrorSpan]:
    spans = list(errors.spans)
    for index, level in moves(errors, rng, by=by, push=push, only=only).items():
        span = spans[index]
        told = reworded(span.explanation, rng, level=level)
        severity = level if with_severity else span.severity
        spans[index] = replace(span, explanation=told, severity=severity)
    return spans
