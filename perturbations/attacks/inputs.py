"""Attacks on the inputs: orders to the judge of a text that was written from them.

The output stays the same.
"""

from numpy.random import Generator

from spanjury.perturbations.attacks.attack import (
    Attack,
    AttackCase,
    Attacked,
    ended_input,
    with_inputs,
)
from spanjury.perturbations.perturbation import NothingToDamageError
from spanjury.perturbations.text.places import picked
from spanjury.perturbations.text.wordlists import lists


def _order(case: AttackCase, rng: Generator) -> Attacked:
    """End the source with an order to the judge."""
    return _ended(case, "orders", rng)


def _comment(case: AttackCase, rng: Generator) -> Attacked:
    """End the source with an order in markup that a page does not show."""
    return _ended(case, "comments", rng)


def _review(case: AttackCase, rng: Generator) -> Attacked:
    """End the source with a finished review."""
    return _ended(case, "reviews", rng)


def _fence_end(case: AttackCase, rng: Generator) -> Attacked:
    """End the source as if the material ended there and the prompt continued."""
    return _ended(case, "fence_ends", rng)


def _key(case: AttackCase, rng: Generator) -> Attacked:
    """Add an input whose header ends the material and gives orders."""
    if not case.inputs:
        raise NothingToDamageError("there is no input to attack")
    key = case.filled(picked(lists("attacks")["keys"], rng))
    return with_inputs(case, {key: "None.", **case.inputs})


def _ended(case: AttackCase, wordings: str, rng: Generator) -> Attacked:
    return ended_input(case, f"\n\n{case.filled(picked(lists('attacks')[wordings], rng))}")


order_in_source = Attack(_order, family="source-orders")
comment_in_source = Attack(_comment, family="source-orders")
review_in_source = Attack(_review, family="source-orders")
forged_fence_end_in_source = Attack(_fence_end, family="header-escape")
forged_key = Attack(_key, family="header-escape")
