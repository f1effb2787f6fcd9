"""Errors of English grammar: agreement, tense, articles, prepositions."""

import re
from itertools import pairwise

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.text.aspects import CONTENT, FORM, OVERALL, SELECTION
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.language import english_perturbation
from spanjury.perturbations.text.places import Choice, cased_like, struck
from spanjury.perturbations.text.verbs import (
    HAVE,
    MODALS,
    PLURAL_SUBJECTS,
    Token,
    finite_verbs,
    tokens,
    verbs,
)
from spanjury.perturbations.text.wordlists import table

_ARTICLE = re.compile(
    r"(?:(?<=\s)|(?<=[(\"“‘]))(?:the|an?)\s+(?=\w)|(?:^|(?<=[.!?]\s))(?:The|An?)\s+\w"
)
_BASES_ALSO = frozenset(("don't", "have", "haven't"))


@english_perturbation(family="word-and-grammar", level="word", harms=FORM | OVERALL, spares=CONTENT)
def break_agreement(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Give `k` verbs or pronouns the number that disagrees with their subject or noun."""
    words = tokens(text)
    finite = {
        finite_verb.position: finite_verb.verb.base
        for finite_verb in finite_verbs(words)
        if finite_verb.tense == "present"
    }
    choices = []
    for index, word in enumerate(words):
        new = finite.get(index) or _other_number(word)
        if new:
            choices.append(Choice(word.start, word.end, (_written(new, word),)))
    return struck(choices, rng, k=k, what="words that agree with another")


@english_perturbation(family="word-and-grammar", level="word", harms=FORM | OVERALL)
def change_tense(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Change `k` verbs from the past to the present tense, or the reverse.

    The statement may become wrong, so no effect is claimed for the aspects of content.
    """
    words, other_tense = tokens(text), table("tenses")
    choices = [
        Choice(word.start, word.end, (_written(other_tense[word.lower][0], word),))
        for word in words
        if word.lower in other_tense
    ]
    for index, verb, tense in finite_verbs(words):
        word = words[index]
        plural = word.before[-1] in PLURAL_SUBJECTS
        new = verb.past if tense == "present" else verb.base if plural else verb.third
        choices.append(Choice(word.start, word.end, (_written(new, word),)))
    choices.sort()
    return struck(choices, rng, k=k, what="verbs of a known tense")


@english_perturbation(family="word-and-grammar", level="word", harms=FORM | OVERALL, spares=CONTENT)
def drop_articles(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Delete `k` of ``a``, ``an`` and ``the``."""
    choices = []
    for match in _ARTICLE.finditer(masked(text)):
        mark = match.group()
        left = "" if mark[-1].isspace() else mark[-1].upper()
        choices.append(Choice(*match.span(), (left,)))
    return struck(choices, rng, k=k, what="articles")


@english_perturbation(
    family="word-and-grammar", level="word", harms=FORM | OVERALL, spares=SELECTION
)
def wrong_prepositions(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Replace `k` prepositions by ones that do not fit."""
    prepositions = table("prepositions")
    choices = []
    for word, after in pairwise(tokens(text)):
        if word.lower in prepositions and after.before:
            texts = tuple(_written(new, word) for new in prepositions[word.lower])
            choices.append(Choice(word.start, word.end, texts))
    return struck(choices, rng, k=k, what="prepositions")


def _other_number(word: Token) -> str:
    """Return `word` in the other grammatical number; empty if there is no such form here."""
    subject = word.before[-1] if word.before else ""
    if word.lower in _BASES_ALSO and not MODALS.isdisjoint(word.before):
        return ""
    if subject == "if" or subject in HAVE:
        return ""
    base = verbs("base").get(word.lower)
    if base and subject in PLURAL_SUBJECTS:
        return base.third
    return table("agreement").get(word.lower, ("",))[0]


def _written(new: str, word: Token) -> str:
    """Write `new` with the capitalization and the apostrophe of `word`."""
    written = new.replace("'", "’") if "’" in word.text else new
    return cased_like(written, word.text)
