"""The inputs as one source, indexed to look up whether it supports a word, a number or a join."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from math import isinf
from typing import NamedTuple

from spanjury.judges.core import Evidence
from spanjury.judges.rules.dates import dates
from spanjury.judges.rules.quantities import compounds, other_readings
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.lexicon import FUNCTION_WORDS
from spanjury.judges.text.numbers import ORDINALS, numbers
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import STEMS, stem
from spanjury.judges.text.words import HUMP, folded_words

_BETWEEN = "\n\n"  # two inputs

_NEIGHBOURS = 16  # number of neighbours on either side of a number

_PREFIX = 5  # letters that a derived word shares with its origin, such as legal and legalise

_CAMEL = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")

_FULL_STOP = "|"  # not a word, so that no number is read across sentences

_LETTERS = ":"  # sorts after digits and before letters

SENTENCES = 4096  # maximum distinct sentence numbers; longer texts reuse them to bound memory

_PROSE = 0.15  # minimum share of function words in a source of sentences

_SHORT = 20  # words below which that share means nothing

_MARKUP = ("[", "{", "|", "=", "<", "_", '":')

_DENSE = 8  # minimum words per markup character in a source of sentences

SHORT = 1500
"""Number of words up to which searching a text is faster than building sets of its sequences."""

_SIGNS = "".join(map(chr, range(1, 4 * SHORT)))

_UNKNOWN = "\0"  # placeholder for every word that the source lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The inputs of a segment as one text.

    Parameters
    ----------
    text
        All inputs, separated by empty lines.
    headers
        Their names, in order.
    starts
        Offset at which each begins in `text`.
    """

    text: str
    headers: Sequence[str]
    starts: Sequence[int]

    @property
    def _ends(self) -> Sequence[int]:
        return (*(start - len(_BETWEEN) for start in self.starts[1:]), len(self.text))

    @property
    def inputs(self) -> Mapping[str, str]:
        """The inputs, header -> text."""
        texts = map(slice, self.starts, self._ends)
        return {header: self.text[part] for header, part in zip(self.headers, texts, strict=True)}

    def evidence(self, start: int, end: int) -> Evidence:
        """Return the passage ``text[start:end]``, up to the end of its input, as evidence."""
        at = bisect_right(self.starts, start) - 1
        offset, end = self.starts[at], min(end, self._ends[at])
        return Evidence(
            input=self.headers[at],
            start=start - offset,
            end=end - offset,
            text=self.text[start:end],
        )


def join_inputs(inputs: Mapping[str, str]) -> Source:
    """Join `inputs`, header -> text, in order."""
    starts: list[int] = []
    length = 0
    for text in inputs.values():
        starts.append(length)
        length += len(text) + len(_BETWEEN)
    return Source(text=_BETWEEN.join(inputs.values()), headers=[*inputs], starts=starts)


class SourceText(NamedTuple):
    """A text with its sentences.

    Parameters
    ----------
    intervals
        Half-open offsets of its sentences.
    folded
        The folded words of each sentence.
    """

    text: str
    intervals: Sequence[tuple[int, int]]
    folded: Sequence[Sequence[str]]


def _cut(text: str) -> SourceText:
    intervals = [*sentence_intervals(text)]
    return SourceText(text, intervals, [folded_words(text[start:end]) for start, end in intervals])


cut_source = KeptByText(_cut)
"""Split a source into sentences and words; takes time and memory linear in its length."""


class Sequences:
    """The pairs and triples of words of a source.

    Each of its words is mapped to a character, so that the source is a string in which adjacent
    words are found by a substring search: the string is built at once, and takes little memory. The
    search takes time linear in the source, so a long source has sets of hashes instead.

    Parameters
    ----------
    signs
        The character of each of `words`; None for a long source.
    """

    __slots__ = ("_hashes", "_signs", "_text")

    def __init__(self, words: Sequence[str], *, signs: Mapping[str, str] | None) -> None:
        self._signs = signs or {}
        self._text = "".join(map(self._signs.__getitem__, words)) if signs is not None else ""
        self._hashes = (
            {size: frozenset(_hashed(words, size)) for size in (2, 3)} if signs is None else {}
        )

    def held(self, words: Sequence[str], *, size: int) -> list[bool]:
        """Return for each `size` consecutive words, 2 or 3, whether the source contains them."""
        if self._hashes:
            return [*map(self._hashes[size].__contains__, _hashed(words, size))]
        signs, text = "".join([self._signs.get(word, _UNKNOWN) for word in words]), self._text
        return [signs[at : at + size] in text for at in range(len(signs) - size + 1)]


class SourceIndex:
    """Index of a source: its words, numbers and names.

    Parts that only some texts need are indexed on first use.

    Parameters
    ----------
    source
        The words to index.
    text
        The source itself, if it differs from the text of `source`.

    Attributes
    ----------
    where
        Stem of each word -> the sentences that contain it, one bit each; 0 for a function word, and
        for a word that the source implies but does not contain.
    prose
        Whether it consists of sentences, or else of data: a table, triples, JSON.
    """

    def __init__(self, source: SourceText, *, text: str | None = None) -> None:
        self.text = source.text if text is None else text
        self._source = source
        self._stems = [[*map(STEMS.__getitem__, folded)] for folded in source.folded]
        self._content = [
            [stemmed for stemmed in stems if stemmed not in FUNCTION_WORDS] for stems in self._stems
        ]
        self.where: Mapping[str, int] = _where(self._stems, self._content, source)
        size, content = sum(map(len, self._stems)), sum(map(len, self._content))
        self.prose = _is_prose(source.text, size=size, functional=size - content)
        self._signs = signs_of(self.where) if size <= SHORT else None

    @cached_property
    def sequences(self) -> Sequences:
        """The sequences of stems."""
        return Sequences([*chain.from_iterable(self._stems)], signs=self._signs)

    @cached_property
    def content_sequences(self) -> Sequences:
        """The sequences of stems without function words."""
        return Sequences([*chain.from_iterable(self._content)], signs=self._signs)

    @cached_property
    def prefixes(self) -> AbstractSet[str]:
        """The first five letters of each stem that has at least five."""
        return {stemmed[:_PREFIX] for stemmed in self.where if len(stemmed) >= _PREFIX}

    @cached_property
    def values(self) -> Sequence[float]:
        """The numbers it states, including each numeral alone, ascending."""
        words = [word for folded in self._source.folded for word in (*folded, _FULL_STOP)]
        return sorted({*_values(words), *other_readings(self._source.text)})

    @cached_property
    def ordinals(self) -> AbstractSet[float]:
        """The positions that its ordinals name."""
        return {float(ORDINALS[word]) for word in ORDINALS.keys() & self.where.keys()}

    def knows(self, stemmed: str) -> bool:
        """Return whether the source has a word with this stem, or one derived from it."""
        return stemmed in self.where or (
            len(stemmed) >= _PREFIX and stemmed[:_PREFIX] in self.prefixes
        )

    def in_one_sentence(self, left: str, right: str) -> bool:
        """Return whether two stems occur in one sentence of the source."""
        return bool(self.where.get(left, 0) & self.where.get(right, 0))

    def states(self, value: float) -> bool:
        """Return whether the source states the number `value`."""
        return self.nearest(value) == value

    def near(self, value: float, *, share: float) -> Sequence[float]:
        """Return the nearest of its numbers within a relative distance of `share` from `value`."""
        at = bisect_left(self.values, value)
        around = self.values[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]
        return [number for number in around if abs(number - value) <= share * abs(value)]

    def nearest(self, value: float) -> float | None:
        """Return the number of the source nearest to `value`, or None if it has none."""
        at = bisect_left(self.values, value)
        around = self.values[max(0, at - 1) : at + 1]
        return min(around, key=lambda number: abs(number - value), default=None)


def _indexed(text: str) -> SourceIndex:
    index = SourceIndex(cut_source(text))
    if not index.prose and _CAMEL.search(text):
        humps = _CAMEL.sub(lambda identifier: HUMP.sub(" ", identifier.group()), text)
        return SourceIndex(cut_source(f"{text}\n\n{humps}"), text=text)
    return index


index_source = KeptByText(_indexed)
"""Index a text; takes time and memory linear in its length.

In data, the words within identifiers are indexed, too: ``leaderName``, ``eat_type``."""


def _where(
    stems: Sequence[Sequence[str]], content: Sequence[Sequence[str]], source: SourceText
) -> dict[str, int]:
    """Map each stem to its sentences; add the words that dates in digits imply."""
    where = dict.fromkeys(chain.from_iterable(stems), 0)
    for number, stemmed in enumerate(content):
        sentence = 1 << number % SENTENCES
        for word in stemmed:
            where[word] |= sentence
    for start, end in _with_digits(source):
        for _, readings in dates(compounds(source.text[start:end])):
            for word in chain.from_iterable(readings):
                where.setdefault(stem(word), 0)
    return where


def _with_digits(source: SourceText) -> Iterator[tuple[int, int]]:
    """Yield the sentences with digits; no date continues from one into the next."""
    ascii_only = source.text.isascii()
    for interval, folded in zip(source.intervals, source.folded, strict=True):
        if not ascii_only or min(folded, default=_LETTERS) < _LETTERS:  # numerals sort first
            yield interval


def _is_prose(text: str, *, size: int, functional: int) -> bool:
    """Return whether a text consists of sentences, by its function words and its markup."""
    if sum(map(text.count, _MARKUP)) * _DENSE > size:
        return False
    return size < _SHORT or functional >= _PROSE * size


def _values(folded: Sequence[str]) -> Iterator[float]:
    """Yield the finite numbers that words state, and the value of each numeral alone."""
    for number in numbers(folded):
        if not isinf(number.value):
            yield number.value
        if number.stop > number.first + 1 and not number.spelled:
            yield float(folded[number.first])


def signs_of(words: Collection[str]) -> dict[str, str] | None:
    """Map each distinct word to a character; None if there are too many words."""
    return dict(zip(words, _SIGNS, strict=False)) if len(words) <= len(_SIGNS) else None


def _hashed(words: Sequence[str], size: int) -> Iterator[int]:
    """Yield the hash of each `size` consecutive words; sets of hashes are small and fast."""
    if size == 2:  # noqa: PLR2004
        return map(hash, pairwise(words))
    return map(hash, zip(words, words[1:], words[2:], strict=False))
