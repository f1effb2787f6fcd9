"""Grammar: the few errors that two words tell for sure."""

import re
from collections.abc import Iterator

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText
from spanjury.judges.rules.lexicon import FUNCTION_WORDS

__all__ = ["articles", "disagreement", "misheard"]

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
