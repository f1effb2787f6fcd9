"""The changes in the paper's table, with the names of its columns.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG
    Metrics?, table 1.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from spanjury.perturbations.explanation.errors import add_errors, critical_error, remove_errors
from spanjury.perturbations.explanation.levels import (
    soften_both,
    soften_explanation,
    soften_severity,
    worsen_both,
    worsen_explanation,
    worsen_severity,
)
from spanjury.perturbations.explanation.perturbation import ExplanationPerturbation

_DOSES = (1, 2)


class PaperPerturbation(NamedTuple):
    """One column of the table: its name here, and the change with its options."""

    name: str
    perturbation: ExplanationPerturbation
    options: Mapping[str, object]


def paper_perturbations() -> tuple[PaperPerturbation, ...]:
    """Return the seventeen changes of [1] in the order of its columns: -1, +1, -2, +2 of each.

    The explanations are worded by rule here, but by a model in [1]. The first one or two errors are
    removed here, whereas [1] removes each error in turn, with those before or after it.
    """
    return (
        *_pairs("severity", soften_severity, worsen_severity, dose="by"),
        *_pairs("explanation", soften_explanation, worsen_explanation, dose="by"),
        *_pairs("both", soften_both, worsen_both, dose="by"),
        *_pairs("errors", remove_errors, add_errors, dose="k"),
        PaperPerturbation("critical-error", critical_error, MappingProxyType({})),
    )


def _pairs(
    name: str, less: ExplanationPerturbation, more: ExplanationPerturbation, *, dose: str
) -> Iterator[PaperPerturbation]:
    for size in _DOSES:
        options = MappingProxyType({dose: size})
        yield PaperPerturbation(f"{name}-{size}", less, options)
        yield PaperPerturbation(f"{name}+{size}", more, options)
