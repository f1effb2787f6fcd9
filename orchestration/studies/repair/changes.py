"""Changes: what a repair did to planted damage, and to the words that were right.

Texts are compared word by word with the clean text, whoever repaired them and however, so that a
rewriting and the deletion of spans are measured alike.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.judges.text.words import words
from spanjury.perturbations.edits import Damage, Edit, edits_between

_HALF = 0.5
_FACT = re.compile(r"\d|^\w*[A-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The work of a repair on one text.

    Parameters
    ----------
    planted
        Places of planted damage, word by word.
    removed
        Of these, those where at most half of the wrong words still stand, or something stands
        in place of what was left out.
    restored
        Of these, those that read as the clean text does.
    words
        Words of the clean text that the damage left as they were.
    changed
        Of these, those that the repair changed or left out.
    added
        Words put in apart from planted damage.
    """

    planted: int
    removed: int
    restored: int
    words: int
    changed: int
    added: int


def changes(clean: str, damaged: str, repaired: str) -> Changes:
    """Compare a repaired text with the clean one, and with what was damaged of it.

    Examples
    --------
    >>> done = changes("It opened in May.", "It opened in June.", "It began in May.")
    >>> done.planted, done.restored, done.words, done.changed
    (1, 1, 3, 1)
    """
    was, now = edits_between(clean, damaged), edits_between(clean, repaired)
    intervals = [(edit.start, edit.end) for edit in was]
    outcomes = [_outcome(interval, was, now) for interval in intervals]
    right = [
        (word.start, word.end)
        for word in words(clean)
        if not any(_covers(edit, word.start, word.end) for edit in was)
    ]
    strange = [edit for edit in now if not any(_touches(edit, *interval) for interval in intervals)]
    return Changes(
        planted=len(intervals),
        removed=sum(removed for removed, _ in outcomes),
        restored=sum(restored for _, restored in outcomes),
        words=len(right),
        changed=sum(any(_covers(edit, *word) for edit in now) for word in right),
        added=sum(
            max(0, len(words(edit.text)) - len(words(clean[edit.start : edit.end])))
            for edit in strange
        ),
    )


def put_in(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Return the intervals of `after` that differ from `before` and are not empty."""
    intervals = Damage(clean=before, edits=edits_between(before, after)).places
    return tuple(interval for interval in intervals if interval[0] < interval[1])


def inventions(before: str, after: str, *, source: str) -> int:
    """Count names and numbers that were put into a text and stand neither in it nor in its source.

    Examples
    --------
    >>> inventions("It opened in 1935.", "It opened in 1936 in Ulm.", source="In 1932.")
    2
    """
    given = {word.folded for text in (before, source) for word in words(text)}
    return sum(
        bool(_FACT.search(word.text)) and word.folded not in given
        for start, end in put_in(before, after)
        for word in words(after[start:end])
    )


def _outcome(span: tuple[int, int], was: Sequence[Edit], now: Sequence[Edit]) -> tuple[bool, bool]:
    """Say whether planted damage is removed, and whether the clean text is restored."""
    left = [edit for edit in now if _touches(edit, *span)]
    if not left:
        return True, True
    planted = [edit for edit in was if _touches(edit, *span)]
    if left == planted:
        return False, False
    wrong = Counter(word.folded for edit in planted for word in words(edit.text))
    if not wrong:  # something was left out, and now something else stands there
        return any(words(edit.text) for edit in left), False
    standing = wrong & Counter(word.folded for edit in left for word in words(edit.text))
    return standing.total() <= _HALF * wrong.total(), False


def _touches(edit: Edit, start: int, end: int) -> bool:
    """Say whether an edit changes something in a place, or at one that is empty."""
    if edit.start == edit.end or start == end:
        return edit.start <= end and edit.end >= start
    return edit.start < end and edit.end > start


def _covers(edit: Edit, start: int, end: int) -> bool:
    return edit.start < end and edit.end > start
