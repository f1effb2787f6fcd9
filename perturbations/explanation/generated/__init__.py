"""Explanations that a model writes on request, checked before they are believed."""

from spanjury.perturbations.explanation.generated.addition import GeneratedAddition
from spanjury.perturbations.explanation.generated.rewording import (
    GeneratedRewording,
    generated_rewordings,
)
from spanjury.perturbations.explanation.generated.twins import generated_twin

__all__ = ["GeneratedAddition", "GeneratedRewording", "generated_rewordings", "generated_twin"]
