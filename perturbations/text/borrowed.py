"""Names and numbers replaced by others from the source: wrong, but familiar."""

import re

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import Case, NothingToDamageError, case_perturbation
from spanjury.perturbations.text.aspects import FORM, GROUNDING, OVERALL
from spanjury.perturbations.text.language import require_english
from spanjury.perturbations.text.names import names
from spanjury.perturbations.text.places import LIST_NUMBER, picked

_NUMBER = re.compile(r"(?<![\w.,:/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w/:-]|[.,]\d)")

_borrowing = case_perturbation(
    family="entities-and-numbers",
    level="word",
    harms=GROUNDING | OVERALL,
    spares=FORM,
    language="en",
)


@_borrowing
def borrow_name(case: Case, rng: Generator) -> list[Edit]:
    """Replace one name by another of the same kind that is in the inputs and not in the text."""
    require_english(case.text)
    source = {(name.text, name.sort) for name in names("\n".join(case.inputs.values()))}
    foreign = {(text, sort) for text, sort in source if text not in case.text}
    named = names(case.text)
    for at in rng.permutation(len(named)).tolist():
        name = named[at]
        words = set(name.text.split())
        others = {
            text for text, sort in foreign if sort == name.sort and words.isdisjoint(text.split())
        }
        if others:
            return [Edit(name.start, name.end, picked(sorted(others), rng))]
    raise NothingToDamageError("the inputs hold no other name of the same sort")


@_borrowing
def borrow_number(case: Case, rng: Generator) -> list[Edit]:
    """Replace one number by another that is in the inputs and not in the text."""
    source = "\n".join(case.inputs.values())
    items = {item.start(1) for item in LIST_NUMBER.finditer(case.text)}
    own = [match for match in _NUMBER.finditer(case.text) if match.start() not in items]
    own_numbers = {match.group() for match in own}
    others = sorted({match.group() for match in _NUMBER.finditer(source)} - own_numbers)
    if not own or not others:
        raise NothingToDamageError("text and inputs hold no two different numbers")
    match = own[int(rng.integers(len(own)))]
    return [Edit(match.start(), match.end(), picked(others, rng))]
