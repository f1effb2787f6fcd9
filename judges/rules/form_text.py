"""A text as the checks of its form see it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spanjury.judges.core import ErrorSpan, Located
from spanjury.judges.text.sentences import Sentence, sentences
from spanjury.judges.text.words import Word, words

_STYLE = 0.5  # share from which a way of writing is the style of the text, no slip
_TOKENISED = 0.8  # share of marks after a blank from which that is no slip
_STOP = re.compile(r"[.,](?=\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormText:
    """A text, cut up, and the habits of its writing.

    Parameters
    ----------
    tokenised
        Whether it puts spaces before punctuation throughout, as data for parsers do.
    capitals
        Whether its sentences begin with a capital, but for a minority.
    is_whole
        Whether it has ended, and begins with its first word.
    """

    text: str
    words: Sequence[Word]
    sentences: Sequence[Sentence]
    tokenised: bool
    capitals: bool
    is_whole: bool = True

    def mark(
        self, start: int, end: int, *, severity: int, category: str, explanation: str
    ) -> ErrorSpan:
        """Return the error span from `start` to `end`."""
        return ErrorSpan(
            text=self.text[start:end],
            explanation=explanation,
            severity=severity,
            start=start,
            end=end,
            category=category,
            located=Located.EXACT,
        )

    def between(self, left: Word, right: Word) -> str:
        """Return what stands between two words."""
        return self.text[left.end : right.start]


def read_form(text: str, *, is_whole: bool = True) -> FormText:
    """Cut `text` up and find out its habits; a part of a text may end anywhere."""
    cut = sentences(text)
    stops = [text[match.start() - 1 : match.start()] for match in _STOP.finditer(text)]
    letters = [sentence.text[0] for sentence in cut if sentence.text[0].isalpha()]
    lower = sum(letter.islower() for letter in letters)
    return FormText(
        text=text,
        words=words(text),
        sentences=cut,
        tokenised=stops.count(" ") > _TOKENISED * len(stops),
        capitals=lower <= _STYLE * len(letters),
        is_whole=is_whole,
    )
