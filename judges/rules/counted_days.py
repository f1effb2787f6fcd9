"""Days that a text counts: dates that lie some days from a date of the source, and gaps."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, timedelta
from functools import lru_cache
from itertools import combinations

from spanjury.judges.rules.call_checks.moments import dated_words, day_shifts

_NO_YEAR = (2023, 2024)  # of dates without a year: an ordinary one and a leap year
_MOST = 12  # maximum dates of a source that are compared with each other
_MOST_COUNTED = 40  # maximum dates that a source may lead to: with more, any date follows
_BEFORE = 60  # code points before a date that are searched for a denial
_BESIDE = 30  # code points beside a number that may belong to its date
_WEEK, _YEAR = 7, 12  # in days, in months
_SHORTEST_MONTH = 28  # days
_LIMITS = (
    (re.compile(r"\b(?:not?|never)\b[^.;,\n]{0,40}\b(?:before|earlier than) (?:the )?$"), 1),
    (re.compile(r"\b(?:not?|never)\b[^.;,\n]{0,40}\b(?:after|later than) (?:the )?$"), -1),
)
"""Words before a date that the day meant does not precede, or does not follow."""
_FAR = 62  # maximum days between such a date and the day meant
_UNITS = frozenset(("day", "night", "week", "month", "year"))


def is_counted_on(text: str, at: int, source: str) -> bool:
    """Return whether the date of `text` at the offset `at` follows from dates of `source`.

    The source states how far it is from one of them, such as "two weeks later"; or the text only
    denies that something is before or after it, and one of them is on the other side.

    Examples
    --------
    >>> is_counted_on("It ends on 17 May.", 11, "It opens on 3 May and ends two weeks later.")
    True
    """
    begin = max(0, at - _BESIDE)
    near = text[begin : at + _BESIDE]
    for year in _NO_YEAR:
        named = [
            (begin + start, day)
            for start, end, day in dated_words(near, year=year)
            if start <= at - begin < end
        ]
        if not named:
            return False
        shifts = day_shifts(source)
        dates = _dates(source, year)
        if len(dates) * len(shifts) > _MOST_COUNTED:
            shifts = frozenset()
        for start, day in named:
            gaps = {(base - day).days for base in dates}
            before = text[max(0, start - _BEFORE) : start]
            if _is_counted(day, dates, shifts) or _is_limit(before, gaps):
                return True
    return False


def _is_counted(day: date, dates: Iterable[date], shifts: AbstractSet[int]) -> bool:
    """Return whether a shift leads from one of `dates` to a day.

    It may be the last day of a period: two years from 1 April end on 31 March.
    """
    following = day + timedelta(1)
    return any(
        (base - end).days in shifts
        and _is_exact(base, end)
        and (end == day or (following - base).days >= _WEEK)
        for base in dates
        for end in (day, following)
    )


def _is_exact(base: date, day: date) -> bool:
    """Return whether two dates are some days, weeks, or whole months apart."""
    gap = abs((base - day).days)
    return gap < _SHORTEST_MONTH or gap % _WEEK == 0 or base.day == day.day


def _is_limit(before: str, gaps: Iterable[int]) -> bool:
    """Return whether words deny that a day is beyond a date, with `gaps` in days to such days."""
    sides = [side for limit, side in _LIMITS if limit.search(before)]
    return any(0 < side * gap <= _FAR for side in sides for gap in gaps)


def is_gap(value: float, unit: str, source: str) -> bool:
    """Return whether two dates of `source` are `value` of `unit` apart.

    `unit` is the stem of a word for a period. Days and weeks may include both dates.

    Examples
    --------
    >>> is_gap(3.0, "week", "It runs from 4 June to 25 June.")
    True
    """
    if unit not in _UNITS:
        return False
    dates = _dates(source, _NO_YEAR[0])
    return len(dates) <= _MOST and any(
        value in _lengths(first, last, unit) for first, last in combinations(dates, 2)
    )


@lru_cache(maxsize=8)
def _dates(source: str, year: int) -> Sequence[date]:
    """Return the distinct dates of a source in order; those without a year are in `year`."""
    return sorted({day for _, _, day in dated_words(source, year=year)})


def _lengths(first: date, last: date, unit: str) -> Iterable[float]:
    days = (last - first).days
    if unit == "night":
        return (days,)
    if unit in {"day", "week"}:
        size = _WEEK if unit == "week" else 1
        return days / size, (days + 1) / size
    months = _YEAR * (last.year - first.year) + last.month - first.month
    whole = months if last.day == first.day else -1
    return (whole / _YEAR if unit == "year" else whole,)
