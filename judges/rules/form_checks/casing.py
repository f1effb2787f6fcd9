"""Casing: sentences, and the word I, in lower case; shouting."""

import re
from collections.abc import Iterator
from itertools import pairwise

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText

__all__ = ["lower_case_starts", "lower_i", "shouting"]

_START = re.compile(r"[a-z]++(?![\w.@/:-]*[A-Z0-9_@/])(?=['’ ,])")
_FULL_STOP = re.compile(r"[a-z]{3,}['\"”’)]*\s?\.$")
_LONE_I = re.compile(r"(?<![\w.(\-/&'’\[*_])i(?=['’]\w|\s[a-z])")
_LOUD = re.compile(r"\b[A-Z]{2,}(?:['’][A-Z]+)?(?:[ ,]+[A-Z]{1,}(?:['’][A-Z]+)?\b){3,}")
_LONG = re.compile(r"[A-Z]{5}")


def lower_case_starts(form: FormText) -> Iterator[ErrorSpan]:
    """Yield first words in lower case; a text that begins no sentence otherwise has one."""
    if not form.capitals:
        first = next((word for word in form.words if word.text[0].islower()), None)
        if first:
            yield form.mark(
                first.start,
                first.end,
                severity=1,
                category="casing",
                explanation="The sentences of the text begin in lower case.",
            )
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
