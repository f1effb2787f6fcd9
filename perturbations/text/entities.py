"""Names that are exchanged or invented, and nouns replaced by words of no dictionary."""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.text.aspects import fact_perturbation, term_perturbation
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.names import Name, Sort, names
from spanjury.perturbations.text.places import (
    Choice,
    chosen,
    fitted,
    picked,
    require_count,
    too_few,
)
from spanjury.perturbations.text.wordlists import lists

# A word is a noun if it follows a determiner and precedes something that cannot follow an
# adjective. So is the second of two words after a preposition and a determiner.
_NOUN = re.compile(
    r"\b(?:(?:about|above|at|by|for|from|in|into|like|near|of|on|over|through|to|under|with)\s+"
    r"(?:the|an?|his|her|its|their|our|my|your|this|these|those)\s+[a-z]+\s+"
    r"(?P<object>[a-z]{3,})(?=\s?[.,;:!?)])"
    r"|(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[Oo]ur|[Mm]y|[Yy]our|these|those|of|some)\s+"
    r"(?P<head>[a-z]{3,})(?=\s?[.,;:!?)]|\s+(?:of|in|on|at|to|for|with|by|from|into|and|or|but|who"
    r"|which|that|is|was|are|were|has|had|have|will|would|can|could|did|does|as|than|after|before"
    r"|while|because|when|began|stood|rose|came|went|[a-z]{3,}ed)\b)"
    r"|(?P<learned>[a-z]{4,}(?:tion|ment|ness|ity|sis|ase|gen|cyte|logy|graphy|ence|ance|ism)s?))\b"
)
_SINGULAR_IN_S = ("ss", "us", "is")
_JOINED = re.compile(r"(?:['’]s?\b)?(?:[\s,;/&•*-]|\b(?:and|or|nor|as well as)\b)*")
"""Text between two names of an enumeration."""


@fact_perturbation
def fictional_entity(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` mentions of names by different invented names of the same kind."""
    mentions = names(text)
    drawn = sorted(chosen(len(mentions), rng, k=k, what="names"))
    used = set(text.split())
    edits = []
    for name in (mentions[index] for index in drawn):
        fresh = tuple(new for new in _invented(name) if new not in used)
        choice = fitted(text, Choice(name.start, name.end, fresh or _invented(name)))
        new = picked(choice.texts, rng)
        used.add(new)
        edits.append(Edit(start=choice.start, end=choice.end, text=new))
    return edits


@fact_perturbation
def swap_entities(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Exchange `k` pairs of mentions of different names of the same kind; two edits a pair."""
    require_count(k)
    pairs = [*islice(_pairs(text, rng), k)]
    if len(pairs) < k:
        raise too_few("pairs of different names of one sort", available=len(pairs), needed=k)
    edits = []
    for left, other in pairs:
        edits.append(Edit(start=left.start, end=left.end, text=other.text))
        edits.append(Edit(start=other.start, end=other.end, text=left.text))
    return edits


def _invented(name: Name) -> tuple[str, ...]:
    """Return invented names that may replace `name`."""
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


def _pairs(text: str, rng: Generator) -> Iterator[tuple[Name, Name]]:
    """Pair off the names of a text at random: of the same kind, and without a common word.

    Names of one enumeration are not paired, since ``Bob and Ann left`` says what ``Ann and Bob
    left`` says.
    """
    mentions = names(text)
    begins = (not _JOINED.fullmatch(text, a.end, b.start) for a, b in pairwise(mentions))
    enumerations = [*accumulate(begins, initial=0)]
    waiting: defaultdict[Sort, dict[str, list[int]]] = defaultdict(dict)
    for index in rng.permutation(len(mentions)).tolist():
        name = mentions[index]
        partners = (
            (alike, at)
            for other, alike in waiting[name.sort].items()
            if set(name.text.split()).isdisjoint(other.split())
            for at in alike
            if enumerations[at] != enumerations[index]
        )
        alike, at = next(partners, (None, index))
        if alike is None:
            waiting[name.sort].setdefault(name.text, []).append(index)
        else:
            alike.remove(at)
            yield mentions[at], name


@term_perturbation
def invent_term(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` common nouns or technical terms by words of no dictionary."""
    candidates = list(_NOUN.finditer(masked(text)))
    terms = [match for match in candidates if _term(match) not in lists("fictions")["no_nouns"]]
    drawn = sorted(chosen(len(terms), rng, k=k, what="nouns").tolist())
    nouns = lists("fictions")["nouns"]
    order = rng.permutation(len(nouns)).tolist()
    edits = []
    for turn, match in enumerate(terms[index] for index in drawn):
        new = nouns[order[turn % len(nouns)]] + _ending(_term(match))
        interval = match.span(match.lastgroup or 0)
        start, end, (other,) = fitted(text, Choice(interval[0], interval[1], (new,)))
        edits.append(Edit(start=start, end=end, text=other))
    return edits


def _term(match: re.Match[str]) -> str:
    return match[match.lastgroup or 0]


def _ending(noun: str) -> str:
    """Return the ending of its plural if it is a plural."""
    return "s" if noun.endswith("s") and not noun.endswith(_SINGULAR_IN_S) else ""
