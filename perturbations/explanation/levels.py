"""Errors moved to a milder or graver level: their severity, their explanation, or both.

The explanation is worded as that of the severity `by` levels away, so an error whose severity
is at the end of the scale keeps both, and so does one without a severity.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG
   Metrics?, section 3.2.
"""

from collections.abc import Mapping, Sequence
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

Only = Literal["all", "one"]
"""The errors that move: all that can, or one drawn at random."""

_WIDEST = MAX_SEVERITY - MIN_SEVERITY


@explanation_perturbation(push="rises", family="severity")
def soften_severity(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Lower the severity of all errors, or of one, by `by` levels, down to 1."""
    return _regraded(errors.spans, moves(errors, rng, by=by, push="rises", only=only))


@explanation_perturbation(push="falls", family="severity")
def worsen_severity(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Raise the severity of all errors, or of one, by `by` levels, up to 5."""
    return _regraded(errors.spans, moves(errors, rng, by=by, push="falls", only=only))


@explanation_perturbation(push="rises", family="explanation")
def soften_explanation(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Word explanations as if the errors were `by` levels milder; the severities stay."""
    return _reworded(errors.spans, moves(errors, rng, by=by, push="rises", only=only), rng)


@explanation_perturbation(push="falls", family="explanation")
def worsen_explanation(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Word explanations as if the errors were `by` levels graver; the severities stay."""
    return _reworded(errors.spans, moves(errors, rng, by=by, push="falls", only=only), rng)


@explanation_perturbation(push="rises", family="both")
def soften_both(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Lower severities by `by` levels, and word the explanations to match."""
    new = moves(errors, rng, by=by, push="rises", only=only)
    return _regraded(_reworded(errors.spans, new, rng), new)


@explanation_perturbation(push="falls", family="both")
def worsen_both(
    errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
) -> list[ErrorSpan]:
    """Raise severities by `by` levels, and word the explanations to match."""
    new = moves(errors, rng, by=by, push="falls", only=only)
    return _regraded(_reworded(errors.spans, new, rng), new)


def moves(
    errors: ErrorList, rng: Generator, *, by: int, push: Push, only: Only
) -> Mapping[int, int]:
    """Choose the errors that move and the severity that each comes to.

    Raises `NothingToChangeError` if no error has a severity, or all are at the end of the scale.
    Raises `PerturbationError` if an option is out of range.

    Parameters
    ----------
    by
        Levels of severity, 1 to 4.
    push
        Where the score should go: it rises where errors become milder.

    Returns
    -------
    mapping
        Index in the list -> new severity, 1 to 5, other than the old one; never empty.
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


def _regraded(spans: Sequence[ErrorSpan], new: Mapping[int, int]) -> list[ErrorSpan]:
    return [
        replace(span, severity=new.get(index, span.severity)) for index, span in enumerate(spans)
    ]


def _reworded(
    spans: Sequence[ErrorSpan], new: Mapping[int, int], rng: Generator
) -> list[ErrorSpan]:
    changed = list(spans)
    for index, level in new.items():
        explanation = reworded(spans[index].explanation, rng, level=level)
        changed[index] = replace(spans[index], explanation=explanation)
    return changed
