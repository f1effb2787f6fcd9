"""Several kinds of damage in one text, like the errors of a careless or an inventive writer.

They replace the damage that a model wrote in [1].

References
----------
.. [1] Wang et al. (2025), DHP Benchmark: Are LLMs Good NLG Evaluators?, table 2.
"""

from collections.abc import Sequence

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import Case, NothingToDamageError, Perturbation
from spanjury.perturbations.text.aspects import CONTENT, FORM, OVERALL, term_perturbation
from spanjury.perturbations.text.entities import fictional_entity, invent_term
from spanjury.perturbations.text.grammar import (
    break_agreement,
    change_tense,
    drop_articles,
    wrong_prepositions,
)
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.numbers import change_date, change_number
from spanjury.perturbations.text.places import TooFewError, require_count, too_few

_GRAMMAR = (break_agreement, change_tense, wrong_prepositions, drop_articles)
_DETAILS = (fictional_entity, change_number, change_date)


@english_perturbation(family="word-and-grammar", level="word", harms=FORM | OVERALL, spares=CONTENT)
def grammar_errors(text: str, rng: Generator, *, k: int = 2) -> list[Edit]:
    """Make `k` errors of agreement, tense, preposition or article, of as many kinds as possible."""
    edits = _mixed(text, rng, rules=_GRAMMAR, k=k)
    return _enough(edits, k=k, what="places for an error")


@term_perturbation
def fictional_details(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` names, numbers or dates by invented ones; if there are too few, also terms."""
    edits = _mixed(text, rng, rules=_DETAILS, k=k)
    if len(edits) < k:
        edits = _joined(edits, [_most(invent_term, text, rng, k=k)], k=k)
    return _enough(edits, k=k, what="names, numbers, dates or nouns")


def _mixed(text: str, rng: Generator, *, rules: Sequence[Perturbation], k: int) -> list[Edit]:
    """Return up to `k` edits by `rules`, which take turns in random order."""
    require_count(k)
    order = rng.permutation(len(rules)).tolist()
    return _joined([], [_most(rules[index], text, rng, k=k) for index in order], k=k)


def _most(rule: Perturbation, text: str, rng: Generator, *, k: int) -> list[Edit]:
    """Return as many edits by one rule as possible, but at most `k`, shuffled."""
    wanted = k
    while wanted > 0:
        try:
            edits = rule.damage(Case(text=text), rng, k=wanted).edits
        except TooFewError as error:  # raised before any draw, as for every count above `available`
            wanted = min(wanted - 1, error.available)
        except NothingToDamageError:
            wanted -= 1
        else:
            return [edits[index] for index in rng.permutation(len(edits)).tolist()]
    return []


def _joined(made: list[Edit], others: Sequence[Sequence[Edit]], *, k: int) -> list[Edit]:
    """Add edits of `others` in turn, none overlapping or touching another, up to `k` in all."""
    joined = list(made)
    for turn in range(k):
        for edits in others:
            for edit in edits[turn : turn + 1]:
                if all(edit.end < other.start or other.end < edit.start for other in joined):
                    joined.append(edit)
    return joined[:k]


def _enough(made: list[Edit], *, k: int, what: str) -> list[Edit]:
    if len(made) < k:
        raise too_few(what, available=len(made), needed=k)
    return made
