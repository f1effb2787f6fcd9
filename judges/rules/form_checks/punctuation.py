"""Punctuation: stray and missing blanks, doubled marks, open pairs, sentences that break off."""

import re
from collections.abc import Iterator

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText
from spanjury.judges.text.sentences import Sentence

_STRAY = re.compile(r"(?<=[\w)\]\"”'’])[ \t]+[,.;:!?](?=\s|$)")
_MISSING = re.compile(
    r"(?<![\w.@/:])[A-Za-z]+([,;])(?=[A-Za-z]{2})|\b[a-z]{3,}([.!?])(?=[A-Z][a-z]+[\s,])"
)
_DOUBLED = re.compile(
    r"[,;](?:[ \t]*[,;.](?!\d))++|(?<![.\w/])\.[ \t]+\.(?![ \t]*\.)|(?<=\w)\.\.(?![./\w])"
    r"|[?!][,.](?!\w)"
)
_SPACED_ELLIPSIS = re.compile(r"\.[ \t]\.[ \t]\.")
_OPENERS = {")": "(", "]": "[", "}": "{"}
_BRACKET = re.compile(r"[()\[\]{}]")
# Numbers of lists, as in "a)" and "(1", and faces made of punctuation.
_NO_BRACKET = re.compile(r"(?:^|[\s(])\w{1,3}\)|[:;=8xX]['’]?-?[()\[\]]|[()\[\]]-?[:;=]")
_INCHES = re.compile(r'\d"')
_STOPS = frozenset(".!?…。！？।")
_CLOSERS = "\"'”’»)]}`*_ \t\n"
_GOES_ON = frozenset(",;-–(")
_DANGLING = frozenset(
    """a an the and or but nor because although than into my your our their its whose if
    of with from as at by per via who which was is are were has have had he she they we to for
    in his""".split()  # noqa: SIM905 - so many read best so
)
"""Words that do not end a text, where no stop follows."""
_NEVER_LAST = frozenset(
    "an the and or nor because although than my your our their whose".split()  # noqa: SIM905
)
"""Words that do not end a sentence, even with a stop."""
_TITLE = 8  # words that a text without a stop may have, as a title or a short answer has


def stray_blanks(form: FormText) -> Iterator[ErrorSpan]:
    """Yield blanks before punctuation, where the whole text is not so."""
    if form.tokenised:
        return
    for match in _STRAY.finditer(form.text):
        yield form.mark(
            *match.span(),
            severity=1,
            category="spacing",
            explanation="A blank stands before the punctuation mark.",
        )


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


def unpaired_brackets(form: FormText) -> Iterator[ErrorSpan]:
    """Yield each bracket without its fellow, in a text that is whole."""
    if not form.is_whole:
        return
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
    paragraph is checked, and only one that is whole. A mark after a digit may stand for inches.
    """
    if not form.is_whole or "\n" in form.text.strip():
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


def broken_off(form: FormText) -> Iterator[ErrorSpan]:
    """Yield the last word of each sentence that breaks off.

    Inside a text, only a word that no sentence ends on tells; at the end of a whole one, also a
    comma, or a missing stop where there is more than a title or other sentences have one.
    """
    for sentence in form.sentences:
        last = _last_word(sentence)
        bare = sentence.text.rstrip(_CLOSERS)
        if last in _NEVER_LAST and bare.endswith(".") and not bare.endswith(".."):
            yield _mark(form, sentence, last=last, severity=4, why="no sentence ends on it")
    if form.sentences and form.is_whole:
        yield from _open_end(form, form.sentences[-1])


def _open_end(form: FormText, sentence: Sentence) -> Iterator[ErrorSpan]:
    """Look at the end of a text."""
    bare = sentence.text.rstrip(_CLOSERS)
    last = _last_word(sentence)
    if not last or bare[-1] in _STOPS:
        return
    if bare[-1] in _GOES_ON:
        yield _mark(form, sentence, last=bare[-1], severity=3, why="the sentence goes on after it")
    elif last in _DANGLING:
        yield _mark(form, sentence, last=last, severity=4, why="the sentence is not finished")
    elif bare[-1].isalnum() and _expects_stop(form, sentence):
        yield _mark(form, sentence, last=last, severity=2, why="the stop is missing")


def _expects_stop(form: FormText, sentence: Sentence) -> bool:
    """Say whether a stop should end the last sentence; lists and lines of verse have none."""
    if "\n" in form.text.strip():
        return False
    others = form.sentences[:-1]
    if others:
        return all(other.text.rstrip(_CLOSERS)[-1:] in _STOPS for other in others)
    return sentence.text.count(" ") >= _TITLE and sentence.text[0].isupper()


def _last_word(sentence: Sentence) -> str:
    """Return what stands last but for stops and what closes; empty if there is nothing else."""
    bare = sentence.text.rstrip(_CLOSERS).rstrip("".join(_STOPS) + _CLOSERS)
    return bare.rsplit(None, 1)[-1] if bare else ""


def _mark(form: FormText, sentence: Sentence, *, last: str, severity: int, why: str) -> ErrorSpan:
    start = form.text.rindex(last, sentence.start, sentence.end)
    return form.mark(
        start,
        start + len(last),
        severity=severity,
        category="unfinished",
        explanation=f'The text breaks off at "{last}": {why}.',
    )
