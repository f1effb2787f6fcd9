"""Attacks that try to leave the material: marks of chat templates, forged parts of the prompt."""

from collections.abc import Iterable

from numpy.random import Generator

from spanjury.perturbations.attacks.attack import AttackCase, output_attack
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.text.places import picked
from spanjury.perturbations.text.wordlists import lists

__all__ = [
    "forged_fence_end",
    "forged_heading",
    "forged_system_turn",
    "forged_turn",
]


@output_attack(family="template-tokens")
def forged_turn(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a turn of the judge in the marks of a chat template."""
    yield _appended(case, "turns", rng)


@output_attack(family="template-tokens")
def forged_system_turn(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with an order in a turn of the system, in the marks of a chat template."""
    yield _appended(case, "system_turns", rng)


@output_attack(family="header-escape")
def forged_fence_end(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End as if the material ended there and the prompt went on."""
    yield _appended(case, "fence_ends", rng)


@output_attack(family="header-escape")
def forged_heading(case: AttackCase, rng: Generator) -> Iterable[Edit]:
    """End with a heading as the prompt has them, and rules below it."""
    yield _appended(case, "headings", rng)


def _appended(case: AttackCase, wordings: str, rng: Generator) -> Edit:
    end = len(case.text)
    added = case.filled(picked(lists("attacks")[wordings], rng))
    return Edit(start=end, end=end, text=f"\n{added}")
