"""Pairs: brackets and quotation marks that are opened and not closed, or the reverse."""

import re
from collections.abc import Iterator

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText

__all__ = ["unclosed_quotes", "unpaired_brackets"]

_OPENERS = {")": "(", "]": "[", "}": "{"}
_BRACKET = re.compile(r"[()\[\]{}]")
# Numbers of lists, as in "a)" and "(1", and faces made of punctuation.
_NO_BRACKET = re.compile(r"(?:^|[\s(])\w{1,3}\)|[:;=8xX]['’]?-?[()\[\]]|[()\[\]]-?[:;=]")
_INCHES = re.compile(r'\d"')


def unpaired_brackets(form: FormText) -> Iterator[ErrorSpan]:
    """Yield each bracket without its fellow."""
    excused = {
        at for match in _NO_BRACKET.finditer(form.text) for at in range(match.start(), match.end())
    }
    opened: list[re.Match[str]] = []
    stray: list[re.Match[str]] = []
    for match in _BRACKET.finditer(form.text):
        if match.group() not in _OPENERS:
            opened.append(match)
        elif opened and opened[-1].group() == _OPENERS[match.group()]:
            opened.pop()
        elif match.start() not in excused:
            stray.append(match)
    stray += [match for match in opened if match.start() not in excused]
    for match in sorted(stray, key=re.Match.start):
        closes = match.group() in _OPENERS
        yield form.mark(
            match.start(),
            match.end(),
            severity=2,
            category="unpaired mark",
            explanation=f'The bracket "{match.group()}" is never '
            f"{'opened' if closes else 'closed'}.",
        )


def unclosed_quotes(form: FormText) -> Iterator[ErrorSpan]:
    """Yield a quotation mark without its fellow; apostrophes are none.

    A quotation of several paragraphs opens each of them, so that only a text of one
    paragraph is checked. A mark after a digit may stand for inches.
    """
    if "\n" in form.text.strip():
        return
    if form.text.count('"') % 2 and not _INCHES.search(form.text):
        yield _quote(form, form.text.rindex('"'))
    for opener, closer in ("“”", "«»"):
        opened, closed = form.text.count(opener), form.text.count(closer)
        if opened > closed:
            yield _quote(form, form.text.rindex(opener))
        elif closed > opened:
            yield _quote(form, form.text.index(closer))


def _quote(form: FormText, start: int) -> ErrorSpan:
    return form.mark(
        start,
        start + 1,
        severity=2,
        category="unpaired mark",
        explanation="The quotation marks do not come in pairs.",
    )
