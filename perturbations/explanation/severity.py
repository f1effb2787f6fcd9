"""Severities lowered and raised, the explanations left as they are: [1], section 3.2.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?
"""

from collections.abc import Mapping
from dataclasses import replace

from numpy.random import Generator

from spanjury.judges.core import ErrorSpan
from spanjury.perturbations.explanation.moves import Only, moves
from spanjury.perturbations.explanation.perturbation import ErrorList, explanation_perturbation

__all__ = ["soften_severity", "worsen_severity"]


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
