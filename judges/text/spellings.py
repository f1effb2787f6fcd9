"""Spellings of quantities and dates: ``19:30`` is ``7.30 pm``, ``twelve cars`` are ``12 cars``.

A sentence that differs from its source only in such spellings says the same. It is compared with
the source in the source's spelling.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from spanjury.judges.text.lexicon import MONTHS
from spanjury.judges.text.numbers import numbers
from spanjury.judges.text.stems import stem
from spanjury.judges.text.tokens import Token, tokens
from spanjury.judges.text.words import Word, folded_words, words

_HALVES = re.compile(
    r"(?<![\d.,:])(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))?\s?"
    r"(?P<half>[ap])(?:m\b|\.m\.)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\d.,:/])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?![\d:]|\s?[ap]\.?m\b)"
)
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"(?<![\d.,:/-])(?:(?P<iso>\d{{4}}-\d\d-\d\d)(?![\d-])"
    rf"|(?P<day>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})(?:,? (?P<year>\d{{4}}))?"
    rf"|(?P<named>{_MONTH}) (?P<nth>\d\d?)(?:st|nd|rd|th)?(?:,? (?P<late>\d{{4}}))?)\b(?![:.,]\d)",
    re.IGNORECASE,
)
_NOON = 12
_UNITS = frozenset(
    map(
        stem,
        """second minute hour gram kilogram litre millilitre millimetre centimetre metre kilometre
        percent euro dollar""".split(),  # noqa: SIM905
    )
)
"""Stems of the units; "m" and "lb" are left out, since they have several meanings."""
_LETTERS = MappingProxyType({"h": stem("hour"), "g": stem("gram"), "l": stem("litre")})
_SIGNS = MappingProxyType({"€": stem("euro"), "$": stem("dollar"), "£": "£"})
_BETWEEN = " -\u00a0\u202f"


class Quantity(NamedTuple):
    """A quantity of a text: half-open offsets, and what it is, however it is written."""

    start: int
    end: int
    key: tuple[str, float]
    """Unit, "time" (in minutes), "date" (as YYYYMMDD, the year 0 without one) or "", and number."""


Spellings = Mapping[tuple[str, float], Sequence[str]]
"""Quantity -> the spellings that a source has for it."""


def spellings_of(texts: Iterable[str]) -> Spellings:
    """Return the quantities of some texts with their distinct spellings, the first one first.

    Examples
    --------
    >>> spellings_of(["Open until 7.30 pm. Takes 45 min."])
    {('time', 1170.0): ['7.30 pm'], ('minut', 45.0): ['45 min']}
    """
    return _spellings(tuple(texts))


@lru_cache(maxsize=8)  # systems with the same source follow each other
def _spellings(texts: tuple[str, ...]) -> Spellings:
    spellings: dict[tuple[str, float], list[str]] = {}
    for text in texts:
        for quantity in _quantities(text):
            written = spellings.setdefault(quantity.key, [])
            if (spelling := text[quantity.start : quantity.end]) not in written:
                written.append(spelling)
    return spellings


class Respelled:
    """A text with its quantities spelled as in a source, and the way back to its own offsets.

    Examples
    --------
    >>> spelled = Respelled("At 19:30 it closes.", {("time", 1170.0): ["7.30 pm"]})
    >>> spelled.text, spelled.interval(3, 7), spelled.interval(11, 13)
    ('At 7.30 pm it closes.', (3, 8), (9, 11))
    """

    def __init__(self, text: str, spellings: Spellings) -> None:
        self._own: list[int] = [0]  # where in `text` each part begins: parts alternate
        self._new: list[int] = [0]
        parts: list[str] = []
        at = length = 0
        for quantity in _quantities(text) if spellings else ():
            own = folded_words(text[quantity.start : quantity.end])
            others = spellings.get(quantity.key, ())
            if not others or any(folded_words(other) == own for other in others):
                continue
            for part, begin in (
                (text[at : quantity.start], quantity.start),
                (others[0], quantity.end),
            ):
                parts.append(part)
                length += len(part)
                self._own.append(begin)
                self._new.append(length)
            at = quantity.end
        self.text = "".join((*parts, text[at:])) if parts else text

    def interval(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open interval of the original text for one of `self.text`.

        A part of a quantity that was respelled stands for the whole quantity.
        """
        return self._offset(start, is_end=False), self._offset(end, is_end=True)

    def _offset(self, at: int, *, is_end: bool) -> int:
        part = bisect_right(self._new, at - is_end) - 1
        if part % 2:  # a quantity
            return self._own[part + 1] if is_end else self._own[part]
        return self._own[part] + at - self._new[part]

    def tokens(self, *, offset: int = 0) -> list[Token]:
        """Return the tokens of `self.text` with `offset` added to their original offsets."""
        read = tokens(self.text, offset=offset)
        if len(self._own) == 1:
            return read
        intervals = (self.interval(each.start - offset, each.end - offset) for each in read)
        return [
            each._replace(start=offset + start, end=offset + end)
            for each, (start, end) in zip(read, intervals, strict=True)
        ]


def _quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text in order; none overlaps another."""
    whole = [*_times(text), *_dates(text)]
    inside = {at for each in whole for at in range(each.start, each.end)}
    others = (quantity for quantity in _counts(text) if quantity.start not in inside)
    return sorted([*whole, *others])


def _times(text: str) -> Iterator[Quantity]:
    for match in _HALVES.finditer(text):
        hour = int(match["hour"]) % _NOON + (_NOON if match["half"] in "pP" else 0)
        yield Quantity(*match.span(), ("time", 60.0 * hour + int(match["minute"] or 0)))
    for match in _CLOCK.finditer(text):
        hour, minute = int(match["hour"]), int(match["minute"])
        # "7:30" may be in the evening, so it is the same only as another one without a half.
        name = "time" if hour > _NOON or not hour else "clock"
        yield Quantity(*match.span(), (name, 60.0 * hour + minute))


def _dates(text: str) -> Iterator[Quantity]:
    for match in _DATE.finditer(text):
        if match["iso"]:
            number = int(match["iso"].replace("-", ""))
        else:
            month = MONTHS.index((match["month"] or match["named"]).lower()) + 1
            year = int(match["year"] or match["late"] or 0)
            number = year * 10000 + month * 100 + int(match["day"] or match["nth"])
        yield Quantity(*match.span(), ("date", float(number)))


def _counts(text: str) -> Iterator[Quantity]:
    read = words(text)
    for number in numbers([word.folded for word in read]):
        if number.value == float("inf"):
            continue
        start, end = read[number.first].start, read[number.stop - 1].end
        sign = _SIGNS.get(text[start - 1 : start], "")
        if sign:
            yield Quantity(start - 1, end, (sign, number.value))
            continue
        name, stop = _unit(text, read[number.stop : number.stop + 2], end=end)
        yield Quantity(start, stop, (name, number.value))


def _unit(text: str, following: Sequence[Word], *, end: int) -> tuple[str, int]:
    """Return the unit after a number that ends at `end`, and its end; "" and `end` without one."""
    if text[end : end + 1] == "€":
        return _SIGNS["€"], end + 1
    if not following or text[end : following[0].start].strip(_BETWEEN):
        return "", end
    if [word.folded for word in following] == ["per", "cent"]:
        return stem("percent"), following[1].end
    word = following[0].folded
    name = stem(word) if stem(word) in _UNITS else _LETTERS.get(word, "")
    return name, following[0].end if name else end
