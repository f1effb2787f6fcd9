"""Find the words that a judge quotes in the text that it judged.

A `Locator` tries three methods in turn: the quote as it stands; the quote up to spelling,
through the map of `spanjury.judges.text.fold`, so that offsets are code points of the text
and never of a changed copy of it; and the passage most similar to it. What none of them
finds is not in the text. No quote and no text makes it raise.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from spanjury.judges.core import ErrorSpan, Located
from spanjury.judges.text.approximate import Haystack
from spanjury.judges.text.fold import Folded, fold, fold_with_map
from spanjury.judges.text.words import stands_alone

_Interval = tuple[int, int]

_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.(?: ?\.){1,5})[\])]?")
_WRAPPING = "'*"  # in folded text: quotation marks, backticks, emphasis
_PUNCTUATION = "'*.,;:!?-()[]{}<> "
_MAX_OCCURRENCES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedQuote:
    """Half-open offsets of a quote in code points of the text, and how it was found."""

    start: int
    end: int
    located: Located


class Locator:
    """Find quotes in one text.

    It remembers the places that it gave out: a quote asked for again gets its next
    occurrence, and its last once more when there is no other. Occurrences that cut no
    word in two come first; those that do count only where there are no others. Of very
    many occurrences (above 200) only the first are looked at.

    Parameters
    ----------
    text
        The judged text; any string, also an empty one or one with lone surrogates.

    Examples
    --------
    >>> Locator("He said “no”.").find("said 'No'")
    LocatedQuote(start=3, end=12, located=<Located.NORMALISED: 'normalised'>)
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._given: set[_Interval] = set()

    def find(self, quote: str) -> LocatedQuote | None:
        """Return the place of `quote`, or None if it is blank or not in the text."""
        if not quote or quote.isspace():
            return None
        start = self._text.find(quote)
        end = start + len(quote)
        if start >= 0 and self._text.find(quote, end) < 0:  # as it nearly always stands
            self._given.add((start, end))
            return LocatedQuote(start=start, end=end, located=Located.EXACT)
        for located, interval in self._methods(quote):
            if interval:
                self._given.add(interval)
                return LocatedQuote(start=interval[0], end=interval[1], located=located)
        return None

    def span(
        self, *, quote: str, explanation: str, severity: int | None, category: str = ""
    ) -> ErrorSpan:
        """Return the error span of `quote`; unlocated, with the quote as its text, if need be.

        Raises `ValueError` if the severity is out of range.
        """
        passage = self.find(quote)
        if passage is None:
            text = "" if quote.isspace() else quote
            return ErrorSpan(
                text=text, explanation=explanation, severity=severity, category=category
            )
        return ErrorSpan(
            text=self._text[passage.start : passage.end],
            start=passage.start,
            end=passage.end,
            explanation=explanation,
            severity=severity,
            category=category,
            located=passage.located,
        )

    @cached_property
    def _folded(self) -> Folded:
        return fold_with_map(self._text)

    @cached_property
    def _haystack(self) -> Haystack:
        return Haystack(self._folded.text)

    def _methods(self, quote: str) -> Iterator[tuple[Located, _Interval | None]]:
        """Yield what each method finds, one after the other."""
        yield Located.EXACT, self._chosen(_occurrences(quote, text=self._text))
        folded = fold(quote)
        yield Located.NORMALISED, self._normalised(quote, folded=folded)
        yield Located.FUZZY, self._fuzzy(folded)

    def _normalised(self, quote: str, *, folded: str) -> _Interval | None:
        for form in _forms(quote, folded=folded):
            interval = self._chosen(self._unfolded(_occurrences(form, text=self._folded.text)))
            if interval:
                return interval
        return self._elided(quote) if _ELLIPSIS.search(quote) else None

    def _elided(self, quote: str) -> _Interval | None:
        """Return the shortest stretch that holds the parts around each ellipsis in order."""
        parts = [fold(part).strip(_PUNCTUATION) for part in _ELLIPSIS.split(quote)]
        parts = [part for part in parts if part]
        if len(parts) < 2:  # noqa: PLR2004
            return None
        text = self._folded.text
        end = 0
        for part in parts:
            end = text.find(part, end) + len(part)
            if end < len(part):
                return None
        start = end
        for part in reversed(parts):
            start = text.rfind(part, 0, start)
        interval = next(self._unfolded(iter([(start, end)])), None)
        if interval and stands_alone(self._text, interval[0], end=interval[1]):
            return interval
        return None

    def _fuzzy(self, folded: str) -> _Interval | None:
        passage = self._haystack.nearest(folded.strip(_WRAPPING))
        if passage is None:
            return None
        start, end = passage
        while self._folded.splits(start):
            start -= 1
        while self._folded.splits(end):
            end += 1
        return self._folded.origin(start, end=end)

    def _unfolded(self, intervals: Iterator[_Interval]) -> Iterator[_Interval]:
        """Yield the code points of those places in the folded text that split none."""
        for start, end in intervals:
            if not self._folded.splits(start) and not self._folded.splits(end):
                yield self._folded.origin(start, end=end)

    def _chosen(self, occurrences: Iterator[_Interval]) -> _Interval | None:
        """Return the first occurrence not given out yet, else the last; whole words first."""
        last_whole = first_part = last_part = None
        for interval in islice(occurrences, _MAX_OCCURRENCES):
            if stands_alone(self._text, interval[0], end=interval[1]):
                if interval not in self._given:
                    return interval
                last_whole = interval
            else:
                if first_part is None and interval not in self._given:
                    first_part = interval
                last_part = interval
        return last_whole or first_part or last_part


def _occurrences(quote: str, *, text: str) -> Iterator[_Interval]:
    """Yield the places of `quote` in `text` that do not overlap, in order."""
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + len(quote))


def _forms(quote: str, *, folded: str) -> Iterator[str]:
    """Yield the folded quote, then without what a judge may have put around or into it."""
    forms = [folded, folded.strip(_WRAPPING), folded.rstrip(_PUNCTUATION)]
    forms.append(folded.strip(_PUNCTUATION))
    if "*" in quote:
        forms.append(fold(quote.replace("*", "")).strip(_PUNCTUATION))
    yield from filter(None, dict.fromkeys(forms))
