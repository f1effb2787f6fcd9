"""Windows: each sentence of an output beside the passages of its source that matter to it.

Which passages matter is decided by the words that they share with the sentence, the rarer in the
source the weightier, and each word counts once: a second passage is taken for what the first does
not say. Every word gets a *kind*, its lexical relation to the other side, which spares the encoder
to learn what can be counted: is it copied, does it stand elsewhere, or nowhere?
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from spanjury.judges.checker.cutting import (
    SourceSentence,
    StemIndex,
    source_intervals,
    stem_index,
)
from spanjury.judges.core import ROOM, JudgeError, Likelihoods, Window, WindowReader, WindowReading
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.tokens import TURNS, Token, is_negation, tokens
from spanjury.judges.text.words import folded_words

_FIRST = 3  # words that are looked up at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """The folded words of a source, blanks around each.

    Parameters
    ----------
    begins
        Where its sentences begin in it.
    places
        The first words of a stretch -> where they stand first.
    """

    text: str
    begins: list[int]
    offsets: Mapping[int, int] = field(repr=False)

    def holds(self, sentence: str) -> bool:
        """Say whether the words of `sentence` stand in the source side by side, meaning the same.

        A sentence without words is a copy.
        """
        folded = folded_words(sentence)
        begin = self.offsets.get(_key(folded[:_FIRST])) if len(folded) >= _FIRST else 0
        if begin is None:
            return False
        start = self.text.find(f" {' '.join(folded)} ", begin) if folded else 0
        return start >= 0 and not self._turned(start)

    def _turned(self, start: int) -> bool:
        begin = self.begins[bisect_right(self.begins, start) - 1] if self.begins else 0
        return not TURNS.isdisjoint(self.text[begin:start].split())


def copies_of(inputs: Mapping[str, str]) -> Copies:
    """Index the inputs; systems that share them share the work."""
    return _copies(tuple(inputs.values()))


@lru_cache(maxsize=8)  # the systems that share a source come one after another
def _copies(texts: tuple[str, ...]) -> Copies:
    parts: list[str] = []
    begins: list[int] = []
    offsets: dict[int, int] = {}
    length = 0
    for text in texts:
        words: list[str] = []
        at: list[int] = []
        for start, end in sentence_intervals(text):
            begins.append(length)
            for word in folded_words(text[start:end]):
                words.append(word)
                at.append(length)
                length += 1 + len(word)
        for first in range(len(words) - _FIRST + 1):
            offsets.setdefault(_key(words[first : first + _FIRST]), at[first])
        parts += [f" {word}" for word in words]
        parts.append(" |")  # no word, so that nothing is a copy across inputs
        length += 2
    return Copies(text=f"{''.join(parts)} ", begins=begins, offsets=offsets)


def _key(words: list[str]) -> int:
    return hash(tuple(words))


_LONGEST = 64
"""Tokens of a sentence that are read at once."""

_LONGEST_PASSAGE = 48
"""Tokens of a passage; a longer sentence, as in speech without full stops, makes several."""

_AGAIN = 0.15
"""Weight of a word that another passage has already brought, beside one that none has."""

_COPIED = 3
"""Tokens in a row that are not alike by chance."""

_ENDS = frozenset(".!?")

_TRIED = 134
"""Passages, from the beginning of a source, that are tried for the room that is left."""

_CANDIDATES = 64
"""Passages that are weighed; of a long source, those that share most."""


class Kind(IntEnum):
    """Lexical relation of a token to the other side of its window."""

    SPECIAL = 0
    SOURCE = 1
    SOURCE_SHARED = 2
    SOURCE_RUN = 3
    MARK = 4
    GRAMMAR_RUN = 5
    GRAMMAR = 6
    CONTENT_RUN = 7
    CONTENT_NEAR = 8
    CONTENT_FAR = 9
    CONTENT_NEW = 10
    NAME_NEAR = 11
    NAME_FAR = 12
    NAME_NEW = 13
    NUMBER_NEAR = 14
    NUMBER_FAR = 15
    NUMBER_NEW = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceWindow:
    """A sentence of the output with its window.

    Parameters
    ----------
    tokens
        Its words and marks, with offsets in the output; as many as ``window.words``.
    passages
        The passages beside it, in the order of the source.
    copied
        For each token, whether it stands in a run of three or more that the passages hold, too.
        A mark is copied as well where all words are.
    """

    tokens: Sequence[Token]
    passages: Sequence[SourceSentence]
    window: Window
    copied: Sequence[bool]

    @property
    def is_copy(self) -> bool:
        """True if no word of it is its own, so that there is nothing to read."""
        return all(self.copied)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """All that may stand beside a sentence as evidence, in order, with its index."""

    passages: Sequence[SourceSentence]
    index: StemIndex


def source_of(inputs: Mapping[str, str]) -> Source:
    """Cut the inputs into passages; systems that share them share the work."""
    return _source(tuple(inputs.items()))


@lru_cache(maxsize=8)  # the systems that share a source come one after another
def _source(inputs: tuple[tuple[str, str], ...]) -> Source:
    passages = []
    for header, text in inputs:
        for start, end in source_intervals(text):
            read = tokens(text[start:end], offset=start)
            passages += [
                SourceSentence(input=header, tokens=read[first : first + _LONGEST_PASSAGE])
                for first in range(0, len(read), _LONGEST_PASSAGE)
            ]
    return Source(passages=passages, index=stem_index([part.tokens for part in passages]))


def sentence_windows(
    output: str, inputs: Mapping[str, str], *, room: int = ROOM
) -> Iterator[SentenceWindow]:
    """Yield a window for each sentence of `output` that has a word, in order.

    A window has at most `room` tokens on both sides, 65 or more. A sentence of more than 64 tokens
    is read in parts.
    """
    for start, end in sentence_intervals(output):
        yield from _windows_of(output[start:end], start, inputs, room=room)


def windows_but_copies(
    output: str, inputs: Mapping[str, str], *, room: int
) -> Iterator[SentenceWindow | None]:
    """Yield the windows of `sentence_windows`, and None for each copy, which need not be read."""
    copies = copies_of(inputs)
    for start, end in sentence_intervals(output):
        if copies.holds(output[start:end]):
            yield None
            continue
        for window in _windows_of(output[start:end], start, inputs, room=room):
            yield None if window.is_copy else window


def _windows_of(
    sentence: str, start: int, inputs: Mapping[str, str], *, room: int
) -> Iterator[SentenceWindow]:
    source = source_of(inputs)
    read = tokens(sentence, offset=start)
    for first in range(0, len(read), _LONGEST):
        part = read[first : first + _LONGEST]
        if any(token.is_word for token in part):
            yield _window(part, source, room=room)


def _window(sentence: Sequence[Token], source: Source, *, room: int) -> SentenceWindow:
    beside = _best_passages(sentence, source, room=room - len(sentence))
    words = [token for passage in beside for token in passage.tokens]
    window = Window(
        words=tuple(token.text for token in sentence),
        kinds=tuple(_sentence_kinds(sentence, words, source)),
        source=tuple(token.text for token in words),
        source_kinds=tuple(_source_kinds(words, sentence)),
    )
    return SentenceWindow(
        tokens=sentence, passages=beside, window=window, copied=_copied(sentence, words)
    )


def _best_passages(sentence: Sequence[Token], source: Source, *, room: int) -> list[SourceSentence]:
    """Take passages, the one that adds most first, until there is no room."""
    weights = source.index.weights(sentence)
    brings = source.index.likeliest(weights, limit=_CANDIDATES)
    covered: set[str] = set()
    taken: set[int] = set()
    while brings and room > 0:
        best = max(brings, key=lambda at: (_added(brings[at], weights, covered), -at))
        covered |= brings.pop(best)
        taken.add(best)
        room -= len(source.passages[best].tokens)
    taken |= _neighbours(taken, source, room=room)
    return [source.passages[at] for at in sorted(taken)]


def _added(stems: set[str], weights: Mapping[str, float], covered: set[str]) -> float:
    # Exact, so that the order of a set, another in each process, decides nothing.
    return fsum(weights[stem] * (_AGAIN if stem in covered else 1.0) for stem in stems)


def _neighbours(taken: set[int], source: Source, *, room: int) -> set[int]:
    """Fill the room that is left: what stands beside the best passages, then the beginning."""
    size = len(source.passages)
    beside = [at + step for at in sorted(taken) for step in (-1, 1)]
    filled: set[int] = set()
    for at in (*beside, *range(min(size, _TRIED))):
        if not 0 <= at < size or at in taken or at in filled:
            continue
        length = len(source.passages[at].tokens)
        if length <= room:
            filled.add(at)
            room -= length
    return filled


def _sentence_kinds(
    sentence: Sequence[Token], beside: Sequence[Token], source: Source
) -> Iterator[Kind]:
    near = {token.stem for token in beside}
    runs = _runs(sentence, beside)
    for at, token in enumerate(sentence):
        if not token.is_word:
            yield Kind.MARK
        elif not token.is_content:
            yield Kind.GRAMMAR_RUN if runs[at] else Kind.GRAMMAR
        else:
            yield _content_kind(
                token,
                run=runs[at],
                far=0 if token.stem in near else 1 if token.stem in source.index.where else 2,
                first=at == 0,
            )


def _content_kind(token: Token, *, run: bool, far: int, first: bool) -> Kind:
    if token.is_number:
        return Kind(Kind.NUMBER_NEAR + far)
    if token.is_capital and not first:
        return Kind(Kind.NAME_NEAR + far)
    return Kind.CONTENT_RUN if run else Kind(Kind.CONTENT_NEAR + far)


def _source_kinds(words: Sequence[Token], sentence: Sequence[Token]) -> Iterator[Kind]:
    shared = {token.stem for token in sentence if token.is_content}
    runs = _runs(words, sentence)
    for at, token in enumerate(words):
        if runs[at] and token.is_word:
            yield Kind.SOURCE_RUN
        else:
            yield Kind.SOURCE_SHARED if token.stem in shared else Kind.SOURCE


def _runs(these: Sequence[Token], those: Sequence[Token]) -> list[bool]:
    """Return for each token whether it and a neighbour stand side by side in `those`, too."""
    there = Counter((left.stem, right.stem) for left, right in pairwise(those))
    joined = [(left.stem, right.stem) in there for left, right in pairwise(these)]
    return [
        bool((at and joined[at - 1]) or (at < len(joined) and joined[at]))
        for at in range(len(these))
    ]


def _copied(these: Sequence[Token], those: Sequence[Token]) -> list[bool]:
    """Return for each token whether it stands in a run that `those` have word for word.

    A run is none if words before it, or the one behind it, may turn its meaning around: what is
    left of "will not close" is no copy.
    """
    positions: dict[str, list[int]] = {}
    for at, token in enumerate(those):
        positions.setdefault(token.stem, []).append(at)
    turned = _turned(those)
    copied = [False] * len(these)
    lengths: dict[int, int] = {}  # of the run that ends at each place of the token before
    for at, token in enumerate(these):
        lengths = {index: lengths.get(index - 1, 0) + 1 for index in positions.get(token.stem, ())}
        for last, length in lengths.items():
            if length < _COPIED or turned[last - length + 1]:
                continue
            if not any(is_negation(behind) for behind in those[last + 1 : last + 2]):
                copied[at - length + 1 : at + 1] = [True] * length
    words_are = all(is_copy for is_copy, token in zip(copied, these, strict=True) if token.is_word)
    return [True] * len(these) if words_are else copied


def _turned(words: Sequence[Token]) -> list[bool]:
    """Return for each token whether one before it, in its sentence, may turn its meaning around."""
    turned = []
    has_turned = False
    for token in words:
        turned.append(has_turned)
        has_turned = (has_turned or token.stem in TURNS) and token.text not in _ENDS
    return turned


_BATCH = 16  # sentences that are read between two points where the work may be cancelled

_SUPPORTED = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)


class Batch(NamedTuple):
    """Sentences with their readings, and the number of copied ones, which are not read."""

    readings: Sequence[tuple[SentenceWindow, WindowReading]]
    copied: int


def sentence_readings(
    encoder: WindowReader, output: str, inputs: Mapping[str, str]
) -> Iterator[Batch]:
    """Yield the sentences of `output`, in order; the model reads a batch when it is asked for.

    Raises `JudgeError` if the model cannot be loaded or run, or says something of other words.
    """
    windows: list[SentenceWindow] = []
    copied = 0
    for window in windows_but_copies(output, inputs, room=encoder.room):
        if window is None:
            copied += 1
            continue
        windows.append(window)
        if len(windows) == _BATCH:
            yield Batch(_read(encoder, windows), copied)
            windows, copied = [], 0
    yield Batch(_read(encoder, windows), copied)


def _read(
    encoder: WindowReader, windows: Sequence[SentenceWindow]
) -> list[tuple[SentenceWindow, WindowReading]]:
    readings = encoder.read([window.window for window in windows]) if windows else []
    if [len(reading.words) for reading in readings] != [len(window.tokens) for window in windows]:
        raise JudgeError(f"{encoder.signature} gave other readings than it was asked for")
    return [
        (window, _without_copies(reading, window.copied))
        for window, reading in zip(windows, readings, strict=True)
    ]


def _without_copies(reading: WindowReading, copied: Sequence[bool]) -> WindowReading:
    """Return a reading in which copied words are supported.

    A small encoder is least sure where nearly all is copied, and there words can be compared.
    """
    words = tuple(
        _SUPPORTED if is_copy else word for word, is_copy in zip(reading.words, copied, strict=True)
    )
    return WindowReading(words=words, sentence=reading.sentence)
