"""Damage written by a model on request, and checked before it is used."""

from spanjury.perturbations.generated.perturbation import (
    GeneratedPerturbation,
    generated_perturbation,
)

__all__ = ["GeneratedPerturbation", "generated_perturbation"]
