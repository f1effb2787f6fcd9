"""Controlled damage to texts, changes of error lists, and attacks: the basis of plugins.

The rules, and the word lists that they read, are loaded when they are first named.
"""

from spanjury.perturbations.attacks.attack import (
    Attack,
    AttackCase,
    Attacked,
    Target,
    ended_input,
    ended_output,
    output_attack,
    perturbing_attack,
    with_inputs,
)
from spanjury.perturbations.edits import Damage, Edit, Mark, edits_between
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    Family,
    NothingToChangeError,
    Push,
    Unchanged,
    explanation_perturbation,
)
from spanjury.perturbations.perturbation import (
    Case,
    DamagedTrajectory,
    Effect,
    Fault,
    Level,
    NothingToDamageError,
    Perturbation,
    case_perturbation,
    generator_for,
    text_perturbation,
    trajectory_perturbation,
)
from spanjury.perturbations.text.places import chosen, picked, require_count, too_few

__all__ = [
    "Attack",
    "AttackCase",
    "Attacked",
    "Case",
    "Damage",
    "DamagedTrajectory",
    "Edit",
    "Effect",
    "ErrorList",
    "ExplanationPerturbation",
    "Family",
    "Fault",
    "Level",
    "Mark",
    "NothingToChangeError",
    "NothingToDamageError",
    "Perturbation",
    "Push",
    "Target",
    "Unchanged",
    "case_perturbation",
    "chosen",
    "edits_between",
    "ended_input",
    "ended_output",
    "explanation_perturbation",
    "generator_for",
    "output_attack",
    "perturbing_attack",
    "picked",
    "require_count",
    "text_perturbation",
    "too_few",
    "trajectory_perturbation",
    "with_inputs",
]
