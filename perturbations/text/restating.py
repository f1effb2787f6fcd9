"""Restating: a sentence said again in other words right after it; a rule's try at it."""

import re

from numpy.random import Generator

from spanjury.perturbations.edits import Damage, Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import FORM, GROUNDING
from spanjury.perturbations.text.equivalents import equivalents
from spanjury.perturbations.text.language import require_english
from spanjury.perturbations.text.passages import (
    Passage,
    continued,
    inserted_after,
    passages,
    spaced_like,
)
from spanjury.perturbations.text.places import chosen, picked

__all__ = ["rewrite_and_insert"]

_LEADS = ("In other words, ", "That is to say, ", "To put it another way, ", "Put differently, ")
_LEADING = re.compile(
    r"(?P<clause>(?:when|while|although|though|because|since|after|before|if|as|during|despite"
    r"|in|on|at|by|with|for|under|following)\b[^,;:()\"“”]{4,70}?) ?, "
    r"(?P<main>[^,;:()\"“”]{12,}?)(?P<stop> ?[.!])"
)
_TRAILING = re.compile(
    r"(?P<main>[^,;:()\"“”]{12,}?)(?: ?,)? "
    r"(?P<clause>(?:when|although|because|after|before|if|despite|during|following)\b"
    r"[^,;:()\"“”]{4,70}?)(?P<stop> ?[.!])"
)


@text_perturbation(
    family="discourse",
    level="sentence",
    harms={"coherence", "conciseness", "relevance"},
    spares=GROUNDING | FORM,
    language="en",
)
def rewrite_and_insert(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Say `k` sentences again in other words, each right after itself.

    Clauses change places and phrases are replaced by equivalents where the sentence has any;
    in front stands what announces that something is said again.
    """
    require_english(text)
    found = passages(text)
    worded = [i for i, p in enumerate(found) if " " in p.text and continued(text, p)]
    rich = [index for index in worded if _has_other_words(found[index].text)]
    worded = rich if len(rich) >= k else worded
    drawn = chosen(len(worded), rng, k=k, what="sentences that could go on after other words")
    return [
        inserted_after(text, found, _restated(text, found[index], rng=rng), index=index)
        for index in (worded[place] for place in sorted(drawn.tolist()))
    ]


def _has_other_words(sentence: str) -> bool:
    return _turned(sentence[0].lower() + sentence[1:])[1:] != sentence[1:] or any(
        True for _ in equivalents(sentence)
    )


def _restated(text: str, passage: Passage, *, rng: Generator) -> str:
    """Return the sentence in other words, after a few that announce it."""
    said = continued(text, passage)
    edits = (Edit(start=a, end=b, text=picked(new, rng)) for a, b, new in equivalents(said))
    return spaced_like(picked(_LEADS, rng), text) + _turned(Damage.of(said, edits).text)


def _turned(sentence: str) -> str:
    """Let the main clause and another change places, where commas show which they are."""
    if match := _LEADING.fullmatch(sentence):
        return f"{match['main']} {match['clause']}{match['stop']}"
    if match := _TRAILING.fullmatch(sentence):
        return f"{match['clause']}, {match['main']}{match['stop']}"
    return sentence
