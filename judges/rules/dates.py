"""Dates in digits, and the words that express the same."""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache

from spanjury.judges.text.lexicon import MONTHS, WEEKDAYS

_DATE = re.compile(
    r"\b(?:(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)"
    r"|(?P<one>\d\d?)(?P<mark>[./-])(?P<two>\d\d?)(?P=mark)(?P<late>\d{4}))(?!\d)"
)
_MONTH = "|".join(MONTHS)
_NAMED = re.compile(
    rf"\b(?:(?P<day>\d\d?)(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH}),? (?P<year>\d{{4}})"
    rf"|(?P<first>{_MONTH}) (?P<second>\d\d?)(?:st|nd|rd|th)?,? (?P<late>\d{{4}}))\b",
    re.IGNORECASE,
)
_SHORT_DAYS = tuple(day[:3] for day in WEEKDAYS)
_SCHEDULES = (
    (re.compile(r"\b(?:week|work)days\b", re.IGNORECASE), frozenset(WEEKDAYS[:5])),
    (re.compile(r"\bweekends\b", re.IGNORECASE), frozenset(WEEKDAYS[5:])),
)
"""Words for the days of a schedule; in "the weekend", as in the news, the day is open."""
_DAY = r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_DAY_RANGE = re.compile(rf"{_DAY}\s*(?:-|–|—|to|through|thru|until|till)\s*{_DAY}\b", re.IGNORECASE)


def dates(text: str) -> Iterator[tuple[re.Match[str], list[tuple[str, ...]]]]:
    """Yield the dates in digits, each with its month, day, year and weekday in words.

    If the order of day and month is ambiguous, both readings are returned.

    Examples
    --------
    >>> [said for _, said in dates("on 2025-03-03 and 31/12/2024")]
    [[('march', '3', '2025', 'monday')], [('december', '31', '2024', 'tuesday')]]
    """
    for match in _DATE.finditer(text):
        readings = [*_readings(match)]
        if readings:
            yield match, readings


def date_of(year: int, month: int, day: int) -> date | None:
    """Return a date; None if it does not exist, such as 30 February."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _readings(match: re.Match[str]) -> Iterator[tuple[str, ...]]:
    if match["year"]:
        orders = {(int(match["month"]), int(match["day"]))}
    else:
        first, two = int(match["one"]), int(match["two"])
        # With full stops the day always comes first.
        orders = {(two, first)} if match["mark"] == "." else {(first, two), (two, first)}
    year = int(match["year"] or match["late"])
    for month, day in sorted(orders):
        if made := date_of(year, month, day):
            yield MONTHS[month - 1], str(day), str(year), WEEKDAYS[made.weekday()]


@lru_cache(maxsize=4)
def weekdays(text: str) -> frozenset[str]:
    """Return the days of the week that `text` implies without naming them.

    These are the weekdays of its full dates, the days of a range, and those that *weekdays* or
    *weekends* stands for.

    Examples
    --------
    >>> sorted(weekdays("3 March 2025, 2025-03-05, May"))
    ['monday', 'wednesday']
    >>> sorted(weekdays("Open Tue-Thu and at weekends."))
    ['saturday', 'sunday', 'thursday', 'tuesday', 'wednesday']
    """
    days = {reading[-1] for _, readings in dates(text) for reading in readings}
    for words, meant in _SCHEDULES:
        if words.search(text):
            days |= meant
    for pair in _DAY_RANGE.findall(text):
        first, last = (_SHORT_DAYS.index(day.lower()) for day in pair)
        days.update(WEEKDAYS[(first + at) % 7] for at in range((last - first) % 7 + 1))
    for match in _NAMED.finditer(text):
        month = MONTHS.index((match["month"] or match["first"]).lower()) + 1
        year, day = match["year"] or match["late"], match["day"] or match["second"]
        if named := date_of(int(year), month, int(day)):
            days.add(WEEKDAYS[named.weekday()])
    return frozenset(days)
