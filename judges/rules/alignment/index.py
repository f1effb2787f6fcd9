"""The sentences of a source, by the words they hold."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.lexicon import LIGHT
from spanjury.judges.rules.alignment.opposites import NEGATIVE_FORMS
from spanjury.judges.rules.alignment.record import records
from spanjury.judges.rules.numbers import numbers
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.words import folded_words

_LONGEST = 800  # code points of a sentence that is compared as a whole
_TURN = re.compile(r"\n(?=[^\n:]{1,40}: )|</s>\s*")
_ENDS = " \n.!?"
_SEAM = re.compile(r"[\n;]\s*|\s+")
_PROSE = 8  # blanks in a value that is no sentence
_POSTINGS = 64  # sentences kept for a word; rarer words tell more anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """The sentences of one input.

    Parameters
    ----------
    intervals
        Half-open offsets of each.
    where
        Key of a word -> numbers of sentences that hold it.
    values
        The numbers it states.
    copies
        Hashes of the sentences as `bare` writes them: sets of them are small and quickly made.
    """

    text: str
    intervals: Sequence[tuple[int, int]]
    where: Mapping[str, Sequence[int]]
    values: AbstractSet[float]
    copies: AbstractSet[int]

    def holds(self, sentence: str, keys: Sequence[str]) -> bool:
        """Whether a sentence with such keys stands word for word in a longer one."""
        held = min((self.where.get(name, ()) for name in keys), key=len, default=())
        sought = bare(sentence)
        return any(sought in self.text[slice(*self.intervals[at])].lower() for at in held)

    def nearest(self, keys: Sequence[str], *, limit: int) -> list[tuple[int, int]]:
        """Return how many of `keys` a sentence holds, and its number, the most first."""
        votes: Counter[int] = Counter()
        for name in keys:
            votes.update(self.where.get(name, ()))
        return [(count, number) for number, count in votes.most_common(limit)]


@lru_cache(maxsize=16)  # the aspects and systems that share a source come one after another
def index_sentences(text: str) -> Sentences:
    """Index `text`; takes time and memory in proportion to its length."""
    fields = [
        field
        for record in records(text).records
        for field in record.fields
        if field.value.count(" ") < _PROSE
    ]
    starts = sorted(field.start for field in fields)
    intervals = [
        (start, end)
        for start, end in pieces(text)
        if bisect_left(starts, start) == bisect_left(starts, end)
    ]
    where: dict[str, list[int]] = {}
    values: set[float] = set()
    for number, (start, end) in enumerate(intervals):
        folded = folded_words(text[start:end])
        values.update(number.value for number in numbers(folded))
        for name in set(folded) - LIGHT:
            held = where.setdefault(key(NEGATIVE_FORMS.get(name, name)), [])
            if len(held) < _POSTINGS:
                held.append(number)
    return Sentences(
        text=text,
        intervals=intervals,
        where=where,
        values=values,
        copies={hash(bare(text[start:end])) for start, end in intervals},
    )


def bare(sentence: str) -> str:
    """Return a sentence in lower case, without what ends it."""
    return sentence.strip(_ENDS).lower()


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of `text`, cut at turns of speakers; those that are too long in parts."""
    for first, last in sentence_intervals(text):
        start = first
        for turn in _TURN.finditer(text, first, last):
            yield from _parts(text, start, turn.start())
            start = turn.end()
        yield from _parts(text, start, last)


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what is not too long whole, or else in parts."""
    while end - begin > _LONGEST:
        cut = _cut(text, begin)
        yield begin, cut
        begin = cut
    if text[begin:end].strip():
        yield begin, end


def _cut(text: str, begin: int) -> int:
    """Find where to cut what is too long: behind a line or a clause, else between words."""
    best = begin + _LONGEST
    for match in _SEAM.finditer(text, begin + _LONGEST // 2, begin + _LONGEST):
        best = match.end()
        if match.group()[0] in "\n;":
            break
    return best
