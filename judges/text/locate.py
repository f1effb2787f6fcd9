"""Find the words that a judge quotes in the text that it judged.

A `Locator` tries three methods in turn: the literal quote; the quote up to spelling, through the
map of `spanjury.judges.text.fold`, so that offsets are code points of the text and never of a
changed copy of it; and the most similar passage. A quote that no method finds is not in the text.
No quote and no text makes it raise an error.

The third method compares a short quote with every window of the text (rapidfuzz, bit-parallel).
That would be slow for a long quote: the n-grams that it shares with the text vote for its position,
and only its two ends are compared, near the positions with most votes. Every step is bounded, so
that time grows linearly with the lengths of text and quote. After very many quotes have been
compared with the whole text, n-grams select the positions for short quotes, too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from spanjury.judges.core import ErrorSpan, Located
from spanjury.judges.core.lazy import lazily
from spanjury.judges.text.fold import Folded, fold, fold_with_map
from spanjury.judges.text.words import joined, stands_alone

with lazily():
    import rapidfuzz


_Interval = tuple[int, int]

_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.(?: ?\.){1,5})[\])]?")
_WRAPPING = "'*"  # in folded text: quotation marks, backticks, emphasis
_PUNCTUATION = "'*.,;:!?-()[]{}<> "
_MAX_OCCURRENCES = 200


MIN_SIMILARITY = 0.8
"""Minimum share of characters, ``2 * common / (len(quote) + len(passage))``, that a quote
and its passage have in common in the same order."""

_MIN_LENGTH = 5  # in four characters or fewer, three in common mean nothing
_SHORT = 64  # characters that rapidfuzz compares in one machine word
_WINDOW_RATIO = 60  # percent: a window as long as the quote may contain only part of the passage
_END_RATIO = 75  # percent: an end of a long quote that fits worse is not in the text
_MARGIN = 16  # characters next to a window that may belong to the passage
_GAP_COST = 1.0  # cost of a character missing on one side, in characters in common
_LONGEST_WORD = 24  # a cut inside a longer string is not moved
_GRAM = 8
_STRIDE = 8  # the text indexes every eighth n-gram; a quote looks up eight consecutive ones
_MAX_OFFSETS = 4  # more frequent n-grams do not help to locate a quote
_MAX_GRAMS = 512  # per quote
_MAX_BANDS = 2  # candidate positions that are compared
_MIN_VOTES = 2
_MOST_READ = 2**22  # characters of the text, for all quotes together: 16 ms
_BLOCK = 512  # characters compared at once: bounds the quadratic part

_Seed = tuple[int, int]  # an n-gram's offset in the quote, and in the text


class Haystack:
    """A text prepared for finding misquoted passages in it.

    All intervals are half-open offsets in it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._read = 0

    def nearest(self, quote: str) -> _Interval | None:
        """Return the interval of the passage nearest to `quote`.

        None if no passage reaches `MIN_SIMILARITY`, or if the quote is too short to tell. The
        passage begins and ends with characters that the quote has, too. If that cuts a word, the
        word is included if most of it is shared, and otherwise left out.
        """
        if not _MIN_LENGTH <= len(quote) <= len(self.text) * (2 / MIN_SIMILARITY - 1):
            return None
        if len(quote) <= _SHORT:
            passage = self._anywhere(quote, ratio=_WINDOW_RATIO)
            return passage if passage and self._similar(quote, passage, seeds=[]) else None
        for seeds in self._bands(quote):
            passage = self._between_ends(quote, seeds)
            if passage and self._similar(quote, passage, seeds=seeds):
                return passage
        return None

    def _anywhere(self, quote: str, *, ratio: float) -> _Interval | None:
        """Return the interval of a short `quote`; after much reading, search only near its n-grams.

        This bound keeps the time for very many quotes from growing with their number times the
        length of the text.
        """
        if self._read < _MOST_READ:
            self._read += len(self.text)
            return self._compared(quote, within=(0, len(self.text)), ratio=ratio)
        votes = Counter(index - offset for offset, index in self._seeds(quote))
        for start, _ in votes.most_common(_MAX_BANDS):
            within = (start - _SHORT, start + len(quote) + _SHORT)
            if passage := self._compared(quote, within=within, ratio=ratio):
                return passage
        return None

    def _seeds(self, quote: str) -> list[_Seed]:
        """Return the indexed n-grams that `quote` shares with the text, as pairs of offsets."""
        grams = self._grams
        return [
            (offset, index)
            for offset in _sampled(len(quote) - _GRAM + 1)
            for index in grams.get(quote[offset : offset + _GRAM], ())
        ]

    def _compared(self, quote: str, *, within: _Interval, ratio: float) -> _Interval | None:
        """Return the interval of a short `quote` by comparing it with every window."""
        low, high = max(0, within[0]), min(len(self.text), within[1])
        if high - low > len(quote):
            window = rapidfuzz.fuzz.partial_ratio_alignment(
                quote, self.text[low:high], score_cutoff=ratio
            )
            if window is None:
                return None
            high = min(high, low + window.dest_end + _MARGIN)
            low = max(low, low + window.dest_start - _MARGIN)
        core = _core(quote, self.text[low:high])
        return self._whole_words(low + core[0], end=low + core[1]) if core else None

    def _whole_words(self, start: int, *, end: int) -> _Interval | None:
        """Move the ends of a passage to word boundaries."""
        word_start, word_end = self._word(start)
        if word_start < start < word_end:
            start = word_start if 2 * (word_end - start) > word_end - word_start else word_end
        word_start, word_end = self._word(end)
        if word_start < end < word_end:
            end = word_end if 2 * (end - word_start) > word_end - word_start else word_start
        while start < end and self.text[start] == " ":
            start += 1
        while start < end and self.text[end - 1] == " ":
            end -= 1
        return (start, end) if start < end else None

    def _word(self, index: int) -> _Interval:
        """Return the word that a cut before `index` splits, or ``(index, index)``."""
        start = end = index
        while 0 < start < len(self.text) and joined(self.text[start - 1], self.text[start]):
            start -= 1
            if index - start > _LONGEST_WORD:
                return index, index
        while 0 < end < len(self.text) and joined(self.text[end - 1], self.text[end]):
            end += 1
            if end - index > _LONGEST_WORD:
                return index, index
        return start, end

    @cached_property
    def _grams(self) -> dict[str, list[int]]:
        grams: dict[str, list[int]] = {}
        for index in range(0, len(self.text) - _GRAM + 1, _STRIDE):
            grams.setdefault(self.text[index : index + _GRAM], []).append(index)
        return {gram: indices for gram, indices in grams.items() if len(indices) <= _MAX_OFFSETS}

    def _bands(self, quote: str) -> Iterator[list[_Seed]]:
        """Yield groups of seeds that agree on where `quote` begins, largest first.

        For texts full of repetitions, the last group is the position most similar to the
        beginning of the quote.
        """
        seeds = self._seeds(quote)
        width = max(_MARGIN, len(quote) // 16)
        votes = Counter((index - offset) // width for offset, index in seeds)
        pairs = {band: votes[band] + votes[band + 1] for band in votes}
        enough = max(_MIN_VOTES, min(len(quote), _MAX_GRAMS) // (8 * _STRIDE))
        for band in sorted(pairs, key=lambda band: (-pairs[band], band))[:_MAX_BANDS]:
            if pairs[band] >= enough:
                yield [seed for seed in seeds if band <= (seed[1] - seed[0]) // width <= band + 1]
        head = self._anywhere(quote[:_SHORT], ratio=_END_RATIO)
        if head:
            yield [(0, head[0])]

    def _between_ends(self, quote: str, seeds: list[_Seed]) -> _Interval | None:
        """Return the interval from the beginning of a long quote to its end."""
        offset, index = seeds[len(seeds) // 2]
        slack = min(max(2 * _MARGIN, len(quote) // 4), 2 * _BLOCK)
        first, last = index - offset - slack, index - offset + len(quote) + slack
        reach = _SHORT + 2 * slack
        head = self._compared(quote[:_SHORT], within=(first, first + reach), ratio=_END_RATIO)
        tail = self._compared(quote[-_SHORT:], within=(last - reach, last), ratio=_END_RATIO)
        start = head[0] if head else seeds[0][1]
        end = tail[1] if tail else min(seeds[-1][1] + _GRAM, len(self.text))
        return self._whole_words(start, end=end) if start < end else None

    def _similar(self, quote: str, passage: _Interval, *, seeds: list[_Seed]) -> bool:
        """Return whether `quote` and the passage are similar enough.

        Both are cut at the seeds that match: the pieces never have more in common than the
        whole texts.
        """
        done_quote, (done, end) = 0, passage
        total = len(quote) + end - done
        common = 0
        for offset, index in [*seeds, (len(quote), end)]:
            ahead, onward = offset - done_quote, index - done
            if offset < len(quote) and (
                ahead < _BLOCK or not ahead <= 2 * onward <= 4 * ahead or index > end
            ):
                continue
            common += _common(quote[done_quote:offset], self.text[done:index])
            done_quote, done = offset, index
        return 2 * common >= MIN_SIMILARITY * total


def _sampled(count: int) -> Iterator[int]:
    """Yield at most `_MAX_GRAMS` of ``range(count)``, in runs of `_STRIDE`."""
    step = max(_STRIDE, -(-count * _STRIDE // _MAX_GRAMS))
    for first in range(0, count, step):
        yield from range(first, min(first + _STRIDE, count))


def _core(quote: str, window: str) -> _Interval | None:
    """Return the part of `window` that corresponds to `quote`, without strays around it."""
    core = _densest(quote, window)
    if core is None:
        return None
    (quote_start, start), (quote_end, end) = core
    # An alignment may take a stray character for the quote's first; look beside the core.
    while quote_start > 0 and start > 0 and quote[quote_start - 1] == window[start - 1]:
        quote_start, start = quote_start - 1, start - 1
    while quote_end < len(quote) and end < len(window) and quote[quote_end] == window[end]:
        quote_end, end = quote_end + 1, end + 1
    return start, end


def _densest(quote: str, window: str) -> tuple[_Seed, _Seed] | None:
    """Return start and end of the best-scoring run of an alignment's pieces (Kadane's algorithm).

    Stray characters before and after the passage cost more than they add.
    """
    core, start, best, score = None, (0, 0), 0.0, 0.0
    for piece in rapidfuzz.distance.LCSseq.opcodes(quote, window):
        if piece.tag == "equal":
            if score <= 0:
                score, start = 0.0, (piece.src_start, piece.dest_start)
            score += piece.dest_end - piece.dest_start
            if score > best:
                best, core = score, (start, (piece.src_end, piece.dest_end))
        else:
            lacking = piece.dest_end - piece.dest_start + piece.src_end - piece.src_start
            score -= _GAP_COST * lacking
    return core


def _common(left: str, right: str) -> int:
    """Return a lower bound of the number of characters that two strings have in common in order."""
    pieces = max(len(left), len(right)) // (2 * _BLOCK) + 1
    return sum(
        rapidfuzz.distance.LCSseq.similarity(
            left[len(left) * piece // pieces : len(left) * (piece + 1) // pieces],
            right[len(right) * piece // pieces : len(right) * (piece + 1) // pieces],
        )
        for piece in range(pieces)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedQuote:
    """Half-open offsets of a quote in code points of the text, and how it was located."""

    start: int
    end: int
    located: Located


class Locator:
    """Locates quotes in one text.

    It remembers the intervals that it returned: a repeated quote gets its next occurrence, or
    its last one again if there is no other. Occurrences that cut no word in two come first; others
    count only if there are no such occurrences. Only the first 200 occurrences are considered.

    Parameters
    ----------
    text
        The judged text; any string, including an empty one or one with lone surrogates.
    first
        Half-open offsets of parts of the text: occurrences in the first part come first, then
        those in the second, and so on. The others follow in the order of the text.

    Examples
    --------
    >>> Locator("He said “no”.").find("said 'No'")
    LocatedQuote(start=3, end=12, located=<Located.NORMALISED: 'normalised'>)
    """

    def __init__(self, text: str, *, first: Sequence[_Interval] = ()) -> None:
        self._text = text
        self._first = first
        self._given: set[_Interval] = set()

    def find(self, quote: str) -> LocatedQuote | None:
        """Return the interval of `quote`, or None if it is blank or not in the text."""
        if not quote or quote.isspace():
            return None
        start = self._text.find(quote)
        end = start + len(quote)
        if start >= 0 and self._text.find(quote, end) < 0:  # the usual case
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
        """Return the error span of `quote`, unlocated and with the quote as its text if not found.

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
        """Yield the result of each method in turn."""
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
        """Return the shortest interval that contains the parts around each ellipsis in order."""
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
        """Yield the code points of the intervals in the folded text that split no letter."""
        for start, end in intervals:
            if not self._folded.splits(start) and not self._folded.splits(end):
                yield self._folded.origin(start, end=end)

    def _chosen(self, occurrences: Iterator[_Interval]) -> _Interval | None:
        """Return the first interval not yet returned, else the last; whole words first."""
        last_whole = first_part = last_part = None
        considered = islice(occurrences, _MAX_OCCURRENCES)
        for interval in sorted(considered, key=self._rank) if self._first else considered:
            if stands_alone(self._text, interval[0], end=interval[1]):
                if interval not in self._given:
                    return interval
                last_whole = interval
            else:
                if first_part is None and interval not in self._given:
                    first_part = interval
                last_part = interval
        return last_whole or first_part or last_part

    def _rank(self, interval: _Interval) -> int:
        """Return the place of the first part that holds `interval`, in the order of `first`."""
        start, end = interval
        holding = (at for at, (low, high) in enumerate(self._first) if low <= start and end <= high)
        return next(holding, len(self._first))


def _occurrences(quote: str, *, text: str) -> Iterator[_Interval]:
    """Yield the non-overlapping occurrences of `quote` in `text`, in order."""
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + len(quote))


def _forms(quote: str, *, folded: str) -> Iterator[str]:
    """Yield the folded quote, then forms without marks that a judge may have added."""
    forms = [folded, folded.strip(_WRAPPING), folded.rstrip(_PUNCTUATION)]
    forms.append(folded.strip(_PUNCTUATION))
    if "*" in quote:
        forms.append(fold(quote.replace("*", "")).strip(_PUNCTUATION))
    yield from filter(None, dict.fromkeys(forms))
