"""Damage to numbers, units and dates: the new one is also a number, a unit or a date."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from numpy.random import Generator

from spanjury.perturbations.edits import Edit
from spanjury.perturbations.text.aspects import fact_perturbation
from spanjury.perturbations.text.clusters import masked
from spanjury.perturbations.text.places import LIST_NUMBER, Choice, cased_like, fitted, struck
from spanjury.perturbations.text.wordlists import exchanges

_MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_SURE_MONTHS = [month for month in _MONTHS if month not in {"March", "May"}]
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
_MONTH = rf"(?:{'|'.join(_MONTHS)})"
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(_DAYS)})\b")
_MONTH_NAME = re.compile(
    rf"\b(?:{'|'.join(_SURE_MONTHS)})\b|(?<=\d )(?:March|May)\b"
    r"|(?<=\d(?:st|nd|rd|th) )(?:March|May)\b|(?<=\b[Ii]n )(?:March|May)\b|\b(?:March|May)(?= \d)"
)
_DAY_NUMBER = re.compile(
    rf"(?<![\w.,:/-])(?P<day_first>\d{{1,2}})(?= {_MONTH}\b)"
    rf"|\b{_MONTH} (?P<month_first>\d{{1,2}})(?![\w:/-]|[.,]\d)"
)
_YEAR = re.compile(
    rf"(?:(?:\b(?:[Ii]n|[Ss]ince|[Bb]y|[Uu]ntil|[Ff]rom|[Dd]uring|[Oo]f|[Aa]fter|[Bb]efore|the|year"
    rf"|and|to|{_MONTH}) )|, |\()(?P<year>(?:1[5-9]|20)\d\d)(?=s?\b(?![,.]\d|[-/:]))"
)
_NUMERAL = re.compile(
    r"(?<![\w.,:/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
    r"(?=(?:m|bn|k|km|kg|mph)?(?!\w))(?![.,]?\d|[/:]|-\d| ?[ap]\.?m\b)"
)
_SMALL = "two three four five six seven eight nine".split()  # noqa: SIM905
_LARGE = "ten eleven twelve fifteen twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_ORDINALS = "third fourth fifth sixth seventh eighth ninth tenth".split()  # noqa: SIM905
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join((*_SMALL, *_LARGE, *_ORDINALS))})\b", re.IGNORECASE)
_COUNTED = re.compile(
    rf"(?:\d|\b(?:{'|'.join((*_SMALL, *_LARGE))}|an?|one|few|several|many|per|half))"
    r"[ -]?(?P<unit>[A-Za-z/]+)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[$£€](?=\d)")
_MONTH_DAYS = tuple(str(day) for day in range(1, 29))
_LONGEST_SHIFT = 15  # years


@fact_perturbation
def change_number(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Change the value of `k` numbers, in digits or words, but not of dates and list items."""
    mask = masked(text)
    kept = {index for date in _dates(mask) for index in range(date.start, date.end)}
    kept.update(item.start(1) for item in LIST_NUMBER.finditer(mask))
    choices = [
        Choice(*match.span(), tuple(_other_values(match.group())))
        for match in _NUMERAL.finditer(mask)
        if match.start() not in kept
    ]
    for match in _NUMBER_WORD.finditer(mask):
        word = match.group()
        kind = next(kind for kind in (_SMALL, _LARGE, _ORDINALS) if word.lower() in kind)
        others = tuple(cased_like(new, word) for new in kind if new != word.lower())
        choices.append(fitted(text, Choice(*match.span(), others)))
    return struck(sorted(choices), rng, k=k, what="numbers")


@fact_perturbation
def change_unit(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Give `k` numbers another unit, currency or order of magnitude."""
    mask = masked(text)
    units = exchanges("units")
    choices = [
        Choice(*match.span(), tuple(sign for sign in "$£€" if sign != match.group()))
        for match in _MONEY.finditer(mask)
    ]
    for match in _COUNTED.finditer(mask):
        unit = match["unit"]
        ordinal = unit == "second" and not mask[match.start()].isdigit()
        others = () if ordinal else units.get(unit.lower(), ())
        if others:
            written = tuple(cased_like(other, unit) for other in others)
            choices.append(fitted(text, Choice(*match.span("unit"), written)))
    return struck(sorted(choices), rng, k=k, what="numbers with a known unit")


@fact_perturbation
def change_date(text: str, rng: Generator, *, k: int = 1) -> list[Edit]:
    """Change the value of `k` years, months, days of a month or days of the week."""
    return struck(sorted(_dates(masked(text))), rng, k=k, what="parts of dates")


@lru_cache(maxsize=16)  # a few texts, which several rules use
def _dates(mask: str) -> tuple[Choice, ...]:
    """Return the parts of dates, each with others of its kind."""
    parts = []
    for match in chain(_WEEKDAY.finditer(mask), _MONTH_NAME.finditer(mask)):
        written = match.group()
        names = _DAYS if written in _DAYS else _MONTHS
        parts.append(Choice(*match.span(), tuple(name for name in names if name != written)))
    for match in _DAY_NUMBER.finditer(mask):
        written = match[str(match.lastgroup)]
        others = tuple(day for day in _MONTH_DAYS if day != written)
        parts.append(Choice(*match.span(str(match.lastgroup)), others))
    for match in _YEAR.finditer(mask):
        year = int(match["year"])
        decade = mask[match.end() : match.end() + 1] == "s"
        shifts = range(-_LONGEST_SHIFT, _LONGEST_SHIFT + 1)
        years = (year + shift * 10 if decade else year + shift for shift in shifts if shift)
        parts.append(Choice(*match.span("year"), tuple(map(str, years))))
    return tuple(parts)


def _other_values(numeral: str) -> Iterator[str]:
    """Yield numbers in the same notation that differ in the first digit other than 0."""
    index = next((at for at, char in enumerate(numeral) if char in "123456789"), 0)
    for digit in "23456789":
        if digit != numeral[index]:
            yield f"{numeral[:index]}{digit}{numeral[index + 1 :]}"
