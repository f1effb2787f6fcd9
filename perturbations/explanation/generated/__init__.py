"""Explanations that a model writes on request, checked before they are believed."""

from spanjury.perturbations.explanation.generated.changes import (
    GeneratedAddition,
    GeneratedRewording,
    generated_rewordings,
    generated_twin,
)

__all__ = ["GeneratedAddition", "GeneratedRewording", "generated_rewordings", "generated_twin"]
