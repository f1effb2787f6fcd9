"""Explanations that sound milder or graver, alone or together with the severity: [1], section 3.2.

The wording is that of the severity `by` levels away, so an error whose severity is at the end
of the scale keeps its explanation, too, and so does one without a severity.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?
"""

from dataclasses import replace

from numpy.random import Generator

from spanjury.judges.core import ErrorSpan
from spanjury.perturbations.explanation.moves import Only, moves
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    Push,
    explanation_perturbation,
)
from spanjury.perturbations.explanation.wording import reworded

__all__ = ["soften_both", "soften_explanation", "worsen_both", "worsen_explanation"]


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
