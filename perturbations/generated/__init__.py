"""Damage that a model writes on request, checked before it is believed."""

from spanjury.perturbations.generated.perturbation import (
    GeneratedPerturbation,
    generated_perturbation,
)

__all__ = ["GeneratedPerturbation", "generated_perturbation"]
