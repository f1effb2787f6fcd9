"""Checks that a model wrote the note that it was asked for.

Each returns what is wrong, as the model is told it, or an empty text. Whether a note sounds as
grave as it should, no check can tell.
"""

import re

from spanjury.judges.text import folded_words

__all__ = ["check_note", "check_rewording"]

_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very |so )?(?:sorry|afraid|unable)|sorry\b|my apologies|i apologi[sz]e"
    r"|(?:unfortunately, )?i (?:can(?:['’]t|not| not)|won['’]t|will not|am unable to)"
    r" (?:assist|comply|continue|do|fulfil|generate|help|make|provide|re-?write|write)"
    r"|as an ai\b)",
    re.IGNORECASE,
)
# In the reply that a judge goes on from these would begin another part of it.
_FORM = re.compile(
    r"\b(?:error \d+|location|severity|overall score|explanation of the score)\s*:"
    r"|\b(?:severity|level)(?: level)?(?: of)? [1-5]\b",
    re.IGNORECASE,
)
_LONGEST = 1200  # characters of a note
_LONGER = 3  # times as long as before, and so much more:
_SPARE = 200
_BLANKLESS = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")  # one is as good as a word
_FUNCTION_WORD = 3  # letters; longer words say what a note is about


def check_note(note: str) -> str:
    """Check that there is nothing but a note."""
    if _REFUSAL.match(note):
        return "that is a refusal"
    if form := _FORM.search(note):
        return f"{form.group()!r} does not belong into a note"
    return "that is too long" if len(note) > _LONGEST else ""


def check_rewording(note: str, *, before: str, quote: str) -> str:
    """Check that `note` is the note `before` on the passage `quote` in other words."""
    if problem := check_note(note):
        return problem
    if folded_words(note) == folded_words(before):
        return "the note is the same as before"
    if len(note) > _LONGER * len(before) + _SPARE:
        return "that is much longer than the note was"
    topic = _topic(f"{before} {quote}")
    if topic and not topic & _topic(note):
        return "that has nothing to do with the passage"
    return ""


def _topic(text: str) -> set[str]:
    """Return the words of `text` that say what it is about."""
    words = {word for word in folded_words(text) if len(word) > _FUNCTION_WORD}
    return words | set(_BLANKLESS.findall(text))
