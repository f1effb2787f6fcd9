"""The sentences of a source, indexed by their words."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from math import isinf

from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.lexicon import LIGHT
from spanjury.judges.rules.alignment.opposites import NEGATIVE_FORMS
from spanjury.judges.rules.alignment.record import records
from spanjury.judges.rules.alignment.tokens import Phrase, Token, labels, phrase
from spanjury.judges.rules.source_index import cut_source
from spanjury.judges.text.kept import KeptByText, KeptByWord
from spanjury.judges.text.numbers import numbers
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.words import folded_words

_LONGEST = 800  # maximum code points of a sentence that is compared as a whole
_TURN = re.compile(r"\n(?=[^\n:]{1,40}: )|</s>\s*")
_ENDS = " \n.!?"
_DENIAL = re.compile(r"(?:\bnot|\bnever|n't|\bcannot)\s$")
_WORD = re.compile(r"\w+")
_SEAM = re.compile(r"[\n;]\s*|\s+")
_PROSE = 8  # minimum spaces in a value that is a sentence
UNINDEXED = frozenset(("number", "month"))
"""Kinds of tokens that an index may lack: it has no numbers, and not the month "May"."""
_POSTINGS = 64  # maximum sentences indexed per word; rarer words are more informative


class Sentences:
    """The sentences of one input.

    Attributes
    ----------
    intervals
        Half-open offsets of each.
    copies
        Hashes of the sentences from `_copy_of`; sets of hashes are small and fast to build.
    """

    def __init__(
        self, text: str, *, intervals: Sequence[tuple[int, int]], folded: Sequence[Sequence[str]]
    ) -> None:
        self.text = text
        self.intervals = intervals
        self._folded = folded
        self.copies: AbstractSet[int] = {_copy_of(text[start:end]) for start, end in intervals}

    @cached_property
    def keys(self) -> Sequence[Sequence[str]]:
        """The keys of the distinct words and labels of each sentence; light ones have an empty key.

        Two words may share a key.
        """
        keys = [[*map(_SOUGHT.__getitem__, set(words))] for words in self._folded]
        for (start, end), held in zip(self.intervals, keys, strict=True):
            held += {letter for _, letter in labels(self.text[start:end])}
        return keys

    @cached_property
    def wording(self) -> str:
        """The words of the input, as `wording` returns them."""
        return wording(self.text)

    @cached_property
    def values(self) -> AbstractSet[float | str]:
        """The numbers that the input states; a version, which has no value, as a word."""
        return {
            folded[number.first] if isinf(number.value) else number.value
            for folded in self._folded
            for number in numbers(folded)
        }

    def search(self, names: AbstractSet[str]) -> "Search":
        """Find the sentences that contain any of the keys `names`, in one pass for all of them."""
        where: dict[str, list[int]] = {}
        for number, keys in enumerate(self.keys):
            if names.isdisjoint(keys):
                continue
            for name in [name for name in keys if name in names]:
                held = where.setdefault(name, [])
                if len(held) < _POSTINGS:
                    held.append(number)
        return Search(source=self, where=where)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """The sentences of one input that contain certain words.

    Parameters
    ----------
    where
        Key of each such word -> indices of the sentences that contain it.
    """

    source: Sentences
    where: Mapping[str, Sequence[int]]

    def states(self, token: Token) -> bool:
        """Return whether any sentence has `token`, a word that was searched for or a number."""
        if token.kind == "number":
            value = token.key.lstrip("#") if isinf(token.value) else token.value
            return value in self.source.values
        return token.key in self.where

    def holds(self, sentence: str, keys: Sequence[str]) -> bool:
        """Return whether a sentence with these keys occurs verbatim within a longer one.

        An occurrence directly after a denial does not count, such as ``do not`` before a command.
        """
        held = min((self.where.get(name, ()) for name in keys), key=len, default=())
        sought = bare(sentence)
        text, intervals = self.source.text, self.source.intervals
        for at in held:
            before, words, _ = text[slice(*intervals[at])].lower().partition(sought)
            if words and not _DENIAL.search(before):
                return True
        return False

    def nearest(
        self, keys: Sequence[str], *, least: float, limit: int
    ) -> Iterator[tuple[int, Phrase]]:
        """Yield the sentences with at least `least` of `keys`, most first, and their offsets."""
        votes: Counter[int] = Counter()
        for name in keys:
            if name in self.where:
                votes.update(self.where[name])
        enough = [number for number, count in votes.items() if count >= least]
        for number in sorted(enough, key=votes.__getitem__, reverse=True)[:limit]:
            start, end = self.source.intervals[number]
            yield start, phrase(self.source.text[start:end])

    def after(self, start: int) -> Phrase | None:
        """Return the sentence after that at the offset `start`, if any."""
        number = bisect_left(self.source.intervals, (start,)) + 1
        if number >= len(self.source.intervals):
            return None
        return phrase(self.source.text[slice(*self.source.intervals[number])])


def _indexed(text: str) -> Sentences:
    cut = cut_source(text)
    starts = sorted(  # of the fields of records that are not sentences
        field.start
        for record in records(text).records
        for field in record.fields
        if field.value.count(" ") < _PROSE
    )
    folded = dict(zip(cut.intervals, cut.folded, strict=True))
    intervals = [
        (start, end)
        for start, end in _pieces(text, cut.intervals)
        if not starts or bisect_left(starts, start) == bisect_left(starts, end)
    ]
    return Sentences(
        text,
        intervals=intervals,
        folded=[
            folded[interval] if interval in folded else folded_words(text[slice(*interval)])
            for interval in intervals
        ],
    )


index_sentences = KeptByText(_indexed)
"""Index a text; takes time and memory linear in its length."""


def _sought(word: str) -> str:
    """Return the search key of a word; empty for a light word."""
    return "" if word in LIGHT else key(NEGATIVE_FORMS.get(word, word))


_SOUGHT = KeptByWord(_sought)


def wording(text: str) -> str:
    """Return the words of `text` in lower case, each between two spaces."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def bare(sentence: str) -> str:
    """Return a sentence in lower case, without its final punctuation."""
    return sentence.strip(_ENDS).lower()


def _copy_of(sentence: str) -> int:
    """Return a hash that is equal for copies of a sentence."""
    return hash(bare(" ".join(sentence.split())))


def searched(output: str, inputs: Mapping[str, str]) -> tuple[dict[int, Phrase], dict[str, Search]]:
    """Return the sentences of `output` that are no copies, by offset, and searches for their words.

    A copy is in an input verbatim, up to the width of white space. The searches are by the name of
    the input; there are none if no sentence has a word.
    """
    sources = {name: index_sentences(text) for name, text in inputs.items() if text.strip()}
    copies = [source.copies for source in sources.values()]
    sentences = ((start, output[start:end]) for start, end in pieces(output))
    hashed = ((start, text, _copy_of(text)) for start, text in sentences)
    own = {
        start: phrase(text)
        for start, text, copy in hashed
        if not any(copy in held for held in copies)
    }
    sought = {key for sentence in own.values() for key in sentence.keys}
    return own, {name: source.search(sought) for name, source in sources.items() if sought}


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of `text`, split at turns of speakers; long ones in parts."""
    return _pieces(text, sentence_intervals(text))


def phrases(text: str) -> Iterator[tuple[int, Phrase]]:
    """Yield the `pieces` of `text` as tokens, with their offsets."""
    return ((start, phrase(text[start:end])) for start, end in pieces(text))


def between(text: str, seams: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the parts of `text` between its `seams`."""
    start = 0
    for seam in seams.finditer(text):
        yield start, seam.start()
        start = seam.end()
    yield start, len(text)


def _pieces(text: str, sentences: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    turns = "\n" in text or "</s>" in text
    for first, last in sentences:
        if not turns and last - first <= _LONGEST:
            yield first, last
            continue
        start = first
        for turn in _TURN.finditer(text, first, last):
            yield from _parts(text, start, turn.start())
            start = turn.end()
        yield from _parts(text, start, last)


def _parts(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield an interval whole, or in parts if it is too long."""
    while end - begin > _LONGEST:
        cut = _cut(text, begin)
        yield begin, cut
        begin = cut
    if text[begin:end].strip():
        yield begin, end


def _cut(text: str, begin: int) -> int:
    """Return where to cut a long interval: after a line or a clause, else between words."""
    best = begin + _LONGEST
    for match in _SEAM.finditer(text, begin + _LONGEST // 2, begin + _LONGEST):
        best = match.end()
        if match.group()[0] in "\n;":
            break
    return best
