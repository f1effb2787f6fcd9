"""A text prepared for the checks of its form."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from spanjury.judges.core import ErrorSpan, Located
from spanjury.judges.text.languages import not_english
from spanjury.judges.text.non_answers import coded
from spanjury.judges.text.sentences import Sentence, sentences
from spanjury.judges.text.words import Word, words

_STYLE = 0.5  # share from which a habit is the style of the text rather than a slip
_TOKENISED = 0.8  # share of marks after a space from which this is the style
_STOP = re.compile(r"[.,](?=\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormText:
    """A text with its words and sentences, and the habits of its writing.

    Parameters
    ----------
    tokenised
        Whether it has spaces before punctuation throughout, like data for parsers.
    capitals
        Whether at most half of its sentences begin in lower case.
    unread
        Why it cannot be read, a clause such as ``"the output is German"``; empty for English.
    is_whole
        Whether it is complete, from its first word to its end.
    """

    text: str
    words: Sequence[Word]
    sentences: Sequence[Sentence]
    tokenised: bool
    capitals: bool
    unread: str = ""
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

    def marks(
        self,
        pattern: re.Pattern[str],
        *,
        severity: int,
        category: str,
        explanation: str | Callable[[re.Match[str]], str],
    ) -> Iterator[ErrorSpan]:
        """Yield an error span for each match of `pattern`, unless its explanation is empty."""
        for match in pattern.finditer(self.text):
            why = explanation if isinstance(explanation, str) else explanation(match)
            if why:
                yield self.mark(
                    *match.span(), severity=severity, category=category, explanation=why
                )

    def between(self, left: Word, right: Word) -> str:
        """Return the text between two words."""
        return self.text[left.end : right.start]


def read_form(text: str, *, is_whole: bool = True) -> FormText:
    """Split `text` and determine its habits; a part of a text may end anywhere."""
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
        unread=coded(text) or not_english(text, name="output"),
        is_whole=is_whole,
    )
