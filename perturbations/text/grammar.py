"""Errors of English grammar: agreement, tense, articles, prepositions."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import MappingProxyType

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
_OTHER_NUMBER = MappingProxyType(
    {
        "am": "is",
        "are": "is",
        "aren't": "isn't",
        "does": "do",
        "doesn't": "don't",
        "don't": "doesn't",
        "has": "have",
        "hasn't": "haven't",
        "have": "has",
        "haven't": "hasn't",
        "is": "are",
        "isn't": "aren't",
        "these": "this",
        "those": "that",
        "was": "were",
        "wasn't": "weren't",
        "were": "was",
        "weren't": "wasn't",
    }
)
_OTHER_TENSE = MappingProxyType(
    {
        "are": "were",
        "did": "does",
        "does": "did",
        "had": "has",
        "has": "had",
        "is": "was",
        "was": "is",
        "were": "are",
    }
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
    words = tokens(text)
    choices = [
        Choice(word.start, word.end, (_written(_OTHER_TENSE[word.lower], word),))
        for word in words
        if word.lower in _OTHER_TENSE
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
    return struck(list(_misfits(tokens(text))), rng, k=k, what="prepositions")


def _misfits(words: Sequence[Token]) -> Iterator[Choice]:
    prepositions = table("prepositions")
    for word, after in pairwise(words):
        if word.lower in prepositions and after.before:
            texts = tuple(_written(new, word) for new in prepositions[word.lower])
            yield Choice(word.start, word.end, texts)


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
    return _OTHER_NUMBER.get(word.lower, "")


def _written(new: str, word: Token) -> str:
    """Write `new` with the capitalization and the apostrophe of `word`."""
    written = new.replace("'", "’") if "’" in word.text else new
    return cased_like(written, word.text)
