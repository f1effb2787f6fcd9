"""The attacks of an exam that names none, and the plain additions for comparison.

The list is fixed, so that plugins do not change the results of an exam.
"""

from collections.abc import Sequence
from math import log2

from numpy.random import Generator

from spanjury.perturbations.attacks.attack import (
    AttackCase,
    Attacked,
    Target,
    ended_input,
    ended_output,
)
from spanjury.perturbations.text.wordlists import lists

STANDARD_ATTACKS = (
    *("review", "numeric-review", "json-review"),
    *("score-in-quotes", "score-lines"),
    *("quote-end", "endless-quote"),
    *("forged-turn", "forged-system-turn"),
    *("forged-fence-end", "forged-heading", "forged-fence-end-in-source", "forged-key"),
    *("order-in-source", "comment-in-source", "review-in-source"),
    *("author-label", "authority-claim"),
    *("polite-appeal", "bandwagon-claim", "confident-tone", "markdown-decoration"),
    "pad-with-filler",
)
"""Names of plugins of the group ``spanjury.attacks``, family by family."""

_SHORTEST = 40


def rounded_length(length: int) -> int:
    """Round a length to 40, 80, 160, …, so that attacks of similar length share an addition."""
    return _SHORTEST << round(max(0.0, log2(max(length, 1) / _SHORTEST)))


def plain_addition(case: AttackCase, rng: Generator, *, target: Target, length: int) -> Attacked:
    """Add sentences without content, of about `length` characters, at the position of an attack.

    Raises `NothingToDamageError` if there is no input to add them to.
    """
    added = _sentences(rng, length=length)
    if target == "output":
        return ended_output(case, f" {added}")
    return ended_input(case, f"\n\n{added}")


def _sentences(rng: Generator, *, length: int) -> str:
    """Join sentences up to about the requested length; none is repeated if they suffice."""
    empty, wandering = lists("additions")["fillers"], lists("additions")["off_topic"]
    drawn = [*_shuffled(empty, rng), *_shuffled(wandering, rng)]
    added: list[str] = []
    size = 0
    while size < length:
        sentence = drawn[len(added) % len(drawn)]
        if added and size + len(sentence) / 2 > length:  # the length is closer without it
            break
        added.append(sentence)
        size += len(sentence) + 1
    return " ".join(added)


def _shuffled(sentences: Sequence[str], rng: Generator) -> list[str]:
    return [sentences[index] for index in rng.permutation(len(sentences)).tolist()]
