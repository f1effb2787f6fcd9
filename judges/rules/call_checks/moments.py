"""Moments: the dates and times of day that texts name, in full, in part or relative to today.

A date follows from texts if they state it, name its weekday or its day of the month near today, or
lead to it by steps such as "tomorrow", "in two weeks" or "three nights".
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import combinations, product

from spanjury.judges.rules.call_checks.clocks import COUNT, DAY, clocks, count_of, lengths
from spanjury.judges.rules.dates import date_of
from spanjury.judges.rules.dates import dates as dates_in_digits
from spanjury.judges.text.kept import KeptByText
from spanjury.judges.text.lexicon import MONTHS, WEEKDAYS

_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS) + "|sept"
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_SHORT_YEAR = re.compile(r"(?<![\d.:/-])(\d\d?)([./])(\d\d?)\2(\d\d)(?![\d.:/-]*\d)")
_DAY_FIRST = re.compile(
    r"\b(\d\d?(?!\d)(?:st|nd|rd|th)?"
    r"(?:\s?(?:,|and|to|or|until|till|through|[-–])\s?(?:the )?\d\d?(?!\d)(?:st|nd|rd|th)?){0,20})"
    rf"\s?(?:of )?({_MONTH})\b\.?(?:,? (\d{{4}}))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH})\b\.? ((?:the )?\d\d?(?:st|nd|rd|th)?(?!:|\d|\.\d)"
    rf"(?:\s?(?:,|and|to|or|until|through|[-–])\s?(?:the )?\d\d?(?:st|nd|rd|th)?(?!:|\d))*)"
    rf"(?:,? (\d{{4}}))?",
    re.IGNORECASE,
)
_BARE_DAY = re.compile(r"\b(\d\d?)(?:st|nd|rd|th)\b|\bthe (\d\d?)(?= |[.,?!]|$)")
_MONTH_DAY = re.compile(r"(?<![\w-])(\d\d)-(\d\d)(?![\w-])")
_WEEKDAY = re.compile(
    rf"\b({'|'.join(WEEKDAYS)}|mon|tue|tues|wed|thu|thurs|fri|sat|sun)s?\b", re.IGNORECASE
)
_DATE_NEXT = re.compile(
    rf"\)?,? (?:the )?(?:\d{{4}}-|\d\d?(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b|(?:{_MONTH})\b)",
    re.IGNORECASE,
)
_DAY_BEFORE = re.compile(
    rf"\b({'|'.join(WEEKDAYS)}) (?:before|after|following|preceding)\b", re.IGNORECASE
)
_ORDINAL_WEEK = re.compile(
    r"\b(?:first|second|third|fourth|last|every) \w+day\b|\bmonths?\b", re.IGNORECASE
)
_OFFSET = re.compile(r"(?:(?<=UTC)|(?<=GMT)|(?<![\w.:]))([+-])(\d\d):?(\d\d)\b")
_BEYOND = re.compile(
    r"\b(?:next|weeks?|following|after|every|each|fortnight|then|last|past|another)\b",
    re.IGNORECASE,
)
"""Words near a weekday that may refer to a later one than the next."""
_TIME_NEXT = re.compile(r" (?:\d|at\b|from\b|until\b|till\b|morning|afternoon|evening|night)")
"""Text after a lower-case ``sat``, ``sun`` or ``wed`` that makes it a day."""
_BESIDE = 24  # characters
_UNREAD = re.compile(
    r"\b(?:ago|eve|new year(?:'s)?|christmas|easter|holidays?|quarter|terms?|semesters?|summer"
    r"|winter|spring|autumn|and a half|(?:that|any|some|which) (?:\w+ )?(?:days?|weeks?|months?"
    r"|mornings?|afternoons?|evenings?)"
    r"|(?:end|start|beginning|middle) of (?!(?:this|next|the) week))\b",
    re.IGNORECASE,
)
"""Words for dates that this module does not interpret."""
_FOREIGN = re.compile(
    r"\b(?:ich|und|nicht|bin|ist|seit|morgen|bitte|een|het|ik|naar|mijn|graag|je|est|pour|une|les"
    r"|mon|avec|el|una|para|quiero|por|ma[nñ]ana|il|della|voglio|domani|jag|och|att|jeg|som|com)\b"
)
"""Words of other languages; two of them show that a text is not all English."""
_WHOLE_MONTH = re.compile(rf"\b({_MONTH})\b", re.IGNORECASE)
_TODAY = re.compile(r"\b(?:today|current date|date|now)\b[^.\n]{0,24}", re.IGNORECASE)
_STEPS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (r"\b(?:today|tonight|now|this (?:morning|afternoon|evening))\b", (0,)),
    (r"\b(?:tomorrow|tonight|overnight)\b", (1,)),
    (r"\bday after tomorrow\b", (2,)),
    (r"\byesterday\b|\blast (?:night|evening)\b", (-1,)),
    (r"\bday before yesterday\b", (-2,)),
    (r"\bfortnight\b", (14, -14)),
)
_SHIFTS: tuple[tuple[str, tuple[int, ...]], ...] = (
    (
        r"\b(?:(?:day|morning|evening) after|(?:next|following) (?:day|morning|evening))\b",
        (1,),
    ),
    (r"\b(?:day later|overnight|one night)\b", (1,)),
    (r"\b(?:(?:day|morning|evening|night) before|day earlier|previous day|eve of)\b", (-1,)),
    (
        r"\b(?:a week later|week after|next week|(?:in|by|for) (?:a|one) week|following week)\b",
        (7,),
    ),
    (r"\b(?:week before|week earlier|last week)\b", (-7,)),
)
_SPAN = re.compile(
    rf"\b({COUNT})[ -](?:more |working |business |full )?(day|night|week|month|year)s?\b"
    rf"|\b(?:next|last|first|past|coming) ({COUNT}) (day|night|week|month|year)s?\b",
    re.IGNORECASE,
)
_HOURS_LONG = re.compile(r"\b(\d{2,3})[ -]?h(?:ours?|rs?)?\b", re.IGNORECASE)
_NO_STEP = re.compile(
    r"[ -](?:old|anniversary|birthday|warranty|guarantee|contract|subscription|of experience)\b",
    re.IGNORECASE,
)
"""Words after a length of time that make it a property, from which no date is counted on."""
_PAST = re.compile(
    r"\b(?:was|were|been) (?!\w+ed\b)\w+ for (?:the (?:last|past) )?$", re.IGNORECASE
)
"""Words before a length of time for which something was so, as in ``we were away for a week``."""
_FIELD_SPAN = re.compile(r"\"(\w*(day|night|week|month|year)s?)\": ?(\d{1,3})\b")
_NEXT, _NEAR, _FAR = 7, 14, 62  # distance in days from today up to which a weekday may be meant
_YEARS = range(1001, 9000)  # of today, from which steps of up to 999 years lead to other dates
_MOST = 30  # maximum moments that are compared with each other


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """The dates and times that texts name.

    Parameters
    ----------
    today
        The date of the conversation, if a text states it.
    full
        Dates that are stated, or that steps from today lead to.
    bases
        Dates from which texts may count: stated ones, and those such as tomorrow.
    yearless
        Month and day of dates without a year; a month of 0 means any.
    weekdays
        Days of the week, 0 for Monday.
    shifts
        Numbers of days by which texts move on from a date.
    months
        Months that are named without a day.
    clock
        Times of day, in minutes since midnight.
    times
        The times of `clock`, and all minutes of the parts of the day that texts name, such as
        the morning; those from an exact time on if one is beside the part.
    lengths
        Lengths of time in minutes.
    offsets
        Minutes by which time zones are ahead of UTC.
    has_steps
        Whether a text counts from today, as with "tomorrow".
    soon
        The `weekdays` for which no text refers to a later one than the next.
    beside
        The `weekdays` before or after another date, as in "the Friday before election day".
    is_wide
        Whether a weekday weeks away may be meant, such as the last one of a month.
    is_open
        Whether a text names dates in words that were not interpreted, such as a holiday.
    """

    today: date | None
    full: frozenset[date]
    bases: frozenset[date]
    yearless: frozenset[tuple[int, int]]
    weekdays: frozenset[int]
    shifts: frozenset[int]
    months: frozenset[int]
    clock: frozenset[int]
    times: frozenset[int]
    lengths: frozenset[int]
    offsets: frozenset[int]
    has_steps: bool
    soon: frozenset[int]
    beside: frozenset[int]
    is_wide: bool
    is_open: bool

    def names(self, day: date) -> bool:
        """Return whether the texts lead to `day`."""
        if day in self.full or {(day.month, day.day), (0, day.day)} & self.yearless:
            return True
        if self.today is None and (self.has_steps or not (self.full or self.yearless)):
            return self.has_steps
        if day.weekday() in self.weekdays and (
            self.today is None or abs((day - self.today).days) <= self._reach(day.weekday())
        ):
            return True
        last = monthrange(day.year, day.month)[1]
        if day.month in self.months and day.day in {1, last}:
            return True
        gaps = {(day - base).days for base in self._bases(day)}
        return bool(gaps & self.shifts) or (
            day.weekday() in self.beside and min(map(abs, gaps), default=_FAR) <= _NEXT
        )

    def numbers(self, *, with_parts: bool) -> frozenset[int]:
        """Return the days and minutes between any two moments; `with_parts`, also their parts."""
        dated = [*self.full, *((self.today,) if self.today else ())]
        parts = {part for day in dated for part in (day.year, day.month, day.day)}
        year = self.today.year if self.today else 2000
        stated = {*self.full, *filter(None, (date_of(year, m or 1, d) for m, d in self.yearless))}
        gaps = {abs((a - b).days) for a, b in combinations(sorted(stated)[:_MOST], 2)}
        times = sorted(self.clock)[:_MOST] if len(self.clock) <= 2 * _MOST else []
        lasting = {abs(a - b) for a, b in combinations(times, 2)}
        hours = {minutes // 60 for minutes in (*times, *lasting)}
        named = {number for pair in self.yearless for number in pair}
        inclusive = {gap + 1 for gap in gaps}
        own = (*parts, *hours, *named, *self.months, year - 1, year + 1) if with_parts else ()
        return frozenset((*gaps, *inclusive, *lasting, *own))

    def _reach(self, weekday: int) -> int:
        """Return the distance in days from today up to which a weekday may be meant."""
        return _FAR if self.is_wide else _NEXT if weekday in self.soon else _NEAR

    def _bases(self, day: date) -> Iterator[date]:
        yield from self.bases
        if self.today:
            yield self.today
            for ahead in range(-_NEAR, _NEAR + 1):
                near = self.today + timedelta(ahead)
                if near.weekday() in self.weekdays and abs(ahead) <= self._reach(near.weekday()):
                    yield near
        stated = (date_of(day.year, month or day.month, n) for month, n in self.yearless)
        yield from filter(None, stated)

    def names_time(self, minute: int, *, in_utc: bool = False) -> bool:
        """Return whether the texts lead to a time of day, in minutes since midnight."""
        if minute in {0, DAY - 1} or (minute in self.times and not (in_utc and self.offsets)):
            return True
        sign = -1 if in_utc else 1
        if any(
            (time + sign * offset) % DAY == minute for time in self.times for offset in self.offsets
        ):
            return True
        return any(
            (time + sign * length) % DAY == minute
            for time in self.times
            for length in self.lengths
            for sign in (1, -1)
        )


@lru_cache(maxsize=64)
def moments(texts: tuple[str, ...]) -> Moments:
    """Return the dates and times that `texts` name; a stated date of today counts as today."""
    today = next(filter(None, map(_stated_today, texts)), None)
    whole = "\n".join(texts)
    lower, undated = whole.lower(), _MONTH_FIRST.sub(" ", _DAY_FIRST.sub(" ", whole))
    full, yearless = {*_iso(whole)}, set()
    for year, month, days in _in_words(whole):
        for number in days:
            if year and (made := date_of(year, month, number)):
                full.add(made)
            else:
                yearless.add((month, number))
    yearless |= {(0, int(match[1] or match[2])) for match in _BARE_DAY.finditer(undated)}
    yearless |= {(int(match[1]), int(match[2])) for match in _MONTH_DAY.finditer(whole)}
    full |= {
        made
        for _, readings in dates_in_digits(whole)
        for month, number, year, _ in readings
        if (made := date_of(int(year), MONTHS.index(month) + 1, int(number)))
    }
    full |= {*_with_short_years(whole)}
    steps = {step for pattern, days in _STEPS if re.search(pattern, lower) for step in days}
    shifts = day_shifts(whole)
    if today:
        full |= {today + timedelta(step) for step in steps}
    bases = frozenset(full)
    if today:
        full |= {today + timedelta(shift) for shift in shifts}
        full |= {*_calendar_steps(lower, today)}
    weekdays, (clock, parts) = {*_weekdays(whole)}, clocks(whole, undated=undated)
    beyond = {weekday for weekday, is_beyond in weekdays if is_beyond}
    return Moments(
        today=today,
        full=frozenset(full),
        bases=bases,
        yearless=frozenset(yearless),
        weekdays=frozenset(weekday for weekday, _ in weekdays),
        shifts=shifts,
        months=frozenset(_month(name) for name in _WHOLE_MONTH.findall(whole)),
        clock=clock,
        times=clock | parts,
        lengths=frozenset(lengths(whole)),
        offsets=frozenset(_offsets(whole)),
        has_steps=bool(steps or shifts),
        soon=frozenset(weekday for weekday, _ in weekdays if weekday not in beyond),
        beside=frozenset(WEEKDAYS.index(day.lower()) for day in _DAY_BEFORE.findall(whole)),
        is_wide=bool(_ORDINAL_WEEK.search(whole)),
        is_open=bool(_UNREAD.search(whole)) or len({*_FOREIGN.findall(lower)}) > 1,
    )


def _stated_today(text: str) -> date | None:
    """Return the date that a text states as today's."""
    for match in _TODAY.finditer(text):
        window = text[match.start() : match.end() + 16]
        stated = next(_iso(window), None)
        if stated is None:
            days = ((y, m, d[0]) for y, m, d in _in_words(window) if y and d)
            stated = next(filter(None, (date_of(*parts) for parts in days)), None)
        if stated and stated.year in _YEARS:  # 9999-12-31 stands for no end
            return stated
    return None


def _iso(text: str) -> Iterator[date]:
    return (made for *_, made in nearest_dates((text,)))


def _with_short_years(text: str) -> Iterator[date]:
    """Yield all possible readings of dates with a two-digit year, such as ``12.3.58``."""
    for match in _SHORT_YEAR.finditer(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        for century, (day, month) in product((1900, 2000), ((first, second), (second, first))):
            if made := date_of(century + year, month, day):
                yield made


def _in_words(text: str) -> Iterator[tuple[int | None, int, list[int]]]:
    """Yield year, month and days of dates whose month is a word, such as ``28 and 29 March``."""
    for match in _DAY_FIRST.finditer(text):
        yield int(match[3]) if match[3] else None, _month(match[2]), _numbers(match[1])
    for match in _MONTH_FIRST.finditer(text):
        yield int(match[3]) if match[3] else None, _month(match[1]), _numbers(match[2])


def dated_words(text: str, *, year: int) -> Iterator[tuple[int, int, date]]:
    """Yield the offsets of each date that a text states, with the date.

    A date without a year is in `year`.

    Examples
    --------
    >>> list(dated_words("From 8 May to 2026-06-01", year=2026))
    [(5, 10, datetime.date(2026, 5, 8)), (14, 24, datetime.date(2026, 6, 1))]
    """
    for pattern, days, month, stated in ((_DAY_FIRST, 1, 2, 3), (_MONTH_FIRST, 2, 1, 3)):
        for match in pattern.finditer(text):
            for number in _numbers(match[days]):
                if made := date_of(int(match[stated] or year), _month(match[month]), number):
                    yield match.start(), match.end(), made
    yield from ((start, end, made) for _, start, end, made in nearest_dates((text,)))


def _month(name: str) -> int:
    return next(n for n, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3]))


def _numbers(text: str) -> list[int]:
    """Return the days of a list; of a range its first and last."""
    return [int(number) for number in re.findall(r"\d+", text)]


def _weekdays(text: str) -> Iterator[tuple[int, bool]]:
    """Yield the weekdays that texts name, and whether words near one refer to a later one.

    The weekday of an adjacent date is left out.
    """
    for match in _WEEKDAY.finditer(text):
        if match[1] in {"sat", "sun", "wed"} and not _TIME_NEXT.match(text, match.end()):
            continue
        if _DATE_NEXT.match(text, match.end()):
            continue
        beside = text[max(0, match.start() - _BESIDE) : match.end() + _BESIDE]
        weekday = next(n for n, day in enumerate(WEEKDAYS) if day.startswith(match[1].lower()[:3]))
        yield weekday, bool(_BEYOND.search(beside)) or match.group().lower().endswith("days")


def _shifts(text: str) -> Iterator[int]:
    for pattern, days in _SHIFTS:
        if re.search(pattern, text, re.IGNORECASE):
            yield from days
    for match in _SPAN.finditer(text):
        if _NO_STEP.match(text, match.end()) or _PAST.search(
            text[max(0, match.start() - _BESIDE) : match.start()]
        ):
            continue
        count, unit = count_of(match[1] or match[3]), (match[2] or match[4]).lower()
        yield from _days(count, unit)
        if unit == "day" and match[1]:
            yield count - 1  # three days including the first
    for match in _HOURS_LONG.finditer(text):
        if int(match[1]) % 24 == 0:
            yield from _days(int(match[1]) // 24, "day")
    for match in _FIELD_SPAN.finditer(text):
        yield from _days(int(match[3]), match[2].lower())


day_shifts = KeptByText(lambda text: frozenset(_shifts(text)))
"""Return the days by which a text moves a date, such as 14 for ``two weeks later``."""


def _days(count: int, unit: str) -> Iterator[int]:
    if unit in {"day", "night"}:
        yield from (count, -count)
    elif unit == "week":
        yield from (7 * count, -7 * count)
    elif unit == "month":
        yield from (
            sign * (days * count + extra)
            for sign in (1, -1)
            for days in (30, 31)
            for extra in (0, -1, -2)
        )
    else:
        yield from (sign * (365 * count + extra) for sign in (1, -1) for extra in (0, 1))


def _calendar_steps(lower: str, today: date) -> Iterator[date]:
    """Yield first and last days of the weeks, weekends and months named relative to today."""
    monday = today - timedelta(today.weekday())
    for word, ahead in (("this", 0), ("next", 1), ("last", -1), ("coming", 0)):
        if f"{word} week" in lower:
            start = monday + timedelta(7 * ahead)
            yield from (start + timedelta(day) for day in (0, 4, 6))
        if f"{word} month" in lower:
            index = today.year * 12 + today.month - 1 + ahead
            first = date(index // 12, index % 12 + 1, 1)
            yield from (first, first.replace(day=monthrange(first.year, first.month)[1]))
        if f"{word} year" in lower:
            yield from (date(today.year + ahead, 1, 1), date(today.year + ahead, 12, 31))
    if "weekend" in lower:
        yield from (monday + timedelta(day) for day in (-2, -1, 4, 5, 6, 11, 12, 13))
    lower = _SPAN.sub(" ", lower)  # three weeks are no calendar weeks
    if re.search(r"\bmonth\b", lower):
        yield today.replace(day=1)
        yield today.replace(day=monthrange(today.year, today.month)[1])
    if re.search(r"\byear\b", lower):
        yield from (date(today.year, 1, 1), date(today.year, 12, 31))
    if "week" in lower:
        yield from (monday, monday + timedelta(6), monday + timedelta(4))


def _offsets(text: str) -> Iterator[int]:
    for match in _OFFSET.finditer(text):
        yield int(f"{match[1]}1") * (60 * int(match[2]) + int(match[3]))


def read_moment(value: str) -> tuple[date | None, int | None] | None:
    """Return the date and the minute of the day in a value; None if it is neither.

    Examples
    --------
    >>> read_moment("2026-05-05T10:00"), read_moment("18:30"), read_moment("soon")
    ((datetime.date(2026, 5, 5), 600), (None, 1110), None)
    """
    match = re.fullmatch(
        r"(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?"
        r"(?:(\d\d?):(\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?",
        value.strip(),
    )
    if not match or not value.strip():
        return None
    day = next(_iso(match[1]), None) if match[1] else None
    if match[1] and day is None:
        return None
    minute = int(match[2]) * 60 + int(match[3]) if match[2] else None
    return day, minute


def nearest_dates(texts: Sequence[str]) -> Iterator[tuple[int, int, int, date]]:
    """Yield the index of the text, the offsets and the date of each date that texts state."""
    for number, text in enumerate(texts):
        for match in _ISO.finditer(text):
            if made := date_of(int(match[1]), int(match[2]), int(match[3])):
                yield number, match.start(), match.end(), made
