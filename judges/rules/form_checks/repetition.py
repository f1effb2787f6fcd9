"""Repetition: doubled words, phrases said twice in a row, sentences said again."""

from collections.abc import Iterator, Sequence

from spanjury.judges.core import ErrorSpan
from spanjury.judges.rules.form_text import FormText
from spanjury.judges.rules.numbers import numbers
from spanjury.judges.text.words import Word

_MAY_DOUBLE = frozenset(
    """had that very so no ha bye really many more far long never again her there now well yes
    hear knock blah tut oh hey boo do who""".split()  # noqa: SIM905 - so many read best so
)
_IDIOMS = frozenset(("and", "by", "after", "to", "upon", "or", "over"))  # more and more and more
_PHRASE = range(2, 7)  # lengths of phrases that are looked for side by side
_PASSAGE = 10  # words from which saying the same again is not a coincidence
_SENTENCE = 4  # the same for a whole sentence


def stuttering(form: FormText) -> Iterator[ErrorSpan]:
    """Yield words and phrases that follow upon themselves.

    Names may be double (Duran Duran), and so may some words (had had).
    """
    folded = [word.folded for word in form.words]
    at = 0
    while at < len(folded):
        length = _stutter(form, folded, at=at)
        if not length:
            at += 1
            continue
        stop = at + 2 * length
        while folded[stop : stop + length] == folded[at : at + length]:
            stop += length
        first, last = form.words[at], form.words[stop - 1]
        phrase = form.text[first.start : form.words[at + length - 1].end]
        yield form.mark(
            first.start,
            last.end,
            severity=3,
            category="repetition",
            explanation=f'"{phrase}" stands there {(stop - at) // length} times in a row.',
        )
        at = stop


def _stutter(form: FormText, folded: Sequence[str], *, at: int) -> int:
    """Return how many words from `at` on are said again at once; 0 for none."""
    following = folded[at + 1 : at + 2 * _PHRASE.stop]
    if folded[at] not in following:
        return 0
    if folded[at] == following[0] and _is_slip(form, form.words[at], form.words[at + 1]):
        return 1
    for length in _PHRASE:
        phrase, again = folded[at : at + length], folded[at + length : at + 2 * length]
        if phrase == again and _is_phrase(form, form.words[at : at + 2 * length]):
            return length
    return 0


def _is_slip(form: FormText, left: Word, right: Word) -> bool:
    """Say whether a word that follows upon itself is an error."""
    if not form.between(left, right).isspace() or left.folded in _MAY_DOUBLE:
        return False
    if next(numbers([left.folded]), None):
        return False
    letters = left.text.isalpha() and (len(left.text) > 1 or left.folded in {"a", "i"})
    return letters and not (left.text[0].isupper() and right.text[0].isupper())


def _is_phrase(form: FormText, words: Sequence[Word]) -> bool:
    """Say whether a phrase that follows upon itself is an error, and not an idiom or a list."""
    half = len(words) // 2
    if any(word.text[0].isdecimal() for word in words[:half]):
        return False
    if half == _PHRASE.start and not _IDIOMS.isdisjoint(word.folded for word in words[:half]):
        return False
    between = form.text[words[0].start : words[-1].end]
    seam = form.between(words[half - 1], words[half])
    if len({word.folded for word in words[:half]}) == 1:
        return False  # one word over and over: another check marks it
    return seam.isspace() and not any(mark in between for mark in ".!?\n,;:")


def repeated_passages(form: FormText) -> Iterator[ErrorSpan]:
    """Yield sentences, and stretches of many words, that stood there before."""
    folded = [word.folded for word in form.words]
    starts: dict[int, int] = {}
    copied_to = 0
    for at in range(len(folded) - _SENTENCE + 1):
        earlier = starts.setdefault(hash(tuple(folded[at : at + _SENTENCE])), at)
        if at < copied_to or earlier + _SENTENCE > at:
            continue
        length = _shared(folded, earlier, at=at)
        sentence = _is_sentence(form, at, length=length)
        if length >= _PASSAGE or sentence:
            copied_to = at + length
            yield form.mark(
                form.words[at].start,
                form.words[copied_to - 1].end,
                severity=4 if sentence else 3,
                category="repetition",
                explanation=f"These {length} words stood there before, in the same order.",
            )


def _shared(folded: Sequence[str], earlier: int, *, at: int) -> int:
    """Return how many words from `at` on are the same as from `earlier` on."""
    length = 0
    while (
        at + length < len(folded)
        and earlier + length < at
        and folded[earlier + length] == folded[at + length]
    ):
        length += 1
    return length


def _is_sentence(form: FormText, at: int, *, length: int) -> bool:
    """Say whether the words are a sentence of their own: stops on both sides."""
    if length < _SENTENCE:
        return False
    start, end = form.words[at].start, form.words[at + length - 1].end
    before = form.text[max(0, start - 3) : start].rstrip(" \"'“‘`")
    after = form.text[end : end + 3].lstrip()
    return before[-1:] in {".", "!", "?", "\n"} and after[:1] in {".", "!", "?"}
