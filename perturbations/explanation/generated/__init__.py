"""Explanations written by a model on request, and checked before they are used."""

from spanjury.perturbations.explanation.generated.changes import (
    GeneratedAddition,
    GeneratedRewording,
    generated_rewordings,
    generated_twin,
)

__all__ = ["GeneratedAddition", "GeneratedRewording", "generated_rewordings", "generated_twin"]
