"""Times of day: a sentence that repeats one of the source, but for the time on the clock."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from spanjury.judges.rules.alignment.contradiction import Contradiction, Difference, denial
from spanjury.judges.rules.alignment.index import pieces
from spanjury.judges.rules.alignment.keys import key
from spanjury.judges.rules.alignment.tokens import Token, phrase

_SEVERITY = 4
_HOUR, _HALF_DAY = 60, 12 * 60  # in minutes
_TIME = re.compile(
    r"(?<![\d:.,/])([01]?\d|2[0-3])([:.])([0-5]\d)(?![\d:%]|[.,]\d)(?:\s?([ap])(?:m\b|\.m\.))?",
    re.IGNORECASE,
)
_MARKER = "clocktime"  # which no text holds: it stands for a time of day
_KEY = key(_MARKER)
_CANDIDATES = 8  # sentences of the inputs that a sentence is compared with
_LEAST = 2  # words beside the times of a sentence
_COVER = 0.6  # share of the source's sentence that the other one repeats
_LIMITS = frozenset(
    """about after almost approximately around before between by circa from nearly past roughly
    since some till to until""".split()  # noqa: SIM905
)
"""Words before a time that change what it says."""


class _Time(NamedTuple):
    """A time of day at its offsets in the sentence.

    `minutes` since midnight are two numbers if it may be morning or evening. `is_certain` is False
    for a number that may be a quantity, such as ``9.15``.
    """

    start: int
    end: int
    minutes: AbstractSet[int]
    is_certain: bool


class _Word(NamedTuple):
    """A word of a sentence, as it is compared with one of another sentence."""

    key: str
    denied: bool
    limits: AbstractSet[str]
    """Words that limit a time; empty for other words."""


class _Sentence(NamedTuple):
    """A sentence with its times, each of which is a word with the key of `_MARKER`."""

    start: int
    text: str
    times: Sequence[_Time]
    words: Sequence[_Word]


def other_times(output: str, inputs: Mapping[str, str]) -> Iterator[Contradiction]:
    """Yield the times of `output` where the sentence that it repeats has another one.

    All its words stand there in the same order, and no input states the time anywhere.

    Examples
    --------
    >>> source = {"Timetable": "The train to Leeds leaves at 9:15 on weekdays."}
    >>> [each.explanation for each in other_times("The train to Leeds leaves at 9:20.", source)]
    ["The source says '9:15'."]
    """
    claimed = [*_sentences(output)]
    if not claimed:
        return
    stated: set[int] = set()
    holding: dict[str, list[tuple[str, _Sentence]]] = {}
    for name, text in inputs.items():
        for source in _sentences(text):
            stated.update(minute for time in source.times for minute in time.minutes)
            for word in {word.key for word in source.words}:
                holding.setdefault(word, []).append((name, source))
    for sentence in claimed:
        rarest = min((holding.get(word.key, []) for word in sentence.words), key=len, default=[])
        times = {
            own.start: (name, source, Difference(*own[:2], *other[:2], "time", _SEVERITY))
            for name, source in reversed(rarest[:_CANDIDATES])
            if _repeats(sentence, source)
            for own, other in zip(sentence.times, source.times, strict=True)
            if own.is_certain and other.is_certain and stated.isdisjoint(own.minutes)
        }
        for name, source, time in times.values():
            passage, at = source.text, source.start
            yield denial(sentence.text, sentence.start, time, passage=passage, at=at, name=name)


def _sentences(text: str) -> Iterator[_Sentence]:
    """Yield the sentences that hold a time and ask nothing."""
    if not _TIME.search(text):
        return
    for start, end in pieces(text):
        sentence = text[start:end]
        times = [*map(_time, _TIME.finditer(sentence))]
        masked = phrase(_TIME.sub(f" {_MARKER} ", sentence)) if times else None
        if masked and not masked.question:
            yield _Sentence(start, sentence, times, [*map(_word, masked.tokens)])


def _time(match: re.Match[str]) -> _Time:
    hour, mark, minute, half = match.groups()
    since = int(hour) % 12 * _HOUR + int(minute)
    if half:
        minutes = {since + _HALF_DAY * (half in "pP")}
    elif 0 < int(hour) <= 12:  # noqa: PLR2004  hours of a dial
        minutes = {since, since + _HALF_DAY}
    else:
        minutes = {int(hour) * _HOUR + int(minute)}
    return _Time(*match.span(), frozenset(minutes), mark == ":" or bool(half))


def _repeats(sentence: _Sentence, source: _Sentence) -> bool:
    """Return whether another sentence has all words of a sentence, in order, and as many times."""
    words, others = sentence.words, source.words
    if len(sentence.times) != len(source.times) or len(words) < _COVER * len(others):
        return False
    if len(words) - len(sentence.times) < _LEAST:
        return False
    rest = iter(others)
    return all(word in rest for word in words)


def _word(token: Token) -> _Word:
    is_time = token.key == _KEY
    return _Word(token.key, token.denied, _LIMITS.intersection(token.before if is_time else ()))
