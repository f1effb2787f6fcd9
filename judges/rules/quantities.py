"""Quantities: the numbers of a text with their units, and their other possible readings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import isinf
from types import MappingProxyType

from spanjury.judges.rules.phones import phones
from spanjury.judges.rules.units import MATERIAL
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.lexicon import FUNCTION_WORDS, MONTHS
from spanjury.judges.text.numbers import UNITS, Number, numbers
from spanjury.judges.text.sentences import sentence_intervals
from spanjury.judges.text.stems import stem
from spanjury.judges.text.words import Word, folded_words, words

_CURRENCIES = MappingProxyType(
    dict(
        pair.split(":")
        for pair in """$:dollar £:pound €:euro ¥:yen ₹:rupee usd:dollar eur:euro gbp:pound jpy:yen
        inr:rupee chf:franc #:pound""".split()  # noqa: SIM905
    )
)
"""Sign or code -> the currency; some corpora spell the sign of the pound as ``#``."""
CURRENCIES = frozenset((*map(stem, _CURRENCIES), *_CURRENCIES.values()))
"""Stems of words for currencies."""
CURRENCY_CODES = frozenset(
    (
        *(code.upper() for code in _CURRENCIES if code.isalpha()),
        *"CNY CAD AUD NZD SEK NOK DKK PLN CZK HUF".split(),  # noqa: SIM905
    )
)
"""Codes of currencies, as they are written."""
ABOUT = frozenset(
    ("about", "approximately", "around", "circa", "estimated", "roughly", "some", "ca", "rund")
)
"""Words before a number that is not exact."""
HEDGES = ABOUT | {"almost", "just", "nearly", "over", "than", "under", "up"}
"""Words before a number that is not exact or a bound."""
_YEARS = (1500, 2100)
_GLUE = frozenset(("", " ", "-", "\u00a0"))  # between a number and its unit
_MAY_HOLD = re.compile(
    r"\d|\b(?:t(?:wo|hree|en|welve|wenty|hirty)|fo(?:ur|rty)|fi(?:ve|fty)|six|seven|eight|nine"
    r"|eleven|hundred|thousand|million|billion|dozen|one and a half)",
    re.IGNORECASE,
)
# Matches only at the first digit of a run; otherwise a long run would take quadratic time.
_COMPOUND = re.compile("(?<!\\d)\\d++(?:(?:\\. |[.,:/'’\u00a0\u202f -])\\d++)+")
_TORN = re.compile(r"(?<![\d.,])(\d+)\. (\d{1,2})(?!\d|\.\d)")  # split by a sentence splitter
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d{1,3}),(\d{1,2})(?![\d]|,\d)")
_TOKENISED = re.compile(r"(?<![\d.,])(?<!\d, )[1-9]\d{0,2}(?:, \d{3})+(?![\d]|[.,]\d|, \d)")
_ROW = re.compile(r"(?:(?<=[^\W\d],)|(?<=[\"'\]],)|(?<=\d{4},)|(?<=\[))\d+(?:,\d+)+(?![\d.])")
"""Numbers of a row or a list without spaces, of which two may look like thousands: 138,139."""
_GROUPING = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?:[.'’\u00a0\u202f ]\d{3})+)(?![\d]|[.,]\d)")
_DECIMALS = re.compile(r"\d{1,3}(?:\.\d{3})*,\d{1,2}")
_GROUPED = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?:\.\d{3})+),(\d\d?)(?![\d]|[.,]\d)")
_FRACTION = re.compile(r"(?<![\d/])([1-9])/([2-9]|10)(?![\d/])")
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-4])([:.])([0-5]\d)(?![\d:]|\.\d)")
_MONTH = rf"(?!may\b|march\b)(?i:{'|'.join(MONTHS)})"  # "may" and "march" are verbs
_DAY = r"\d\d?(?:st|nd|rd|th)?"
_JOINED = re.compile(
    r"(?<![\d:/])\d+(?:[:/]\d+)+(?:\.\d+)?|(?<!\d)\d{4}-\d\d-\d\d(?!\d)|(?<!\w)[A-Z]+-\d+"
    r"|(?<![\d.,])[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+(?!\d|[.,]\d)"
    rf"|(?<!\w){_DAY}(?: of)? {_MONTH}(?:,? \d{{4}})?\b"
    rf"|(?<!\w){_MONTH} {_DAY}\b(?:,? \d{{4}}\b)?"
)
_LONGEST = 30  # maximum code points of a number that marks join
_COUPLE = re.compile(r"\b(?:(?:a couple(?: more| other)? of)|(half a dozen))\b", re.IGNORECASE)
_NAMED_TIMES = MappingProxyType({"noon": 12 * 60, "midday": 12 * 60, "midnight": 0})  # minutes
_DIAL: Mapping[str, int] = MappingProxyType(
    {
        **{str(hour): hour for hour in range(1, 13)},
        **{word: hour for word, hour in UNITS.items() if hour in range(1, 13)},
    }
)
_SPOKEN = re.compile(
    rf"\b(?:(?P<word>{'|'.join(_NAMED_TIMES)})|(?P<part>half past|quarter past|quarter to)"
    rf" (?P<hour>{'|'.join(sorted(_DIAL, key=len, reverse=True))}))\b",
    re.IGNORECASE,
)
_SHIFTS = MappingProxyType({"half past": 30, "quarter past": 15, "quarter to": -15})  # minutes
_VULGAR = MappingProxyType({"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3})
_NOON = 12
_DAY_LONG = 24 * 60  # minutes


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number in a text.

    Parameters
    ----------
    start, end
        Half-open offsets in code points.
    unit
        Stem of the counted word; ``"year"`` for a year, empty if unknown.
    sentence
        Index of its sentence.
    """

    start: int
    end: int
    value: float
    unit: str
    sentence: int


def is_date(quantity: Quantity) -> bool:
    """Return whether a quantity is probably a year of the calendar."""
    return quantity.unit == "year" and _YEARS[0] <= quantity.value < _YEARS[1]


def compounds(text: str) -> str:
    """Return the numerals of `text` that marks join, such as dates, one per line."""
    return "\n".join(_COMPOUND.findall(text))


def whole_number(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen the offsets of a number to those of the time, date, code or phone that it is part of.

    Examples
    --------
    >>> text = "The AX-310 runs from 9:30 on 3 May 2021."
    >>> [text[slice(*whole_number(text, at, at + 1))] for at in (7, 23, 29)]
    ['AX-310', '9:30', '3 May 2021']
    """
    first, last = max(0, start - _LONGEST), end + _LONGEST
    for joined in chain(phones(text, first, last), _JOINED.finditer(text, first, last)):
        if joined.start() <= start and end <= joined.end():
            return joined.span()
    return start, end


def other_readings(text: str) -> Iterator[float]:
    """Yield the numbers that `text` states in notations that span several words.

    These are decimals with a comma or with a space after the point, digits grouped by full stops,
    spaces or, in tokenised data, a comma and a space, fractions, times of day, also those after
    noon, "a couple of" and "half a dozen".

    Examples
    --------
    >>> [*other_readings("8,4 % von 1.200 am 3/4, 15:30")]
    [8.4, 1200.0, 0.75, 15.3, 3.3, 3.0]
    """
    yield from _apart(text)
    text = compounds(text)
    for decimal in (_DECIMAL_COMMA, _TORN, _GROUPED):
        for whole, rest in decimal.findall(text):
            yield float(f"{whole.replace('.', '')}.{rest}")
    for group in _GROUPING.findall(text):
        yield float(re.sub(r"\D", "", group))
    for over, under in _FRACTION.findall(text):
        yield int(over) / int(under)
    for hour, mark, minute in _CLOCK.findall(text):
        later = (int(hour) - _NOON) % 24
        yield from (float(f"{hour}.{minute}"), float(f"{later}.{minute}"))
        if mark == ":":  # otherwise it may be a decimal number
            yield float(later)


def _apart(text: str) -> Iterator[float]:
    """Yield the numbers that signs, words, or commas between other numbers state."""
    if not text.isascii():
        yield from (value for sign, value in _VULGAR.items() if sign in text)
    for half_dozen in _COUPLE.findall(text):
        yield 6.0 if half_dozen else 2.0
    for group in _TOKENISED.findall(text):  # thousands or a list
        yield from map(float, (group.replace(", ", ""), *group.split(", ")))
    for row in _ROW.findall(text):
        yield from map(float, row.split(","))


@lru_cache(maxsize=4)
def spoken_times(text: str) -> frozenset[int]:
    """Return the times of day that `text` states in words, in minutes since midnight.

    Examples
    --------
    >>> sorted(spoken_times("From half past six to noon"))
    [390, 720, 1110]
    """
    times: set[int] = set()
    for match in _SPOKEN.finditer(text):
        if match["word"]:
            times.add(_NAMED_TIMES[match["word"].lower()])
        else:
            minutes = _DIAL[match["hour"].lower()] * 60 + _SHIFTS[match["part"].lower()]
            times.update((minutes % _DAY_LONG, (minutes + _DAY_LONG // 2) % _DAY_LONG))
    return frozenset(times)


@lru_cache(maxsize=4)
def hours_after_noon(text: str) -> frozenset[float]:
    """Return the hours of decimals that may be times: 16 for 4.05."""
    times = _CLOCK.findall(compounds(text))
    return frozenset(float((int(hour) - _NOON) % 24) for hour, mark, _ in times if mark == ".")


def names_currency(word: str, source: str) -> bool:
    """Return whether a folded word means a currency that `source` states by another word or sign.

    Examples
    --------
    >>> names_currency("eur", "It costs 5 euros."), names_currency("dollars", "It costs €5.")
    (True, False)
    """
    meant = _CURRENCIES.get(word, stem(word))
    return meant in CURRENCIES and meant in _currencies(source)


@lru_cache(maxsize=4)
def _currencies(source: str) -> frozenset[str]:
    """Return the stems of the currencies that a source states, by words, codes or signs."""
    signs = (meant for sign, meant in _CURRENCIES.items() if not sign.isalpha() and sign in source)
    spelled = {_CURRENCIES.get(word, stem(word)) for word in folded_words(source)}
    return CURRENCIES.intersection((*signs, *spelled))


@lru_cache(maxsize=4)
def readings(text: str) -> frozenset[float]:
    """Return the `other_readings` of a source."""
    return frozenset(other_readings(text))


def unit(words: Sequence[Word], number: Number, *, text: str, offset: int = 0) -> str:
    """Return the stem of the word that `number`, in `words`, counts; empty if unknown.

    Parameters
    ----------
    offset
        Offset of `text` in the text to which the words' offsets refer.
    """
    first = words[number.first]
    before = text[max(0, first.start - offset - 2) : first.start - offset].strip()
    if before[-1:] in _CURRENCIES:
        return _CURRENCIES[before[-1:]]
    previous = words[number.first - 1].folded if number.first else ""
    if previous in _CURRENCIES:
        return _CURRENCIES[previous]
    following = words[number.stop : number.stop + 2]
    if first.text.isdecimal() and _YEARS[0] <= number.value < _YEARS[1]:
        measured = following and following[0].folded in MATERIAL
        if not measured or text[first.end - offset : following[0].start - offset] not in _GLUE:
            return "year"
    for word in following:
        if word.folded not in FUNCTION_WORDS and not word.text[0].isdecimal():
            return stem(_CURRENCIES.get(word.folded, word.folded))
    return ""


def with_decimals(words: Sequence[Word], number: Number, *, text: str) -> Number:
    """Return a numeral with the decimals that follow a comma: 8,4."""
    beyond = words[number.stop : number.stop + 1]
    if number.stop != number.first + 1 or not beyond:
        return number
    start, end = words[number.first].start, beyond[0].end
    if not _DECIMALS.fullmatch(text, start, end) or text[end : end + 2].strip(" .")[:1] == ",":
        return number
    value = float(text[start:end].replace(".", "").replace(",", "."))
    return Number(first=number.first, stop=number.stop + 1, value=value, spelled=False)


def _quantities(text: str) -> Iterator[Quantity]:
    for at, (start, end) in enumerate(sentence_intervals(text)):
        if not _MAY_HOLD.search(text, start, end):
            continue
        sentence = words(text[start:end], offset=start)
        stop = 0
        for numeral in numbers([word.folded for word in sentence]):
            number = with_decimals(sentence, numeral, text=text)
            if number.first < stop or isinf(number.value):
                continue
            stop = number.stop
            yield Quantity(
                start=sentence[number.first].start,
                end=sentence[number.stop - 1].end,
                value=number.value,
                unit=unit(sentence, number, text=text),
                sentence=at,
            )


quantities = KeptByText(lambda text: tuple(_quantities(text)))
"""Return the quantities of a text in order, with their offsets."""
