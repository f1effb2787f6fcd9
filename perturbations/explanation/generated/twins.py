"""Twins: what a model can be asked for in the place of a rule."""

from spanjury.judges.core import Aspect
from spanjury.perturbations.explanation.additions import add_errors
from spanjury.perturbations.explanation.generated.addition import GeneratedAddition
from spanjury.perturbations.explanation.generated.rewording import (
    GeneratedRewording,
    generated_rewordings,
)
from spanjury.perturbations.explanation.perturbation import ExplanationPerturbation

__all__ = ["generated_twin"]


def generated_twin(
    rule: ExplanationPerturbation, *, aspect: Aspect
) -> GeneratedAddition | GeneratedRewording | None:
    """Return what a model can be asked for in the place of `rule`, with the same options.

    Parameters
    ----------
    rule
        Ours, or anybody's.
    aspect
        The quality that false errors are to be about.

    Returns
    -------
    GeneratedAddition, GeneratedRewording or None
        None where there is the rule only.
    """
    if rule == add_errors:
        return GeneratedAddition(aspect=aspect)
    return next((each for each in generated_rewordings().values() if each.twin == rule), None)
