"""Endings: sentences that break off."""

from collections.abc import Iterator

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText
from spanjury.judges.text.sentences import Sentence

__all__ = ["broken_off"]

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


def broken_off(form: FormText) -> Iterator[ErrorSpan]:
    """Yield the last word of each sentence that breaks off.

    Inside a text, only a word that no sentence ends on tells; at its end, also a comma, or
    a missing stop where there is more than a title or other sentences have one.
    """
    for sentence in form.sentences:
        last = _last_word(sentence)
        bare = sentence.text.rstrip(_CLOSERS)
        if last in _NEVER_LAST and bare.endswith(".") and not bare.endswith(".."):
            yield _mark(form, sentence, last=last, severity=4, why="no sentence ends on it")
    if form.sentences:
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
    """Whether a stop should end the last sentence; lists and lines of verse have none."""
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
