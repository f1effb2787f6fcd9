"""Words: the few errors of grammar and of case that one or two words show for sure."""

import re
from collections.abc import Iterator
from itertools import pairwise

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText
from spanjury.judges.text.lexicon import FUNCTION_WORDS

_ARTICLE = re.compile(r"(?<![\w.'’\-])([Aa]n?) ([a-z]+)\b(?!['’]|\.\w)")
# Vowels that are spoken as consonants, and the silent h.
_SPOKEN_CONSONANT = re.compile(
    r"one|once|use|usi|usu|uni[cfkloqstv]|eu|ew|ur[aieo]|ubiq|ut[ioe]|ouija|u[bfkp][io]|oui|uk|usb"
)
_SILENT_H = re.compile(r"hour|honest|hono|heir|homage|herb|hist|hot|hal|heroic|habit|hered|hyster")
_INITIALS = 3  # letters that may be spelled out, as in "an fbi agent"
_VOWELS = frozenset("aeiou")
_DISAGREEMENT = re.compile(
    r"(?:^|(?<=[.!?] ))(?:(?:He|She|It) (?:have|are|do not|don['’]t)|I (?:is|are|has))\b"
    r"|\b(?:[Tt]hey|[Ww]e) (?:was|has|is)\b",
    re.MULTILINE,
)
_BEFORE_PLURAL = re.compile(r"\b(?:of|between|around|beside|with|like|for|than|as|what) $")
_MISHEARD = re.compile(r"\b(?:could|should|would|must) of\b(?! course)")
_TWO_ARTICLES = re.compile(r"\b(?:the an?|an? the|a an|an a) (?=[a-z]{2})")
_START = re.compile(r"[a-z]++(?![\w.@/:-]*[A-Z0-9_@/])(?=['’ ,])")
_FULL_STOP = re.compile(r"[a-z]{3,}['\"”’)]*\s?\.$")
_LONE_I = re.compile(r"(?<![\w.(\-/&'’\[*_])i(?=['’]\w|\s[a-z])")
_LOUD = re.compile(r"\b[A-Z]{2,}(?:['’][A-Z]+)?(?:[ ,]+[A-Z]{1,}(?:['’][A-Z]+)?\b){3,}")
_LONG = re.compile(r"[A-Z]{5}")


def articles(form: FormText) -> Iterator[ErrorSpan]:
    """Yield ``a`` before a vowel that is spoken and ``an`` before a consonant."""
    for match in _ARTICLE.finditer(form.text):
        article, word = match.groups()
        needed = _needed(word)
        if needed and needed != article.lower():
            yield form.mark(
                *match.span(),
                severity=2,
                category="grammar",
                explanation=f'"{word}" takes "{needed}".',
            )


def _needed(word: str) -> str:
    """Return the article that `word` takes; empty where that is not sure."""
    if word in FUNCTION_WORDS or len(word) <= 2:  # noqa: PLR2004 - "vitamin a is", "an mp"
        return ""
    if word[0] in _VOWELS:
        return "a" if _SPOKEN_CONSONANT.match(word) else "an"
    return "" if _SILENT_H.match(word) or len(word) <= _INITIALS else "a"


def disagreement(form: FormText) -> Iterator[ErrorSpan]:
    """Yield pronouns with a form of the verb that they never take."""
    for match in _DISAGREEMENT.finditer(form.text):
        if _BEFORE_PLURAL.search(form.text, max(0, match.start() - 12), match.start()):
            continue
        yield form.mark(
            *match.span(),
            severity=3,
            category="grammar",
            explanation=f'The verb does not agree with "{match.group().split()[0]}".',
        )


def misheard(form: FormText) -> Iterator[ErrorSpan]:
    """Yield ``of`` for ``have``, and two articles for one."""
    for match in _MISHEARD.finditer(form.text):
        yield form.mark(
            *match.span(),
            severity=2,
            category="grammar",
            explanation='"of" stands for "have".',
        )
    for match in _TWO_ARTICLES.finditer(form.text):
        yield form.mark(
            match.start(),
            match.end() - 1,
            severity=3,
            category="grammar",
            explanation="Two articles stand before one word.",
        )


def lower_case_starts(form: FormText) -> Iterator[ErrorSpan]:
    """Yield first words in lower case, in a text that begins sentences with capitals."""
    if not form.capitals:
        return
    for before, sentence in pairwise(form.sentences):
        match = _START.match(form.text, sentence.start)
        if match and _FULL_STOP.search(form.text, max(before.start, before.end - 40), before.end):
            yield form.mark(
                *match.span(),
                severity=2,
                category="casing",
                explanation="The sentence begins in lower case.",
            )


def lower_i(form: FormText) -> Iterator[ErrorSpan]:
    """Yield the word I in lower case, in a text that writes sentences with capitals."""
    if form.capitals:
        for match in _LONE_I.finditer(form.text):
            yield form.mark(
                *match.span(),
                severity=2,
                category="casing",
                explanation='The word "I" is written in lower case.',
            )


def shouting(form: FormText) -> Iterator[ErrorSpan]:
    """Yield runs of four words and more in capitals; short ones alone may be initials."""
    for match in _LOUD.finditer(form.text):
        if _LONG.search(match.group()):
            yield form.mark(
                *match.span(),
                severity=2,
                category="casing",
                explanation="These words are written in capitals only.",
            )
