"""Spacing: blanks that stand before punctuation or are missing after it, doubled marks."""

import re
from collections.abc import Iterator

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText

__all__ = ["doubled_marks", "missing_blanks", "stray_blanks"]

_STRAY = re.compile(r"(?<=[\w)\]\"”'’])[ \t]+[,.;:!?](?=\s|$)")
_MISSING = re.compile(
    r"(?<![\w.@/:])[A-Za-z]+([,;])(?=[A-Za-z]{2})|\b[a-z]{3,}([.!?])(?=[A-Z][a-z]+[\s,])"
)
_DOUBLED = re.compile(
    r"[,;](?:[ \t]*[,;.](?!\d))++|(?<![.\w/])\.[ \t]+\.(?![ \t]*\.)|(?<=\w)\.\.(?![./\w])"
    r"|[?!][,.](?!\w)"
)
_SPACED_ELLIPSIS = re.compile(r"\.[ \t]\.[ \t]\.")


def stray_blanks(form: FormText) -> Iterator[ErrorSpan]:
    """Yield blanks before punctuation; only the first where the whole text is so."""
    for match in _STRAY.finditer(form.text):
        yield form.mark(
            *match.span(),
            severity=1,
            category="spacing",
            explanation="Blanks stand before punctuation throughout the text."
            if form.tokenised
            else "A blank stands before the punctuation mark.",
        )
        if form.tokenised:
            return


def missing_blanks(form: FormText) -> Iterator[ErrorSpan]:
    """Yield punctuation that the next word follows without a blank."""
    for match in _MISSING.finditer(form.text):
        at = match.start(match.lastindex or 0)
        yield form.mark(
            at,
            at + 1,
            severity=1,
            category="spacing",
            explanation="No blank stands after the punctuation mark.",
        )


def doubled_marks(form: FormText) -> Iterator[ErrorSpan]:
    """Yield marks that do not go together, as two commas or two full stops."""
    if _SPACED_ELLIPSIS.search(form.text):
        return
    for match in _DOUBLED.finditer(form.text):
        yield form.mark(
            *match.span(),
            severity=2,
            category="punctuation",
            explanation="Two punctuation marks stand there for one.",
        )
