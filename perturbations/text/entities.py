"""Damage to names: one that does not exist, or that of another in the text."""

from collections.abc import Sequence
from itertools import combinations

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import FORM, GROUNDING, OVERALL
from spanjury.perturbations.text.language import require_english
from spanjury.perturbations.text.names import Name, names
from spanjury.perturbations.text.places import Choice, chosen, fitted, picked, require_count
from spanjury.perturbations.text.wordlists import lists

__all__ = ["fictional_entity", "swap_entities"]


@text_perturbation(
    family="entities-and-numbers",
    level="word",
    harms=GROUNDING | OVERALL,
    spares=FORM,
    language="en",
)
def fictional_entity(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` mentions of names by invented names of the same sort, all different."""
    require_english(text)
    found = names(text)
    drawn = sorted(chosen(len(found), rng, k=k, what="names"))
    used = set(text.split())
    edits = []
    for name in (found[index] for index in drawn):
        fresh = tuple(new for new in _invented(name) if new not in used)
        choice = fitted(text, Choice(name.start, name.end, fresh or _invented(name)))
        new = picked(choice.texts, rng)
        used.add(new)
        edits.append(Edit(start=choice.start, end=choice.end, text=new))
    return edits


@text_perturbation(
    family="entities-and-numbers",
    level="word",
    harms=GROUNDING | OVERALL,
    spares=FORM,
    language="en",
)
def swap_entities(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Exchange `k` pairs of mentions of different names of the same sort; two edits a pair."""
    require_english(text)
    require_count(k)
    pairs = _pairs(names(text), rng)
    chosen(len(pairs), rng, k=k, what="pairs of different names of one sort")
    edits = []
    for one, other in pairs[:k]:
        edits.append(Edit(start=one.start, end=one.end, text=other.text))
        edits.append(Edit(start=other.start, end=other.end, text=one.text))
    return edits


def _invented(name: Name) -> tuple[str, ...]:
    """Return invented names that may stand for `name`."""
    invented = lists("invented")
    if name.sort == "person":
        if " " in name.text:
            return invented["people"]
        return invented["given" if name.text in lists("known")["given"] else "surnames"]
    if name.sort == "place":
        return invented["places"]
    if name.sort == "organisation":
        return invented["organisations"]
    return invented["acronyms" if name.sort == "acronym" else "surnames"]


def _pairs(found: Sequence[Name], rng: Generator) -> list[tuple[Name, Name]]:
    """Pair mentions off, at random: the same sort, and no word in common."""
    possible = [
        (one, other)
        for one, other in combinations(found, 2)
        if one.sort == other.sort and set(one.text.split()).isdisjoint(other.text.split())
    ]
    pairs: list[tuple[Name, Name]] = []
    taken: set[int] = set()
    for index in rng.permutation(len(possible)).tolist():
        one, other = possible[index]
        if taken.isdisjoint((one.start, other.start)):
            pairs.append((one, other))
            taken.update((one.start, other.start))
    return pairs
