"""Windows: each sentence of an output with the source passages most relevant to it.

Passages are chosen by the words that they share with the sentence, weighted by rarity in the
source. Each word counts once, so a second passage is chosen for words that the first lacks. Every
word gets a *kind*, its lexical relation to the other side: whether it is copied, occurs elsewhere,
or nowhere. The encoder then need not learn what can be computed.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from spanjury.judges.checker.cutting import SourceSentence, StemIndex, source_intervals, stem_index
from spanjury.judges.core import ROOM, JudgeError, Likelihoods, Window, WindowReader, WindowReading
from spanjury.judges.text.restatements import restatements
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.speakers import spoken
from spanjury.judges.text.spellings import Respelled, Spellings, spellings_of
from spanjury.judges.text.stems import stem
from spanjury.judges.text.tokens import RESTRICTIONS, TURNS, Token, is_negation, tokens
from spanjury.judges.text.words import folded_words

_FIRST = 3  # number of words that are looked up together


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """The folded words of a source, separated by spaces.

    Parameters
    ----------
    begins
        Offsets at which its sentences begin.
    offsets
        Hash of the first words of a run -> the offset of its first occurrence.
    """

    text: str
    begins: list[int]
    offsets: Mapping[int, int] = field(repr=False)

    def holds(self, sentence: str) -> bool:
        """Return whether the source has the words of `sentence` in sequence and in the same sense.

        A sentence without words is a copy.
        """
        folded = folded_words(sentence)
        begin = self.offsets.get(_key(folded[:_FIRST])) if len(folded) >= _FIRST else 0
        if begin is None:
            return False
        words = f" {' '.join(folded)} "
        start = self.text.find(words, begin) if folded else 0
        return start >= 0 and not self._turned(start, start + len(words) - 1)

    def _turned(self, start: int, end: int) -> bool:
        """Return whether words before or after a run in its source sentence change its sense."""
        at = bisect_right(self.begins, start)
        before = self.text[self.begins[at - 1] if at else 0 : start]
        after = self.text[end : self.begins[at]] if at < len(self.begins) else self.text[end:]
        return not (TURNS.isdisjoint(before.split()) and RESTRICTIONS.isdisjoint(after.split()[:1]))


def copies_of(inputs: Mapping[str, str]) -> Copies:
    """Index the inputs; cached, because several systems share them."""
    return _copies(tuple(inputs.values()))


@lru_cache(maxsize=8)  # systems with the same source follow each other
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
        parts.append(" |")  # not a word, so that no copy spans two inputs
        length += 2
    return Copies(text=f"{''.join(parts)} ", begins=begins, offsets=offsets)


def _key(words: list[str]) -> int:
    return hash(tuple(words))


_LONGEST = 64
"""Maximum number of tokens of a sentence that are read at once."""

_LONGEST_PASSAGE = 48
"""Maximum number of tokens of a passage; a longer sentence is divided into several."""

_AGAIN = 0.15
"""Weight of a word that a chosen passage already has, relative to a new one."""

_COPIED = 3
"""Minimum length, in tokens, of a match that is not a coincidence."""

_ENDS = frozenset(".!?")

_TRIED = 134
"""Number of passages, from the beginning of a source, that may fill the remaining room."""

_CANDIDATES = 64
"""Maximum number of passages that are weighed: those that share most words."""


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
        Its words and punctuation marks, with offsets in the output; as many as ``window.words``.
    passages
        The passages of the window, in the order of the source.
    copied
        For each token, whether it is in a run of three or more that the passages contain, too.
        If all words are copied, so are punctuation marks.
    """

    tokens: Sequence[Token]
    passages: Sequence[SourceSentence]
    window: Window
    copied: Sequence[bool]

    @property
    def is_copy(self) -> bool:
        """True if all its words are copied, so that there is nothing to read."""
        return all(self.copied)

    def copies(self, sentence: str) -> bool:
        """Return whether its passages have all words of `sentence` in runs of three or more."""
        return all(_copied(tokens(sentence), self.passages))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """All passages of the inputs, in order, with their index and the spellings of quantities."""

    passages: Sequence[SourceSentence]
    index: StemIndex
    spellings: Spellings


def source_of(inputs: Mapping[str, str]) -> Source:
    """Cut the inputs into passages; cached, because several systems share them."""
    return _source(tuple(inputs.items()))


@lru_cache(maxsize=8)  # systems with the same source follow each other
def _source(inputs: tuple[tuple[str, str], ...]) -> Source:
    passages = []
    for header, text in inputs:
        for start, end in source_intervals(text):
            read = tokens(text[start:end], offset=start)
            passages += [
                SourceSentence(input=header, tokens=read[first : first + _LONGEST_PASSAGE])
                for first in range(0, len(read), _LONGEST_PASSAGE)
            ]
    return Source(
        passages=passages,
        index=stem_index([part.tokens for part in passages]),
        spellings=spellings_of(text for _, text in inputs),
    )


def sentence_windows(
    output: str, inputs: Mapping[str, str], *, room: int = ROOM
) -> Iterator[SentenceWindow]:
    """Yield a window for each sentence of `output` with a word, in order.

    A window has at most `room` tokens on both sides together, 65 or more. A sentence of more than
    64 tokens is read in parts.
    """
    source = source_of(inputs)
    for start, end in sentence_intervals(output):
        sentence = Respelled(output[start:end], source.spellings)
        yield from _windows_of(sentence.tokens(offset=start), source, room=room)


def windows_but_copies(
    output: str, inputs: Mapping[str, str], *, room: int
) -> Iterator[SentenceWindow | None]:
    """Yield the windows of `sentence_windows`, with None for each copy, which need not be read."""
    copies, restated, source = copies_of(inputs), copies_of(_restated(inputs)), source_of(inputs)
    for start, end in sentence_intervals(output):
        sentence = Respelled(output[start:end], source.spellings)
        others = [*restatements(sentence.text)]
        if any(
            index.holds(form) for index in (copies, restated) for form in (sentence.text, *others)
        ):
            yield None
            continue
        windows = [*_windows_of(sentence.tokens(offset=start), source, room=room)]
        if len(windows) == 1 and any(windows[0].copies(other) for other in others):
            yield None
            continue
        for window in windows:
            yield None if window.is_copy else window


def _restated(inputs: Mapping[str, str]) -> Mapping[str, str]:
    """Return the inputs in other words: speakers by name, and passive sentences active, too."""
    return {header: _in_other_words(text) for header, text in inputs.items()}


@lru_cache(maxsize=8)
def _in_other_words(text: str) -> str:
    sentences = (text[start:end] for start, end in sentence_intervals(text))
    others = [other for sentence in sentences for other in restatements(sentence, is_source=True)]
    return "\n".join((spoken(text), *others))


def _windows_of(read: Sequence[Token], source: Source, *, room: int) -> Iterator[SentenceWindow]:
    for first in range(0, len(read), _LONGEST):
        part = read[first : first + _LONGEST]
        if any(token.is_word for token in part):
            yield _window(part, source, room=room)


def _window(sentence: Sequence[Token], source: Source, *, room: int) -> SentenceWindow:
    passages = _best_passages(sentence, source, room=room - len(sentence))
    words = [token for passage in passages for token in passage.tokens]
    window = Window(
        words=tuple(token.text for token in sentence),
        kinds=tuple(_sentence_kinds(sentence, words, source)),
        source=tuple(token.text for token in words),
        source_kinds=tuple(_source_kinds(words, sentence)),
    )
    return SentenceWindow(
        tokens=sentence, passages=passages, window=window, copied=_copied(sentence, passages)
    )


def _best_passages(sentence: Sequence[Token], source: Source, *, room: int) -> list[SourceSentence]:
    """Choose passages greedily by the weight that each adds, until there is no room."""
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
    # `fsum` is exact, so the result does not depend on set order, which varies by process.
    return fsum(weights[stem] * (_AGAIN if stem in covered else 1.0) for stem in stems)


def _neighbours(taken: set[int], source: Source, *, room: int) -> set[int]:
    """Fill the remaining room with neighbours of the best passages, then from the beginning."""
    size = len(source.passages)
    candidates = [at + step for at in sorted(taken) for step in (-1, 1)]
    filled: set[int] = set()
    for at in (*candidates, *range(min(size, _TRIED))):
        if not 0 <= at < size or at in taken or at in filled:
            continue
        length = len(source.passages[at].tokens)
        if length <= room:
            filled.add(at)
            room -= length
    return filled


def _sentence_kinds(
    sentence: Sequence[Token], source_words: Sequence[Token], source: Source
) -> Iterator[Kind]:
    near = {token.stem for token in source_words}
    runs = _runs(sentence, source_words)
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
    """Return for each token whether it and a neighbour are also adjacent in `those`."""
    there = Counter((left.stem, right.stem) for left, right in pairwise(those))
    joined = [(left.stem, right.stem) in there for left, right in pairwise(these)]
    return [
        bool((at and joined[at - 1]) or (at < len(joined) and joined[at]))
        for at in range(len(these))
    ]


def _copied(these: Sequence[Token], passages: Sequence[SourceSentence]) -> list[bool]:
    """Return for each token whether it is in a run that a passage contains word for word.

    A run does not count if a word before it may reverse its meaning, or the word after it may
    reverse or restrict it: a part of "will not close" or of "open only in May" is not a copy.
    An article need not be in a run if all other words are.
    """
    those = [token for passage in passages for token in passage.tokens]
    begins = _beginnings(passages)
    positions: dict[str, list[int]] = {}
    for at, token in enumerate(those):
        positions.setdefault(token.stem, []).append(at)
    turned = _turned(those, begins)
    copied = [False] * len(these)
    lengths: dict[int, int] = {}  # length of the run ending at each position of the previous token
    for at, token in enumerate(these):
        lengths = {
            index: 1 + (0 if index in begins else lengths.get(index - 1, 0))
            for index in positions.get(token.stem, ())
        }
        for last, length in lengths.items():
            if length < _COPIED or turned[last - length + 1]:
                continue
            behind = () if last + 1 in begins else those[last + 1 : last + 2]
            if not any(is_negation(word) or word.stem in _RESTRICTING for word in behind):
                copied[at - length + 1 : at + 1] = [True] * length
    words_are = all(
        is_copy or token.text.lower() in _ARTICLES
        for is_copy, token in zip(copied, these, strict=True)
        if token.is_word
    )
    return [True] * len(these) if words_are else copied


def _beginnings(passages: Sequence[SourceSentence]) -> AbstractSet[int]:
    """Return the positions, among the tokens of all passages, at which a sentence begins."""
    begins, length = set(), 0
    before: SourceSentence | None = None
    for passage in passages:
        is_rest = (  # of a sentence that was divided
            before is not None
            and before.input == passage.input
            and len(before.tokens) == _LONGEST_PASSAGE
            and passage.tokens[0].start - before.tokens[-1].end <= 1
        )
        if not is_rest:
            begins.add(length)
        length += len(passage.tokens)
        before = passage
    return begins


def _turned(words: Sequence[Token], begins: AbstractSet[int]) -> list[bool]:
    """Return for each token whether an earlier one in its sentence may reverse its meaning."""
    turned = []
    has_turned = False
    for at, token in enumerate(words):
        has_turned = has_turned and at not in begins
        turned.append(has_turned)
        has_turned = (has_turned or token.stem in TURNS) and token.text not in _ENDS
    return turned


_ARTICLES = frozenset(("a", "an", "the"))
_RESTRICTING = frozenset(map(stem, RESTRICTIONS))
_BATCH = 16  # sentences read between two points at which the work can be cancelled

_SUPPORTED = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)


class Batch(NamedTuple):
    """Sentences with their readings, and the number of copied ones, which are not read."""

    readings: Sequence[tuple[SentenceWindow, WindowReading]]
    copied: int


def sentence_readings(
    encoder: WindowReader, output: str, inputs: Mapping[str, str]
) -> Iterator[Batch]:
    """Yield the sentences of `output` in batches, in order; each batch is read lazily.

    Raises `JudgeError` if the model cannot be loaded or run, or returns readings of other lengths.
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
        raise JudgeError(f"{encoder.signature} returned readings of other windows than requested")
    return [
        (window, _without_copies(reading, window.copied))
        for window, reading in zip(windows, readings, strict=True)
    ]


def _without_copies(reading: WindowReading, copied: Sequence[bool]) -> WindowReading:
    """Return a reading in which copied words are supported.

    A small encoder is least sure if nearly all words are copied, and there a comparison of words
    suffices.
    """
    words = tuple(
        _SUPPORTED if is_copy else word for word, is_copy in zip(reading.words, copied, strict=True)
    )
    return WindowReading(words=words, sentence=reading.sentence)
