"""Damage to the connection of sentences: their order, a repetition, a wrong connective."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from numpy.random import Generator

from spanjury.judges.core import PerturbationError
from spanjury.perturbations.edits import Damage, Edit
from spanjury.perturbations.perturbation import text_perturbation
from spanjury.perturbations.text.aspects import FORM, GROUNDING
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.harmless import equivalents
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.passages import (
    Passage,
    continued,
    inserted_after,
    passages,
    spaced_like,
)
from spanjury.perturbations.text.places import Choice, cased_like, chosen, picked, struck, too_few
from spanjury.perturbations.text.wordlists import lists

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
    family="discourse", level="sentence", harms={"coherence"}, spares=GROUNDING | FORM
)
def reorder_sentences(text: str, rng: Generator, *, k: int | Literal["all"] = 2) -> list[Edit]:
    """Exchange `k` sentences, or all, so that none of them stays at its position."""
    sentences = _different(passages(text))
    wanted = max(2, len(sentences)) if k == "all" else k
    if wanted < 2:  # noqa: PLR2004 - one alone cannot move
        raise PerturbationError(f"k must be 2 or more, or 'all', got {k!r}")
    drawn = chosen(len(sentences), rng, k=wanted, what="different sentences")
    # Each moves to the position of the next in a random ring. This yields every order that is a
    # single cycle, and none that leaves a sentence in its position.
    ring = [sentences[index] for index in rng.permutation(drawn).tolist()]
    return [
        Edit(start=target.start, end=target.end, text=moved.text)
        for target, moved in zip(ring, (*ring[1:], ring[0]), strict=True)
    ]


@text_perturbation(
    family="discourse",
    level="sentence",
    harms={"coherence", "conciseness", "relevance"},
    spares=GROUNDING,
)
def repeat_sentence(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Say `k` sentences twice in a row."""
    sentences = passages(text)
    drawn = chosen(len(sentences), rng, k=k, what="sentences")
    return [inserted_after(text, sentences, sentences[i].text, index=i) for i in drawn.tolist()]


@english_perturbation(family="discourse", level="word", harms={"coherence"}, spares=FORM)
def wrong_connective(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Join `k` clauses to the preceding ones by a connective that expresses another relation.

    Existing connectives are replaced. If there are fewer than `k`, an unsuitable one is put at the
    beginning of further sentences.
    """
    there = list(_connectives(text))
    if len(there) >= k:
        return struck(there, rng, k=k, what="connectives")
    openable = list(_openable(text, taken={choice.start for choice in there}))
    if len(there) + len(openable) < k:
        what = "connectives and sentences to open with one"
        raise too_few(what, available=len(there) + len(openable), needed=k)
    edits = struck(there, rng, k=len(there), what="connectives") if there else []
    return edits + struck(openable, rng, k=k - len(there), what="sentences to open")


def _different(sentences: list[Passage]) -> list[Passage]:
    """Return each sentence that occurs several times only once, at its first position."""
    return list({passage.text: passage for passage in reversed(sentences)}.values())[::-1]


def _connectives(text: str) -> Iterator[Choice]:
    """Yield each connective with those of another kind that fit its position."""
    sorts, addition = _sorts(), {"opening-addition", "opening-example"}
    for match in _pattern().finditer(masked(text)):
        start, end = match.span(match.lastgroup or 0)
        sort = sorts[match.group().strip(",").lower()]
        position = sort.partition("-")[0]
        texts = (
            cased_like(word, text[start:end])
            for other, words in lists("connectives").items()
            # An addition fits nearly all.
            if other.startswith(position) and other != sort and not {sort, other} <= addition
            for word in words
        )
        yield Choice(start, end, tuple(texts))


def _openable(text: str, *, taken: set[int]) -> Iterator[Choice]:
    """Yield the beginnings of sentences that follow another one and begin plainly."""
    openings = lists("connectives")
    texts = (*openings["opening-alternative"], *openings["opening-result"], "For example")
    for passage in passages(text)[1:]:
        start, goes_on = passage.start, continued(text, passage)
        if goes_on and start not in taken:
            added = (spaced_like(f"{word}, {goes_on[0]}", text) for word in texts)
            yield Choice(start, start + 1, tuple(added))


@cache
def _sorts() -> dict[str, str]:
    return {word.lower(): sort for sort, words in lists("connectives").items() for word in words}


@cache
def _pattern() -> re.Pattern[str]:
    opening, joining = (
        "|".join(re.escape(word) for word, sort in _sorts().items() if sort.startswith(position))
        for position in ("opening", "joining")
    )
    return re.compile(
        rf"\b(?P<opening>{opening})\b(?= ?,)|(?<=[a-z,] )(?P<joining>{joining})\b", re.IGNORECASE
    )


@english_perturbation(
    family="discourse",
    level="sentence",
    harms={"coherence", "conciseness", "relevance"},
    spares=GROUNDING | FORM,
)
def rewrite_and_insert(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Repeat `k` sentences in other words, each immediately after itself.

    Clauses are exchanged, and phrases replaced by equivalents, if the sentence has any. The
    repetition begins with words that announce it.
    """
    sentences = passages(text)
    worded = [i for i, p in enumerate(sentences) if " " in p.text and continued(text, p)]
    rich = [index for index in worded if _has_other_words(sentences[index].text)]
    worded = rich if len(rich) >= k else worded
    drawn = chosen(
        len(worded), rng, k=k, what="sentences to which words could be added at the front"
    )
    return [
        inserted_after(text, sentences, _restated(text, sentences[index], rng=rng), index=index)
        for index in (worded[index] for index in sorted(drawn.tolist()))
    ]


def _has_other_words(sentence: str) -> bool:
    is_turned = _turned(sentence[0].lower() + sentence[1:])[1:] != sentence[1:]
    return is_turned or next(equivalents(sentence), None) is not None


def _restated(text: str, passage: Passage, *, rng: Generator) -> str:
    """Return the sentence in other words, after an introductory phrase."""
    sentence = continued(text, passage)
    edits = (Edit(start=a, end=b, text=picked(new, rng)) for a, b, new in equivalents(sentence))
    return spaced_like(picked(_LEADS, rng), text) + _turned(Damage.of(sentence, edits).text)


def _turned(sentence: str) -> str:
    """Exchange the main clause with another if commas separate them clearly."""
    if match := _LEADING.fullmatch(sentence):
        return f"{match['main']} {match['clause']}{match['stop']}"
    if match := _TRAILING.fullmatch(sentence):
        return f"{match['clause']}, {match['main']}{match['stop']}"
    return sentence
