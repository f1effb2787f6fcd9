"""Damage that a model writes on request, checked before it is believed."""

from spanjury.perturbations.written.written import WrittenPerturbation, written_perturbation

__all__ = ["WrittenPerturbation", "written_perturbation"]
