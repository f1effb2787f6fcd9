"""Damage to how sentences hang together: their order, a repetition, a wrong connective."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from numpy.random import Generator

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Edit
from spanjury.perturbations.perturbation import NothingToDamageError, text_perturbation
from spanjury.perturbations.text.aspects import FORM, GROUNDING
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.language import require_english
from spanjury.perturbations.text.passages import (
    Passage,
    continued,
    inserted_after,
    passages,
    spaced_like,
)
from spanjury.perturbations.text.places import Choice, cased_like, chosen, struck
from spanjury.perturbations.text.wordlists import lists

__all__ = ["reorder_sentences", "repeat_sentence", "wrong_connective"]


@text_perturbation(
    family="discourse", level="sentence", harms={"coherence"}, spares=GROUNDING | FORM
)
def reorder_sentences(text: str, rng: Generator, *, k: int | Literal["all"] = 2) -> list[Edit]:
    """Let `k` sentences change places, or all, so that none of them stays where it was."""
    found = _different(passages(text))
    wanted = max(2, len(found)) if k == "all" else k
    if wanted < 2:  # noqa: PLR2004 - one alone cannot move
        raise PerturbationError(f"k must be 2 or more, or 'all', got {k!r}")
    drawn = chosen(len(found), rng, k=wanted, what="different sentences")
    # Each takes the place of the next in a random ring: every order that moves all of them by
    # one ring, and none that leaves one in its place.
    ring = [found[index] for index in rng.permutation(drawn).tolist()]
    return [
        Edit(start=place.start, end=place.end, text=moved.text)
        for place, moved in zip(ring, (*ring[1:], ring[0]), strict=True)
    ]


@text_perturbation(
    family="discourse",
    level="sentence",
    harms={"coherence", "conciseness", "relevance"},
    spares=GROUNDING,
)
def repeat_sentence(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Say `k` sentences twice in a row."""
    found = passages(text)
    drawn = chosen(len(found), rng, k=k, what="sentences")
    return [inserted_after(text, found, found[i].text, index=i) for i in drawn.tolist()]


@text_perturbation(
    family="discourse", level="word", harms={"coherence"}, spares=FORM, language="en"
)
def wrong_connective(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Join `k` clauses to what precedes them by a connective that claims something else.

    Connectives that are there are replaced; where there are fewer than `k`, sentences are
    opened with one that does not fit.
    """
    require_english(text)
    there = list(_connectives(text))
    if len(there) >= k:
        return struck(there, rng, k=k, what="connectives")
    openable = list(_openable(text, taken={choice.start for choice in there}))
    if len(there) + len(openable) < k:
        what = "connectives and sentences to open with one"
        raise NothingToDamageError(f"only {len(there) + len(openable)} {what}, {k} are needed")
    edits = struck(there, rng, k=len(there), what="connectives") if there else []
    return edits + struck(openable, rng, k=k - len(there), what="sentences to open")


def _different(found: list[Passage]) -> list[Passage]:
    """Return the first of each sentence that is there more than once."""
    return list({passage.text: passage for passage in reversed(found)}.values())[::-1]


def _connectives(text: str) -> Iterator[Choice]:
    """Yield each connective with those of another sort that could stand there."""
    known = _known()
    for match in _pattern().finditer(masked(text)):
        start, end = match.span(match.lastgroup or 0)
        sort = known[match.group().strip(",").lower()]
        place = sort.partition("-")[0]
        texts = (
            cased_like(word, text[start:end])
            for other, words in lists("connectives").items()
            if other.startswith(place) and _clash(sort, other)
            for word in words
        )
        yield Choice(start, end, tuple(texts))


def _openable(text: str, *, taken: set[int]) -> Iterator[Choice]:
    """Yield the beginnings of sentences that have another before them and open plainly."""
    openings = lists("connectives")
    texts = (*openings["opening-alternative"], *openings["opening-result"], "For example")
    for passage in passages(text)[1:]:
        start, goes_on = passage.start, continued(text, passage)
        if goes_on and start not in taken:
            added = (spaced_like(f"{word}, {goes_on[0]}", text) for word in texts)
            yield Choice(start, start + 1, tuple(added))


def _clash(sort: str, other: str) -> bool:
    """Whether two sorts claim different things; an addition goes with nearly all of them."""
    return sort != other and not {sort, other} <= {"opening-addition", "opening-example"}


@cache
def _known() -> dict[str, str]:
    return {word.lower(): sort for sort, words in lists("connectives").items() for word in words}


@cache
def _pattern() -> re.Pattern[str]:
    opening, joining = (
        "|".join(re.escape(word) for word, sort in _known().items() if sort.startswith(place))
        for place in ("opening", "joining")
    )
    return re.compile(
        rf"\b(?P<opening>{opening})\b(?= ?,)|(?<=[a-z,] )(?P<joining>{joining})\b",
        re.IGNORECASE,
    )
